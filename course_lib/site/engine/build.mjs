// node build.mjs CUDA KERNELS CLANG OUT CACHE: the simulator in the folder CUDA for wasm32, with port/ in place of what needs an operating
// system. Writes OUT/simulator.wasm and OUT/course.json: the headers for kernels and where the runtime's variables lie.
//
// KERNELS is the folder of the course's kernels, whose headers (.cuh) an answer may include. CLANG is the unpacked package @yowasp/clang. Objects are kept in CACHE, by what they were made of.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { LANGUAGE, LIBRARIES, cc1 } from './compiler.mjs';

const [cuda, kernels, clang, out, cache] = process.argv.slice(2).map(name => path.resolve(name)), port = path.join(import.meta.dirname, 'port');
// What port/ replaces by files of other names, and what nobody asks for in a page: counting operations, running whole programs.
const LEFT_OUT = ['fibers.cpp', 'stacks.cpp', 'signals.cpp', 'signals.h', 'workers.cpp', 'residents.cpp', 'backtraces.cpp', 'flops.cpp', 'program.cpp', 'in_flight.cpp', 'atomic_hooks.cpp'];
const FLAGS = ['-Ihost', '-Iruntime', '-fno-rtti', '-Wno-attributes', '-Wno-c++11-narrowing', '-Wno-int-to-pointer-cast', '-O2', '-emit-obj'];
// Headers that a kernel needs of the runtime.
const FOR_KERNELS = ['block.h', 'lockstep.h', 'switch.h'];

const { runLLVM } = await import(pathToFileURL(path.join(clang, 'gen/bundle.js')));
async function run(args, files) {
  let log = '';
  const put = bytes => { if (bytes) log += new TextDecoder().decode(bytes); };
  try {
    return await runLLVM(args, files, { stdout: put, stderr: put, fetchProgress() {} });
  } catch (error) {
    process.stderr.write(log || String(error.stack));
    process.exit(1);
  }
}

function read(folder) {
  const found = {};
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }))
    found[entry.name] = entry.isDirectory() ? read(path.join(folder, entry.name)) : fs.readFileSync(path.join(folder, entry.name), 'utf8');
  return found;
}

function onlyHeaders(tree) {
  const kept = Object.entries(tree).filter(([name, what]) => typeof what === 'object' || name.endsWith('.cuh'));
  return Object.fromEntries(kept.map(([name, what]) => [name, typeof what === 'object' ? onlyHeaders(what) : what]));
}

const { host, ...ported } = read(port), runtime = { ...read(path.join(cuda, 'runtime')), ...ported };
for (const name of LEFT_OUT) delete runtime[name];
const include = read(path.join(cuda, 'include'));
const { version } = JSON.parse(fs.readFileSync(path.join(clang, 'package.json'), 'utf8'));
fs.mkdirSync(cache, { recursive: true });
fs.mkdirSync(out, { recursive: true });

const objects = {}, headers = Object.entries({ ...runtime, ...host }).filter(([name]) => !name.endsWith('.cpp'));
for (const name of Object.keys(runtime).filter(name => name.endsWith('.cpp'))) {
  const made = crypto.createHash('sha256').update(JSON.stringify([version, FLAGS, headers, runtime[name]])).digest('hex').slice(0, 24);
  const kept = path.join(cache, `${made}.o`), object = name.replace('.cpp', '.o');
  if (!fs.existsSync(kept)) {
    const file = `runtime/${name}`;
    const result = await run([...cc1('-O2', file), ...LANGUAGE, ...FLAGS, '-o', object, '-x', 'c++', file], { host, runtime });
    fs.writeFileSync(`${kept}.part`, result[object]);
    fs.renameSync(`${kept}.part`, kept);
    console.log(`compiled ${name}`);
  }
  objects[object] = new Uint8Array(fs.readFileSync(kept));
}

// The runtime is a module of its own, instantiated once; kernels are linked to its memory and its table. The first megabyte
// stays empty: it is what a null pointer reaches.
const link = exports => run(['wasm-ld', '-m', 'wasm32', '--no-entry', ...exports, '--export-table', '--growable-table', '--global-base=1048576',
  '-z', 'stack-size=262144', '--no-stack-first', '--max-memory=4294967296', ...Object.keys(objects), '-L/usr/lib/wasm32-wasip1', '-lc++', '-lc++abi', ...LIBRARIES,
  '-o', 'simulator.wasm'], objects).then(files => files['simulator.wasm']);
const names = WebAssembly.Module.exports(await WebAssembly.compile(await link(['--export-all']))).map(entry => entry.name);
const wanted = names.filter(name => /^(sim_|__tsan_|__ubsan_|malloc$|free$|__stack_pointer$|__wasm_call_ctors$)/.test(name));
const made = await link(wanted.map(name => `--export=${name}`)), module = await WebAssembly.compile(made);
fs.writeFileSync(path.join(out, 'simulator.wasm'), made);

const nothing = new Proxy({}, { get: () => () => 0 });
const { exports } = await WebAssembly.instantiate(module, { env: nothing, wasi_snapshot_preview1: nothing });
const variables = Object.entries(exports).filter(([name, value]) => name.startsWith('sim_') && value instanceof WebAssembly.Global);
const addresses = Object.fromEntries(variables.map(([name, value]) => [name, value.value]));
const forKernels = Object.fromEntries(FOR_KERNELS.map(name => [name, runtime[name]]));
fs.writeFileSync(path.join(out, 'course.json'), JSON.stringify({ headers: { include, runtime: forKernels, kernels: onlyHeaders(read(kernels)) }, addresses }));
console.log(`simulator.wasm: ${made.length} bytes; course.json: ${Object.keys(addresses)}`);
