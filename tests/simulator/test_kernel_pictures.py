"""The pictures of memory accesses: drawn from a real run, with words that state what there is to see."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel
from course_lib.cuda.trace import trace
from course_lib.plots import kernels as plots

HERE = Path(__file__).parent
F = np.float32


def of(name):
    return Kernel(HERE / "counters.cu", name)


def test_trace_knows_every_access():
    found = trace(of("stride_2"), (1,), (32,), (np.ones(64, F), np.zeros(32, F)))
    assert len(found) == 64
    reads = [a for a in found if a.op == "read"]
    assert [a.offset for a in reads] == [8 * a.lane for a in reads]
    assert {a.array for a in reads} == {"x"} and {a.space for a in found} == {"global"}


def test_the_second_run_for_a_suspicious_variable_is_not_traced():
    code = """__global__ void pick(const float* x, float* y) {
        float v;
        if (x[threadIdx.x] > 0) v = x[threadIdx.x];
        y[threadIdx.x] = x[threadIdx.x] > 0 ? v : 0.0f;
    }"""
    assert [a.op for a in trace(Kernel(code, "pick"), (1,), (1,), (np.ones(1, F), np.zeros(1, F)))][-1:] == ["write"]
    assert sum(a.op == "write" for a in trace(Kernel(code, "pick"), (1,), (8,), (np.ones(8, F), np.zeros(8, F)))) == 8


def test_thread_map():
    picture = plots.thread_map(of("reversed"), (1,), (32,), (np.ones(32, F), np.zeros(32, F)), array="x")
    assert picture.png[:4] == b"\x89PNG"
    assert "32 threads touch 32 elements of x" in picture.alt and "by itself" not in picture.alt
    picture = plots.thread_map(of("stride_1"), (1,), (32,), (np.ones(32, F), np.zeros(32, F)), array="y")
    assert "written by at most 1 thread, and thread i of the grid by itself takes element i" in picture.alt
    strided = Kernel(
        """__global__ void strided(float* y, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 1.0f;
        }""",
        "strided",
    )
    picture = plots.thread_map(strided, 2, 4, (np.zeros(20, F), 20))
    assert (
        "8 threads touch 20 elements" in picture.alt and "Each thread touches 2 to 3 elements, 8 apart" in picture.alt
    )
    picture = plots.thread_map(strided, (2, 1), (2, 4), (np.zeros(3, F), 3))
    assert "12 of 16 threads touch 3 elements of y, the others touch none" in picture.alt  # y is not asked
    with pytest.raises(ValueError, match=r"at most 64"):
        plots.thread_map(of("stride_32"), (1,), (32,), (np.ones(32, F), np.zeros(1024, F)), array="y")


def test_sectors_tell_coalesced_from_not():
    good = plots.sectors(of("stride_1"), (1,), (32,), (np.ones(32, F), np.zeros(32, F)), array="x")
    assert "4 sectors" in good.alt and "100 % of them are used: coalesced" in good.alt
    bad = plots.sectors(of("stride_8"), (1,), (32,), (np.ones(256, F), np.zeros(32, F)), array="x")
    assert "32 sectors" in bad.alt and "12.5 % of them are used: not coalesced" in bad.alt


def test_banks_tell_conflicts():
    for stride, words in ((1, "no bank conflict"), (2, "a 2-way bank conflict"), (32, "a 32-way bank conflict")):
        line = next(
            n for n, t in enumerate((HERE / "counters.cu").read_text().splitlines(), 1) if "(stride * threadIdx" in t
        )
        picture = plots.banks(of("shared_stride"), (1,), (32,), (np.zeros(32, F), stride), array="s", line=line)
        assert words in picture.alt
    with pytest.raises(ValueError, match=r"No access to q"):
        plots.banks(of("shared_stride"), (1,), (32,), (np.zeros(32, F), 1), array="q")
