"""The gradient of one score, from what belongs to one query and one key: neither matrix is stored."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    given = np.array([[np.log(3)], [0.0]]), np.array([[0.0], [1.0]]), np.array([[4.0], [8.0]]), np.array([[1.0], [2.0]])
    yield of_pair("the lecture's first query and second key", *given, 0, 1)
    yield of_pair("its second query and first key", *given, 1, 0)
    shapes = {
        "four numbers": (3, 4, 1, 2, 1),
        "one token, two numbers": (1, 2, 0, 0, 1),
        "large scores": (5, 9, 4, 2, 30),
    }
    for label, (T, D, t, s, size) in shapes.items():
        q, k, v, dy = random.normal(size=(4, T, D))
        yield of_pair(label, size * q, k, v, dy, t, s)


def of_pair(label, q, k, v, dy, t, s):
    """One query and one key of attention without a mask. q, k, v, dy (T, D)"""
    scores = k @ q[t] / np.sqrt(len(q[t]))  # (T,)
    logsumexp = scores.max() + np.log(np.exp(scores - scores.max()).sum())
    y = np.exp(scores - logsumexp) @ v  # (D,)
    return Case(label, q[t], k[s], v[s], dy[t], y, float(logsumexp))


def gradient(q, k, v, dy, y, logsumexp):
    return np.exp(q @ k / np.sqrt(len(q)) - logsumexp) * (dy @ (v - y))


exercise = Exercise(
    title="One score, without its row",
    minutes=4,
    core=False,
    defines="one_score_gradient",
    cases=cases,
    reference=gradient,
    hints=("P = np.exp(q @ k / np.sqrt(D) - logsumexp), dP = dy @ v, delta = dy @ y. And dS = P (dP - delta).",),
    wrong=[
        Wrong(Changed((" - delta", "")),
              "dP alone is not enough: subtract the average of its row, delta, which is dy · y."),
        Wrong(Changed(("delta = dy @ y", "delta = y @ v")), "delta is dy · y: the upstream gradient times the *output*."),
        Wrong(Changed((" - logsumexp)", ")")), "exp(score) is not a weight yet: the logsumexp is subtracted before exp."),
        Wrong(Changed(("np.exp(q @ k / np.sqrt(D) - logsumexp)", "np.exp(q @ k / np.sqrt(D)) / logsumexp")),
              "The sum of the row is exp(logsumexp), not the logsumexp: subtract it before exp."),
        Wrong(Changed((" / np.sqrt(D)", "")),
              "The score is the dot product *divided by √D*: the logsumexp was computed from those."),
        Wrong(Changed(("return P * (dP - delta)", "return dP - delta")),
              "The difference from the average is right. It is multiplied by the weight."),
        Wrong(Changed(("return P * (dP - delta)", "return P * (dP - delta) / np.sqrt(D)")),
              "This is one step further: with 1/√D the gradient of q · k. The gradient of the score itself is asked for."),
    ],
)  # fmt: skip
