"""The gradient of one value: from every token that attends to it."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the lecture's second value", np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([[1.0], [2.0]]), 1)
    yield Case("the lecture's first value", np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([[1.0], [2.0]]), 0)
    for label, (T, S, D), s in (("three tokens, two numbers each", (3, 3, 2), 1), ("more keys than queries", (2, 5, 3), 4),
                                ("one query", (1, 2, 2), 0)):  # fmt: skip
        P = random.random((T, S))
        yield Case(label, P / P.sum(axis=1, keepdims=True), random.normal(size=(T, D)), s)


exercise = Exercise(
    title="Who attends to this value?",
    minutes=3,
    core=False,
    defines="one_value",
    cases=cases,
    reference=lambda P, dy, s: P[:, s] @ dy,
    hints=("Column s of P holds the weights that the tokens give to value s. Multiply each by that token's row of dy, and add up "
           "all of them.",),
    wrong=[
        Wrong(Changed(("P[t, s]", "P[s, t]")),
              "Row s of P says what token s attends to. Who attends to value s is in *column* s: P[t, s] for each token t."),
        Wrong(Changed(("P[t, s] * dy[t]", "dy[t]")),
              "Each token's dy counts as much as the token attends to this value: times P[t, s]."),
        Wrong(Changed(("P[t, s] * dy[t]", "P[t, s] * dy[s]")),
              "The gradient comes from the queries t that attend to this key: P[t, s] times dy[t]."),
        Wrong(Changed(("gradient = gradient + P[t, s] * dy[t]", "gradient = P[t, s] * dy[t]")),
              "Only the last token is left: the gradients from all tokens add up."),
        Wrong(Changed(("return gradient", "return gradient / len(P)")),
              "The gradients from all tokens are added up, without taking a mean."),
    ],
)  # fmt: skip
