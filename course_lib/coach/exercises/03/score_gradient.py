"""The gradient of the cross-entropy: probability minus truth."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two letters", np.array([0.75, 0.25]), 1)
    yield Case("the first is the true one", np.array([0.5, 0.25, 0.25]), 0)
    yield Case("sure and right", np.array([0.0, 1.0]), 1)
    raw = random.uniform(0.1, 1, 6)
    yield Case("six letters", raw / raw.sum(), 4)


exercise = Exercise(
    title="Probability minus truth",
    minutes=2,
    core=False,
    defines="score_gradient",
    cases=cases,
    reference=lambda probabilities, true: probabilities - np.eye(len(probabilities))[true],
    hints=("Copy the probabilities, probabilities.copy(), and subtract 1 from entry number `true`.",),
    wrong=[
        Wrong("""def score_gradient(probabilities, true):
    gradient = np.zeros(len(probabilities))
    gradient[true] = -1 / probabilities[true]
    return gradient
""", "This is the gradient of the loss with respect to the probability. Asked for is the one with respect to the scores."),
        Wrong("""def score_gradient(probabilities, true):
    gradient = -probabilities
    gradient[true] += 1
    return gradient
""", "This is truth minus probability: where the loss falls. A gradient points to where it rises."),
        Wrong("def score_gradient(probabilities, true):\n    return probabilities - 1\n",
              "Only the true letter has the truth 1. For the others 0 is subtracted."),
        Wrong("def score_gradient(probabilities, true):\n    return probabilities - true\n",
              "`true` is the number of the true letter, an index. The truth is 1 at this index, and 0 elsewhere."),
        Wrong("""def score_gradient(probabilities, true):
    gradient = np.zeros(len(probabilities))
    gradient[true] = probabilities[true] - 1
    return gradient
""", "The other scores have a gradient too: their probabilities."),
        Wrong(Changed(("probabilities.copy()", "probabilities")), generic="changed by your code"),
    ],
)  # fmt: skip
