"""Most accesses are passed at once as harmless, and most requests counted at a glance: nothing may be lost by that.

Random programs of reads, writes, atomics and waits are reported alike whether every access is judged in full or not, and
random addresses are counted as a set of sectors, or of words in banks, says.
"""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, empty, runtime, sanitize, zeros

PROGRAMS = Path(__file__).with_name("random_accesses.cu")
WORDS = 64
ACCESSES, FIRST_WAIT, SHUFFLE = 22, 30, 33


def program(random: np.random.Generator) -> tuple[np.ndarray, int, int]:
    """((blocks, threads, steps, 2) of what and where, threads, blocks): few kinds of access, many collisions."""
    threads, blocks, count = (
        int(random.choice([17, 32, 48, 128])),
        int(random.integers(1, 4)),
        int(random.integers(1, 14)),
    )
    shape = (blocks, threads, count)
    kinds = random.integers(1, ACCESSES + 1, size=random.integers(1, 6))
    what = random.choice(kinds, size=shape) * (random.random(shape) < random.choice([1.0, 0.5, 0.1, 0.02]))
    thread, step = np.arange(threads)[None, :, None], np.arange(count)
    where = [
        random.integers(0, WORDS, shape),
        np.broadcast_to(thread % WORDS, shape),
        (thread * random.integers(1, 9) + step * random.integers(0, 40)) % WORDS + np.zeros(shape, int),
        np.full(shape, random.integers(0, WORDS)),
    ][random.integers(0, 4)].copy()
    if random.random() < 0.5:  # begin with an array that is written by all
        what[:, :, 0], where[:, :, 0] = random.choice([2, 8, 9, 20]), thread[..., 0] % WORDS
    for wait in np.flatnonzero(random.random(count) < 0.4):
        what[:, :, wait] = random.integers(FIRST_WAIT, SHUFFLE + (threads % 32 == 0))
    return np.stack([what, where], -1).astype(np.int32), threads, blocks


def report(kernel, case, in_full):
    random = np.random.default_rng(case)
    steps, threads, blocks = program(random)
    g = empty(WORDS, np.int32) if random.random() < 0.3 else zeros(WORDS, np.int32)
    lib = runtime.library()
    with runtime.LAUNCH_LOCK:
        lib.sim_trace(ctypes.c_uint64(2**40 if in_full else 0))  # a record of every access leaves no short cut
        try:
            args = (asarray(steps.ravel()), steps.shape[2], g, zeros(blocks * threads, np.int32))
            return sanitize(kernel, (blocks,), (threads,), args, shared_mem=4 * WORDS)
        finally:
            lib.sim_trace(ctypes.c_uint64(0))


def test_short_cuts_lose_nothing(compiler):
    kernel, kinds = Kernel(PROGRAMS, "program"), set()
    for case in range(400):
        quick, full = report(kernel, case, False), report(kernel, case, True)
        assert quick.issues == full.issues, case
        assert quick.lines == full.lines, case
        kinds |= {issue.kind for issue in quick.issues} or {"clean"}
    assert kinds == {"clean", "race", "uninitialised-read"}


GATHER = """
template <class T> __global__ void gather(const T* x, const int* index, T* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = index[i];
    if (from < 0) return;
    out[i] = x[from];  // line 5
}
template <class T> __global__ void gather_shared(const int* index, T* out) {
    __shared__ T s[512];
    int i = threadIdx.x, from = index[i];
    for (int k = i; k < 512; k += blockDim.x) s[k] = T();
    __syncthreads();
    if (from < 0) return;
    out[i] = s[from];  // line 13
}
"""
TYPES = {"char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}  # bytes


def places(random):
    """For each of 128 threads a place of 512, or -1 to stay away: scattered, with a stride, rows of a tile, a few."""
    i = np.arange(128)
    found = [
        random.integers(0, 512, 128),
        (i * random.integers(-40, 41) + random.integers(0, 512)) % 512,
        i // 16 * random.integers(1, 34) + i % 16,
        random.choice(random.integers(0, 512, 3), 128),
    ][random.integers(0, 4)]
    return np.where(random.random(128) < random.choice([0.0, 0.3]), -1, found).astype(np.int32)


def sectors(warp, size):
    """How many 32-byte sectors the lanes of a warp touch."""
    return len({place * size // 32 for place in warp if place >= 0})


def wavefronts(warp, size):
    """How often the banks must be asked: 32 lanes of 4 bytes at once, 16 of 8, 8 of 16."""
    total = 0
    for part in np.split(warp, 32 // min(32, 128 // size)):
        words = {
            word for place in part if place >= 0 for word in range(place * size // 4, (place * size + size + 3) // 4)
        }
        total += max(np.bincount([word % 32 for word in words])) if words else 0
    return total


@pytest.mark.parametrize("name", TYPES)
def test_random_addresses_are_counted_like_sets(name, compiler):
    random, size = np.random.default_rng(0), TYPES[name]
    dtype = {"char": np.int8, "short": np.int16, "double": np.float64}.get(name, np.float32)
    x, out = (zeros(count * size, np.int8).view(dtype) for count in (512, 128))
    for _ in range(30):
        index = places(random)
        warps = index.reshape(4, 32)
        requests = sum((warp >= 0).any() for warp in warps)
        for kernel, grid, args, line, space, count in (
            (f"gather<{name}>", 2, (x, asarray(index), out), 5, "global", sectors),
            (f"gather_shared<{name}>", 1, (asarray(index), out), 13, "shared", wavefronts),
        ):
            found = sanitize(Kernel(GATHER, kernel), (grid,), (128 // grid,), args)
            assert found.ok
            reads = [y for y in found.lines if (y.line, y.space, y.op) == (line, space, "read")]
            assert sum(y.requests for y in reads) == requests
            per = "sectors_per_request" if space == "global" else "wavefronts_per_request"
            counted = sum(round(getattr(y, per) * y.requests) for y in reads)
            assert counted == sum(count(warp, size) for warp in warps), (kernel, index)
