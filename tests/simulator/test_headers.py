"""Which headers a `.cu` text may begin with: those of CUDA, those of C, and those of the compiler's own library."""

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel, sanitize
from tests.simulator.compilers import blocks, both, compilers, launch, using

F = np.float32


@compilers
@both
def test_what_the_standard_headers_declare(mode, compiler, monkeypatch):
    using(compiler, monkeypatch)
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


@compilers
@both
def test_headers_of_the_compilers_own_library(mode, compiler, monkeypatch, capfd):
    """Whatever they do to the names memcpy, assert, printf and __noinline__, those of a kernel are still there."""
    using(compiler, monkeypatch)
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


@compilers
@pytest.mark.parametrize("space", ["", "std::"])
def test_copies_are_still_watched_after_cstring(space, compiler, monkeypatch):
    using(compiler, monkeypatch)
    text = f'#include <cstring>\nextern "C" __global__ void f(float* y) {{\n    {space}memcpy(y + 4, y, 8);\n}}'
    report = sanitize(Kernel(text, "f"), (1,), (1,), (np.zeros(5, F),))
    assert [(issue.kind, issue.line) for issue in report.issues] == [("out-of-bounds", 3)], str(report)


@compilers
def test_streams_are_refused_where_they_are_included(compiler, monkeypatch):
    using(compiler, monkeypatch)
    text = '#include <cstdio>\n#include <iostream>\nextern "C" __global__ void f(float* y) { std::cout << y[0]; }'
    with pytest.raises(CompileError, match=r"line 2.*\n.*#include <iostream>\n  Leave it out"):
        Kernel(text, "f").compiled(checked=False)
