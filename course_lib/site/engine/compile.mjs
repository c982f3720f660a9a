// A `.cu` text to a module that runs on the simulator's memory: clang's front end, its optimiser, its code generator and wasm-ld,
// and between these what packs.mjs and rewrite.mjs do to LLVM's text. Natively course_lib/cuda/{flags,build}.py do the same.
import { LANGUAGE, LIBRARIES, cc1, tool } from './compiler.mjs';
import { kept } from './download.mjs';
import { askForFills, fillsLeft } from './fills.mjs';
import { asAligned, keepLongIndices, keepVectorAccesses } from './packs.mjs';
import { launchError } from './limits.mjs';
import { Refused, rewrite } from './rewrite.mjs';
import { fixedShared, variableBytes } from './variables.mjs';

export const KERNEL_BASE = 64 << 20, KERNEL_BYTES = 32 << 20, TABLE_BASE = 1024;
const FILE = 'kernel.cu';
const WARNINGS = ['-Wall', '-Wno-unknown-pragmas', '-Wno-attributes', '-Wno-ignored-attributes', '-Wno-unused', '-Wno-parentheses',
  '-Wno-c++11-narrowing', '-Wno-int-to-pointer-cast', '-Werror=vla', '-Werror=multichar', '-Werror=format', '-Wno-format-zero-length'];
const COMMON = [...WARNINGS, '-fno-finite-loops', '-fno-delete-null-pointer-checks', '-ffp-contract=fast', '-ftrivial-auto-var-init=pattern', '-ftrivial-auto-var-init-max-size=131072',
  '-relaxed-aliasing', '-debug-info-kind=line-tables-only', '-dwarf-version=4', '-gno-column-info'];
const options = list => list.flatMap(option => ['-mllvm', option]);
const CHECKED = ['-DSIM_CHECKED', '-fsanitize=thread', '-fsanitize=array-bounds,object-size,return,integer-divide-by-zero',
  '-fsanitize-recover=array-bounds,object-size,integer-divide-by-zero'];
// Each branch keeps its lines, and what a loop reads again in each pass, beside what it writes, counts in each, as by g++.
// A loop stays one, as by g++, also where the text says `#pragma unroll`: of each copy of a barrier in it the code generator makes
// one more place at which a thread may wait, and those took 23 of the 27 s of a verdict on `state_in_registers`.
const ROLLED = options(['-pragma-unroll-threshold=1']);
const PASSES = options(['-hoist-common-insts=false', '-sink-common-insts=false', '-enable-tail-merge=false', '-tsan-instrument-read-before-write=1', '-licm-mssa-optimization-cap=0',
  '-tsan-instrument-atomics=0', '-tsan-instrument-func-entry-exit=0']);
const FAST = ['-vectorize-loops', '-vectorize-slp', '-target-feature', '+simd128'];
const HEAD = { 'all.h': '#include "simulator.h"\n' };

const textOf = file => typeof file === 'string' ? file : new TextDecoder().decode(file);
const levelOf = checked => checked ? '-O1' : '-O2';
const flagsOf = (checked, defines) => [...LANGUAGE, ...COMMON, ...(checked ? CHECKED : FAST), ...defines, '-Iinclude', '-Iruntime', '-I.', '-Ikernels', '-Ikernels/include'];
const precompiled = new Map();

// The simulator's headers, read once for each sort of build: halves what a kernel takes.
export async function precompile({ headers }, checked, defines = []) {
  const key = [checked, ...defines].join(), known = kept.get(key);
  if (!precompiled.has(key) && known) precompiled.set(key, new Uint8Array(await known.arrayBuffer()));
  if (!precompiled.has(key)) {
    const made = await tool([...cc1(levelOf(checked), 'all.h'), ...flagsOf(checked, defines), '-emit-pch', '-o', 'all.pch', '-x', 'c++-header', 'all.h'], { ...headers, ...HEAD });
    if (made.failed) throw new Error(made.log);
    precompiled.set(key, made.out['all.pch']);
    kept.set(key, new Blob([made.out['all.pch']]));
  }
  return precompiled.get(key);
}

// course: course.json. names: the kernels wanted, such as "matmul<16>"; files: headers beside the text. fixed: bytes of the
// shared arrays of each. Gives { wasm, lines, locals, names, fixed, fills, times }, or { errors: [{line, message}], log }.
export async function compile(course, text, names, { checked = true, files = {} } = {}) {
  const level = levelOf(checked), times = {}, began = performance.now();
  const defines = /\b__shared__\s+alignas\b/.test(text) ? ['-DSIM_ALIGNAS_ANYWHERE'] : [];
  const unit = ['#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)', `#line 1 "${FILE}"`, text, '#undef asm',
    '#line 1 "entry points"', '#pragma clang attribute pop', ...names.map((name, i) => `SIM_KERNEL(${i}, ${name})`)].join('\n') + '\n';
  const pch = await precompile(course, checked, defines), step = async (name, args, given) => {
    const made = await tool(args, given);
    times[name] = (times[name] ?? 0) + made.ms;
    if (made.failed) throw Object.assign(new Error(made.log), { step: name, given });
    return made;
  };
  try {
    const front = await step('front', [...cc1(level, 'unit.cpp'), ...flagsOf(checked, defines), '-include-pch', 'all.pch', '-emit-llvm', '-disable-llvm-passes', '-o', 'unit.ll', '-x', 'c++', 'unit.cpp'],
      { ...course.headers, ...HEAD, ...files, 'all.pch': pch, 'unit.cpp': unit });
    const read = textOf(front.out['unit.ll']), bytes = variableBytes(read);
    if (bytes > KERNEL_BYTES) throw new Refused(`The arrays and variables of this file take ${(bytes / 2 ** 20).toFixed(0)} MB; this page has room for ${KERNEL_BYTES >> 20} MB.`);
    const fills = checked ? askForFills(read, FILE, text) : { text: read, variables: [] };
    const whole = /\bpacked\b/.test(text) ? fills.text : asAligned(fills.text), kept = checked ? keepLongIndices(keepVectorAccesses(whole)) : read;
    const middle = await step('optimise', [...cc1(level, 'unit.cpp'), ...(checked ? ['-fsanitize=thread', ...PASSES, ...ROLLED] : FAST), '-emit-llvm', '-o', 'unit.ll', '-x', 'ir', 'kept.ll'], { 'kept.ll': kept });
    const before = performance.now(), optimised = textOf(middle.out['unit.ll']), shared = fixedShared(optimised), fixed = names.map((_, i) => shared.get(`sim_body_${i}`) ?? 0);
    for (const [i, name] of names.entries()) {
      const wrong = launchError(name, [1, 1, 1], [1, 1, 1], 0, fixed[i]);
      if (wrong) throw new Refused(wrong);
    }
    const code = rewrite(optimised, FILE, course.addresses);
    times.rewrite = performance.now() - before;
    const back = await step('code', [...cc1(level, 'unit.ll'), ...(checked ? ROLLED : FAST), '-emit-obj', '-o', 'unit.o', '-x', 'ir', 'unit.ll'], { 'unit.ll': code.text });
    const exports = [...names.flatMap((_, i) => [`sim_body_${i}`, `sim_parameters_${i}`]), 'sim_variables', '__wasm_call_ctors', '__stack_pointer', '__heap_base'];
    const linked = await step('link', ['wasm-ld', '-m', 'wasm32', '--no-entry', '--import-memory', '--import-table', `--table-base=${TABLE_BASE}`, `--global-base=${KERNEL_BASE}`,
      '--allow-undefined', '--initial-memory=100663296', '--max-memory=4294967296', ...exports.map(name => `--export=${name}`),
      'unit.o', ...LIBRARIES, '-o', 'kernel.wasm'], { 'unit.o': back.out['unit.o'] });
    times.all = performance.now() - began;
    return { wasm: linked.out['kernel.wasm'], lines: code.lines, locals: code.locals, names, fixed, fills: { variables: fills.variables, left: fillsLeft(optimised) }, log: front.log, times };
  } catch (error) {
    if (error instanceof Refused) return { errors: [{ line: null, message: error.message }], log: error.message, times };
    if (error.step !== 'front') throw error;
    return { errors: errorsOf(error.message), log: error.message, times };
  }
}

// clang's own words, by line of the learner's text.
function errorsOf(log) {
  const found = [...log.matchAll(/^([^\s:]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$/gm)].map(([, file, line, message]) => ({ line: file === FILE ? Number(line) : null, message }));
  const own = found.filter(({ line }) => line);  // an open bracket closes none of ours either
  return own.length ? own : found.length ? found : [{ line: null, message: log.trim() }];
}
