"""The heart of the kernel of linear recurrences: what a chunk does to the state, which stays in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LINEAR, DELTA = range(2)  # the first template argument
STEPS = 16


def made(random, kind, H, T, D, E, carried=True):
    """kind, q, k (H, T, D), v (H, T, E), g (H, T, D), beta (H, T), state (H, D, E) or None."""
    q, k, v = random.normal(size=(H, T, D)), random.normal(size=(H, T, D)), random.normal(size=(H, T, E))
    k /= np.sqrt((k * k).sum(axis=-1, keepdims=True))
    g, beta = -random.uniform(0, 0.3, (H, T, D)), random.uniform(0.2, 1, (H, T))
    state = random.normal(size=(H, D, E)) if carried else None
    return kind, *(None if x is None else x.astype(np.float32) for x in (q, k, v, g, beta, state))


def cases(random):
    two = [np.array(x, np.float32).reshape(1, 2, 1) for x in ([1, 1], [1, 1], [1, 2], [0, 0])]
    yield Case("two steps without decay", LINEAR, *two, np.ones((1, 2), np.float32), None)
    yield Case("one step", *made(random, LINEAR, 1, 1, 2, 3))
    yield Case("one chunk", *made(random, LINEAR, 1, STEPS, 4, 4))
    yield Case("two chunks and a part", *made(random, LINEAR, 1, 35, 27, 5))
    yield Case("the delta rule, one chunk", *made(random, DELTA, 1, STEPS, 4, 4))
    yield Case("the delta rule, two chunks", *made(random, DELTA, 1, 20, 32, 7))
    yield Case("two heads, no state before", *made(random, DELTA, 2, 33, 8, 34, carried=False))


def launch(kernel, kind, q, k, v, g, beta, state):
    (H, T, D), E = q.shape, v.shape[-1]
    given = [None if x is None else cuda.asarray(x) for x in (q, k, v, g, beta if kind == DELTA else None, None, state)]
    y, last, errors = cuda.empty(v.shape), cuda.empty((H, D, E)), cuda.empty(v.shape)
    kept = cuda.empty((H, -(-T // STEPS), D, E))
    kernel.instance(f"{kind}, 32")((-(-E // 32), H), 128, (*given, y, last, kept, errors, T, D, E))
    return y, last


def after(S, k, G, u):
    """The state after a chunk: S (H, D, E) before it, k and G (H, C, D), and u (H, C, E), what each step writes."""
    return np.exp(G[:, -1])[..., None] * S + (k * np.exp(G[:, -1:] - G)).swapaxes(-1, -2) @ u


def chunks(kind, q, k, v, g, beta, state, after=after):
    """Each chunk step by step; from chunk to chunk the state is what `after` says."""
    H, T, D = q.shape
    q, k, v, g, beta = (x.astype(np.float64) for x in (q, k, v, g, beta))
    S = np.zeros((H, D, v.shape[-1])) if state is None else state.astype(np.float64)
    y, u = np.empty_like(v), np.empty_like(v)  # (H, T, E)
    for start in range(0, T, STEPS):
        part, now = slice(start, start + STEPS), S
        for t in range(start, min(start + STEPS, T)):
            now = np.exp(g[:, t])[..., None] * now  # (H, D, E)
            u[:, t] = v[:, t]
            if kind == DELTA:
                u[:, t] = beta[:, t, None] * (v[:, t] - np.einsum("hde,hd->he", now, k[:, t]))
            now = now + k[:, t, :, None] * u[:, t, None]
            y[:, t] = np.einsum("hde,hd->he", now, q[:, t])
        S = after(S, k[:, part], np.cumsum(g[:, part], axis=1), u[:, part])
    return y, S


def by_number(over):
    """In the place of row c that of the number i in which its lane holds it: (H, D) -> (H, D)."""
    c = np.arange(over.shape[1])
    return over[:, c // 16 * 4 + c % 4]


def otherwise(rule):
    return lambda *case: chunks(*case, after=rule)


exercise = Exercise(
    title="The state in registers",
    minutes=10,
    core=False,
    language="cuda",
    defines="recurrence_forward",
    target="kernel:linear_recurrence.cu",
    instances=("0, 32", "1, 32"),
    cases=cases,
    reference=chunks,
    results=("y", "the last state"),
    call=launch,
    tolerance=1e-4,
    hints=(
        "Two things, in this order: each number of the state is multiplied by the decay of its row over the whole chunk; then "
        "all 16 steps add what they wrote.",
        "S[i] belongs to row row_of(i, lane), whose decay is chunk.over[row_of(i, lane)]. The new S of `one_chunk` in the "
        "lecture is the same, for all columns at once.",
        "for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)]; and for each step t add_own(S, chunk.to_end[t], "
        "u[t], lane);",
    ),
    example='''// A column of a product of matrices, in registers: four lanes share it, and add row t of a times b[t] for each t.
__global__ void product_column(const float* a, const float* b, float* y, int T, int d) {
    int lane = threadIdx.x % 4;
    float sum[8] = {};  // of the rows lane, lane + 4, ...
    for (int t = 0; t < T; t++)
        for (int i = 0; i < 8; i++)
            if (lane + 4 * i < d) sum[i] += a[t * d + lane + 4 * i] * b[t];
    for (int i = 0; i < 8; i++)
        if (lane + 4 * i < d) y[lane + 4 * i] = sum[i];
}
''',
    wrong=[
        Wrong(Changed(("for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];", "for (int i = 0; i < OWN; i++);")),
              "The state before does not decay on its way through the chunk: multiply each number by chunk.over of its row.",
              like=otherwise(lambda S, k, G, u: S + after(0 * S, k, G, u))),
        Wrong(Changed(("add_own(S, chunk.to_end[t], u[t], lane);", ";")),
              "The state only decays: what the steps of the chunk wrote, u[t] under the key of step t, is never added.",
              like=otherwise(lambda S, k, G, u: np.exp(G[:, -1])[..., None] * S)),
        Wrong(Changed(("        for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];\n#pragma unroll\n"
                       "        for (int t = 0; t < STEPS; t++) add_own(S, chunk.to_end[t], u[t], lane);\n",
                       "        for (int t = 0; t < STEPS; t++) add_own(S, chunk.to_end[t], u[t], lane);\n#pragma unroll\n"
                       "        for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];\n")),
              "What the chunk wrote decays twice: chunk.to_end has its decay to the end already. Let the old state decay first, "
              "and add then.",
              like=otherwise(lambda S, k, G, u: np.exp(G[:, -1])[..., None] * (S + after(0 * S, k, G, u)))),
        Wrong(Changed(("S[i] *= chunk.over[row_of(i, lane)]", "S[i] *= chunk.over[i]")),
              "A lane's number i is not row i of the state: four lanes share the rows. It is row_of(i, lane).",
              like=otherwise(lambda S, k, G, u: after(0 * S, k, G, u) + by_number(np.exp(G[:, -1]))[..., None] * S)),
        Wrong(Changed(("chunk.to_end[t], u[t]", "chunk.k[t], u[t]")), generic="The cases that fail are those"),
    ],
)  # fmt: skip
