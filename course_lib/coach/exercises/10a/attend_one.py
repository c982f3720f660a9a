"""Attention for a single token, which attends only to itself and to the tokens before it."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extreme_attention


def cases(random):
    shapes = {"the last of 3 tokens": (3, 2, 2), "the first token": (4, 3, 0), "in the middle": (6, 4, 3),
              "one token, one number": (1, 1, 0)}  # fmt: skip
    for label, (T, D, t) in shapes.items():
        yield Case(label, *random.normal(size=(3, T, D)).astype(np.float32), t)
    k, v = random.normal(size=(2, 5, 4)).astype(np.float32)
    yield Case("scores too large for exp", 3000 * k, k, v, 4)  # exp(710) is inf, in float64 too
    later = np.array([[0.0], [1000.0]])
    yield Case("a later token's score is far larger", np.ones((2, 1)), later, np.array([[2.0], [4.0]]), 0)
    for label, inputs in extreme_attention(random, 6, 6, 4):
        yield Case(label, *inputs, 4)


def output(q, k, v, t):
    scores = k[: t + 1].astype(np.float64) @ q[t] / np.sqrt(q.shape[1])  # (t + 1,)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum() @ v[: t + 1]


exercise = Exercise(
    title="One token attends",
    minutes=4,
    core=False,
    defines="attend_one",
    cases=cases,
    reference=output,
    hints=("scores = k[: t + 1] @ q[t] / np.sqrt(D): one for each key that token t may attend to. Then softmax, then v[: t "
           "+ 1].",),
    wrong=[
        Wrong(Changed(("scores = k[: t + 1]", "scores = k"), ("@ v[: t + 1]", "@ v")),
              "Token t attends to later tokens too: only the keys and values 0 to t count."),
        Wrong(Changed(("scores = k[: t + 1]", "scores = k[:t]"), ("@ v[: t + 1]", "@ v[:t]")),
              "A token attends to itself too, and the slice [:t] ends before token t."),
        Wrong(Changed(("scores = k[: t + 1]", "scores = k"),
                      ("np.exp(scores - scores.max())", "np.exp(scores - scores.max())[: t + 1]")),
              "A later token's score was taken as the largest. It is so far above the others that exp of their difference is 0. "
              "Take the largest of the scores 0 to t."),
        Wrong(Changed((" / np.sqrt(D)", "")), "The scores are not divided by √D."),
        Wrong(Changed(("np.sqrt(D)", "D")), "The scores are divided by D, and not by its root."),
        Wrong(Changed(("    weights /= weights.sum()\n", "")),
              "These weights do not add up to 1: softmax also divides by their sum."),
        Wrong(Changed(("np.exp(scores - scores.max())", "np.exp(scores)")),
              "exp of a large score overflows. Subtract the largest score of the row first: the weights stay the same."),
    ],
)  # fmt: skip
