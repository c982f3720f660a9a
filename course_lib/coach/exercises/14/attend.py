"""Attention for all heads at once: scores, mask, softmax, mix; with grouped heads and a past that was kept."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    def made(b, t, s, h, g, d, dtype=np.float64, size=1.0):
        return [
            (size * random.normal(size=shape)).astype(dtype) for shape in ((b, t, h, d), (b, s, g, d), (b, s, g, d))
        ]

    eye = np.array([[2.0, 0.0], [0.0, 2.0]]).reshape(1, 2, 1, 2)
    yield Case("two tokens, one head", eye, eye.copy(), np.array([[1.0, 0.0], [0.0, 1.0]]).reshape(1, 2, 1, 2), True)
    yield Case("one token", *made(1, 1, 1, 1, 1, 2), True)
    yield Case("without a mask", *made(1, 3, 3, 1, 1, 2), False)
    yield Case("two heads", *made(1, 3, 3, 2, 2, 2), True)
    yield Case("two texts of float32", *made(2, 5, 5, 2, 2, 8, np.float32), True)
    yield Case("four heads share two of keys and values", *made(1, 4, 4, 4, 2, 4), True)
    yield Case("two new tokens behind three that were kept", *made(1, 2, 5, 1, 1, 2), True)
    yield Case("one new token, grouped heads, float32", *made(2, 1, 7, 6, 3, 4, np.float32), True)
    yield Case("scores of some thousand", *made(1, 6, 6, 2, 1, 4, np.float64, 50.0), True)


def variant(scale=0.5, mask="end", groups="repeat", axis=-1, stable=True, hide="before", whole=True, lowered=False, always=False,
            turned=False):  # fmt: skip
    """Attention with one thing done in another way."""

    def attend(q, k, v, causal=True):
        T, H, D = q.shape[1:]
        S, G = k.shape[1:3]
        spread = {"repeat": lambda x: np.repeat(x, H // G, 2), "tile": lambda x: np.tile(x, (1, 1, H // G, 1))}[groups]
        q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, spread(k), spread(v)))
        scores = q @ k.swapaxes(-1, -2) / D**scale
        seen = {"end": np.tri(T, S, S - T), "start": np.tri(T, S), "never": np.ones((T, S)),
                "strict": np.tri(T, S, S - T - 1), "future": np.tri(S, T, T - S).T}  # fmt: skip
        seen = seen[mask].astype(bool) | (not causal and not always)
        if hide == "before":
            scores = np.where(seen, scores, -np.inf)
        elif hide == "zero":
            scores = np.where(seen, scores, 0.0)
        largest = scores.max(axis, keepdims=True) if stable else 0.0
        e = np.exp(scores - largest)
        total = e.sum(axis, keepdims=True)
        weights = (e / total if whole else e) * (seen if hide == "after" else 1)
        rows = np.log(np.exp(scores - scores.max(-1, keepdims=True)).sum(-1)) + scores.max(-1)
        rows = rows - scores.max(-1) if lowered else rows
        y = weights @ v if turned else (weights @ v).transpose(0, 2, 1, 3)
        return y, (rows if stable else np.log(total[..., 0]))

    return attend


def check(result, q, k, v, causal):
    y, logsumexp = result
    for name, array in (("y", y), ("logsumexp", logsumexp)):
        if np.asarray(array).dtype != q.dtype:
            return (f"{name} is {np.asarray(array).dtype}, and the inputs are {q.dtype}: keep their dtype. "
                    "(np.sqrt of a whole number is a float64; D ** 0.5 is a plain number.)")  # fmt: skip
    if not np.asarray(y).flags.c_contiguous:
        return "The numbers are right, but y is a transposed view. The library needs it contiguous: np.ascontiguousarray(y)."
    return None


exercise = Exercise(
    title="Attention",
    test_out=True,
    minutes=20,
    defines="attention_forward",
    target="op:attention_forward",
    cases=cases,
    results=("y", "logsumexp"),
    reference=lambda *inputs: devices.ops("reference").attention_forward(*inputs),
    check=check,
    tolerance=1e-4,
    given="import numpy as np",
    mistakes=[
        Mistake("The scores are not divided: divide them by the square root of D before softmax.", like=variant(scale=0.0)),
        Mistake("The scores are divided by D. It is the square root of D.", like=variant(scale=1.0)),
        Mistake("Tokens look ahead: nothing is masked when `causal` is True.", like=variant(mask="never")),
        Mistake("No token may look at itself in your mask. Token t sees the keys up to its own place.",
                like=variant(mask="strict")),
        Mistake("Your mask hides the past and shows the future: it is the other triangle.", like=variant(mask="future")),
        Mistake("With S keys and T queries, the queries are the last T places: row t sees the keys 0 to S - T + t, not 0 to t.",
                like=variant(mask="start")),
        Mistake("A score of 0 is not hidden: e to the 0 is 1. Hidden scores are minus infinity.", like=variant(hide="zero")),
        Mistake("You hide the shares after softmax, so those that stay do not add up to 1. Hide the scores before it.",
                like=variant(hide="after")),
        Mistake("The heads of keys are dealt out in turns. Consecutive query heads share one: 0 and 1 read the first, 2 and 3 "
                "the "
                "second.", like=variant(groups="tile")),
        Mistake("The shares of each key add up to 1, not those of each query: softmax goes over the last axis, the keys.",
                like=variant(axis=-2)),
        Mistake("e to a large score is too large for any number. Subtract the largest score of each row first, and add it to "
                "logsumexp again.", like=variant(stable=False)),
        Mistake("This is y alone. Return two things: y and logsumexp.", when=lambda seen: (
            isinstance(seen.got, np.ndarray) and np.shape(seen.got) == seen.expected[0].shape
            and np.allclose(seen.got, seen.expected[0], atol=1e-4))),
        Mistake("y is right, and logsumexp has not the shape (B, H, T): one number for each row of scores.", when=lambda seen: (
            isinstance(seen.got, tuple) and len(seen.got) == 2 and np.shape(seen.got[0]) == seen.expected[0].shape
            and np.allclose(seen.got[0], seen.expected[0], atol=1e-4) and np.shape(seen.got[1]) != seen.expected[1].shape)),
        Mistake("The shares of a row do not add up to 1: divide e to the scores by their sum before the values are mixed.",
                like=variant(whole=False)),
        Mistake("y is right. logsumexp lacks the largest score that was subtracted: add it again after the logarithm.",
                like=variant(lowered=True)),
        Mistake("The mask is there when `causal` is False, too. Then every query sees every key.", like=variant(always=True)),
        Mistake("y has the axes (B, H, T, D) still. Bring them back to (B, T, H, D) when the values are mixed.",
                like=variant(turned=True)),
        Mistake("q has H heads, and k and v have G of them: give each query head its keys first, with np.repeat(k, H // G, "
                "axis=2).", when=lambda seen: (
            seen.label == "four heads share two of keys and values" and "ValueError" in seen.error)),
    ],
    hints=(
        "Bring the axes into an order in which one @ makes all scores: heads before tokens. Which shape has the matrix of "
        "scores?",
        "np.repeat(k, H // G, axis=2) gives each query head its keys. q.transpose(0, 2, 1, 3) is (B, H, T, D). np.tri(T, S, S "
        "- T) "
        "has a 1 wherever one may look.",
        "scores = q @ k.swapaxes(-1, -2) / D ** 0.5; hide with np.where(mask, scores, -np.inf); subtract the row's largest; e "
        "= np.exp(...); "
        "y = (e / total) @ v, transposed back; logsumexp = largest + np.log(total).",
    ),
    sibling='''def average_of_the_past(v):
    """The same path with all scores 0: v (B, S, G, D); each token takes the mean of all values up to itself."""
    values = v.transpose(0, 2, 1, 3)  # (B, G, S, D)
    seen = np.tri(v.shape[1], dtype=v.dtype)  # (S, S)
    shares = seen / seen.sum(axis=-1, keepdims=True)  # each row adds up to 1
    return np.ascontiguousarray((shares @ values).transpose(0, 2, 1, 3))  # (B, S, G, D)
''',
    right=[
        """def attention_forward(q, k, v, causal=True):
    B, T, H, D = q.shape
    S, G = k.shape[1], k.shape[2]
    y, logsumexp = np.zeros_like(q), np.zeros((B, H, T), q.dtype)
    for b in range(B):
        for h in range(H):
            g = h // (H // G)
            for t in range(T):
                see = S - T + t + 1 if causal else S
                scores = k[b, :see, g] @ q[b, t, h] / D ** 0.5
                e = np.exp(scores - scores.max())
                y[b, t, h] = e @ v[b, :see, g] / e.sum()
                logsumexp[b, h, t] = scores.max() + np.log(e.sum())
    return y, logsumexp
""",
        """import math

def attention_forward(q, k, v, causal=True):
    B, T, H, D = q.shape
    _, S, G, _ = k.shape
    grouped = q.reshape(B, T, G, H // G, D)
    scores = np.einsum("btgrd,bsgd->bgrts", grouped, k) / math.sqrt(D)
    if causal:
        scores[..., np.arange(S)[None, :] > np.arange(T)[:, None] + S - T] = -np.inf
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    y = np.einsum("bgrts,bsgd->btgrd", e / total, v).reshape(B, T, H, D)
    return np.ascontiguousarray(y), (top + np.log(total)).reshape(B, H, T)
""",
    ],
    wrong=[
        Wrong(Changed((" / D**0.5", "")), "The scores are not divided"),
        Wrong(Changed(("D**0.5", "D")), "It is the square root of D"),
        Wrong(Changed(("if causal:", "if not causal and T < 0:")), "Tokens look ahead"),
        Wrong(Changed(("np.tri(T, S, S - T, dtype=bool)", "np.tri(T, S, dtype=bool)")), "the queries are the last T places"),
        Wrong(Changed(("np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)",
                       "np.tile(k, (1, 1, H // G, 1)), np.tile(v, (1, 1, H // G, 1))")), "dealt out in turns"),
        Wrong(Changed(("-np.inf", "0.0")), "is not hidden"),
        Wrong(Changed(("np.ascontiguousarray(y)", "y")), "a transposed view"),
        Wrong(Changed(("D**0.5", "np.sqrt(D)")), "keep their dtype"),
        Wrong(Changed(("largest = scores.max(axis=-1, keepdims=True)", "largest = np.zeros_like(scores[..., :1])")),
              "too large for any number"),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""", "do not add up to 1: divide e to"),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), np.log(z)[..., 0]
""", "lacks the largest score that was"),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""", "when `causal` is False"),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return e / z @ v, (m + np.log(z))[..., 0]
""", "has the axes (B, H, T, D) still"),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""", "give each query head its keys first"),
    ],
)  # fmt: skip
