"""The backward pass of softmax: one sum over the row, in which all threads of the block take part."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops


def threads(S):
    """Of a block: two sizes, so that an answer holds neither."""
    return 64 if S <= 64 else 128


def cases(random):
    for label, rows, S in (("the example", 1, 2), ("one probability", 2, 1), ("two rows of five", 2, 5),
                           ("a row for each thread", 3, 64), ("rows longer than a block", 3, 130)):  # fmt: skip
        dy = random.normal(1, 2, size=(rows, S)).astype(np.float32)
        y = ops("reference").softmax_forward(random.normal(0, 1, size=(rows, S))).astype(np.float32)
        if label == "the example":
            dy[0], y[0] = (1, 0), (0.25, 0.75)
        yield Case(label, dy, y)


def launch(kernel, dy, y):
    rows, S = y.shape
    dx = cuda.empty((rows, S))
    kernel.instance(str(threads(S)))(rows, threads(S), (cuda.asarray(dy), cuda.asarray(y), dx, S))
    return dx


def way_back(dy, y, dot=None):
    dy, y = dy.astype(np.float64), y.astype(np.float64)
    return y * (dy - ((y * dy).sum(axis=1, keepdims=True) if dot is None else dot))


def own_sums(dy, y):
    """Each thread with the sum over its own numbers only."""
    product = (y * dy).astype(np.float64)
    owner = np.arange(y.shape[1]) % threads(y.shape[1])
    return way_back(dy, y, np.stack([product[:, owner == own].sum(axis=1) for own in owner], axis=1))


exercise = Exercise(
    title="The backward pass of softmax",
    minutes=15,
    language="cuda",
    defines="softmax_backward_1_two_pass",
    instances=("64", "128"),
    target="kernel:softmax.cu",
    cases=cases,
    reference=way_back,
    call=launch,
    hints=(
        "Two loops over the row, as in softmax: the first adds, the second writes. Between them the block adds up its sums.",
        "Each thread adds y * dy of its own numbers t, t + THREADS, ...; then dot = block_sum<THREADS>(dot), called by all.",
        "Row `blockIdx.x` begins at blockIdx.x * S. After the sum: dx[c] = y[c] * (dy[c] - dot), for the same c as before.",
    ),
    example='''// Each row minus its mean.
#include "reduce.cuh"

template <int THREADS> __global__ void centre_rows(const float* x, float* y, int S) {
    const float* row = x + blockIdx.x * S;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < S; c += THREADS) sum += row[c];
    sum = block_sum<THREADS>(sum);
    for (int c = threadIdx.x; c < S; c += THREADS) y[blockIdx.x * S + c] = row[c] - sum / S;
}
''',
    wrong=[
        Wrong(Changed(("dot = block_sum<THREADS>(dot);", "")),
              "Each thread subtracts the sum of its own numbers. It must be the sum over the whole row: block_sum.",
              like=own_sums),
        Wrong(Changed(("dot += y[c] * dy[c]", "dot += dy[c]")), "The sum is of dy alone. It is of the products y dy.",
              like=lambda dy, y: way_back(dy, y, dy.astype(np.float64).sum(axis=1, keepdims=True))),
        Wrong(Changed(("(dy[c] - dot)", "(dy[c] + dot)")), "The sum is added. It must be subtracted: y (dy - sum).",
              like=lambda dy, y: way_back(dy, y, -(y * dy).astype(np.float64).sum(axis=1, keepdims=True))),
        Wrong(Changed(("dot += y[c] * dy[c]", "dot += y[c]")), "The sum is of y alone. It is of the products y dy.",
              like=lambda dy, y: way_back(dy, y, y.astype(np.float64).sum(axis=1, keepdims=True))),
        Wrong(Changed(("dot += y[c] * dy[c]", "dot += 0.0f")), "This is y dy: the sum over the row is not subtracted.",
              like=lambda dy, y: way_back(dy, y, 0)),
        Wrong(Changed(("y[c] * (dy[c] - dot)", "dy[c] - dot")),
              "This is dy minus the sum. The factor y before the bracket is missing.",
              like=lambda dy, y: dy - (y * dy).sum(axis=1, keepdims=True)),
        Wrong(Changed(("y[c] * (dy[c] - dot)", "y[c] * dy[c] - dot")),
              "The sum is subtracted outside of the bracket. The factor y belongs to both: y (dy - sum).",
              like=lambda dy, y: y * dy - (y * dy).sum(axis=1, keepdims=True)),
        Wrong(Changed(("y[c] * (dy[c] - dot)", "dy[c] * y[c] * (1.0f - y[c])")),
              "y (1 - y) is the slope of a probability with respect to its own score. Each score changes all other "
              "probabilities too.",
              like=lambda dy, y: dy * y * (1 - y)),
        Wrong(Changed(("dot = block_sum<THREADS>(dot);", "if (threadIdx.x < S) dot = block_sum<THREADS>(dot);")),
              "Not all threads called block_sum. It has a barrier and shuffles inside, which allow no warp divergence: "
              "every thread must reach it, with no condition around it and no `return` before it.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier", "missing-lanes"}),
    ],
)  # fmt: skip
