"""Open challenge: a softmax whose row is read once and stays in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extremes
from course_lib.devices import ops

INSTANCES = "32, 4, 2", "64, 1, 2"  # THREADS, N, ITEMS: rows of up to 256 and up to 128


def cases(random):
    for label, rows, S, T in (("three scores", 1, 3, 0), ("one score", 1, 1, 0), ("rows of four", 2, 4, 0),
                              ("an odd number", 3, 75, 0), ("more rows than blocks", 5, 40, 0), ("large scores", 2, 132, 0),
                              ("columns that rows do not see", 6, 6, 6), ("16 rows of 256", 16, 256, 0)):  # fmt: skip
        x = random.normal(0, 3, size=(rows, S)).astype(np.float32)
        if label == "three scores":
            x[:] = 0, 1, 0
        yield Case(label, x + np.float32(1000 * (label == "large scores")), T)
    x = random.normal(0, 3, size=(8, 8)).astype(np.float32)
    x[~np.tri(8, dtype=bool)] += 1000  # of the four numbers of a pack a row may see some
    yield Case("large scores that rows do not see", x, 8)
    for label, x in extremes(random, (3, 40)):
        yield Case(label, x, 0)


def blocks(rows):
    """Fewer than there are rows, and more where there is one row."""
    return max(2, (rows + 1) // 2)


def launch(kernel, x, T):
    rows, S = x.shape
    y = cuda.empty((rows, S))
    instance = INSTANCES[S % 4 > 0]
    kernel.instance(instance)(blocks(rows), int(instance.split(", ")[0]), (cuda.asarray(x), y, rows, S, T))
    return y


def softmax(x, T):
    return ops("reference").softmax_forward(x.astype(np.float64), causal=T > 0)


def exps(x, T):
    x = np.where(np.tri(len(x)) > 0, x, -np.inf) if T else x
    return np.exp(x - x.max(axis=1, keepdims=True))


def own_tops(x, T):
    """Each thread with the largest of its own numbers only."""
    x = np.where(np.tri(len(x)) > 0, x, -np.inf) if T else x.astype(np.float64)
    threads, N, _ = map(int, INSTANCES[x.shape[1] % 4 > 0].split(", "))
    e = np.zeros(x.shape)
    for thread in range(threads):
        own = np.arange(x.shape[1]) // N % threads == thread
        if own.any():
            e[:, own] = np.exp(x[:, own] - np.maximum(x[:, own].max(axis=1, keepdims=True), -1e30))
    return e / e.sum(axis=1, keepdims=True)


def own_sums(x, T):
    """Each thread divides by the sum of its own numbers only; 0 / 0 where it sees none."""
    threads, N, _ = map(int, INSTANCES[x.shape[1] % 4 > 0].split(", "))
    e = exps(x.astype(np.float64), T)
    for thread in range(threads):
        own = np.arange(x.shape[1]) // N % threads == thread
        if own.any():
            e[:, own] /= e[:, own].sum(axis=1, keepdims=True)
    return e


def first_rows(x, T):
    y = softmax(x, T)
    y[blocks(len(x)) :] = np.nan
    return y


exercise = Exercise(
    title="Challenge: softmax with the fewest bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="softmax_forward",
    instances=INSTANCES,
    target="kernel:softmax.cu",
    cases=cases,
    reference=softmax,
    call=launch,
    measured="16 rows of 256",
    flops=15 * 16 * 256,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Load the row, find the largest of your own numbers and of the block, replace each number by its exp, add, "
        "divide, store.",
        "block_max<THREADS> and block_sum<THREADS> give their result to all threads. A number beyond `seen` counts as "
        "-INFINITY for the maximum and as 0 for the sum.",
        "Loop: own.load(x + row * S, seen, -INFINITY); m is the maximum of own[e] where own.column(e) < seen; own[e] = "
        "own.column(e) < seen ? expf(own[e] - m) : 0.0f; l += own[e]; then own[e] /= l; own.store(y + row * S, S);",
    ),
    example='''// Each row divided by its largest number, which is above 0; the row is read once.
#include "reduce.cuh"
#include "row.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void divide_by_largest(const float* x, float* y, int rows, int S) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Row<THREADS, N, ITEMS> own;
        own.load(x + row * S, S, 0.0f);
        float top = 0.0f;
        for (int e = 0; e < own.COUNT; e++) top = fmaxf(top, own[e]);
        top = block_max<THREADS>(top);
        for (int e = 0; e < own.COUNT; e++) own[e] /= top;
        own.store(y + row * S, S);
    }
}
''',
    wrong=[
        Wrong(Changed(("row += gridDim.x", "row += rows")),
              "Only as many rows are written as there are blocks. A block goes on with every gridDim.x-th row.",
              like=first_rows),
        Wrong(Changed(("expf(own[e] - m)", "expf(own[e])")),
              "Large scores give nan: exp overflows. Subtract the largest of the row first.",
              when=lambda seen: np.abs(seen.inputs[0]).max() > 88 and not np.isfinite(seen.got).all()),
        Wrong(Changed(("const int seen = visible(row, S, T);", "const int seen = S;")),
              "The row sees fewer columns than it has: those from visible(row, S, T) on are 0, and add nothing to the sum.",
              like=lambda x, T: softmax(x, 0)),
        Wrong(Changed(("visible(row, S, T)", "visible(blockIdx.x, S, T)")),
              "How many columns are seen depends on the row: visible(row, S, T). A block has several rows.",
              when=lambda seen: seen.label == "columns that rows do not see" and not seen.issues
                  and "visible(blockIdx.x" in seen.text),
        Wrong(Changed(("own[e] /= l;", "own[e] /= 1.0f;")),
              "These are exponentials, not probabilities. Each is still to be divided by the sum of the row.", like=exps),
        Wrong(Changed(("m = block_max<THREADS>(m);", "")),
              "Each thread subtracts the largest of its own numbers. It must be that of the whole row: block_max.",
              like=own_tops),
        Wrong(Changed(("l = block_sum<THREADS>(l);", "")),
              "Each thread divides by the sum of its own numbers. It must be the sum over the whole row: block_sum.",
              like=own_sums),
    ],
)  # fmt: skip
