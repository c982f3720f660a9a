"""The gradients of attention in NumPy, for all heads, with a mask, a past and grouped heads."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    def made(b, t, s, h, g, d, causal, dtype=np.float64, size=1.0):
        shapes = (b, t, h, d), (b, t, h, d), (b, s, g, d), (b, s, g, d)
        dy, q, k, v = (
            (x * random.normal(size=shape)).astype(dtype) for shape, x in zip(shapes, (1, size, 1, 1), strict=True)
        )
        y, logsumexp = devices.ops("reference").attention_forward(q, k, v, causal)
        return dy, q, k, v, y.astype(dtype), logsumexp.astype(dtype), causal

    column = [
        np.array(x, dtype=np.float64).reshape(1, 2, 1, 1) for x in ([1, 2], [np.log(3), 0], [0, 1], [4, 8], [7, 6])
    ]
    yield Case("the numbers of the lecture", *column, np.log([[[4.0, 2.0]]]), False)
    yield Case("one word", *made(1, 1, 1, 1, 1, 2, True))
    yield Case("three words, causal", *made(1, 3, 3, 1, 1, 2, True))
    yield Case("two heads", *made(1, 3, 3, 2, 2, 2, True))
    yield Case("two texts of float32", *made(2, 5, 5, 2, 2, 8, True, np.float32))
    yield Case("four heads share two of keys and values", *made(1, 4, 4, 4, 2, 4, True))
    yield Case("two words behind three that were kept", *made(1, 2, 5, 1, 1, 2, True))
    yield Case("more queries than keys", *made(2, 7, 3, 6, 3, 4, False))
    yield Case("scores of some hundred", *made(1, 6, 6, 2, 1, 4, True, np.float64, 50.0))


def variant(scaled=("score", "gradient"), shift="delta", mask="end", groups="sum", deal="repeat", swapped=False):
    """The gradients with one thing done in another way."""

    def backward(dy, q, k, v, y, logsumexp, causal=True):
        (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
        R = H // G
        dy, q, y = (x.transpose(0, 2, 1, 3) for x in (dy, q, y))
        spread = {"repeat": lambda x: np.repeat(x, R, 2), "tile": lambda x: np.tile(x, (1, 1, R, 1))}[deal]
        k, v = (spread(x).transpose(0, 2, 1, 3) for x in (k, v))
        scale = 1 / D**0.5
        P = np.exp(q @ k.swapaxes(2, 3) * (scale if "score" in scaled else 1) - logsumexp[..., None])
        seen = {"end": np.tri(T, S, S - T), "start": np.tri(T, S), "never": np.ones((T, S))}[mask]
        P = P * (seen.astype(bool) | (not causal))
        delta = {"delta": (dy * y).sum(-1, keepdims=True), "none": 0.0}[shift]
        dS = P * (dy @ v.swapaxes(2, 3) - delta) * (scale if "gradient" in scaled else 1)
        dq, dk, dv = dS @ k, dS.swapaxes(2, 3) @ q, P.swapaxes(2, 3) @ dy
        fold = {
            "sum": lambda x: x.sum(2),
            "mean": lambda x: x.mean(2),
            "first": lambda x: x[:, :, 0],
            "last": lambda x: x[:, :, -1],
        }[groups]
        shape = (B, G, R, S, D) if deal == "repeat" else (B, R, G, S, D)
        dk, dv = (fold(x.reshape(shape) if deal == "repeat" else x.reshape(shape).swapaxes(1, 2)) for x in (dk, dv))
        dq, dk, dv = (np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in (dq, dk, dv))
        return (dq, dv, dk) if swapped else (dq, dk, dv)

    return backward


def check(result, dy, q, k, v, y, logsumexp, causal):
    for name, array in zip(("dq", "dk", "dv"), result, strict=True):
        if np.asarray(array).dtype != q.dtype:
            return f"{name} is {np.asarray(array).dtype}, and the inputs are {q.dtype}: keep their dtype. (D ** 0.5 is plain.)"
        if not np.asarray(array).flags.c_contiguous:
            return (
                f"The numbers are right, but {name} is a transposed view. The library needs np.ascontiguousarray of it."
            )
    return None


exercise = Exercise(
    title="All of it in NumPy",
    minutes=20,
    core=False,
    defines="attention_backward",
    target="op:attention_backward",
    cases=cases,
    reference=variant(),
    check=check,
    results=("dq", "dk", "dv"),
    tolerance=1e-4,
    given="import numpy as np",
    mistakes=[
        Mistake("dk and dv have changed places: the order is dq, dk, dv.", like=variant(swapped=True)),
        Mistake("The scores are not scaled: divide q times k by the square root of D before you take e to them.",
                like=variant(scaled=("gradient",))),
        Mistake("The gradients of the scores lack the scale: a score was divided by the root of D, so what comes back to q and "
                "k is too.",
                like=variant(scaled=("score",))),
        Mistake("delta is missing: of dP only what lies above the row's average counts, the sum of dy times "
                "y.", like=variant(shift="none")),
        Mistake("Words look ahead: hidden weights are 0 when `causal`.", like=variant(mask="never")),
        Mistake("With S keys and T queries, the queries are the last T places: row t sees the keys 0 to S - T + t, not 0 to t.",
                like=variant(mask="start")),
        Mistake("dk and dv take the mean over the heads of a group. Each head has used the key, so their gradients add up.",
                like=variant(groups="mean")),
        Mistake("dk and dv come from one head of each group alone. All heads of the group have used the key: add them up.",
                like=variant(groups="first")),
        Mistake("dk and dv hold what the last head of each group has left. All heads of the group have used the key: add them "
                "up.",
                like=variant(groups="last")),
        Mistake("The heads of keys are dealt out in turns. Consecutive query heads share one: h // (H // "
                "G).", like=variant(deal="tile")),
    ],
    hints=(
        "Bring the axes into an order in which one @ makes all scores, (B, H, T, S), and give each query head a copy of its "
        "keys.",
        "weights = np.exp(scores - logsumexp[..., None]), 0 where hidden; delta = (dy * y).sum(-1, keepdims=True); then the "
        "four lines "
        "of the lecture. dk and dv have H heads then: reshape to (B, G, H // G, S, D) and add up.",
        "dscores = weights * (dy @ v.swapaxes(2, 3) - delta) * scale; dq = dscores @ k; dk = dscores.swapaxes(2, 3) @ q; dv = "
        "weights.swapaxes(2, 3) @ dy; sum dk and dv over the group; transpose all three back, contiguous.",
    ),
    sibling='''def average_backward(dy, v):
    """The way back of an average over all words so far: y[t] is the mean of v[0] to v[t]; dy and v (B, T, G, D)."""
    T = v.shape[1]
    seen = np.tri(T, dtype=v.dtype)  # (T, T)
    shares = seen / seen.sum(axis=-1, keepdims=True)
    dv = shares.T @ dy.transpose(0, 2, 1, 3)  # (B, G, T, D): each value collects from all that took a share of it
    return np.ascontiguousarray(dv.transpose(0, 2, 1, 3))
''',
    right=[
        """def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    for b in range(B):
        for h in range(H):
            g = h // (H // G)
            for t in range(T):
                see = S - T + t + 1 if causal else S
                P = np.exp(k[b, :see, g] @ q[b, t, h] / D ** 0.5 - logsumexp[b, h, t])
                dP = v[b, :see, g] @ dy[b, t, h]
                dS = P * (dP - P @ dP) / D ** 0.5
                dq[b, t, h] = dS @ k[b, :see, g]
                dk[b, :see, g] += dS[:, None] * q[b, t, h]
                dv[b, :see, g] += P[:, None] * dy[b, t, h]
    return dq, dk, dv
""",
        """import math

def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    split = lambda x: x.reshape(B, T, G, H // G, D)
    dyg, qg = split(dy), split(q)
    scores = np.einsum("btgrd,bsgd->bgrts", qg, k) / math.sqrt(D) - logsumexp.reshape(B, G, H // G, T, 1)
    if causal:
        scores[..., np.arange(S)[None, :] > np.arange(T)[:, None] + S - T] = -np.inf
    P = np.exp(scores)
    dP = np.einsum("btgrd,bsgd->bgrts", dyg, v)
    dS = P * (dP - (P * dP).sum(-1, keepdims=True)) / math.sqrt(D)
    dq = np.einsum("bgrts,bsgd->btgrd", dS, k).reshape(q.shape)
    return [np.ascontiguousarray(x) for x in
            (dq, np.einsum("bgrts,btgrd->bsgd", dS, qg), np.einsum("bgrts,btgrd->bsgd", P, dyg))]
""",
    ],
    wrong=[
        Wrong(Changed(("(dq, dk, dv))", "(dq, dv, dk))")), "dk and dv have changed places"),
        Wrong(Changed(("q @ k.swapaxes(2, 3) * scale", "q @ k.swapaxes(2, 3)")), "The scores are not scaled"),
        Wrong(Changed((" - delta) * scale", " - delta)")), "lack the scale"),
        Wrong(Changed((" - delta) * scale", ") * scale")), "delta is missing"),
        Wrong(Changed(("if causal:", "if not causal and T < 0:")), "Words look ahead"),
        Wrong(Changed(("np.tri(T, S, S - T, dtype=bool)", "np.tri(T, S, dtype=bool)")), "the queries are the last T places"),
        Wrong(Changed((".sum(axis=2)", ".mean(axis=2)")), "take the mean over the heads"),
        Wrong(Changed((".sum(axis=2)", "[:, :, 0]")), "from one head of each group alone"),
        Wrong(Changed((".sum(axis=2)", "[:, :, -1]")), "what the last head of each group has left"),
        Wrong(Changed(("x.repeat(H // G, axis=2)", "np.tile(x, (1, 1, H // G, 1))"), ("x.reshape(B, G, H // G, S, D).sum(axis=2)",
                      "x.reshape(B, H // G, G, S, D).sum(axis=1)")), "dealt out in turns"),
        Wrong(Changed(("np.ascontiguousarray(x.transpose(0, 2, 1, 3))", "x.transpose(0, 2, 1, 3)")), "a transposed view"),
        Wrong(Changed(("1 / D**0.5", "1 / np.sqrt(D)")), "keep their dtype"),
    ],
)  # fmt: skip
