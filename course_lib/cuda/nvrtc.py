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

from course_lib import lexer, native, paths
from course_lib.cuda import diagnostics
from course_lib.cuda import source as sources
from course_lib.cuda.errors import KernelError
from course_lib.cuda.source import Source

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")

# What a host compiler finds in <math.h>, <float.h>, <limits.h>, <stdint.h> and <sys/types.h>; NVRTC has no such headers.
PRELUDE = """
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MAX 0x7fff
#define SHRT_MIN (-SHRT_MAX - 1)
#define USHRT_MAX 0xffff
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-9223372036854775807ll - 1)
#define ULLONG_MAX 18446744073709551615ull
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX ULONG_MAX
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
typedef long long intptr_t; typedef unsigned long long uintptr_t;
typedef unsigned int uint; typedef unsigned short ushort; typedef unsigned long ulong;
namespace std {
using ::printf; using ::memcpy; using ::memset; using ::size_t; using ::abs; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::pow; using ::sqrt; using ::cbrt; using ::hypot; using ::sin;
using ::cos; using ::tan; using ::sinh; using ::cosh; using ::tanh; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::erf; using ::erfc; using ::floor; using ::ceil; using ::round; using ::trunc; using ::rint; using ::fma; using ::fmod;
using ::fmin; using ::fmax; using ::fabs; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
}
"""
EMPTY = ("math.h", "cmath", "float.h", "cfloat", "limits.h", "climits", "stdint.h", "cstdint", "stdio.h", "cstdio",
         "stdlib.h", "cstdlib", "string.h", "cstring", "stddef.h", "cstddef", "assert.h", "cassert", "cuda.h",
         "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h", "math_functions.h",
         "vector_functions.h", "builtin_types.h", "host_defines.h")  # fmt: skip
# Of the standard library's, those that libcu++ has for kernels: the simulator's are files of these names.
STANDARD = tuple(sorted(path.name for path in (Path(__file__).parent / "include" / "cuda" / "std").iterdir()))


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
    least = [int(number) for number in re.findall(r"sm_(\d+)", lexer.read(text.text).opening_comment)]
    return tuple(a for a in ARCHITECTURES if not least or int(a[3:]) >= min(least))


def compile_text(text: Source, names: tuple[str, ...], architecture: str, options: tuple[str, ...] = ()):
    """(cubin, the names after C++'s name mangling). Raises CompileError with the learner's lines."""
    from cupy.cuda import nvrtc

    headers = {"course_prelude.h": PRELUDE, **dict.fromkeys(EMPTY, "")}
    for name in STANDARD:
        headers[name] = f"#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
    program = nvrtc.createProgram(
        text.text, text.name, [held.encode() for held in headers.values()], [name.encode() for name in headers]
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
