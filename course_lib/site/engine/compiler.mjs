// clang and wasm-ld, which are WebAssembly themselves (npm @yowasp/clang, unpacked beside this file by engine.py).

const decoder = new TextDecoder();
let runLLVM = null;

// Fetch and instantiate the compiler, which then stays.
export async function loadCompiler() {
  ({ runLLVM } = await import('./clang/bundle.js'));
  const { log, failed } = await tool(['clang', '--version'], {});
  if (failed) throw new Error(`The compiler could not be started: ${log}`);
}

// One run. args: the command line; files: a tree of folders and files. { out, log, ms, failed }, where `out` holds the files written.
export async function tool(args, files) {
  let log = '';
  const put = bytes => { if (bytes) log += decoder.decode(bytes); }, began = performance.now();
  try {
    const out = await runLLVM(args, files, { stdout: put, stderr: put, fetchProgress() {} });
    return { out, log, ms: performance.now() - began };
  } catch (error) {
    return { out: error.files ?? null, log: log || String(error.stack ?? error), ms: performance.now() - began, failed: true };
  }
}

// The front end called directly: the driver would run once more, only to say how it calls it.
export const cc1 = (level, main) => ['clang++', '-cc1', '-triple', 'wasm32-unknown-wasip1', level, '-disable-free',
  '-main-file-name', main, '-mrelocation-model', 'static', '-mframe-pointer=none', '-mconstructor-aliases', '-target-cpu', 'generic',
  '-fvisibility=hidden', '-fdebug-compilation-dir=/', '-resource-dir', '/usr', '-isysroot', '/usr'];
export const LANGUAGE = ['-internal-isystem', '/usr/include/wasm32-wasip1/c++/v1', '-internal-isystem', '/usr/include/c++/v1',
  '-internal-isystem', '/usr/include', '-internal-isystem', '/usr/include/wasm32-wasip1', '-std=c++17', '-ferror-limit', '19', '-fgnuc-version=4.2.1'];
export const LIBRARIES = ['-L/usr/lib/wasm32-wasip1', '-lc', '/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a'];
