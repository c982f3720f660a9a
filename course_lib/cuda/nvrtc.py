"""Compile `.cu` texts with NVIDIA's own compiler. Needs the packages of NVRTC and of its headers, but no GPU.

The texts are those that the simulator runs, so that nothing passes there and fails here. A text says in its header which
architectures it is for ("sm_80"); without that it is for all.
"""

import hashlib
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from course_lib import native, paths
from course_lib.cuda import diagnostics
from course_lib.cuda import source as sources
from course_lib.cuda.errors import KernelError
from course_lib.cuda.source import Source

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")

# What a host compiler finds in <math.h>, <float.h>, <limits.h> and <stdint.h>; NVRTC has no such headers.
PRELUDE = """
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define M_PI 3.14159265358979323846
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
"""
EMPTY = ("math.h", "cmath", "float.h", "cfloat", "limits.h", "climits", "stdint.h", "cstdint", "stdio.h", "cstdio",
         "assert.h", "cassert", "cuda.h", "cuda_runtime.h", "device_launch_parameters.h")  # fmt: skip


def available() -> bool:
    """Whether CuPy and NVRTC are installed."""
    if find_spec("cupy") is None:
        return False
    try:
        from cupy.cuda import nvrtc

        return bool(nvrtc.getVersion())
    except Exception:  # a missing shared library shows as many kinds of error
        return False


@cache
def header_folders() -> tuple[Path, ...]:
    """Where the CUDA headers of the installed packages lie."""
    found = []
    for package in ("nvidia.cu13", "nvidia.cuda_runtime", "nvidia.cuda_crt", "nvidia.cuda_cccl"):
        try:
            spec = find_spec(package)
        except ModuleNotFoundError:
            continue
        for place in (spec.submodule_search_locations or []) if spec else []:
            found.append(Path(place) / "include")
    cupy = find_spec("cupy")
    if cupy and cupy.submodule_search_locations:
        bundled = Path(cupy.submodule_search_locations[0]) / "_core" / "include" / "cupy"
        found += [bundled / "_cccl" / part for part in ("libcudacxx", "cub", "thrust")]
    return tuple(folder for folder in found if folder.is_dir())


def architectures(text: Source) -> tuple[str, ...]:
    """Those of ARCHITECTURES that a text is for: from the first "sm_NN" in its opening comment on, else all."""
    opening = re.match(r"(?:\s*//[^\n]*\n)*", text.text).group()
    least = [int(number) for number in re.findall(r"sm_(\d+)", opening)]
    return tuple(a for a in ARCHITECTURES if not least or int(a[3:]) >= min(least))


def compile_text(text: Source, names: tuple[str, ...], architecture: str, options: tuple[str, ...] = ()):
    """(cubin, the names after C++'s name mangling). Raises CompileError with the learner's lines."""
    from cupy.cuda import nvrtc

    headers = [PRELUDE.encode(), *([b""] * len(EMPTY))]
    program = nvrtc.createProgram(
        text.text, text.name, headers, [b"course_prelude.h", *(name.encode() for name in EMPTY)]
    )
    try:
        for name in names:
            nvrtc.addNameExpression(program, name)
        folders = [*sources.include_folders(text), *header_folders()]
        flags = (
            "--std=c++17",
            f"-arch={architecture}",
            "-default-device",
            "--pre-include=course_prelude.h",
            *(f"-I{folder}" for folder in folders),
            *options,
        )
        try:
            nvrtc.compileProgram(program, flags)
        except nvrtc.NVRTCError:
            raise diagnostics.explain(nvrtc.getProgramLog(program), text) from None
        return nvrtc.getCUBIN(program), {name: nvrtc.getLoweredName(program, name) for name in names}
    finally:
        nvrtc.destroyProgram(program)


def kept(text: Source, names: tuple[str, ...], architecture: str, options: tuple[str, ...] = ()):
    """The same as `compile_text`, from the cache of this machine if it was compiled before."""
    from cupy.cuda import nvrtc

    version = ".".join(map(str, nvrtc.getVersion()))
    key = "\0".join([text.digest, text.everything, *names, architecture, *options, version, PRELUDE])
    folder = native.cache_folder() / "cubins"
    file = folder / f"{Path(text.name).stem}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
    try:
        lowered, _, cubin = file.read_bytes().partition(b"\n")
        return cubin, json.loads(lowered)
    except (OSError, ValueError):  # not there, or cut off
        cubin, found = compile_text(text, names, architecture, options)
    folder.mkdir(exist_ok=True)
    paths.write_whole(file, json.dumps(found).encode() + b"\n" + cubin)
    return cubin, found


def architecture_of_device() -> str:
    """sm_NN of the GPU in use."""
    import cupy

    major, minor = divmod(int(cupy.cuda.Device().compute_capability), 10)
    number = major * 10 + minor
    if number < 70:
        raise KernelError(f"This GPU's architecture is sm_{number}; the course's kernels need sm_75 or newer.")
    return f"sm_{number}"
