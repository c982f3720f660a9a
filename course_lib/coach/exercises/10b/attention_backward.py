"""The gradients of attention in NumPy, for all heads, with a mask, earlier keys and grouped-query attention."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


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
    yield Case("one token", *made(1, 1, 1, 1, 1, 2, True))
    yield Case("three tokens, causal", *made(1, 3, 3, 1, 1, 2, True))
    yield Case("two heads", *made(1, 3, 3, 2, 2, 2, True))
    yield Case("two texts of float32", *made(2, 5, 5, 2, 2, 8, True, np.float32))
    yield Case("four query heads, two key-value heads", *made(1, 4, 4, 4, 2, 4, True))
    yield Case("two queries, five keys", *made(1, 2, 5, 1, 1, 2, True))
    yield Case("more queries than keys", *made(2, 7, 3, 6, 3, 4, False))
    yield Case("scores in the hundreds", *made(1, 6, 6, 2, 1, 4, True, np.float64, 50.0))


def check(result, dy, q, k, v, y, logsumexp, causal):
    for name, array in zip(("dq", "dk", "dv"), result, strict=True):
        if np.asarray(array).dtype != q.dtype:
            return (
                f"{name} is {np.asarray(array).dtype}, and the inputs are {q.dtype}: keep their dtype. "
                "(D ** 0.5 is a plain Python float.)"
            )
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
    reference=lambda *inputs: devices.ops("reference").attention_backward(*inputs),
    check=check,
    results=("dq", "dk", "dv"),
    tolerance=1e-4,
    given="import numpy as np",
    hints=(
        "Bring the axes into an order in which one @ makes all scores, (B, H, T, S), and give each query head a copy of its "
        "keys.",
        "weights = np.exp(scores - logsumexp[..., None]), 0 where masked; delta = (dy * y).sum(-1, keepdims=True); then the "
        "four lines of the lecture. dk and dv have H heads then: reshape to (B, G, H // G, S, D) and add up.",
        "scale = 1 / D**0.5; dscores = weights * (dy @ v.swapaxes(2, 3) - delta) * scale; dq = dscores @ k; dk = "
        "dscores.swapaxes(2, 3) @ q; dv = weights.swapaxes(2, 3) @ dy; sum dk and dv over the group; transpose all three "
        "back, contiguous.",
    ),
    example='''def average_backward(dy, v):
    """Backward of an average over all tokens so far: y[t] is the mean of v[0] to v[t]; dy and v (B, T, G, D)."""
    T = v.shape[1]
    mask = np.tri(T, dtype=v.dtype)  # (T, T)
    weights = mask / mask.sum(axis=-1, keepdims=True)
    dv = weights.T @ dy.transpose(0, 2, 1, 3)  # (B, G, T, D): each value receives gradient from all that averaged it
    return np.ascontiguousarray(dv.transpose(0, 2, 1, 3))
''',
    wrong=[
        Wrong(Changed(("(dq, dk, dv))", "(dq, dv, dk))")), "dk and dv are exchanged: the order is dq, dk, dv."),
        Wrong(Changed(("q @ k.swapaxes(2, 3) * scale", "q @ k.swapaxes(2, 3)")),
              "The scores are not scaled: divide q times k by the square root of D before exp."),
        Wrong(Changed((" - delta) * scale", " - delta)")),
              "The gradients of the scores lack the scale: a score was divided by the root of D, so the gradients of q and k "
              "are too."),
        Wrong(Changed((" - delta) * scale", ") * scale")),
              "delta is missing: subtract from dP the average of its row, the sum of dy times y."),
        Wrong(Changed(("if causal:", "if not causal and T < 0:")),
              "Tokens attend to later tokens: with `causal`, the weights of masked keys are 0."),
        Wrong(Changed(("np.tri(T, S, S - T, dtype=bool)", "np.tri(T, S, dtype=bool)")),
              "With S keys and T queries, the queries are the last T of the S tokens: query t attends to the keys 0 to S - T + "
              "t, not 0 to t."),
        Wrong(Changed((".sum(axis=2)", ".mean(axis=2)")),
              "dk and dv take the mean over the heads of a group. Each of the heads has used the key, so add "
              "up their gradients."),
        Wrong(Changed((".sum(axis=2)", "[:, :, 0]")),
              "dk and dv come from the first head of each group alone. All heads of the group have used the key: add up their "
              "gradients."),
        Wrong(Changed((".sum(axis=2)", "[:, :, -1]")),
              "dk and dv come from the last head of each group alone. All heads of the group have used the key: add up their "
              "gradients."),
        Wrong(Changed(("x.repeat(H // G, axis=2)", "np.tile(x, (1, 1, H // G, 1))"), ("x.reshape(B, G, H // G, S, D).sum(axis=2)",
                      "x.reshape(B, H // G, G, S, D).sum(axis=1)")),
              "The key-value heads are assigned one after the other, h % G. Consecutive query heads share one: h // (H // G)."),
        Wrong(Changed(("np.ascontiguousarray(x.transpose(0, 2, 1, 3))", "x.transpose(0, 2, 1, 3)")),
              generic="a transposed view"),
        Wrong(Changed(("1 / D**0.5", "1 / np.sqrt(D)")), generic="keep their dtype"),
    ],
)  # fmt: skip
