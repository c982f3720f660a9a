"""A gradient without its component along the row: the backward pass of a vector brought to length 1."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the example", np.array([1.0, 0.0]), np.array([3.0, 4.0]))
    yield Case("a gradient along the row", np.array([2.0, -1.0, 2.0]), np.array([2.0, -1.0, 2.0]))
    yield Case("a gradient at a right angle", np.array([0.0, 3.0]), np.array([-0.5, 0.0]))
    yield Case("five numbers", random.normal(size=5), random.normal(size=5))


def unit_backward(dy, x):
    length = np.sqrt((x * x).sum())
    return (dy - x * (dy * x).sum() / length**2) / length


exercise = Exercise(
    title="The gradient of a unit vector",
    minutes=4,
    core=False,
    defines="unit_backward",
    cases=cases,
    reference=unit_backward,
    hints=("The component of dy along y is y * (dy * y).sum(), for y has the length 1. Subtract it; then divide by "
           "the length of x.",),
    wrong=[
        Wrong(Changed(("(dy - y * (dy * y).sum()) / length", "dy - y * (dy * y).sum()")),
              "The component along the row is gone. What remains is still to be divided by the length: "
              "a long row changes its direction less."),
        Wrong(Changed(("(dy - y * (dy * y).sum())", "dy")),
              "This is dy divided by the length. Its component along the row has no effect on y: subtract it."),
        Wrong(Changed(("(dy - y * (dy * y).sum()) / length", "dy - y * (dy * y).sum() / length")),
              "Only the component along y is divided by the length. The whole difference must be: put it in brackets."),
        Wrong(Changed((".sum()) / length", ".mean()) / length")),
              "The mean belongs to the root mean square. Here y has the length 1, and the component is a sum."),
        Wrong(Changed(("dy - y * (dy * y).sum()", "y * (dy * y).sum()")),
              "This is the component along the row: the one that has no effect. The rest of dy passes."),
        Wrong(Changed(("(dy * y).sum()", "(dy * x).sum()")), generic="must be `y`"),
    ],
)  # fmt: skip
