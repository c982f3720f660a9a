"""The launch call: arguments checked by name, mirrors, limits, printf, constants, state that stays clean."""

import builtins
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import (
    ArgumentError,
    CompileError,
    Kernel,
    KernelError,
    asarray,
    asnumpy,
    build,
    declarations,
    empty,
    runtime,
    sanitize,
    source,
    zeros,
)

FILE = Path(__file__).parent / "launch.cu"
F, I = np.float32, np.int32


def kernel(name):
    return Kernel(FILE, name)


@pytest.mark.parametrize("threads", [1, 2])
def test_no_more_blocks_run_at_once_than_threads_are_chosen(threads):
    most, blocks = min(threads, runtime.workers()), np.zeros(2, I)
    runtime.library().sim_use(threads)
    try:
        kernel("together")((16,), (1,), (blocks, np.zeros(16, F)))
    finally:
        runtime.library().sim_use(runtime.workers())
    assert blocks.tolist() == [0, most]


def test_numpy_arrays_are_mirrored_and_device_arrays_used_in_place():
    x, y, out = np.arange(100, dtype=F), np.ones(100, F), np.zeros(100, F)
    kernel("add")((2,), (64,), (x, y, out, 100))
    np.testing.assert_array_equal(out, x + 1)
    device = empty(100)
    kernel("add")(2, 64, (asarray(x), asarray(y), device, np.int32(100)))
    np.testing.assert_array_equal(device, x + 1)
    assert asarray(device) is device
    copied = asnumpy(device)
    device[0] = 7
    assert copied[0] == 1


def test_unwritten_device_memory_is_nan_in_every_float_type():
    for dtype in (np.float16, F, np.float64):
        assert np.isnan(empty(5, dtype)).all()
    assert (zeros((2, 3)) == 0).all() and zeros((2, 3)).shape == (2, 3)
    assert empty(0).size == 0 and asarray(np.zeros((0, 3), F)).shape == (0, 3)


def test_views_share_memory_with_what_they_overlap():
    base = np.arange(20, dtype=F)
    kernel("shift")((1,), (32,), (base[:10], base[5:15], 10))  # mirrored together: the overlap is one memory
    expected = np.arange(20, dtype=F)
    for i in range(10):
        expected[i] = expected[i + 5] + 1
    np.testing.assert_array_equal(base, expected)
    device = asarray(np.arange(20, dtype=F))
    kernel("shift")((1,), (32,), (device[:10], device[10:], 10))
    np.testing.assert_array_equal(device[:10], np.arange(11, 21))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({0: np.zeros(3)}, r"'f' \(const float\*\).*float32.*float64.*astype"),
        ({1: np.zeros(3, np.int64)}, r"'i' \(int\*\).*int32.*int64"),
        ({1: np.zeros(3, np.uint32)}, r"'i'.*int32.*uint32.*np.empty"),
        ({0: np.zeros((4, 4), F)[:, 1]}, "'f'.*not contiguous"),
        ({0: np.zeros((4, 4), F).T}, "'f'.*not contiguous"),
        ({0: 1.5}, "'f'.*needs an array"),
        ({0: [1.0, 2.0]}, r"'f'.*needs an array.*np.array\(f, dtype=np.float32\)"),
        ({0: 123456}, "'f'.*no address in device memory"),
        ({5: 1.5}, "'n' .*integer.*1.5"),
        ({5: 2**31}, "'n' .*does not fit"),
        ({6: -1}, r"'m' \(unsigned int\).*-1 does not fit"),
        ({4: np.float64(1)}, r"'s' \(float\) needs float32"),
        ({3: F(1)}, r"'d' \(double\) needs float64"),
        ({5: np.int64(1)}, r"'n' .*int32.*plain Python number.*int\("),
        ({4: 1e40}, "'s'.*too large"),
        ({7: 2}, "'b'.*True or False"),
        ({5: np.zeros(2, I)}, "'n'.*single value"),
        ({5: "3"}, "'n'.*needs int32"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(change, words):
    args = [np.ones(3, F), np.zeros(3, I), np.zeros(3, np.uint8), 1.0, 2.0, 3, 4, True]
    kernel("typed")((1,), (1,), args)
    assert args[1][0] == 12
    for position, value in change.items():
        args[position] = value
    with pytest.raises(ArgumentError, match=words):
        kernel("typed")((1,), (1,), args)


def test_more_refusals():
    x = np.ones(3, F)
    with pytest.raises(ArgumentError, match=r"takes 4 arguments.*const float[*] x.*3 were given"):
        kernel("add")((1,), (1,), (x, x, x))
    for args in ((x,), (3,), (x, 3), (x, x, x, 3)):  # in the call itself, not in a tuple
        with pytest.raises(ArgumentError, match=r"tuple"):
            kernel("null")(1, 1, *args)
    x.flags.writeable = False
    with pytest.raises(ArgumentError, match=r"'x'.*read-only"):
        kernel("add")((1,), (1,), (x, x, x, 3))


def test_structs_by_value():
    settings = np.zeros((), np.dtype([("n", I), ("scale", F), ("bias", np.float64)], align=True))
    settings["n"], settings["scale"], settings["bias"] = 5, 2, 10
    y = np.zeros(8, F)
    kernel("by_struct")((1,), (8,), (settings[()], y))
    np.testing.assert_array_equal(y, [10, 12, 14, 16, 18, 0, 0, 0])


def test_constants_are_uploaded():
    k, y = kernel("look_up"), np.zeros(4, F)
    k.upload("table", np.array([1, 2, 3, 4], F))
    k((1,), (4,), (y,))
    np.testing.assert_array_equal(y, [6, 7, 8, 9])
    k.upload("counter", np.array([100], I))
    k((1,), (4,), (y,))
    np.testing.assert_array_equal(y, [101, 102, 103, 104])
    k.upload("counter", np.array([5], I))
    with pytest.raises(KernelError, match=r"no __constant__ or __device__ variable 'weights'.*table"):
        k.upload("weights", np.zeros(4, F))
    with pytest.raises(ArgumentError, match=r"has 16 bytes"):
        k.upload("table", np.zeros(5, F))


@pytest.mark.parametrize("threads", [2, 32, 97])
@pytest.mark.parametrize("seed", [0, 1])
def test_threads_wait_for_one_another_in_loops_of_atomics(threads, seed, compiler):
    """On a GPU from sm_70 on every thread goes on sooner or later, whatever another of its block waits for."""
    sums = np.cumsum(np.arange(threads)[::-1])
    for name, wanted in (("later_warp", [5]), ("last_comes_first", sums), ("given_back_later", [(threads + 1) // 2])):
        k = kernel(name)
        for checked in (False, True):
            for variable in ("flag", "turn", "held"):
                k.upload(variable, np.zeros(1, I))
            y = zeros(threads)
            if checked:
                report = sanitize(k, 1, threads, (y,), seed=seed, timeout=30)
                assert report.ok, str(report)
            else:
                k(1, threads, (y,), seed=seed, timeout=30)
            np.testing.assert_array_equal(y[: len(wanted)], wanted)


VARIABLES = """
#define MANY \\
    __device__ int not_one;
__device__ int first = 1, second[2] = {2, 3}, third(4);
static __device__ float2 pair, *to_pair;
namespace tool { namespace { __constant__ float scales[2][3]; } __managed__ int calls; }
extern "C" { __device__ volatile unsigned flags; }
alignas(16) __device__ float wide[4];
const __device__ float pi = 3.0f;
struct Point { int x; __device__ int twice() const { return 2 * x; } };
__device__ Point origin{7};
template <int N> __device__ int many[N];
__device__ int helper(int n) { static __device__ int own; return own + n; }
__global__ void k(int* out) {
    tool::calls = 1;
    out[0] = first + second[1] + third + flags + origin.twice() + helper(many<2>[1]);
    out[0] += int(pair.x + tool::scales[1][2] + wide[3] + pi);
}
"""


@pytest.mark.parametrize("checked", [False, True])
def test_every_variable_at_file_scope_is_known_by_its_name(compiler, checked):
    k, out = Kernel(VARIABLES, "k"), np.zeros(1, I)
    k.upload("tool::scales", np.full((2, 3), 100, F))
    k.upload("third", np.array([1000], I))
    k.upload("wide", np.full(4, 10, F))
    report = (sanitize if checked else Kernel.__call__)(k, (1,), (1,), (out,))
    assert not checked or report.ok, str(report)
    assert out[0] == 1 + 3 + 1000 + 14 + 100 + 10 + 3
    assert [(v.name, v.constant) for v in declarations.device_variables(k.source)] == [
        ("first", False), ("second", False), ("third", False), ("pair", False), ("to_pair", False), ("tool::scales", True),
        ("tool::calls", False), ("flags", False), ("wide", False), ("pi", False), ("origin", False),
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match="'pi' is const"):
        k.upload("pi", np.zeros(1, F))


def test_a_subscript_operator_is_no_variable():
    code = """
    struct Twice {
        const float* x;
        __device__ float operator[](int i) const { return 2 * x[i]; }
    };
    extern "C" __global__ void twice(const float* x, float* y) { y[threadIdx.x] = Twice{x}[threadIdx.x]; }
    """
    y = np.zeros(4, F)
    Kernel(code, "twice")((1,), (4,), (np.arange(4, dtype=F), y))
    np.testing.assert_array_equal(y, [0, 2, 4, 6])


@pytest.mark.parametrize(
    ("grid", "block", "shared", "words"),
    [
        ((1,), (1025,), 0, "block.x is 1,025.*1,024"),
        ((1,), (64, 32), 0, "2,048 threads per block"),
        ((1,), (1, 1, 65), 0, "block.z is 65.*64"),
        ((0,), (32,), 0, "grid.x is 0"),
        ((1, 65536), (32,), 0, "grid.y is 65,536"),
        ((1.5,), (32,), 0, r"whole numbers.*round up: \(n \+ 127\) // 128"),
        (64 / 32, 32, 0, r"2.0 was given. Divide with //"),
        ((1, 1, 1, 1), (32,), 0, "one to three"),
        ((1,), (32,), 240_000, "bytes of shared memory"),
        ((1,), (32,), -4, "number of bytes"),
    ],
)
def test_limits_are_those_of_a_gpu(grid, block, shared, words):
    with pytest.raises(ArgumentError, match=words):
        kernel("dynamic")(grid, block, (np.zeros(64, F),), shared_mem=shared)


def test_numpy_counts_blocks_too():
    y = np.zeros(64, F)
    kernel("dynamic")(np.int64(1), np.prod((4, 16)), (y,), shared_mem=256)


def test_shared_memory_limits():
    y = np.zeros(64, F)
    kernel("large_shared<48>")((1,), (64,), (y,))
    assert y.sum() == 64
    with pytest.raises(ArgumentError, match=r"50,176 bytes.*49,152"):
        kernel("large_shared<49>")((1,), (64,), (y,))
    kernel("dynamic")((1,), (64,), (y,), shared_mem=227 * 1024)
    np.testing.assert_array_equal(y, np.arange(64)[::-1])


def test_printf_reaches_python(capsys):
    kernel("chatter")((1,), (64,), (3,))
    assert capsys.readouterr().out == "".join(f"thread {i} of block: {i / 2:.2f}\n" for i in range(3))


@pytest.mark.parametrize("checked", [False, True])
def test_endless_printf_is_cut_where_a_gpu_cuts_it(checked, capsys):
    k = Kernel('__global__ void k(int n) { for (int i = 0; i < 10; i -= n) printf("%d\\n", i); }', "k")
    if checked:
        assert sanitize(k, 1, 1, (1,), timeout=1).issues[0].kind == "timeout"
    else:
        with pytest.raises(KernelError, match="still running"):
            k(1, 1, (1,), timeout=1)
    text, _, rest = capsys.readouterr().out.partition("\n[")
    assert len(text) == 1 << 20 and text.startswith("0\n-1\n-2\n") and "further characters did not fit" in rest
    lines = [int(line) for line in text.splitlines()[:-1]]
    assert lines == list(range(0, -len(lines), -1))
    kernel("chatter")((1,), (64,), (1,))
    assert capsys.readouterr().out == "thread 0 of block: 0.00\n"


def test_one_file_compiles_once_and_kernels_share_its_variables(monkeypatch):
    from course_lib.cuda import build

    source = FILE.read_text() + f"\n// {np.random.default_rng().integers(2**60)}\n"
    calls = []
    original = build.compile_library
    monkeypatch.setattr(build, "compile_library", lambda *a: calls.append(a) or original(*a))
    first, second = Kernel(source, "null"), Kernel(source, "large_shared<1>")
    y = np.zeros(64, F)
    first((1,), (64,), (y,))
    second((1,), (64,), (y,))
    Kernel(source, "wild_int")((1,), (1,), (y, 3))
    assert len(calls) == 1


def test_importing_needs_no_compiler_and_the_first_launch_says_what_to_do(tmp_path):
    program = (
        "import course_lib.cuda as cuda, sys\n"
        "assert 'numpy' not in sys.modules and 'cupy' not in sys.modules\n"
        "kernel = cuda.Kernel('extern \"C\" __global__ void f(int n) {}', 'f')\n"
        "try: kernel((1,), (1,), (1,))\n"
        "except cuda.KernelError as error: print(error)\n"
    )
    import os

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                         env={**os.environ, "COURSE_COMPILER": "none"})  # fmt: skip
    assert "needs a C++ compiler" in run.stdout, run.stderr


@pytest.mark.parametrize("checked", [False, True])
def test_a_template_may_use_dynamic_shared_memory(compiler, checked):
    code = """
        template <int N> __global__ void reverse(float* x) {
            extern __shared__ float tile[];
            tile[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            x[threadIdx.x] = tile[N - 1 - threadIdx.x];
        }
    """
    x = np.arange(64, dtype=F)
    if checked:
        assert sanitize(Kernel(code, "reverse<64>"), (1,), (64,), (x,), shared_mem=256).ok
    else:
        Kernel(code, "reverse<64>")((1,), (64,), (x,), shared_mem=256)
    np.testing.assert_array_equal(x, np.arange(64)[::-1])


def test_the_same_text_compiled_by_two_threads_at_once(tmp_path, monkeypatch):
    """As when our solution is compiled beside a learner's answer of the same words, and nothing is in the cache yet."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(60):
            text = source.find(f"__global__ void same(float* x) {{ x[0] = {number}; }}")
            with ThreadPoolExecutor(2) as pool:
                files = list(pool.map(build._translation_unit, [text] * 2, [["same"]] * 2, [[]] * 2))
            assert files[0] == files[1] and f"x[0] = {number};" in files[0].read_text()
    finally:
        sys.setswitchinterval(interval)
    assert not list(tmp_path.rglob("*.cpp.*")), "something was left aside"


def test_no_file_of_the_package_takes_the_name_of_a_builtin():
    """A submodule, once imported, is a name in its package: one called `globals` hid the function that __getattr__ calls."""
    files = {path.stem for path in Path(build.__file__).parent.glob("*.py")}
    assert not files & set(dir(builtins))


@pytest.mark.parametrize("name", ["first", "last", "block", "launch", "run", "thread", "state"])
def test_a_kernel_and_a_variable_may_have_any_name(name):
    y = np.zeros(4, F)
    code = f"__constant__ float bytes[1]; __global__ void {name}(float* out) {{ out[threadIdx.x] = threadIdx.x + 1; }}"
    Kernel(code, name)((1,), (4,), (y,))
    assert list(y) == [1, 2, 3, 4]
    y[:] = 0
    assert sanitize(Kernel(code, name), (1,), (4,), (y,)).ok
    assert list(y) == [1, 2, 3, 4]


VOTES = {  # of the 8 lanes that are left, all of which bring a 1
    "__popc(__ballot_sync(~0u, x[i] > 0))": 8,
    "__all_sync(~0u, x[i] > 0)": 1,
    "__any_sync(~0u, x[i] > 5)": 0,
    "__reduce_add_sync(~0u, x[i])": 8,
    "__popc(__match_any_sync(~0u, x[i]))": 8,
    "__popc(__match_all_sync(~0u, x[i], &all)) * all": 8,
    "__popc(__ballot_sync(__activemask(), x[i] > 0))": 8,
}


@pytest.mark.parametrize("vote", VOTES)
def test_lanes_that_have_returned_vote_no_more(vote, compiler):
    code = f"""__global__ void vote(const int* x, int* y, int n) {{
        int i = threadIdx.x, all = 0, one = i < 32;
        int before = __ballot_sync(~0u, one) + __any_sync(~0u, one) + __match_any_sync(~0u, one) + __shfl_sync(~0u, one, 0);
        if (before == 77) y[0] = 1;
        if (i >= n) return;
        y[i] = {vote};
    }}"""
    for seed in (0, 1):
        y = zeros(8, np.int32)
        Kernel(code, "vote")((1,), (32,), (asarray(np.ones(8, np.int32)), y, 8), seed=seed)
        np.testing.assert_array_equal(y, VOTES[vote])


def test_printf_takes_long_and_long_long_alike(compiler, capfd):
    code = """#include <stdint.h>
__global__ void say(int* y) {{ printf("%lu %llu %lld{0}\\n", 5ull, (uint64_t)7, (long)-1{1}); }}"""
    Kernel(code.format("", ""), "say")((1,), (1,), (zeros(1, np.int32),))
    assert capfd.readouterr().out == "5 7 -1\n"
    with pytest.raises(CompileError, match=r"line 2(?s:.*)needs a value of its kind"):
        Kernel(code.format(" %d", ", 1.5f"), "say")((1,), (1,), (zeros(1, np.int32),))


POLLS = (
    "for (;;) { if (atomicAdd(&f[0], 0) == 1) break; }",
    "do { if (atomicOr(&f[0], 0u)) break; } while (true);",
    "for (int seen = 0; !seen; ) seen = atomicAdd(&f[0], n);",
)


@pytest.mark.parametrize("poll", POLLS)
def test_a_thread_that_polls_lets_others_go_on(poll):
    code = f"""__global__ void wait(unsigned* f, int* y, int n) {{
    if (threadIdx.x == 0) {{ {poll} y[0] = 5; }}
    else if (threadIdx.x == 1) atomicOr(&f[0], 1);
}}"""
    y = zeros(1, np.int32)
    Kernel(code, "wait")((1,), (32,), (zeros(1, np.uint32), y, 0), timeout=5)
    assert y[0] == 5
