"""What the zoo does not show: pointers inside data, declared order, seeds, reports as text and HTML, results of checked runs."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, KernelError, Report, asarray, empty, sanitize, zeros

FILE = Path(__file__).parent / "launch.cu"
F, I = np.float32, np.int32


def test_host_pointers_are_found(compiler):
    host, y = np.ones(4, F), zeros(32)
    places = np.array([host.ctypes.data], np.uint64)
    report = sanitize(Kernel(FILE, "pointer_inside_data"), (1,), (32,), (places, y))
    assert [issue.kind for issue in report.issues] == ["host-pointer"]
    assert "*(const float*)places[0]" in report.issues[0].source
    inside = asarray(host)
    places[0] = inside.ctypes.data
    assert sanitize(Kernel(FILE, "pointer_inside_data"), (1,), (32,), (places, y)).ok
    assert (y == 1).all()
    report = sanitize(Kernel(FILE, "copy"), (1,), (32,), (host.ctypes.data, y, 4))
    assert [issue.kind for issue in report.issues] == ["host-pointer"]


def test_a_large_struct_may_be_an_argument(compiler):
    """The launcher copies it from memory of the host, which is no fault of the kernel's."""
    code = """struct Places { float* place[400]; int count; };
    __global__ void last(const __grid_constant__ Places places, float* y) {
        y[threadIdx.x] = places.place[places.count - 1][threadIdx.x];
    }"""
    x, y = asarray(np.arange(32, dtype=F)), zeros(32)
    places = np.zeros((), [("place", np.uint64, 400), ("count", I), ("padding", I)])
    places["place"][4], places["count"] = x.ctypes.data, 5
    report = sanitize(Kernel(code, "last"), (1,), (32,), (places[()], y))
    assert report.ok, str(report)
    np.testing.assert_array_equal(y, x)


def test_unwritten_global_memory(compiler):
    copy, x, y = Kernel(FILE, "copy"), empty(64), zeros(64)
    report = sanitize(copy, (1,), (64,), (x, y, 64))
    assert [issue.kind for issue in report.issues] == ["uninitialised-read"]
    assert "'x'" in report.issues[0].message
    x[:] = 1  # written by Python
    assert sanitize(copy, (1,), (64,), (x, y, 64)).ok
    z = empty(64)
    copy((1,), (64,), (x, z, 64))  # written by an unchecked launch
    assert sanitize(copy, (1,), (64,), (z, y, 64)).ok
    w = empty(64)
    w[:32] = 2
    assert not sanitize(copy, (1,), (64,), (w, y, 64)).ok
    assert sanitize(copy, (1,), (64,), (w, y, 32)).ok


def test_an_array_smaller_than_what_is_read_of_it_has_so_many_bytes():
    wide = Kernel("__global__ void wide(const float4* x, float4* y) { y[0] = x[0]; }", "wide")
    (issue,) = sanitize(wide, 1, 1, (np.ones(3, F), np.ones(4, F))).issues
    assert issue.message == "a read of 16 bytes at 'x', which has only 12"


def test_only_what_moves_more_than_its_place_explains_is_called_uncoalesced():
    text = (
        "__global__ void pick(const float* x, float* y, int lanes, int step, int start) {{\n"
        "    int i = threadIdx.x;\n    if (i >= lanes) return;\n    y[i] = x[start + step * i];\n}}\n"
    )
    pick = Kernel(text.format(), "pick")
    for lanes, step, start, called in ((15, 1, 0, False), (15, 1, 7, False), (3, 1, 6, False), (32, 1, 3, False),
                                       (15, 4, 0, True), (32, 2, 0, True), (3, 8, 0, True), (8, 2, 0, False)):  # fmt: skip
        report = sanitize(pick, 1, 32, (np.ones(300, F), np.ones(300, F), lanes, step, start))
        (read,) = [line for line in report.lines if line.op == "read"]
        assert read.remark.startswith("uncoalesced") == called, (lanes, step, start, str(report))


def test_an_issue_says_who_and_where():
    report = sanitize(Kernel(FILE, "copy"), (3,), (40,), (np.ones(100, F), np.ones(100, F), 101))
    assert isinstance(report, Report) and not report.ok
    issue = report.issues[0]
    assert (issue.kind, issue.file, issue.block, issue.thread) == ("out-of-bounds", "launch.cu", (2, 0, 0), (20, 0, 0))
    assert issue.source == "if (i < n) y[i] = x[i];"
    assert "'x', which has 100" in issue.message and "4 bytes past its end" in issue.message
    text = str(report)
    assert "out-of-bounds" in text and f"{issue.line:4} | if (i < n)" in text
    html = report._repr_html_()
    assert html.index("out-of-bounds") < html.index("100") and "<table>" in html and "sectors per request" in html
    assert "<script" not in html


def test_a_thread_does_not_race_with_itself(compiler):
    """Both warps read s[0], and one of the readers writes it: whatever the order, the other is somebody else."""
    kernel = Kernel("""__global__ void again(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[0];
    s[threadIdx.x] = 0.0f;
}""", "again")  # fmt: skip
    for seed in range(12):
        report = sanitize(kernel, (1,), (64,), (zeros(64),), seed=seed)
        sides = {(issue.kind, issue.other_line) for issue in report.issues}
        assert sides and sides <= {("race", 5), ("race", 6)}
        assert not [issue.message for issue in report.issues if f"the other is thread {issue.thread}" in issue.message]


def test_a_checked_run_leaves_the_results_of_a_launch():
    x, y = np.arange(100, dtype=F), np.zeros(100, F)
    assert sanitize(Kernel(FILE, "copy"), (2,), (64,), (x, y, 100)).ok
    np.testing.assert_array_equal(x, y)


def test_limits_hold_for_checked_runs_too():
    with pytest.raises(KernelError, match=r"threads per block"):
        sanitize(Kernel(FILE, "copy"), (1,), (64, 64), (np.zeros(3, F), np.zeros(3, F), 3))


def test_a_shuffled_run_shows_a_race_in_the_result():
    """In order, 64 threads count to 64 without an atomic; shuffled, they overtake each other and lose updates."""
    y = zeros(1, I)
    Kernel(FILE, "lost_update")((1,), (64,), (y,))
    assert y[0] == 64
    y[0] = 0
    assert not sanitize(Kernel(FILE, "lost_update"), (1,), (64,), (y,), seed=3).ok
    assert y[0] < 64


def test_a_shuffled_launch_is_repeatable_and_in_another_order():
    source = """extern "C" __global__ void order(int* y, int* next) {
        y[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
    }"""
    kernel, orders = Kernel(source, "order"), []
    for seed in (0, 1, 1, 2):
        y, following = zeros(64, I), zeros(1, I)
        kernel((1,), (64,), (y, following), seed=seed)
        orders.append(list(y))
    assert orders[0] == sorted(orders[0]) and orders[1] == orders[2] != orders[0] != orders[3] != orders[1]
    assert all(sorted(order) == orders[0] for order in orders)


@pytest.mark.parametrize("name", ("waits", "never_waits"))
def test_a_kernel_gives_the_same_bits_in_every_order(name, compiler):
    """Threads that wait are fibers, others may run in a loop: in a file that waits both call the very same code."""
    code = """
    __device__ float long_sum(float x) {
        float s = 0.0f;
        for (int j = 0; j < 7; j++) s += expf(x * 0.1f * j) * (x - s) + s * s * 0.01f;
        return s * (1.0f + x * x) + tanhf(s);
    }
    __global__ void waits(const float* x, float* y, int n) {
        __shared__ float t[64];
        int i = blockIdx.x * 64 + threadIdx.x;
        t[threadIdx.x] = i < n ? long_sum(x[i]) : 0.0f;
        __syncthreads();
        if (i < n) y[i] = t[threadIdx.x] * 0.3f + t[threadIdx.x ^ 1];
    }
    __global__ void never_waits(const float* x, float* y, int n) {
        int i = blockIdx.x * 64 + threadIdx.x;
        if (i < n) y[i] = long_sum(x[i]) * 0.3f + x[i];
    }"""
    x, results = np.random.default_rng(0).standard_normal(1000, dtype=F), []
    for seed in (0, 1, 2):
        y = zeros(1000)
        Kernel(code, name)(16, 64, (x, y, 1000), seed=seed)
        results.append(y.tobytes())
    assert results[0] == results[1] == results[2]


def test_a_loop_that_ends_late_is_a_timeout_with_its_line():
    report = sanitize(Kernel(FILE, "spin_without_memory"), (1,), (1,), (zeros(1),), timeout=0.2)
    assert [issue.kind for issue in report.issues] == ["timeout"]
    assert report.issues[0].source.startswith("while")


def test_shared_arrays_of_bfloat16_are_watched_like_others(compiler):
    """g++ keeps a byte beside a local array of structs; that byte is not the learner's."""
    code = """#include <cuda_bf16.h>
    template <int N> __global__ void turn(const __nv_bfloat16* x, __nv_bfloat16* y, int last) {
        __shared__ __nv_bfloat16 a[N], b[N];
        a[threadIdx.x] = b[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = a[last - threadIdx.x] + b[last - threadIdx.x];
    }"""
    x, y = np.arange(64, dtype=np.uint16), zeros(64, np.uint16)  # the smallest bfloat16 numbers: their bits add up
    report = sanitize(Kernel(code, "turn<64>"), (1,), (64,), (x, y, 63))
    assert report.ok, str(report)
    np.testing.assert_array_equal(y, 2 * x[::-1])
    assert [issue.kind for issue in sanitize(Kernel(code, "turn<64>"), (1,), (64,), (x, y, 64)).issues] == [
        "out-of-bounds"
    ]


@pytest.mark.parametrize("words", [1, 2, 4])
def test_asynchronous_copies_are_watched(words, compiler):
    """Their reads count, and one that would leave its array is found."""
    code = f"""#include "ptx.cuh"
    extern "C" __global__ void pass(const float* x, float* y, int from) {{
        __shared__ __align__(16) float a[{32 * words}];
        ptx::cp_async_{4 * words}(a + {words} * threadIdx.x, x + from + {words} * threadIdx.x);
        ptx::cp_async_wait_all();
        for (int i = 0; i < {words}; i++) y[{words} * threadIdx.x + i] = a[{words} * threadIdx.x + i];
    }}"""
    x, y = np.arange(32 * words, dtype=F), zeros(32 * words)
    report = sanitize(Kernel(code, "pass"), (1,), (32,), (x, y, 0))
    assert report.ok, str(report)
    np.testing.assert_array_equal(y, x)
    read = [line for line in report.lines if (line.space, line.op) == ("global", "read")]
    assert [(line.requests, line.sectors_per_request) for line in read] == [(1, 4 * words)]
    report = sanitize(Kernel(code, "pass"), (1,), (32,), (x, y, words))
    assert [issue.kind for issue in report.issues] == ["out-of-bounds"]
