"""The log of a sum of exponentials that neither overflows nor vanishes."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes


def cases(random):
    rows = {"two equal scores": [0, 0], "three scores": [2, 1, -1], "one score": [7], "scores that overflow": [1000, 999],
            "scores so low that exp gives 0": [-1000, -1001, -1003]}  # fmt: skip
    for label, scores in rows.items():
        yield Case(label, np.array(scores, np.float32))
    for label, scores in extremes(random, (6,)):
        yield Case(label, scores)


exercise = Exercise(
    title="A log that survives",
    minutes=3,
    core=False,
    defines="logsumexp",
    cases=cases,
    reference=lambda scores: np.logaddexp.reduce(scores.astype(np.float64)),
    hints=("With m the largest score: m + log of the sum of exp(score - m). In NumPy: scores.max(), np.exp, .sum(), np.log.",),
    wrong=[
        Wrong("def logsumexp(scores):\n    return np.log(np.exp(scores).sum())\n",
              "exp of 1000 overflows, and exp of -1000 is 0. Subtract the largest score first."),
        Wrong(Changed(("largest + np.log", "np.log")),
              "What was subtracted inside must be added again outside: largest + log(...)."),
        Wrong("def logsumexp(scores):\n    return scores.max() + np.exp(scores - scores.max()).sum()\n",
              "The log is missing: largest + log of the sum."),
        Wrong(Changed(("largest = scores.max()", "largest = np.abs(scores).max()")),
              "Subtract the largest score itself, also if it is negative. Then the largest exponent is 0.",
              when=lambda seen: seen.inputs[0].max() < -500 and seen.got == -np.inf),
    ],
)  # fmt: skip
