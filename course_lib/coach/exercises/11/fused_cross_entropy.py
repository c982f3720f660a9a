"""Open challenge: loss and gradient of a row in one kernel, the gradient in place of the logits, with few bytes."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extremes

V, ROWS = 512, 8


def cases(random):
    for label, n, size in (
        ("one row", 1, 1),
        ("three rows", 3, 1),
        ("large logits", 2, 300),
        (f"{ROWS} rows", ROWS, 1),
    ):
        yield Case(
            label, (size * random.normal(size=(n, V))).astype(np.float32), random.integers(0, V, n).astype(np.int32)
        )
    for label, x in extremes(random, (2, V)):
        yield Case(label, x, random.integers(0, V, 2).astype(np.int32))


def both(logits, targets, one=1.0, mean=True, late=False):
    """losses (n) and dlogits (n, V), of the mean over the rows. late: the logit of a target is read where its gradient is."""
    wide, rows = logits.astype(np.float64), np.arange(len(logits))
    top = wide.max(1, keepdims=True)
    lse = top + np.log(np.exp(wide - top).sum(1, keepdims=True))  # (n, 1)
    gradient = np.exp(wide - lse)
    gradient[rows, targets] -= one
    gradient /= len(wide) if mean else 1
    read = gradient if late else wide
    return (lse[:, 0] - read[rows, targets]).astype(np.float32), gradient.astype(np.float32)


def launch(kernel, logits, targets):
    losses, x = cuda.empty(len(logits)), cuda.asarray(logits.copy())  # (n,), (n, V)
    kernel(len(logits), 128, (x, cuda.asarray(targets), losses, len(logits)))
    return losses, x


NAIVE = """#include "reduce.cuh"
__global__ void fused_cross_entropy(float* x, const int* targets, float* losses, int n) {
    x += blockIdx.x * 512;
    int target = targets[blockIdx.x];
    float top = -INFINITY, total = 0.0f;
    for (int c = threadIdx.x; c < 512; c += 128) top = fmaxf(top, x[c]);
    top = block_max<128>(top);
    for (int c = threadIdx.x; c < 512; c += 128) total += expf(x[c] - top);
    float lse = top + logf(block_sum<128>(total));
    if (threadIdx.x == 0) losses[blockIdx.x] = lse - x[target];
    __syncthreads();
    for (int c = threadIdx.x; c < 512; c += 128) x[c] = (expf(x[c] - lse) - (c == target)) / n;
}
"""

exercise = Exercise(
    title="Challenge: loss and gradient at once",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="fused_cross_entropy",
    cases=cases,
    reference=both,
    call=launch,
    results=("losses", "dlogits"),
    tolerance=1e-4,
    measured=f"{ROWS} rows",
    flops=8 * ROWS * V,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Begin with any right kernel: the maximum, the sum, the loss, the gradient. How often is each logit read?",
        "A row has 512 logits, and a block 128 threads: four for each. Keep them in registers.",
        "The thread that holds the target's logit can write the loss: no thread needs to read it again.",
    ),
    example='''#include "reduce.cuh"
// Every row of 256 numbers is divided by its sum, in place; each number is read once.
__global__ void normalise(float* x) {
    x += blockIdx.x * 256;
    float a = x[threadIdx.x], b = x[threadIdx.x + 128];
    float sum = block_sum<128>(a + b);
    x[threadIdx.x] = a / sum;
    x[threadIdx.x + 128] = b / sum;
}
''',
    wrong=[
        Wrong(NAIVE.replace("    __syncthreads();\n", ""),
              "The logit of the target is read by one thread while another has already written its gradient there. Read it "
              "first, then a barrier, then write.",
              when=lambda seen: any(issue.kind == "race" and "'x'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("        if (c == target) losses[blockIdx.x] = lse - own[k];\n", ""),
                      ("(c == target)) / n;\n    }\n", "(c == target)) / n;\n    }\n    __syncthreads();\n"
                       "    if (threadIdx.x == 0) losses[blockIdx.x] = lse - x[target];\n")),
              "The loss is computed from what stands at the target now, which is its gradient. Read the logit "
              "before it is overwritten.",
              like=lambda x, t: both(x, t, late=True)),
        Wrong(Changed(("(expf(own[k] - lse) - (c == target)) / n", "expf(own[k] - lse) / n")),
              "The 1 of the target is missing in the gradient: its probability minus 1.",
              like=lambda x, t: both(x, t, one=0.0)),
        Wrong(Changed(("(expf(own[k] - lse) - (c == target)) / n", "expf(own[k] - lse) - (c == target)")),
              "The gradient is that of the sum. The loss is the mean over the n rows: divide by n.",
              like=lambda x, t: both(x, t, mean=False)),
    ],
)  # fmt: skip
