"""Attention of one head: scores, mask, softmax, weighted sum."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extreme_attention


def cases(random):
    eye = np.array([[2.0, 0.0], [0.0, 2.0]])
    yield Case("two tokens", eye, eye.copy(), np.array([[1.0, 0.0], [0.0, 1.0]]))
    yield Case("one token", *random.normal(size=(3, 1, 2)))
    yield Case("seven tokens", *random.normal(size=(3, 7, 4)))
    yield Case("two new tokens, three cached ones", random.normal(size=(2, 3)), *random.normal(size=(2, 5, 3)))
    yield Case("scores in the thousands", *(60 * random.normal(size=(3, 9, 4))))
    for label, inputs in extreme_attention(random, 5, 5, 3):
        yield Case(label, *(x.astype(np.float64) for x in inputs))


def right(q, k, v):
    q, k, v = (x[None, :, None] for x in (q, k, v))  # (T, D) -> (B, T, H, D) = (1, T, 1, D)
    return devices.ops("reference").attention_forward(q, k, v)[0][0, :, 0]


ALONG_QUERIES = (
    "The weights of each key add up to 1, not those of each query: softmax runs over the last axis, the keys."
)

exercise = Exercise(
    title="Attention of one head",
    minutes=10,
    defines="head_attention",
    cases=cases,
    reference=right,
    tolerance=1e-4,
    given="import numpy as np\nfrom course_lib.devices.reference.attention import causal_mask",
    hints=(
        "All scores at once are one matmul. The matrix has a row for each query and a column for each key: (T, S).",
        "scores = causal_mask(q @ k.T / q.shape[1] ** 0.5). The largest of each row: scores.max(axis=-1, keepdims=True).",
        "e = np.exp(scores - largest); the weights are e / e.sum(axis=-1, keepdims=True); y is the weights @ v.",
    ),
    example='''def average_of_the_past(v):
    """The same with all scores 0: v (S, D); each token takes the mean of all values up to its own."""
    mask = np.tri(len(v))  # (S, S)
    weights = mask / mask.sum(axis=-1, keepdims=True)  # each row adds up to 1
    return weights @ v  # (S, S) @ (S, D) -> (S, D)
''',
    wrong=[
        Wrong(Changed((" / q.shape[1] ** 0.5", "")), "The scores are not divided: divide them by the square root of D first."),
        Wrong(Changed(("q.shape[1] ** 0.5", "q.shape[1]")), "The scores are divided by D. It is the square root of D."),
        Wrong(Changed(("causal_mask(q @ k.T / q.shape[1] ** 0.5)", "q @ k.T / q.shape[1] ** 0.5")),
              "Tokens attend to later tokens: the scores are not masked."),
        Wrong("""def head_attention(q, k, v):
    scores = q @ k.T / q.shape[1] ** 0.5
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * np.isfinite(causal_mask(scores)) @ v
""", "You mask the weights after softmax, so those that are left do not add up to 1. Mask the scores before it."),
        Wrong(Changed((" - scores.max(axis=-1, keepdims=True)", "")),
              "exp of a large score overflows. Subtract the largest score of each row first."),
        Wrong(Changed(("e / e.sum(axis=-1, keepdims=True) @ v", "e @ v")),
              "The weights of a row do not add up to 1: divide exp of the scores by the sum of their row."),
        Wrong(Changed(("e / e.sum(axis=-1, keepdims=True) @ v", "e / e.sum(axis=0, keepdims=True) @ v")),
              ALONG_QUERIES),
        Wrong(Changed(("scores.max(axis=-1, keepdims=True)", "scores.max(axis=0, keepdims=True)"),
                      ("e / e.sum(axis=-1, keepdims=True) @ v", "e / e.sum(axis=0, keepdims=True) @ v")),
              ALONG_QUERIES, also=True),
        Wrong(Changed(("e / e.sum(axis=-1, keepdims=True) @ v", "e / e.sum() @ v")),
              "All weights together add up to 1. Those of each row must: axis=-1, keepdims=True."),
        Wrong("""def head_attention(q, k, v):
    scores = causal_mask(k @ q.T / q.shape[1] ** 0.5)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v
""", "Your matrix has a row for each key. It must have one for each query: q @ k.T."),
        Wrong(Changed(("return e / e.sum(axis=-1, keepdims=True) @ v", "return e / e.sum(axis=-1, keepdims=True)")),
              "These are the attention weights. The output is still to be computed: the weights @ v."),
    ],
)  # fmt: skip
