"""The last version of the sum: a thread adds by itself, four numbers at a time, before the block reduces."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests

THREADS, BLOCKS = 64, 3


def cases(random):
    for label, n in (("three numbers", 3), ("one pack", 4), ("a pack and one more", 5), ("one iteration, a ragged end", 770),
                     ("some threads loop twice", 1031), ("6144 numbers", 6144)):  # fmt: skip
        yield Case(label, (0.5 + random.integers(1, 9, n)).astype(np.float32))


def launch(kernel, x):
    """The sums of the blocks, and the sum of those by the same kernel."""
    partial, y = cuda.empty(BLOCKS), cuda.empty(1)
    kernel(BLOCKS, THREADS, (cuda.asarray(x), partial, len(x)))
    kernel(1, THREADS, (partial, y, BLOCKS))
    return partial, y


def right(x, packs=None, rest=True, rounds=None):
    """As (BLOCKS) and (1). packs: which packs are added; rest: whether the numbers after the last pack are."""
    n, partial = len(x), np.zeros(BLOCKS, np.float32)
    for i in range(n // 4):
        if rounds is None or i // (THREADS * BLOCKS) < rounds:
            partial[i // THREADS % BLOCKS] += x[4 * i : 4 * i + 4].sum()
    if rest:
        partial[0] += x[n // 4 * 4 :].sum()
    # three sums are less than a pack: the second launch finds them after the last whole pack
    return partial, np.array([partial.sum() if rest else 0.0], np.float32)


def own_only(x):
    """What thread 0 of each block has added up by itself."""
    n, partial = len(x), np.zeros(BLOCKS, np.float32)
    for i in range(0, n // 4, THREADS):
        partial[i // THREADS % BLOCKS] += x[4 * i : 4 * i + 4].sum()
    if n % 4:
        partial[0] += x[n // 4 * 4]
    return partial, partial[:1].copy()


def by_block(x):
    """Every block goes on by its own threads only, so that packs are added by several."""
    left = x[len(x) // 4 * 4 :].sum()
    partial = np.array(
        [x[4 * b * THREADS : len(x) // 4 * 4].sum() + (left if b == 0 else 0) for b in range(BLOCKS)], np.float32
    )
    return partial, partial.sum(keepdims=True)


exercise = Exercise(
    title="The last version of a sum",
    minutes=15,
    core=False,
    language="cuda",
    defines="sum_4_vectors",
    instances=(str(THREADS),),
    cases=cases,
    reference=right,
    call=launch,
    results=("partial", "y"),
    measured="6144 numbers",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=52)],
    hints=(
        "Number the threads of the whole grid: first = blockIdx.x * THREADS + threadIdx.x. Pack `first` is its first one.",
        "A loop: for (i = first; i < n / 4; i += gridDim.x * THREADS) adds the four numbers of pack i. Then the n % 4 numbers "
        "at the end: threads 0, 1 and 2 of the grid take one each, if it exists.",
        "Pack<float, 4> p = ((const Pack<float, 4>*)x)[i]; ... if (first < n % 4) sum += x[n / 4 * 4 + first]; sum = "
        "block_sum<THREADS>(sum); if (threadIdx.x == 0) partial[blockIdx.x] = sum;",
    ),
    example='''// The largest absolute value of all elements, block by block, with packs of two.
#include "reduce.cuh"
#include "vector.cuh"

template <int THREADS> __global__ void largest_size(const float* x, float* partial, int n) {
    float top = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 2; i += gridDim.x * THREADS) {
        Pack<float, 2> p = ((const Pack<float, 2>*)x)[i];
        top = fmaxf(top, fmaxf(fabsf(p.item[0]), fabsf(p.item[1])));
    }
    if (n % 2 && blockIdx.x == 0 && threadIdx.x == 0) top = fmaxf(top, fabsf(x[n - 1]));
    top = block_max<THREADS>(top);
    if (threadIdx.x == 0) partial[blockIdx.x] = top;
}
''',
    wrong=[
        Wrong(Changed(("if (first < n % 4) sum += x[n / 4 * 4 + first];", "")),
              "The numbers after the last whole pack are missing. There are n % 4 of them, from n / 4 * 4 on.",
              like=lambda x: right(x, rest=False)),
        Wrong(Changed(("for (long long i = first; i < n / 4; i += step) {", "for (long long i = first; i < n / 4; i += n) {")),
              "Each thread has added one pack, and the rest of a long array is missing. Go on by the whole "
              "grid: gridDim.x * THREADS packs further.", like=lambda x: right(x, rounds=1)),
        Wrong(Changed(("i < n / 4; i += step)", "i < n / 4; i += THREADS)")),
              "Blocks have added the same packs: a thread goes on by the whole grid, gridDim.x * THREADS packs further.",
              like=by_block),
        Wrong(Changed(("if (first < n % 4) sum += x[n / 4 * 4 + first];",
                       "if (threadIdx.x < n % 4) sum += x[n / 4 * 4 + threadIdx.x];")),
              "Every block has added the last few numbers: y counts them once for each block. "
              "The grid has a thread 0, 1 and 2 only once.",
              when=lambda seen: not seen.issues and seen.got[0].size == BLOCKS
                  and np.allclose(seen.got[0] - seen.expected[0],
                  [0, *[seen.inputs[0][len(seen.inputs[0]) // 4 * 4 :].sum()] * 2]) and len(seen.inputs[0]) % 4 > 0),
        Wrong(Changed(("    sum = block_sum<THREADS>(sum);\n", "")),
              "This is what thread 0 of each block has added up by itself. The sums of the threads must be combined by "
              "block_sum.",
              like=own_only),
        Wrong(Changed(("if (threadIdx.x == 0) partial", "partial")),
              "`partial` has one element for each block, and all threads write it. One of them is enough.",
              when=lambda seen: "race" in seen.kinds and "threadIdx.x==0" not in seen.text.replace(" ", "")
                  and any("'partial'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("i < n / 4; i += step", "4 * i < n; i += step")),
              "A thread reads beyond x: there are n / 4 whole packs, and after them n % 4 numbers, 0 to 3.",
              when=lambda seen: any(issue.kind == "out-of-bounds" and "'x'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("    float sum = 0.0f;", "    if (first >= n) return;\n    float sum = 0.0f;")),
              "Some threads do not reach block_sum. All threads of a block must call it.",
              when=lambda seen: {"missing-lanes", "missed-barrier", "divergent-barrier"} & set(seen.kinds)),
        Wrong(Changed(("const Pack<float, 4> p = ((const Pack<float, 4>*)x)[i];", "const float* p = x + 4 * i;"),
                      ("(p.item[0] + p.item[1]) + (p.item[2] + p.item[3])", "(p[0] + p[1]) + (p[2] + p[3])")),
              generic="the goal is not reached"),
    ],
)  # fmt: skip
