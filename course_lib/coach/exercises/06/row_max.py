"""A butterfly of shuffles that serves any operator, and a block that reduces to one number."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extremes

LONG = "rows longer than a block"
LOW = "hardly a lower float"
LANE_SUMS = r"""
template <int LANES> __global__ void lane_sums(const int* x, int* y) {
    y[threadIdx.x] = warp_reduce<LANES, Sum>(x[threadIdx.x]);
}
"""


def cases(random):
    for label, rows, C, THREADS, N in (("one number", 1, 1, 32, 1), ("two rows of two", 2, 2, 32, 1), ("one pack", 1, 4, 128, 4),
                                       ("a warp's width", 2, 32, 32, 1), ("rows longer than a warp", 3, 75, 32, 1),
                                       (LONG, 3, 1028, 128, 4)):  # fmt: skip
        x = random.normal(-9, 3, size=(rows, C)).astype(np.float32)
        yield Case(label, x, THREADS, N)
    for label, x in extremes(random, (3, 40)):
        yield Case(label, x, 32, 1)
    yield Case(LOW, np.array([[-3e38, -3.1e38]], np.float32), 32, 1)
    yield Case("nothing but minus infinity", np.full((1, 3), -np.inf, np.float32), 32, 1)
    # Later exercises sum by this warp_reduce, also whole numbers that no float holds, and in groups of lanes.
    for LANES in (32, 8):
        yield Case(
            f"warp_reduce sums, {LANES} lanes", 2**24 + random.integers(1, 99, (1, 32), dtype=np.int32), LANES, 0
        )


def launch(kernel, x, THREADS, N):
    rows, C = x.shape
    if not N:
        sums = cuda.empty(32, np.int32)
        kernel.instance(f"lane_sums<{THREADS}>")(1, 32, (cuda.asarray(x), sums))
        return sums
    y = cuda.empty(rows)
    kernel.instance(f"{THREADS}, {N}")(rows, THREADS, (cuda.asarray(x), y, C))
    return y


def reduced(x, THREADS, N):
    """The largest of each row; if N is 0, for each of 32 lanes the sum of its group."""
    return x.max(axis=1) if N else x.reshape(-1, THREADS).sum(axis=1).repeat(THREADS)


def in_the_kernel(like):
    """A mistake in the kernel, where warp_reduce is right."""
    return lambda x, THREADS, N: like(x, THREADS, N) if N else reduced(x, THREADS, N)


@in_the_kernel
def own_only(x, THREADS, N):
    """What thread 0 has seen by itself."""
    columns = [c for c in range(x.shape[1]) if c // N % THREADS == 0]
    return x[:, columns].max(axis=1)


exercise = Exercise(
    title="The largest of each row",
    minutes=15,
    language="cuda",
    defines="row_max",
    instances=("32, 1", "128, 4", "lane_sums<32>", "lane_sums<8>"),
    given=LANE_SUMS,
    cases=cases,
    reference=reduced,
    call=launch,
    measured=LONG,
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.2 * 4 * 3 * 1028)],
    hints=(
        "The butterfly: for (int step = LANES / 2; step > 0; step /= 2), and in each step v is combined with the partner's v.",
        "The partner's number is __shfl_xor_sync(0xffffffffu, v, step). The kernel: a loop over packs from N * threadIdx.x "
        "on, in steps of N * THREADS, then block_max<THREADS>.",
        "v = Op::of(v, __shfl_xor_sync(0xffffffffu, v, step)); and return v;. In the kernel: float m = -INFINITY; in the "
        "loops m = Max::of(m, p.item[j]); m = block_max<THREADS>(m); if (threadIdx.x == 0) y[blockIdx.x] = m;",
    ),
    example='''// The product of the numbers of a row, for rows of 32.
__global__ void row_product(const float* x, float* y) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) v *= __shfl_xor_sync(0xffffffffu, v, step);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
}
''',
    wrong=[
        Wrong(Changed(("float m = -INFINITY;", "float m = 0.0f;")),
              "The maximum begins with 0, so a row of negative numbers gets 0. Begin with -INFINITY.",
              like=in_the_kernel(lambda x, THREADS, N: np.maximum(x.max(axis=1), 0))),
        Wrong(Changed(("float m = -INFINITY;", "float m = -1e9f;")),
              "The maximum begins with a number, and all of this row are below it. Begin with -INFINITY.",
              when=lambda seen: seen.label == LOW and (seen.inputs[0].max() < seen.got).all() and not seen.issues,
              once="the only row so far below 0"),
        Wrong(Changed(("c += N * THREADS", "c += THREADS")), generic="has the most"),
        Wrong(Changed(("m = block_max<THREADS>(m);", "")),
              "This is the largest that thread 0 has seen by itself. The results of the threads must be combined by "
              "block_max.", like=own_only),
        Wrong(Changed(("x + (long long)blockIdx.x * C", "x")),
              "All rows get the largest of row 0. Row `blockIdx.x` begins at x + blockIdx.x * C.",
              like=in_the_kernel(lambda x, THREADS, N: np.full(len(x), x[0].max()))),
        Wrong(Changed(("c += N * THREADS", "c += C")),
              "Only the first THREADS * N numbers of a row are read. A thread goes on, THREADS packs further.",
              like=in_the_kernel(lambda x, THREADS, N: x[:, : THREADS * N].max(axis=1))),
        Wrong(Changed(("v = Op::of(v, (T)__shfl_xor_sync(mask, v, step));", "v += __shfl_xor_sync(mask, v, step);")),
              "The result is -INFINITY, which threads without a number of their own contribute. Of two numbers the one "
              "that Op::of gives must stay, in warp_reduce too.",
              when=lambda seen: (False if np.isneginf(seen.got).any() else None)
                  if seen.inputs[0].shape[1] >= seen.inputs[1] else np.isneginf(seen.got).all() and not seen.issues),
        Wrong(Changed(("v = Op::of(v, (T)__shfl_xor_sync(mask, v, step));",
                       "if (threadIdx.x % 32 < step) v = Op::of(v, (T)__shfl_xor_sync(mask, v, step));")),
              "A shuffle was called by some of the lanes only. All lanes of a warp call it together, outside of any `if`.",
              when=lambda seen: "missing-lanes" in seen.kinds
                  and not any("does not name" in issue.message for issue in seen.issues)),
        Wrong(Changed(("v = Op::of(v, (T)__shfl_xor", "v = Max::of(v, (T)__shfl_xor")),
              "The maxima are right. But `warp_reduce` must combine by the operator that it is given, `Op::of`: later exercises "
              "sum with it.", like=lambda x, THREADS, N: (
                  x.max(axis=1) if N else x.reshape(-1, THREADS).max(axis=1).repeat(THREADS))),
    ],
)  # fmt: skip
