"""What each block left of a row becomes one number: parts that cannot simply be added."""

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Wrong


def cases(random):
    yield Case("one part", np.array([[2.0]]), np.array([[1.0]]))
    yield Case("two parts, equal maxima", np.array([[2.0, 2.0]]), np.array([[1.5, 3.0]]))
    yield Case("two rows", np.array([[1.0, 3.0], [0.0, -5.0]]), np.array([[1.0, 2.0], [1.25, 4.0]]))
    yield Case("far above what exp can take", np.array([[900.0, 1000.0, 1001.0]]), np.array([[2.0, 1.0, 3.0]]))
    yield Case(
        "one row far above the other",
        np.array([[1000.0, 1001.0], [-1000.0, -1003.0]]),
        np.array([[1.0, 2.0], [3.0, 1.0]]),
    )
    yield Case("one part far above the other", np.array([[0.0, 1000.0]]), np.array([[2.0, 3.0]]))
    yield Case("far below", np.array([[-1000.0, -1002.0]]), np.array([[1.0, 1.0]]))


exercise = Exercise(
    title="Logsumexp from parts",
    minutes=4,
    core=False,
    defines="logsumexp_of_parts",
    cases=cases,
    reference=lambda m, l: m.max(axis=1) + np.log((l * np.exp(m - m.max(axis=1, keepdims=True))).sum(axis=1)),
    hints=("The largest m of each row first. Each l is multiplied by exp(its m - largest), and the sums are added. Result: "
           "the largest plus the log of that sum.",),
    wrong=[
        Wrong("def logsumexp_of_parts(m, l):\n    return m.max(axis=1) + np.log(l.sum(axis=1))",
              "The sums belong to different maxima. Rescale each to the largest before they are added."),
        Wrong("def logsumexp_of_parts(m, l):\n    return (m + np.log(l)).sum(axis=1)",
              "These are logarithms. The sums are to be added, not their logarithms."),
        Wrong("def logsumexp_of_parts(m, l):\n    return np.log((l * np.exp(m)).sum(axis=1))",
              "Without the largest subtracted, exp overflows for large scores, and is 0 for very negative ones."),
        Wrong("def logsumexp_of_parts(m, l):\n    most = m.max()\n    return most + np.log((l * np.exp(m - most)).sum(axis=1))",
              "This takes the largest of all rows. Each row has its own."),
    ],
)  # fmt: skip
