"""The backward pass of the same kernel: the gradient of the state goes through the chunks from the last to the first."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LINEAR, DELTA = range(2)  # the first template argument
STEPS = 16


def made(random, kind, H, T, D, E, carried=True):
    """kind, dy (H, T, E), dlast (H, D, E) or None, q, k, g (H, T, D), beta (H, T)."""
    q, k, dy = random.normal(size=(H, T, D)), random.normal(size=(H, T, D)), random.normal(size=(H, T, E))
    k /= np.sqrt((k * k).sum(axis=-1, keepdims=True))
    g, beta = -random.uniform(0, 0.3, (H, T, D)), random.uniform(0.2, 1, (H, T))
    dlast = random.normal(size=(H, D, E)) if carried else None
    return kind, *(None if x is None else x.astype(np.float32) for x in (dy, dlast, q, k, g, beta))


def cases(random):
    one = [np.array(x, np.float32).reshape(1, 2, 1) for x in ([1, 2], [1, 1], [1, 1], [0, 0])]
    yield Case("two steps without decay", LINEAR, one[0], None, *one[1:], np.ones((1, 2), np.float32))
    yield Case("one step", *made(random, LINEAR, 1, 1, 2, 3))
    yield Case("one chunk", *made(random, LINEAR, 1, STEPS, 4, 4))
    yield Case("two chunks and a part", *made(random, LINEAR, 1, 35, 27, 5))
    yield Case("the delta rule, one chunk", *made(random, DELTA, 1, STEPS, 4, 4))
    yield Case("the delta rule, two chunks", *made(random, DELTA, 1, 20, 32, 7))
    yield Case("two heads, nothing comes later", *made(random, DELTA, 2, 33, 8, 34, carried=False))


def there(x):
    return None if x is None else cuda.asarray(x)


def launch(kernel, kind, dy, dlast, q, k, g, beta):
    (H, T, D), E = q.shape, dy.shape[-1]
    given = (dy, dlast, q, k, g, beta if kind == DELTA else None, None)
    dends, dv, dwritten = cuda.empty((H, -(-T // STEPS), D, E)), cuda.empty(dy.shape), cuda.empty(dy.shape)
    dstate = cuda.empty((H, D, E))
    kernel.instance(f"{kind}, 32")((-(-E // 32), H), 128, (*map(there, given), dends, dv, dwritten, dstate, T, D, E))
    return dv, dstate


def before(dS, q, k, G, dy, du):
    """The gradient of the state before a chunk: dS (H, D, E) of the one after it, q, k, G (H, C, D), dy and du (H, C, E)."""
    read = (q * np.exp(G)).swapaxes(-1, -2) @ dy - (k * np.exp(G)).swapaxes(-1, -2) @ du
    return np.exp(G[:, -1])[..., None] * dS + read


def chunks(kind, dy, dlast, q, k, g, beta, before=before, always=False):
    """Each chunk step by step, backwards; from chunk to chunk the gradient of the state is what `before` says. always: with
    the term of du without the delta rule as well."""
    H, T, D = q.shape
    dy, q, k, g, beta = (x.astype(np.float64) for x in (dy, q, k, g, beta))
    dS = np.zeros((H, D, dy.shape[-1])) if dlast is None else dlast.astype(np.float64)
    dv, du = np.empty_like(dy), np.zeros_like(dy)  # (H, T, E); du: of what the delta rule reads and takes away
    for start in reversed(range(0, T, STEPS)):
        part, now = slice(start, start + STEPS), dS
        for t in reversed(range(start, min(start + STEPS, T))):
            now = now + q[:, t, :, None] * dy[:, t, None]  # (H, D, E)
            dv[:, t] = np.einsum("hde,hd->he", now, k[:, t])
            if kind == DELTA:
                dv[:, t] *= beta[:, t, None]
            if kind == DELTA or always:
                du[:, t] = dv[:, t]
            if kind == DELTA:
                now = now - k[:, t, :, None] * du[:, t, None]
            now = np.exp(g[:, t])[..., None] * now
        G = np.cumsum(g[:, part], axis=1)
        keys = k[:, part] if kind == DELTA else k[:, part] * np.exp(-G)  # chunk.k has no decay without the delta rule
        dS = before(dS, q[:, part], keys, G, dy[:, part], du[:, part])
    return dv, dS


def otherwise(rule, always=False):
    return lambda *case: chunks(*case, before=rule, always=always)


NOT_READ = (
    "Gated linear attention (KIND is not Delta) reads nothing before it writes, so no gradient of a reading flows there. "
    "Add the term of du for the delta rule alone: if (KIND == Delta)."
)


def plus(dS, q, k, G, dy, du):
    return before(dS, q, k, G, dy, -du)


exercise = Exercise(
    title="Backwards through the chunks",
    minutes=15,
    core=False,
    language="cuda",
    defines="recurrence_backward_states",
    target="kernel:linear_recurrence.cu",
    instances=("0, 32", "1, 32"),
    cases=cases,
    reference=chunks,
    results=("dv", "dstate"),
    call=launch,
    tolerance=1e-4,
    hints=(
        "The state before the chunk acts on three things. Which factor stands before it in each: in the state after the "
        "chunk, in y of step t, and in what step t writes by the delta rule?",
        "S after the chunk is chunk.over times S, and more. y of step t is S times chunk.q[t], and more. So the gradient "
        "flows through the same factors: over times dS, and chunk.q[t] times dy of step t.",
        "for (int i = 0; i < OWN; i++) dS[i] *= chunk.over[row_of(i, lane)]; then for each step add_own(dS, chunk.q[t], "
        "dyt[t], lane), and for the delta rule, if (KIND == Delta), add_own(dS, chunk.k[t], -du[t], lane).",
    ),
    example='''// The gradient of the h before T steps h = a h + b; dy are those of each h. Backwards: add dy, multiply by a.
__global__ void first_gradient(const float* a, const float* dy, float* dh, int T) {
    float carried = 0.0f;
    for (int t = T - 1; t >= 0; t--) carried = a[t] * (carried + dy[t]);
    *dh = carried;
}
''',
    wrong=[
        Wrong(Changed(("for (int i = 0; i < OWN; i++) dS[i] *= chunk.over[row_of(i, lane)];", "for (int i = 0; i < OWN; i++);")),
              "The state decays from the chunk's beginning to its end, so the upstream gradient, that of the state at its "
              "end, is multiplied by the same decay, chunk.over.",
              like=otherwise(lambda dS, *chunk: dS + before(0 * dS, *chunk))),
        Wrong(Changed(("            if (KIND == Delta) add_own(dS, chunk.k[t], -du[t], lane);\n", "")),
              "By the delta rule each step reads the state before it writes, and takes away what it read. A gradient flows "
              "through that reading as well: chunk.k[t] times -du[t].",
              like=otherwise(lambda dS, q, k, G, dy, du: before(dS, q, k, G, dy, 0 * du))),
        Wrong(Changed(("-du[t]", "du[t]")),
              "What the delta rule reads it takes away: the sign of du is minus.",
              like=otherwise(plus)),
        Wrong(Changed(("if (KIND == Delta) add_own(dS, chunk.k", "add_own(dS, chunk.k")), NOT_READ,
              like=otherwise(before, always=True)),
        Wrong(Changed(("if (KIND == Delta) add_own(dS, chunk.k[t], -du", "add_own(dS, chunk.k[t], du")), NOT_READ,
              like=otherwise(plus, always=True), also=True),
        Wrong(Changed(("            add_own(dS, chunk.q[t], dyt[t], lane);\n", "")),
              "Each y of the chunk was read from the state before it, too: its gradient there is chunk.q[t] times dy of step t.",
              like=otherwise(lambda dS, q, k, G, dy, du: before(dS, q, k, G, 0 * dy, du))),
        Wrong(Changed(("chunk.q[t], dyt[t]", "chunk.to_end[t], dyt[t]")), generic="elements of dstate are wrong"),
    ],
)  # fmt: skip
