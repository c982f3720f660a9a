"""The simulator on 64-bit ARM: its runtime and a kernel, run by an emulator with pages of 4 and of 16 KB.

That is Linux. For macOS both are compiled and linked; there nothing has been run.
"""

import importlib.util
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, build, runtime, source
from course_lib.cuda.vector_access import keep_vector_accesses
from course_lib.native.building import AS_IT_IS, LLVM

HERE = Path(__file__).parent
CROSS, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
COMMON = ("-std=c++17", "-O2", "-pthread", "-w")
HEADER = (f"-I{runtime.INCLUDE}",)
RUNTIME = sorted(runtime.RUNTIME.glob("*.cpp"))


def translation_unit() -> Path:
    return build._translation_unit(source.find(HERE / "arm64.cu"), ["arm"], [])


DYNAMIC = """#include <cuda_fp16.h>
extern __shared__ half outside[];
namespace inner { extern __shared__ float4 four[]; }
__global__ void dynamic(float* y) {
    extern __shared__ float inside[];
    y[0] = inside[0] + (float)outside[1] + inner::four[1].x;
}
"""


def run(*command: str | Path) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """The runtime, the kernel and a small main(), linked for ARM."""
    folder = tmp_path_factory.mktemp("arm64")
    kernel, linked = folder / "kernel.o", folder / "program"
    run(CROSS, *COMMON, "-fno-extern-tls-init", *HEADER, "-c", translation_unit(), "-o", kernel)
    run(CROSS, *COMMON, "-static", f"-I{runtime.RUNTIME}", HERE / "arm64_main.cpp", *RUNTIME, kernel, "-o", linked)
    return linked


@pytest.mark.skipif(not shutil.which(CROSS), reason=f"{CROSS} is not installed (Debian: g++-aarch64-linux-gnu)")
@pytest.mark.skipif(not shutil.which(EMULATOR), reason=f"{EMULATOR} is not installed (Debian: qemu-user)")
@pytest.mark.parametrize("page", (4096, 16384))
@pytest.mark.slow
def test_every_way_to_wait_works_on_arm(program, page):
    first, *lines = run(EMULATOR, "-p", str(page), program).splitlines()
    assert first == f"page {page} faults 0"
    x = (np.arange(80) ** 2 % 17).astype(np.float32)
    here = np.zeros(240, np.float32)
    Kernel(HERE / "arm64.cu", "arm")((3,), (96,), (x, here, 80))
    np.testing.assert_array_equal(np.array(lines, np.float32), here)
    inside = x + np.roll(x, -1) + np.roll(x, -2)  # the same in NumPy
    sums = np.concatenate([np.repeat(inside[:64].reshape(2, 32).sum(1), 32), inside[64:]])
    odd = [sum(t % 3 == 0 for t in range(32 * w + 1, 32 * w + 32, 2)) if t < 64 and t % 2 else 0
           for t in range(80) for w in (t // 32,)]  # fmt: skip
    np.testing.assert_array_equal(here, np.tile(sums + odd + 1000.0 * 16, 3).astype(np.float32))


@pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="ziglang is not installed (pip install ziglang)")
@pytest.mark.slow
def test_runtime_and_kernel_link_for_macos(tmp_path):
    """As flags.py and runtime.py do on macOS: the kernel is linked with the runtime, whose thread-local variables it uses.

    The C++ library is the system's there. zig would build its own, so all is linked as C, and its symbols stay open.
    """
    zig = Path(importlib.util.find_spec("ziglang").submodule_search_locations[0]) / "zig"
    target = ("-target", "aarch64-macos", "-fno-sanitize=undefined")
    library, kernel = tmp_path / "simulator.dylib", tmp_path / "kernel.dylib"

    def link(made: Path, texts: list[Path], *words: str | Path) -> set[str]:
        objects = [tmp_path / f"{text.stem}.o" for text in texts]
        for text, compiled in zip(texts, objects, strict=True):
            run(zig, "c++", *target, *COMMON, "-fPIC", *HEADER, "-c", text, "-o", compiled)
        run(zig, "cc", *target, "-shared", "-Wl,-undefined,dynamic_lookup", *words, *objects, "-o", made)
        return looked_up_later(made)

    left = link(library, RUNTIME, "-Wl,-install_name,@rpath/simulator.dylib")
    assert left and all(OF_CPP.match(name) for name in left), left
    for text in (translation_unit(), build._translation_unit(source.find(DYNAMIC), ["dynamic"], [])):
        left = link(kernel, [text], library, f"-Wl,-rpath,{tmp_path}")
        assert all(OF_CPP.match(name) for name in left), left


OF_CPP = re.compile(r"___cxa_|___gxx_|__Zn|__Zd|__ZN?K?St|__ZT[ISV]")  # new, delete, std:: and what carries exceptions


def looked_up_later(made: Path) -> set[str]:
    """The symbols of a Mach-O file that no library had when it was linked. Layout: Apple's mach-o/loader.h and nlist.h."""
    data = made.read_bytes()
    assert data[:8] == b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"  # Mach-O, 64 bit, ARM
    at, names = 32, set()
    for _ in range(struct.unpack_from("<I", data, 16)[0]):  # load commands
        command, size, symbols, count, strings = struct.unpack_from("<5I", data, at)
        at += size
        if command == 2:  # LC_SYMTAB
            for n_strx, n_type, _, n_desc, _ in struct.iter_unpack("<IBBHQ", data[symbols : symbols + 16 * count]):
                if n_type == 1 and n_desc >> 8 in (0, 0xFE):  # N_EXT, in no library: as zig and as others write it
                    name = data[strings + n_strx :]
                    names.add(name[: name.index(0)].decode())
    return names


@pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="ziglang is not installed (pip install ziglang)")
@pytest.mark.slow
def test_packs_stay_whole_for_macos(tmp_path):
    """The two steps of the checked build there: the text between them is understood, and what it becomes compiles."""
    zig = Path(importlib.util.find_spec("ziglang").submodule_search_locations[0]) / "zig"
    target = (zig, "c++", "-target", "aarch64-macos", *COMMON, "-O1", "-fPIC", "-g", "-Xclang", "-fsanitize=thread")
    text, made = tmp_path / "packs.ll", tmp_path / "packs.o"
    kernels = ["parts_by_number", "eight_floats", "from_shared"]
    run(*target, *HEADER, "-DSIM_CHECKED", *LLVM, *AS_IT_IS,
        build._translation_unit(source.find(HERE / "packs.cu"), kernels, []), "-o", text)  # fmt: skip
    whole = keep_vector_accesses(text.read_text())
    assert "load volatile <4 x i32>" in whole and "call void @sim_check_copy" in whole
    text.write_text(whole)
    run(*target, "-c", text, "-o", made)
    assert b"___tsan_read16" in made.read_bytes() and b"_sim_check_copy" in made.read_bytes()
