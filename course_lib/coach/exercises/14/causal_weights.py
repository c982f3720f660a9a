"""Attention weights computed without a mask, made causal: no weight on the future, and each row adds up to 1."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def softmaxed(scores):
    e = np.exp(scores)
    return e / e.sum(axis=1, keepdims=True)


def cases(random):
    yield Case("two tokens", np.array([[0.5, 0.5], [0.25, 0.75]]))
    yield Case("one token", np.array([[1.0]]))
    yield Case("equal weights", np.full((3, 3), 1 / 3))
    yield Case("six tokens", softmaxed(random.normal(size=(6, 6))))
    yield Case("nearly all of it on later tokens", softmaxed(np.triu(np.full((4, 4), 9.0), 1)))


def causal_weights(weights):
    kept = np.tril(weights)
    return kept / kept.sum(axis=1, keepdims=True)


exercise = Exercise(
    title="Hide the future afterwards",
    minutes=3,
    core=False,
    defines="causal_weights",
    cases=cases,
    reference=causal_weights,
    hints=("Of each row only its first numbers are left. Divide them by their sum: .sum(axis=1, keepdims=True).",),
    wrong=[
        Wrong("def causal_weights(weights):\n    return np.tril(weights)\n",
              "The rows do not add up to 1 any more. Divide each by what is left in it."),
        Wrong(Changed(("np.tril(weights)", "np.tril(weights, -1)")),
              "A token attends to itself too: the diagonal stays. (The first row has nothing else.)"),
        Wrong(Changed(("np.tril", "np.triu")),
              "You keep the future. Token i may attend to the tokens 0 to i: left of the diagonal."),
        Wrong(Changed(("axis=1", "axis=0")),
              "Each column adds up to 1 now. A row holds the weights of one token: sum along axis 1."),
        Wrong(Changed((".sum(axis=1, keepdims=True)", ".sum()")), "All weights together add up to 1. Those of each row must."),
        Wrong("""def causal_weights(weights):
    scores = np.tril(weights)
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
""", "Softmax twice: exp(0) is 1, so later tokens have a weight again. Only divide by the sum."),
        Wrong(Changed((", keepdims=True", "")),
              "Each column is divided by the sum of a row. Keep the axis, so that each row is: .sum(axis=1, keepdims=True)."),
    ],
)  # fmt: skip
