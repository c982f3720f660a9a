"""The backward pass of a row and a column that were broadcast: sums, in the shapes of their own."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("2 x 2", np.array([[1.0, 2.0], [3.0, 5.0]]))
    yield Case("3 x 4", random.integers(-9, 10, (3, 4)).astype(float))
    yield Case("one row", np.array([[1.0, -2.0, 4.0]]))
    yield Case("one column", np.array([[1.0], [-2.0], [4.0]]))


exercise = Exercise(
    title="A row and a column",
    minutes=3,
    core=False,
    defines="broadcast_gradients",
    cases=cases,
    reference=lambda dy: (dy.sum(axis=0), dy.sum(axis=1, keepdims=True)),
    results=("the gradient of row", "the gradient of column"),
    hints=(
        "The row was repeated along axis 0: sum over axis 0. The column was repeated along axis 1; keepdims=True keeps that "
        "axis.",
    ),
    wrong=[
        Wrong(Changed(("axis=1, keepdims=True", "axis=1")),
              "A gradient has the shape of its tensor: (n, 1) for the column. Keep the axis that is summed."),
        Wrong(Changed(("dy.sum(axis=0), dy.sum(axis=1, keepdims=True)", "dy.sum(axis=1), dy.sum(axis=0, keepdims=True)")),
              "The axes are exchanged. The row was used once in each matrix row, so it is summed over axis 0."),
        Wrong(Changed(("dy.sum(axis=0)", "dy.mean(axis=0)"), ("dy.sum(axis=1", "dy.mean(axis=1")),
              "Used several times means gradients added up: a sum, not a mean."),
        Wrong(Changed(("dy.sum(axis=0), dy.sum(axis=1, keepdims=True)", "dy, dy")), generic="is `dy` as it was given"),
    ],
)  # fmt: skip
