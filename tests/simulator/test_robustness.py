"""Whatever a kernel does, the process lives, the error is a sentence that names the kernel, and the next launch is right."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, KernelError, asarray, sanitize, zeros

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "launch.cu"
F, I = np.float32, np.int32

# name: (block, the arguments after a device array of 64, dtype of that array, words of the error)
CRASHES = {
    "wild": ((1,), (2**44,), F, "wild|past the end|no array"),
    "wild_int": ((1,), (2**30,), F, "past the end of the array 'y'"),
    "null": ((64,), None, F, "null pointer"),
    "never_set": ((1,), (), F, "null pointer"),
    "far_away": ((1,), (), F, "where there is no memory: a wild pointer"),
    "recurse": ((2,), (10**7,), F, "64 KB of local memory"),
    "stuck": ((32,), (), F, "lanes that never come"),
    "insist": ((32,), (5,), F, "assertion failed: threadIdx.x < n"),
    "give_up": ((32,), (), F, r"__trap\(\)"),
    "not_an_instruction": ((1,), (), F, r"end without `return`, or is .* divided by a 0 .*\? course_lib"),
    "jump": ((1,), (8,), F, "null|wild|crash"),
}


def crash(name, timeout=5):
    block, more, dtype, _ = CRASHES[name]
    args = (None,) if more is None else (zeros(64, dtype), *more)
    Kernel(FILE, name)((2,), block, args, timeout=timeout)


def check_a_correct_launch():
    x, out = asarray(np.arange(500, dtype=F)), zeros(500)
    Kernel(FILE, "add")((8,), (64,), (x, x, out, 500))
    np.testing.assert_array_equal(out, 2 * np.arange(500))
    y = zeros(128)
    Kernel(FILE, "dynamic")((1,), (128,), (y,), shared_mem=512)
    np.testing.assert_array_equal(y, np.arange(128)[::-1])


@pytest.mark.parametrize("name", CRASHES)
def test_a_crash_is_a_sentence(name, compiler):
    with pytest.raises(KernelError, match=rf"(?s)^{name} .*({CRASHES[name][3]})"):
        crash(name)
    check_a_correct_launch()


def test_endless_kernels_are_stopped():
    for name, args in (("spin", (zeros(1, I),)), ("spin_without_memory", (zeros(1),))):
        began = time.monotonic()
        with pytest.raises(KernelError, match=rf"{name} was stopped.*timeout=0.3 s"):
            Kernel(FILE, name)((4,), (32,), args, timeout=0.3)
        assert time.monotonic() - began < 20
        check_a_correct_launch()
        report = sanitize(Kernel(FILE, name), (1,), (32,), args, timeout=0.3)
        assert [issue.kind for issue in report.issues] == ["timeout"]
        assert "while" in report.issues[0].source


@pytest.mark.parametrize("rounds", [700, 1100, 2100])
def test_a_lock_that_is_taken_very_often(rounds):
    """What a warp has written long ago is still known to lie before: its fences are counted in 16 bits."""
    code = """__global__ void often(int* lock, float* y, int rounds) {
    if (threadIdx.x == 0) {
        y[1] = 7.0f;
        while (atomicAdd(&lock[1], 0) < 31) {}
    }
    while (threadIdx.x == 32 && atomicAdd(&lock[1], 0) < 32) {}
    for (int i = 0; i < rounds; i++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        y[0] += 1.0f;
        __threadfence();
        atomicExch(lock, 0);
    }
    atomicAdd(&lock[1], 1);
    if (threadIdx.x == 32) y[2] = y[1];
}"""
    y = zeros(4)
    report = sanitize(Kernel(code, "often"), (1,), (33,), (zeros(2, I), y, rounds))
    assert report.ok, str(report)
    assert y[2] == 7 and y[0] == 33 * rounds


@pytest.mark.parametrize("locks", [1, 2, 3, 30])
def test_many_threads_with_several_locks(locks):
    code = """__device__ void add(int* lock, int* sum) {
    for (bool done = false; !done;)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *sum += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
__global__ void histogram(int* lock, int* sum, int rounds, int n) {
    for (int round = 0; round < rounds; round++) {
        int i = (threadIdx.x * 7 + round * 13) % n;
        add(lock + i, sum + i);
    }
}"""
    for seed in (0, 1, 2, 3):
        sums = zeros(locks, I)
        report = sanitize(Kernel(code, "histogram"), (2,), (128,), (zeros(locks, I), sums, 40, locks), seed=seed)
        assert report.ok, str(report)
        assert sums.sum() == 256 * 40


@pytest.mark.parametrize("rounds", [100, 65_590])
def test_lanes_that_meet_very_often(rounds):
    code = """__global__ void k(int* out, int rounds) {
    __shared__ int a[32];
    a[threadIdx.x] = threadIdx.x;
    for (int r = 0; r < rounds; r++) __syncwarp();
    out[threadIdx.x] = a[threadIdx.x ^ 1];
}"""
    assert sanitize(Kernel(code, "k"), (1,), (32,), (zeros(32, I), rounds)).ok


def test_who_polls_a_volatile_variable_is_told_how_to_wait():
    code = """__global__ void hand_on(volatile int* flag, int* y) {
    if (threadIdx.x == 0) { while (*flag == 0) {} *y = 1; }
    if (threadIdx.x == 32) *flag = 1;
}"""
    args = zeros(1, I), zeros(1, I)
    with pytest.raises(KernelError, match=r"larger timeout\. If a thread waits .*atomicAdd\(p, 0\).*\.$"):
        Kernel(code, "hand_on")((1,), (64,), args, timeout=0.3)
    report = sanitize(Kernel(code, "hand_on"), (1,), (64,), args, timeout=0.3)
    assert "timeout" in report.issues[-1].kind and "atomicAdd(p, 0)" in report.issues[-1].message


ENDLESS = {
    "reads": "while (*(volatile float*)y == 0.0f) { }",
    "computes": "unsigned k = threadIdx.x | 1;\n while (k) k = k * 1664525u + 1013904222u | 1;\n y[0] = k;",
    "calls_the_maths_library": "float x = 2.0f;\n while (x > 0.0f) x = cosf(sinf(x)) + 1.0f;\n y[0] = x;",
    "waits_for_the_block": "y[threadIdx.x + 64 * blockIdx.x] = 1.0f;\n while (true) __syncthreads();",
    "waits_for_the_warp": "while (true) __syncwarp();",
    "takes_a_lock": "while (atomicCAS((int*)y, 1, 1) == 0) { }",
    "asks_for_its_index": "volatile bool always = true;\n while (always) __ballot_sync(~0u, threadIdx.x + blockIdx.x);",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_an_endless_loop_is_named_even_if_the_machine_had_no_time_for_it(what, compiler):
    """The time is over before the kernel has begun; the report names the loop, not where the machine happened to be."""
    kernel = Kernel(f"__global__ void endless(float* y) {{\n{ENDLESS[what]}\n}}", "endless")
    for _ in range(5):
        report = sanitize(kernel, 2, 64, (zeros(128),), timeout=0.0001)
        assert [(issue.kind, issue.file) for issue in report.issues] == [("timeout", "kernel.cu")], str(report)
        assert "while" in report.issues[0].source, str(report)
    check_a_correct_launch()


def test_a_launch_that_ends_soon_after_its_time_is_no_timeout():
    """A checked launch has a moment of its own, however short its time: a busy machine is not the kernel's fault."""
    for _ in range(20):
        assert sanitize(Kernel(FILE, "copy"), 1, 64, (zeros(64), zeros(64), 64), timeout=0.0001).ok


@pytest.mark.parametrize("checked", (False, True))
def test_ctrl_c_stops_a_kernel(checked):
    kernel, flag = Kernel(FILE, "spin"), zeros(1, I)
    kernel.compiled(checked)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        (sanitize if checked else Kernel.__call__)(kernel, (2,), (32,), (flag,), timeout=30)
    check_a_correct_launch()


def test_a_thousand_faulty_launches():
    """Random faults, in both builds, in one process: it lives, and the launches between are right."""
    rng = np.random.default_rng(7)
    names = [name for name in CRASHES if name != "recurse"]
    for turn in range(1000):
        name = names[rng.integers(len(names))]
        if turn % 5 == 0:
            block, more, dtype, _ = CRASHES[name]
            args = (None,) if more is None else (zeros(64, dtype), *more)
            assert not sanitize(Kernel(FILE, name), (2,), block, args, timeout=5).ok
        else:
            with pytest.raises(KernelError, match=name):
                crash(name)
        if turn % 10 == 0:
            check_a_correct_launch()


@pytest.mark.parametrize("n", (1, 100, 1024, 5000))
def test_the_fast_build_shows_what_is_done_just_beside_an_array(n):
    """No hook looks there. What lies before an array is NaN, and what was written there is noticed."""
    code = "__global__ void beside(float* x, float* y, int at) { y[threadIdx.x] = 1.0f; AT; }"
    read = Kernel(code.replace("AT", "y[0] = x[at]"), "beside")
    write = Kernel(code.replace("AT", "x[at] = 3.0f"), "beside")
    for at in (-1, -2, n, n + 1):
        y, x = zeros(1), zeros(n)
        try:
            read(1, 1, (x, y, at))
            seen = y[0]
        except KernelError as error:  # the array ends, or begins, where a page does
            assert ("before the start" if at < 0 else "past the end") in str(error)
            seen = np.nan
        assert np.isnan(seen) or (at > 0 and seen not in (0.0, 1.0))
        side = "(lies|written) before the start of the array 'x'" if at < 0 else "past the end of the array 'x'"
        with pytest.raises(KernelError, match=side):
            write(1, 1, (x, y, at))
        read(1, 1, (x, y, 0))  # the next launch is none the worse
        assert y[0] == x[0]


@pytest.mark.parametrize("n", (1, 10, 1021))
@pytest.mark.parametrize("shift", (0, -1))
def test_a_copy_that_goes_too_far_brings_no_guard_along(n, shift):
    code = """__global__ void copy(const float* x, float* y, int by) {
        int i = int(blockIdx.x * 32 + threadIdx.x) + by;
        y[i] = x[i];
    }"""
    x, y = np.ones(n, F), np.zeros(n, F)
    with pytest.raises(KernelError, match=r"(before the start|past the end) of the array '[xy]'"):
        Kernel(code, "copy")((n + 31) // 32 if shift else n // 32 + 1, 32 if n > 1 else 2, (x, y, shift))


def test_a_forked_child_can_launch():
    """Exercises are judged in children; threads do not survive a fork, so the child starts its own workers."""
    check_a_correct_launch()
    child = os.fork()
    if child == 0:
        try:
            check_a_correct_launch()
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    check_a_correct_launch()


def test_two_processes_compile_the_same_at_once():
    mark = np.random.default_rng().integers(2**60)
    program = (
        "import numpy as np\nfrom course_lib.cuda import Kernel\n"
        f"source = 'extern \"C\" __global__ void f(int* y) {{ y[0] = 3; }} // {mark}'\n"
        "y = np.zeros(1, np.int32)\nKernel(source, 'f')((1,), (1,), (y,))\nassert y[0] == 3\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [child.wait(120) for child in children] == [0, 0]


def test_launches_from_several_threads_take_turns():
    errors = []

    def work():
        try:
            for _ in range(20):
                check_a_correct_launch()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


UPWARD = """
import resource, sys
import numpy as np
from course_lib.cuda import Kernel, KernelError, asarray, memory, sanitize, zeros
assert resource.getrlimit(resource.RLIMIT_STACK)[0] == resource.RLIM_INFINITY
host = np.zeros(1 << 22, np.float32)
assert not memory.is_device(host) and memory.is_device(zeros(3))
text = '''
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void turn(const float* x, float* y, int n, int far) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i] * table[i % 4];
    __syncthreads();
    if (i < n) y[i + far] = tile[threadIdx.x ^ 1];
}
'''
kernel, x = Kernel(text, "turn"), np.arange(128, dtype=np.float32)
wanted = (x * (1 + x % 4)).reshape(-1, 2)[:, ::-1].ravel()
for array in (np.asarray, asarray):
    y = array(np.zeros(128, np.float32))
    kernel((2,), (64,), (array(x), y, 128, 0))
    np.testing.assert_array_equal(y, wanted)
    report = sanitize(kernel, (2,), (64,), (array(x), y, 128, 0))
    assert report.ok and not report.not_checked, str(report)
(issue,) = sanitize(kernel, (2,), (64,), (x, y, 128, 1 << 30)).issues
assert issue.kind == "out-of-bounds" and "'y', which has 128" in issue.message, issue.message
try:
    kernel((2,), (64,), (x, y, 128, -(1 << 30)))
except KernelError as error:
    assert "before the start of the array 'y'" in str(error), error
else:
    raise AssertionError("nothing was said")
print("all was right")
"""


def test_memory_is_kept_apart_where_the_system_places_its_own_from_the_middle_upward(compiler):
    """Linux does where stacks may grow without limit, as on many clusters: what it hands out was taken for freed arrays."""
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("The system does not let stacks grow without limit here.")
    command = ["sh", "-c", 'ulimit -s unlimited && exec "$0" -c "$1"', sys.executable, UPWARD]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "all was right\n", done.stderr
