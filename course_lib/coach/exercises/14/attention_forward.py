"""Attention for all texts and heads at once, with grouped-query attention, and the logsumexp of each row."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import extreme_attention


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
    yield Case("four query heads, two key-value heads", *made(1, 4, 4, 4, 2, 4), True)
    yield Case("two new tokens, three cached ones", *made(1, 2, 5, 1, 1, 2), True)
    yield Case("one new token, grouped-query attention, float32", *made(2, 1, 7, 6, 3, 4, np.float32), True)
    for label, arrays in extreme_attention(random, 4, 4, 4):
        yield Case(label, *(array[None, :, None] for array in arrays), True)
    yield Case("scores in the thousands", *made(1, 6, 6, 2, 1, 4, np.float64, 50.0), True)


def check(result, q, k, v, causal):
    y, logsumexp = result
    for name, array in (("y", y), ("logsumexp", logsumexp)):
        if np.asarray(array).dtype != q.dtype:
            return (f"{name} is {np.asarray(array).dtype}, and the inputs are {q.dtype}: keep their dtype. "
                    "(np.sqrt of an integer is a float64; D ** 0.5 is a plain Python float.)")  # fmt: skip
    if not np.asarray(y).flags.c_contiguous:
        return "The numbers are right, but y is a transposed view. The library needs it contiguous: np.ascontiguousarray(y)."
    return None


def masked(triangle, hidden="-np.inf"):
    """The solution with a mask of one's own in place of the library's."""
    return Changed(("scores = causal_mask(scores)", "T, S = scores.shape[-2:]\n        "
                    f"scores = np.where({triangle}, scores, {hidden})"))  # fmt: skip


exercise = Exercise(
    title="Attention, all heads at once",
    test_out=True,
    minutes=20,
    defines="attention_forward",
    target="op:attention_forward",
    cases=cases,
    results=("y", "logsumexp"),
    reference=lambda *inputs: devices.ops("reference").attention_forward(*inputs),
    check=check,
    tolerance=1e-4,
    given="import numpy as np\nfrom course_lib.devices.reference.attention import causal_mask",
    hints=(
        "Bring the axes into an order in which one @ makes all scores: heads before tokens. What shape does the score "
        "matrix have?",
        "np.repeat(k, H // G, axis=2) gives each query head its keys; v likewise. q.transpose(0, 2, 1, 3) is (B, H, T, D).",
        "scores = q @ k.swapaxes(-1, -2) / D ** 0.5; if causal: scores = causal_mask(scores); largest = scores.max(axis=-1, "
        "keepdims=True); e = np.exp(scores - largest); total = e.sum(axis=-1, keepdims=True); y = (e / total) @ v, transposed "
        "back, contiguous; logsumexp = (largest + np.log(total))[..., 0].",
    ),
    example='''def average_of_the_past(v):
    """The same with all scores 0: v (B, S, G, D); each token takes the mean of all values up to its own."""
    values = v.transpose(0, 2, 1, 3)  # (B, G, S, D)
    mask = np.tri(v.shape[1], dtype=v.dtype)  # (S, S)
    weights = mask / mask.sum(axis=-1, keepdims=True)  # each row adds up to 1
    return np.ascontiguousarray((weights @ values).transpose(0, 2, 1, 3))  # (B, S, G, D)
''',
    wrong=[
        Wrong(Changed((" / D**0.5", "")), "The scores are not divided: divide them by the square root of D before softmax."),
        Wrong(Changed(("D**0.5", "D")), "The scores are divided by D. It is the square root of D."),
        Wrong(Changed(("if causal:", "if not causal and H < 0:")),
              "Tokens attend to later tokens: nothing is masked when `causal` is True."),
        Wrong(masked("np.tri(T, S, S - T - 1, dtype=bool)"),
              "In your mask no token attends to itself. Query t attends to the keys up to its own position."),
        Wrong(masked("np.tri(S, T, T - S, dtype=bool).T"),
              "Your mask hides the past and not the future: it is the other triangle."),
        Wrong(masked("np.tri(T, S, dtype=bool)"),
              "With S keys and T queries, the queries are the last T positions: query t attends to the keys 0 to S - T + t, "
              "not 0 to t."),
        Wrong(masked("np.tri(T, S, S - T, dtype=bool)", hidden="0.0"),
              "A score of 0 does not mask a key: exp(0) is 1. Masked scores are minus infinity."),
        Wrong(Changed(("    if causal:\n        scores = causal_mask(scores)\n", ""),
                      ("e / total @ v", "e / total * (np.isfinite(causal_mask(scores)) | (not causal)) @ v")),
              "You mask the weights after softmax, so those that are left do not add up to 1. Mask the scores before it."),
        Wrong(Changed(("np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)",
                       "np.tile(k, (1, 1, H // G, 1)), np.tile(v, (1, 1, H // G, 1))")),
              "The key-value heads are assigned one after the other, h % G. Consecutive query heads share one: 0 and 1 read "
              "the first, 2 and 3 the second."),
        Wrong(Changed(("    y = (e / total @ v)", "    columns = np.exp(scores - scores.max(axis=-2, keepdims=True))\n"
                                                   "    y = (columns / columns.sum(axis=-2, keepdims=True) @ v)")),
              "The weights of each key add up to 1, not those of each query: apply softmax along the last axis, the keys."),
        Wrong(Changed(("largest = scores.max(axis=-1, keepdims=True)", "largest = np.zeros_like(scores[..., :1])")),
              "exp of a large score overflows. Subtract the largest score of each row first, and add it to logsumexp again."),
        Mistake("This is y alone. Return two things: y and logsumexp.", when=lambda seen: (
            isinstance(seen.got, np.ndarray) and np.shape(seen.got) == seen.expected[0].shape
            and np.allclose(seen.got, seen.expected[0], atol=1e-4))),
        Mistake("y is right, but logsumexp does not have the shape (B, H, T): one number for each row of scores.",
                when=lambda seen: (
            isinstance(seen.got, tuple) and len(seen.got) == 2 and np.shape(seen.got[0]) == seen.expected[0].shape
            and np.allclose(seen.got[0], seen.expected[0], atol=1e-4) and np.shape(seen.got[1]) != seen.expected[1].shape)),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""", "The weights of a row do not add up to 1: divide exp of the scores by their sum before the weighted sum of the values."),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), np.log(z)[..., 0]
""", "y is right. logsumexp lacks the largest score, which was subtracted: add it again after the logarithm."),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""", "The mask is applied when `causal` is False, too. Then every query attends to every key."),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return e / z @ v, (m + np.log(z))[..., 0]
""", "y still has the axes (B, H, T, D). Transpose it back to (B, T, H, D)."),
        Wrong("""def attention_forward(q, k, v, causal=True):
    T, H, D = q.shape[1:]; S, G = k.shape[1:3]
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / D ** 0.5
    if causal: s = np.where(np.tri(T, S, S - T, dtype=bool), s, -np.inf)
    m = s.max(-1, keepdims=True); e = np.exp(s - m); z = e.sum(-1, keepdims=True)
    return np.ascontiguousarray((e / z @ v).transpose(0, 2, 1, 3)), (m + np.log(z))[..., 0]
""",
              "q has H heads, but k and v have G: repeat each key-value head for its query heads, with "
              "np.repeat(k, H // G, axis=2) before the heads are brought before the tokens, or with axis=1 after it.",
              when=lambda seen: (seen.label == "four query heads, two key-value heads" and "ValueError" in seen.error)),
        Wrong(Changed(("np.ascontiguousarray(y)", "y")), generic="a transposed view"),
        Wrong(Changed(("D**0.5", "np.sqrt(D)")), generic="keep their dtype"),
    ],
)  # fmt: skip
