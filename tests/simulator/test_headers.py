"""Which headers a `.cu` text may begin with: those of CUDA, those of C, and those of the compiler's own library."""

import re

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel, nvrtc, runtime, sanitize, source
from course_lib.cuda.programs import build
from tests.nvrtc_here import needs_nvrtc
from tests.simulator.launching import blocks, both, launch

F = np.float32


def test_shared_memory_of_a_program_is_declared_as_that_of_a_kernel():
    """A program is compiled after its preprocessor, where no macro of a header is left: so it stands in two places."""
    text = (runtime.INCLUDE / "simulator/language.h").read_text()
    checked, fast = re.findall(r"^#define SIM_SHARED (.*?)(?:  //.*)?$", text, re.MULTILINE)
    assert build._SHARED == {True: checked, False: fast}


@both
def test_what_the_standard_headers_declare(mode, compiler):
    for n in (1, 97):
        x = np.random.default_rng(n).standard_normal(n, dtype=F)
        y, bits = np.zeros(n, F), np.zeros(n, np.uint32)
        launch(mode, "values_headers.cu", "standard", blocks(n), (64,), (x, y, bits, n))
        wide = x.astype(np.float64)
        np.testing.assert_allclose(y, np.exp(wide) + np.abs(wide) + np.pi + 0.5**0.5 + 3, rtol=1e-6)
        np.testing.assert_array_equal(bits, x.view(np.uint32))
    y, z = np.zeros(16, np.int64), np.zeros(8)
    launch(mode, "values_headers.cu", "limits", (1,), (1,), (y, z))
    top = 2**63 - 1
    assert list(y) == [8, -128, 255, -(2**15), 2**16 - 1, -(2**31), 2**32 - 1, -(2**63), top, top, 10, 127, 1, 1, 1, 21]
    small, large = np.finfo(F), np.finfo(np.float64)
    expected = [small.max, small.tiny, large.max, large.tiny, large.eps, np.e, np.log(2), np.inf]
    np.testing.assert_allclose(z, expected, rtol=1e-9)


def decoded(mantissa: int, bias: int, infinite: bool) -> np.ndarray:
    """The values of the 128 positive numbers of a format of 8 bits, by its definition."""
    bits = np.arange(128)
    exponent, fraction = bits >> mantissa, bits % (1 << mantissa)
    values = np.where(exponent, 1 + fraction / 2.0**mantissa, fraction / 2.0**mantissa) * 2.0 ** (
        np.maximum(exponent, 1) - bias
    )
    if infinite:
        values[exponent == exponent.max()] = np.where(fraction[exponent == exponent.max()], np.nan, np.inf)
    else:
        values[127] = np.nan
    return values


def nearest(x: np.ndarray, values: np.ndarray, saturate: bool) -> np.ndarray:
    """The bits of the nearest number of a format, ties to the even one; what is too large rounds as if the format went on."""
    finite = values[np.isfinite(values)]
    beyond = 2 * finite[-1] - finite[-2]
    grid, size = np.append(finite, beyond), np.minimum(np.abs(x.astype(np.float64)), beyond)
    above = np.clip(np.searchsorted(grid, size), 1, len(grid) - 1)
    low, high = size - grid[above - 1], grid[above] - size
    bits = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    over = bits == len(finite)
    overflow = len(finite) - 1 if saturate else np.isinf(values).argmax() if np.isinf(values).any() else 127
    return np.where(np.isnan(x), 127, np.where(over, overflow, bits) | np.signbit(x) << 7)


@both
def test_numbers_of_eight_bits(mode, compiler):
    e4m3, e5m2 = decoded(3, 7, False), decoded(2, 15, True)
    random = np.random.default_rng(3)
    finite = np.concatenate([v[np.isfinite(v)] for v in (e4m3, e5m2)])
    middles = np.concatenate([(v[:-1] + v[1:]) / 2 for v in (e4m3[:127], e5m2[:124])])
    special = [464, 465, 480, 500, 61440, 61439, 1e9, np.inf, -np.inf, np.nan, 0.0, -0.0]
    wide = random.standard_normal(300) * 10.0 ** random.integers(-6, 6, 300)
    x = np.concatenate([finite, -middles, np.nextafter(middles.astype(F), 0), wide, special]).astype(F)
    y, back = np.zeros((len(x), 4), np.uint8), np.zeros((len(x), 2), F)
    launch(mode, "values_headers.cu", "eight_bits", blocks(len(x)), (64,), (x, y, back, len(x)))
    for column, (values, saturate) in enumerate(((e4m3, True), (e4m3, False), (e5m2, True), (e5m2, False))):
        np.testing.assert_array_equal(y[:, column], nearest(x, values, saturate))
    both_signs = [np.concatenate([v, -v]) for v in (e4m3, e5m2)]
    np.testing.assert_array_equal(back[:256], np.stack(both_signs, 1).astype(F))
    four, out = np.array([[1.06, -3.3, 1000, 0.001]], F), np.zeros((2, 4), F)
    launch(mode, "values_headers.cu", "eight_bit_vectors", (1,), (1,), (four, out))
    np.testing.assert_array_equal(out, [[1.0, -3.25, 448, 0.001953125], [1.0, 0.0009765625, 3, -0.3125]])


OF_THE_COMPILER = "algorithm array functional initializer_list limits memory string tuple type_traits utility vector"
TEXT = """
__device__ __noinline__ float twice(float x) { return 2 * x; }
extern "C" __global__ void f(float* y) {
    float mine = std::max(1.0f, 2.0f);
    memcpy(y + threadIdx.x, &mine, 4);
    assert(y[threadIdx.x] == 2.0f);
    y[threadIdx.x] = twice(y[threadIdx.x]) + std::numeric_limits<float>::epsilon();
    if (threadIdx.x == 1) printf("here %d\\n", 5);
}
"""


@both
def test_headers_of_the_compilers_own_library(mode, compiler, capfd):
    """Whatever they do to the names memcpy, assert, printf and __noinline__, those of a kernel are still there."""
    includes = "".join(f"#include <{name}>\n" for name in OF_THE_COMPILER.split())
    kernel, y = (
        Kernel(includes + "#include <stdio.h>\n#include <cstring>\n#include <assert.h>" + TEXT, "f"),
        np.zeros(2, F),
    )
    if mode == "fast":
        kernel((1,), (2,), (y,))
        assert "here 5" in capfd.readouterr().out
    else:
        report = sanitize(kernel, (1,), (2,), (y,))
        assert report.ok, str(report)
    assert list(y) == [4, 4]


@pytest.mark.parametrize("space", ["", "std::"])
def test_copies_are_still_watched_after_cstring(space, compiler):
    text = f'#include <cstring>\nextern "C" __global__ void f(float* y) {{\n    {space}memcpy(y + 4, y, 8);\n}}'
    report = sanitize(Kernel(text, "f"), (1,), (1,), (np.zeros(5, F),))
    assert [(issue.kind, issue.line) for issue in report.issues] == [("out-of-bounds", 3)], str(report)


def test_streams_are_refused_where_they_are_included(compiler):
    text = '#include <cstdio>\n#include <iostream>\nextern "C" __global__ void f(float* y) { std::cout << y[0]; }'
    with pytest.raises(CompileError, match=r"line 2.*\n.*#include <iostream>\n  Leave it out"):
        Kernel(text, "f").compiled(checked=False)


# The simulator's compiler has the traits of types in any case; NVRTC by the header alone, and that from libcu++.
TRAITS = """#include <{folder}type_traits>
template <class T> __device__ float kind(T) {{
    if constexpr ({space}::is_same<T, float>::value) return 1;
    return {space}::is_integral_v<{space}::remove_const_t<T>> ? 2 : 3;
}}
extern "C" __global__ void f(float* y) {{
    y[0] = kind(1.0f);
    y[1] = kind(1u);
    y[2] = kind(1.0);
}}
"""


@pytest.mark.parametrize("folder", ["", "cuda/std/"])
def test_traits_of_types_come_by_their_header(compiler, folder):
    text = TRAITS.format(folder=folder, space="cuda::std" if folder else "std")
    y = np.zeros(3, F)
    Kernel(text, "f")((1,), (1,), (y,))
    assert list(y) == [1, 2, 3]
    bare = TRAITS.format(folder="", space="std").replace("#include <type_traits>", "")
    with pytest.raises(CompileError, match="#include <type_traits>") as caught:
        Kernel(bare, "f")((1,), (1,), (y,))
    assert caught.value.line == 3


@needs_nvrtc
@pytest.mark.parametrize("folder", ["", "cuda/std/"])
def test_nvidias_compiler_takes_traits_by_the_same_header(folder):
    text = TRAITS.format(folder=folder, space="cuda::std" if folder else "std")
    assert nvrtc.compile_text(source.find(text), ("f",), "sm_80")[0][:4] == b"\x7fELF"
    bare = TRAITS.format(folder="", space="std").replace("#include <type_traits>", "")
    with pytest.raises(CompileError, match="#include <type_traits>") as caught:
        nvrtc.compile_text(source.find(bare), ("f",), "sm_80")
    assert caught.value.line == 3


@needs_nvrtc
def test_nvidias_compiler_finds_each_header_of_the_standard_library_that_libcu_has():
    for name in nvrtc.STANDARD:
        text = source.find(
            f'#include <{name}>\n#include <cuda_fp16.h>\nextern "C" __global__ void f(float* y) {{ y[0] = std::exp(y[1]); }}'
        )
        assert nvrtc.compile_text(text, ("f",), "sm_80")[0][:4] == b"\x7fELF", name
