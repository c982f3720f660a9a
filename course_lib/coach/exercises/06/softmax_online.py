"""Online softmax: pairs of a running maximum and a running sum, merged in any order; a row is read twice and not three times."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extremes
from course_lib.devices import ops


def cases(random):
    for label, rows, S, THREADS, T in (("three equal scores", 1, 3, 32, 0), ("one score", 2, 1, 32, 0),
                                       ("rows of seven", 2, 7, 32, 0), ("rows longer than a block", 3, 150, 64, 0),
                                       ("large scores", 2, 70, 32, 0),
                                       ("columns that rows do not see", 5, 5, 32, 5),
                                       ("16 rows of 512", 16, 512, 64, 0)):  # fmt: skip
        x = random.normal(0, 3, size=(rows, S)).astype(np.float32)
        if label == "three equal scores":
            x[:] = 0
        yield Case(label, x + np.float32(1000 * (label == "large scores")), THREADS, T)
    for label, x in extremes(random, (2, 40)):
        yield Case(label, x, 32, 0)
    x = random.normal(0, 3, size=(2, 70)).astype(np.float32)
    x[0, :33] = x[1, 20:] = -np.inf  # most threads meet a -INFINITY first, some nothing else
    yield Case("scores of minus infinity", x, 32, 0)


def launch(kernel, x, THREADS, T):
    rows, S = x.shape
    y = cuda.empty((rows, S))
    kernel.instance(str(THREADS))(rows, THREADS, (cuda.asarray(x), y, S, T))
    return y


def softmax(x, THREADS, T):
    return ops("reference").softmax_forward(x.astype(np.float64), causal=T > 0)


def seen_only(x, T):
    """The scores in float64, minus infinity where a row does not see them."""
    return np.where(np.tri(len(x), x.shape[1], x.shape[1] - len(x)) > 0, x, -np.inf) if T else x.astype(np.float64)


def exps(x, THREADS, T):
    return np.exp(seen_only(x, T) - seen_only(x, T).max(axis=1, keepdims=True))


def own_pairs(x, THREADS, T):
    """Each thread with the pair of its own numbers only."""
    x = seen_only(x, T)
    y = np.zeros(x.shape)
    for thread in range(min(THREADS, x.shape[1])):
        own = x[:, thread::THREADS]
        e = np.exp(own - own.max(axis=1, keepdims=True))  # nan where all of them are minus infinity
        y[:, thread::THREADS] = e / e.sum(axis=1, keepdims=True)
    return np.where(np.tri(len(x), k=x.shape[1] - len(x)) > 0, y, 0) if T else y


def by_pairs(x, THREADS, T, see=True, merge=True):
    """With pairs whose sum `see` or `merge` does not rescale to the new maximum."""
    x = seen_only(x, T)
    m, l = np.full((len(x), THREADS), -np.inf), np.zeros((len(x), THREADS))
    for c in range(x.shape[1]):
        own, t = x[:, c], c % THREADS
        new = np.maximum(m[:, t], own)
        rescale = np.where(np.isinf(m[:, t]), 0, np.exp(m[:, t] - new)) if see else 1
        l[:, t] = np.where(np.isinf(own), l[:, t], l[:, t] * rescale + np.exp(own - new))
        m[:, t] = new
    largest = m.max(axis=1, keepdims=True)
    l = (l * np.exp(m - largest) if merge else l).sum(axis=1, keepdims=True)
    return np.exp(x - largest) / l


def last_left_out(x, THREADS, T):
    """The maximum and the sum of all but the last column that a row sees."""
    scores = seen_only(x, T)
    last = np.arange(len(x)) + x.shape[1] - len(x) if T else np.full(len(x), x.shape[1] - 1)
    fewer = scores.copy()
    fewer[np.arange(len(x)), last] = -np.inf
    m = fewer.max(axis=1, keepdims=True)
    l = np.where(np.isinf(m), 0, np.exp(fewer - m).sum(axis=1, keepdims=True))
    return np.where(np.arange(x.shape[1]) <= last[:, None], np.exp(scores - m) / l, 0)


def unseen_not_zero(x, THREADS, T):
    y = softmax(x, THREADS, T)
    return np.where(np.tri(len(x), k=x.shape[1] - len(x)) > 0, y, np.nan) if T else y


exercise = Exercise(
    title="Softmax in two passes",
    test_out=True,
    minutes=20,
    language="cuda",
    defines="softmax_2_online",
    instances=("64", "32"),
    target="kernel:softmax.cu",
    cases=cases,
    reference=softmax,
    call=launch,
    measured="16 rows of 512",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.05 * 12 * 16 * 512)],
    hints=(
        "`merge` is the Python function of the lecture, with fmaxf and expf. A pair is made with braces: return {m, l};",
        "`see` could be merge(part, {x, 1.0f}). The kernel: part = nothing_seen(), a loop with see, block_merge, a second loop.",
        "merge: m = fmaxf(a.m, b.m); if (m == -INFINITY) return {m, 0.0f}; return {m, a.l * expf(a.m - m) "
        "+ b.l * expf(b.m - m)}; and the second loop writes c < seen ? expf(x[c] - part.m) / part.l : 0.0f.",
    ),
    example='''// Mean and number of values, merged in the same way: pairs that may be merged in any order.
struct Mean {
    float count, mean;
};

__device__ Mean merge(Mean a, Mean b) {
    float count = a.count + b.count;
    if (count == 0.0f) return a;
    return {count, (a.count * a.mean + b.count * b.mean) / count};
}

__device__ Mean see(Mean part, float x) { return merge(part, {1.0f, x}); }
''',
    wrong=[
        Wrong(Changed(("if (m == -INFINITY) return {m, a.l + b.l};", "")),
              "Some results are not numbers, and the row has fewer columns than the block has threads. Threads that have "
              "seen nothing have the pair (-INFINITY, 0): then -inf minus -inf must not be computed.",
              when=lambda seen: None if seen.inputs[2] else np.isnan(seen.got).all()
                  and seen.inputs[0].shape[1] < seen.inputs[1] and not seen.issues),
        Wrong(Changed(("c < seen; c += THREADS) part", "c < seen - 1; c += THREADS) part")),
              "The first pass leaves out the last column that the row sees: its columns are 0 to seen - 1.", like=last_left_out),
        Wrong(Changed(("expf(x[c] - part.m) / part.l", "expf(x[c] - part.m)")),
              "These are exponentials, not probabilities. Each is still to be divided by the sum of the row.", like=exps),
        Wrong(Changed(("for (int c = threadIdx.x; c < S; c += THREADS)", "for (int c = threadIdx.x; c < seen; c += THREADS)")),
              "The columns that a row does not see are never written. There y is 0.", like=unseen_not_zero),
        Wrong(Changed(("part = block_merge<THREADS>(part);", "")),
              "Each thread divides by the sum of its own numbers. block_merge makes one pair of all.", like=own_pairs),
        Wrong(Changed(("expf(x[c] - part.m) / part.l", "expf(x[c]) / part.l")),
              "The exponent of the second pass is x - part.m: the sum is relative to that maximum.",
              like=lambda x, THREADS, T: np.exp(seen_only(x, T)) / exps(x, THREADS, T).sum(axis=1, keepdims=True)),
        Wrong(Changed(("c < seen; c += THREADS) part", "c < S; c += THREADS) part")),
              "The sum contains columns that the row does not see. The first pass ends at `seen`.",
              like=lambda x, THREADS, T: np.where(np.isinf(seen_only(x, T)), 0, softmax(x, THREADS, 0))),
        Wrong(Changed(("part.l * expf(part.m - x) + 1.0f", "part.l + 1.0f")),
              "When `see` finds a larger number, rescale the running sum to the new maximum: times exp(old maximum - new "
              "maximum).",
              like=lambda x, THREADS, T: by_pairs(x, THREADS, T, see=False)),
        Wrong(Changed(("a.l * expf(a.m - m) + b.l * expf(b.m - m)", "a.l + b.l")),
              "`merge` adds sums that are relative to different maxima. Rescale each to the larger maximum first.",
              like=lambda x, THREADS, T: by_pairs(x, THREADS, T, merge=False)),
        Wrong(Changed(("part.l * expf(part.m - x) + 1.0f", "part.l + 1.0f"),
                      ("a.l * expf(a.m - m) + b.l * expf(b.m - m)", "a.l + b.l")),
              "When the maximum grows, rescale the running sum to it, in `see` and in `merge`: times exp(old maximum - "
              "new maximum).",
              like=lambda x, THREADS, T: by_pairs(x, THREADS, T, see=False, merge=False)),
        Wrong(Changed(("part.l * expf(part.m - x) + 1.0f", "part.l + 1.0f"), ("0.0f : expf(x - part.m)", "0.0f : 1.0f"),
                      ("a.l * expf(a.m - m) + b.l * expf(b.m - m)", "a.l + b.l")),
              "Each number adds 1 to the sum, however far it is below the maximum: l must be the sum of exp(x - m). Rescale both "
              "sums in `merge` to the larger maximum, and add exp(x - m) in `see`.",
              like=lambda x, THREADS, T: exps(x, THREADS, T) / np.isfinite(seen_only(x, T)).sum(axis=1, keepdims=True)),
        Wrong("""#include "reduce.cuh"

template <int THREADS> __global__ void softmax_2_online(const float* x, float* y, int S, int T) {
    int seen = T > 0 ? S - T + blockIdx.x % T + 1 : S;
    x += blockIdx.x * S;
    y += blockIdx.x * S;
    float m = -INFINITY, l = 0.0f;
    for (int c = threadIdx.x; c < seen; c += THREADS) m = fmaxf(m, x[c]);
    m = block_max<THREADS>(m);
    for (int c = threadIdx.x; c < seen; c += THREADS) l += expf(x[c] - m);
    l = block_sum<THREADS>(l);
    for (int c = threadIdx.x; c < S; c += THREADS) y[c] = c < seen ? expf(x[c] - m) / l : 0.0f;
}
""", generic="the goal is not reached"),
    ],
)  # fmt: skip
