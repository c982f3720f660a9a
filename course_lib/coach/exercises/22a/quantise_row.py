"""Absmax: a row of floats as whole numbers of 8 bits and one scale."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("three weights", np.array([1.27, -0.3, 0.02], np.float32))
    yield Case("the largest is negative", np.array([0.4, -2.54, 1.1], np.float32))
    yield Case("a row of zeros", np.zeros(4, np.float32))
    yield Case("40 weights", random.normal(0, 0.02, 40).astype(np.float32))
    yield Case("large weights", random.normal(0, 900, 40).astype(np.float32))


def right(row):
    scale = np.abs(row.astype(np.float64)).max() / 127
    return (np.rint(row / scale) if scale else np.zeros(len(row))).astype(np.int8), float(scale)


exercise = Exercise(
    title="Quantise a row",
    minutes=4,
    core=False,
    defines="quantise_row",
    results=("codes", "scale"),
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=("scale = np.abs(row).max() / 127. Divide by it, round with np.rint, and take .astype(np.int8).",),
    wrong=[
        Wrong(Changed(("np.abs(row).max() / 127", "row.max() / 127")),
              "The largest weight may be a negative one: take the largest absolute value."),
        Wrong(Changed(("np.rint(row / scale)", "row / scale")),
              "astype cuts off what is behind the point. Round to the nearest with np.rint first: the error is then half as "
              "large."),
        Wrong(Changed(("np.abs(row).max() / 127", "np.abs(row).max() / 128")),
              "The largest code is 127. With 128 the largest weight becomes 128, which int8 does not hold."),
    ],
)  # fmt: skip
