"""Sliding-window attention: a block loops over the tiles that its queries attend to, and no others."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extreme_attention

D, TILE, BLOCK = 16, 16, 32
BEGIN = "int begin = max(0, first - W + 1) / TILE * TILE;"
END = "int end = min(T, first + (int)blockDim.x);"
MOST = 330_000  # bytes: 262,144 for q and y, where each thread reads or writes a row of its own; the rest is k and v


def cases(random):
    sizes = {"three tokens, a window of two": (3, 2), "one token": (1, 5), "a window of one": (4, 1), "a window of all": (20, 99),
             "two tiles": (30, 5), "several blocks, one ragged": (75, 9), "a window longer than a block": (100, 50),
             "256 tokens, W = 20": (256, 20)}  # fmt: skip
    for label, (T, W) in sizes.items():
        yield Case(label, *(random.normal(size=(T, D)).astype(np.float32) for _ in range(3)), W)
    for label, arrays in extreme_attention(random, 6, 6, D):
        yield Case(label, *arrays, 4)


def launch(kernel, q, k, v, W):
    y = cuda.empty(q.shape)  # (T, D)
    kernel(-(-len(q) // BLOCK), BLOCK, (*map(cuda.asarray, (q, k, v)), y, len(q), W))
    return y


def variant(sees=lambda t, s, W: t - W < s <= t, passes=lambda t, s, W, T: True):
    """Attention over the keys that a query attends to and its block loads."""

    def attend(q, k, v, W):
        T, y = len(q), np.full_like(q, np.nan)
        for t in range(T):
            keys = [s for s in range(T) if sees(t, s, W) and passes(t, s, W, T)]
            if keys:
                scores = k[keys].astype(np.float64) @ q[t] / math.sqrt(D)
                e = np.exp(scores - scores.max())
                y[t] = e @ v[keys] / e.sum()
        return y

    return attend


def first_of(t):
    return t // BLOCK * BLOCK


LATER = "Tokens attend to later tokens: key t is the last that query t attends to."

exercise = Exercise(
    title="Sliding-window attention",
    minutes=20,
    language="cuda",
    defines="sliding_window_attention",
    cases=cases,
    reference=variant(),
    call=launch,
    measured="256 tokens, W = 20",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=MOST)],
    hints=(
        "Which is the first key that any query of the block attends to, and which the last? The block's queries are first to "
        "first + 31.",
        "From max(0, first - W + 1), rounded down to a tile if you like, up to first + 31. Each iteration: barrier, load, "
        "barrier, then each thread loops over the keys of the tile that are between t - W + 1 and t.",
        "int first = blockIdx.x * blockDim.x; for (int start = max(0, first - W + 1) / TILE * TILE; start < min(T, first + "
        "32); start += TILE) { __syncthreads(); all load, 0 beyond T; __syncthreads(); for s: int key = start + s; if (t < "
        "T && key <= t && key > t - W) see(...); }",
    ),
    example='''// Sums over a sliding window: y[i] = x[i - W + 1] + ... + x[i]. A block of 32 threads loops over tiles
// of 32 numbers, from the first that it needs.
__global__ void window_sums(const float* x, float* y, int n, int W) {
    __shared__ float tile[32];
    int first = blockIdx.x * 32, i = first + threadIdx.x;
    float sum = 0.0f;
    for (int start = max(0, first - W + 1) / 32 * 32; start < min(n, first + 32); start += 32) {
        __syncthreads();
        if (start + threadIdx.x < n) tile[threadIdx.x] = x[start + threadIdx.x];
        __syncthreads();
        for (int s = max(0, i - W + 1 - start); s <= min(31, min(i, n - 1) - start); s++) sum += tile[s];
    }
    if (i < n) y[i] = sum;
}
''',
    wrong=[
        Wrong(Changed(("    int first = blockIdx.x * blockDim.x;\n", "    int first = blockIdx.x * blockDim.x;\n"
                                                                     "    if (t >= T) return;\n")),
              "Some threads never reach a barrier at which the others wait. All threads of a block must loop over the same "
              "tiles, those without a query too.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
        Wrong(Changed(("        __syncthreads();\n        for (int i", "        for (int i")),
              "A race on the tiles: all threads must wait before a tile is overwritten, and again when it is complete.",
              when=lambda seen: any(issue.kind == "race" and "_tile'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("key > t - W", "key >= t - W")),
              "The window is one token too wide: query t no longer attends to key t - W.",
              like=variant(lambda t, s, W: t - W <= s <= t)),
        Wrong(Changed(("key > t - W", "key > t - W + 1")),
              "The window is one token too narrow: it has W tokens, and ends with the token itself.",
              like=variant(lambda t, s, W: t - W + 1 < s <= t)),
        Wrong(Changed(("key <= t &&", "key < t &&")), "A token must attend to itself: the last key of query t is key t.",
              like=variant(lambda t, s, W: t - W < s < t)),
        Wrong(Changed((BEGIN, "int begin = 0;"), (" && key > t - W", "")),
              "There is no window: query t attends to every key up to t.",
              like=variant(lambda t, s, W: s <= t)),
        Wrong(Changed((END, "int end = T;"), ("key <= t &&", "key < T &&")),
              LATER, like=variant(lambda t, s, W: t - W < s)),
        Wrong(Changed(("key <= t &&", "key < T &&")), LATER, also=True,
              like=variant(lambda t, s, W: t - W < s, lambda t, s, W, T: s < first_of(t) + BLOCK)),
        Wrong(Changed((BEGIN, "int begin = max(0, first + (int)blockDim.x - W) / TILE * TILE;")),
              "The tiles begin too late: the *first* query of the block attends furthest back, to key first - W + 1.",
              like=variant(passes=lambda t, s, W, T: s >= (first_of(t) + BLOCK - W) // TILE * TILE)),
        Wrong(Changed((BEGIN, "int begin = first;")),
              "The tiles begin where the block's own tokens begin. Its first query also attends to the W - 1 keys before that.",
              like=variant(passes=lambda t, s, W, T: s >= first_of(t))),
        Wrong(Changed((END, "int end = first + 1;")),
              "The tiles end too soon: the *last* query of the block, number first + 31, attends to itself.",
              like=variant(passes=lambda t, s, W, T: s < first_of(t) + TILE)),
        Wrong(Changed((" && key > t - W", "")),
              "Only the tiles end the window: within them each query attends to every key up to its own. Its first key is "
              "t - W + 1.",
              like=variant(lambda t, s, W: s <= t, lambda t, s, W, T: s >= max(0, first_of(t) - W + 1) // TILE * TILE)),
        Wrong(Changed((BEGIN, "int begin = 0;"), (END, "int end = T;")), generic="the goal is not reached"),
    ],
)  # fmt: skip
