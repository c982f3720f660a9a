"""The delta rule: read with the key, and write what is missing."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("an empty state", np.zeros((2, 1)), np.array([1.0, 0.0]), np.array([3.0]), 0.5)
    yield Case("overwritten", np.array([[1.0, 4.0], [2.0, 5.0]]), np.array([0.0, 1.0]), np.array([7.0, -1.0]), 1.0)
    yield Case("the value is there already", np.eye(2), np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.75)
    yield Case("three keys, two values", random.normal(size=(3, 2)), random.normal(size=3), random.normal(size=2), 0.25)
    yield Case("nothing is corrected", random.normal(size=(2, 3)), random.normal(size=2), random.normal(size=3), 0.0)


def right(S, k, v, beta):
    read = np.einsum("de,d->e", S, k)
    return S + beta * k[:, None] * (v - read)[None]


exercise = Exercise(
    title="One step of the delta rule",
    minutes=4,
    core=False,
    defines="delta_step",
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=("What is read is S.T @ k, (E,). np.outer(k, difference) has the shape of the state.",),
    wrong=[
        Wrong(Changed(("v - S.T @ k", "v")), "This only adds. Write what the value differs by from what is read with the key."),
        Wrong(Changed(("beta * np.outer(k, v - S.T @ k)", "np.outer(k, beta * v - S.T @ k)")),
              "beta weighs the whole difference, and here it weighs the new value alone."),
        Wrong(Changed(("S + beta", "S - beta")), "The sign is wrong: what is missing is added."),
        Wrong(Changed(("v - S.T @ k", "v - beta * S.T @ k")), "beta weighs the difference once, not what is read as well."),
    ],
)  # fmt: skip
