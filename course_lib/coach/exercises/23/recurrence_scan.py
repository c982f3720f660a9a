"""A linear recurrence by a scan: a tile of steps at once, and the state from tile to tile."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LONG = "three tiles, the last one ragged"


def cases(random):
    yield Case("two steps", *(np.array(x, np.float32) for x in ([[2, 2]], [[1, 1]], [1])), 32)
    for label, rows, T, THREADS in (("one step", 1, 1, 32), ("a whole tile", 2, 32, 32), ("two tiles", 1, 64, 32),
                                    (LONG, 3, 150, 64)):  # fmt: skip
        a, b = random.uniform(0.5, 1.1, (rows, T)), random.normal(size=(rows, T))
        yield Case(
            label, a.astype(np.float32), b.astype(np.float32), random.normal(size=rows).astype(np.float32), THREADS
        )
    a, b = random.uniform(0.97, 1.0, (2, 100)), random.normal(size=(2, 100))
    slow = (x.astype(np.float32) for x in (a, b, random.normal(size=2) + 5))
    yield Case("four tiles, and a state that hardly decays", *slow, 32)


def launch(kernel, a, b, start, THREADS):
    h = cuda.empty(a.shape)
    rows, T = a.shape
    kernel.instance(f"{THREADS}")(rows, THREADS, (cuda.asarray(a), cuda.asarray(b), cuda.asarray(start), h, T))
    return h


def loop(a, b, start, THREADS, again=False, empty=False):
    """again: each tile begins with `start`. empty: or with 0."""
    h, state = np.empty_like(a), start.astype(np.float64)
    for t in range(a.shape[1]):
        if t % THREADS == 0 and (again or empty):
            state = start.astype(np.float64) * again
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return h


def from_this_tile_alone(a, b, start, THREADS):
    """After a tile the state is what its steps make of 0."""
    h, state = np.empty_like(a), start.astype(np.float64)
    for first in range(0, a.shape[1], THREADS):
        steps = slice(first, first + THREADS)
        h[:, steps] = loop(a[:, steps], b[:, steps], state, THREADS)
        state = loop(a[:, steps], b[:, steps], 0 * state, THREADS)[:, -1].astype(np.float64)
    return h


def each_from_its_own(a, b, start, THREADS):
    """Each thread carries what it has itself after a tile, not what the last one has."""
    A = B = None
    h, own = np.empty_like(a), np.repeat(start.astype(np.float64)[:, None], THREADS, axis=1)  # (rows, THREADS)
    for t in range(a.shape[1]):
        i = t % THREADS
        A, B = (a[:, t], b[:, t]) if i == 0 else (a[:, t] * A, a[:, t] * B + b[:, t])  # the steps of this tile up to t
        own[:, i] = h[:, t] = A * own[:, i] + B
    return h


exercise = Exercise(
    title="A recurrence by a scan",
    minutes=15,
    language="cuda",
    defines="recurrence_scan",
    instances=("32", "64"),
    cases=cases,
    reference=loop,
    call=launch,
    tolerance=1e-4,
    hints=(
        "A loop over tiles, `tile` from 0 in steps of THREADS. Thread i owns step t = tile + threadIdx.x, if that is below T.",
        "Affine all, before = block_scan<THREADS, Compose>(own, &all); then `before` is what the steps of the tile up to t make "
        "of the state: before.a * state + before.b.",
        "if (t < T) h[row + t] = before.a * state + before.b; and then, in every thread, state = all.a * state + all.b;",
    ),
    example='''// Prefix sums of a row, a tile of THREADS numbers at a time, with the sum of the tiles before.
template <int THREADS> __global__ void row_prefix_sums(const float* x, float* y, int T) {
    float carried = 0.0f;
    for (int tile = 0; tile < T; tile += THREADS) {
        int t = tile + threadIdx.x;
        float all, sum = block_scan<THREADS, Sum>(t < T ? x[t] : 0.0f, &all);
        if (t < T) y[t] = carried + sum;
        carried += all;
    }
}
''',
    wrong=[
        Wrong(Changed(("        state = all.a * state + all.b;\n", "")),
              "Every tile begins with the state before the first step. After a tile the state is all.a * state + all.b.",
              like=lambda *case: loop(*case, again=True)),
        Wrong(Changed(("before.a * state + before.b", "before.b")),
              "before.b is what the steps make of 0. They multiply the state before the tile by before.a as well.",
              like=lambda *case: loop(*case, empty=True)),
        Wrong(Changed(("state = all.a * state + all.b", "state = all.b")),
              "After a tile the state before it is forgotten. It lives on, multiplied by all.a: all.a * state + all.b.",
              like=from_this_tile_alone),
        Wrong(Changed(("float state = start[blockIdx.x];", "float state = 0.0f;")), generic="never uses its parameter"),
        Wrong(Changed(("state = all.a * state + all.b", "state = before.a * state + before.b")),
              "Each thread goes on from its own step. The state after a tile is the same for all threads: all.a * state + all.b.",
              like=each_from_its_own),
        Wrong(Changed(("tile < T;", "tile + threadIdx.x < T;")),
              "Some threads do not reach block_scan. All threads of a block must call it, also those beyond T.",
              when=lambda seen: {"missing-lanes", "missed-barrier", "divergent-barrier"} & set(seen.kinds)),
    ],
)  # fmt: skip
