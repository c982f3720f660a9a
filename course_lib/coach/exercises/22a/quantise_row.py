"""Absmax: a row of floats as integers of 8 bits and one scale."""

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


def quantised(answer, row):
    with np.errstate(divide="raise", invalid="raise"):  # what int8 makes of 0 / 0 depends on the processor
        return answer(row)


def check(result, row):
    if result[0].dtype != np.int8:
        return f"The codes are {result[0].dtype}, and must be int8: .astype(np.int8), after rounding."
    return None


exercise = Exercise(
    title="Quantise a row",
    minutes=4,
    core=False,
    defines="quantise_row",
    results=("codes", "scale"),
    given="import numpy as np",
    cases=cases,
    reference=right,
    call=quantised,
    check=check,
    hints=("scale = np.abs(row).max() / 127. If it is 0, return zeros of np.int8 and 0. Else divide by it, round with "
           "np.rint, and take .astype(np.int8).",),
    wrong=[
        Wrong(Changed(("np.abs(row).max() / 127", "row.max() / 127")),
              "The largest weight may be a negative one: take the largest absolute value."),
        Wrong(Changed(("np.rint(row / scale)", "row / scale")),
              "astype cuts off what is behind the point. Round to the nearest with np.rint first: the error is then half as "
              "large."),
        Wrong(Changed(("np.abs(row).max() / 127", "np.abs(row).max() / 128")),
              "The largest code is 127. With 128 the largest weight becomes 128, which int8 does not hold."),
        Wrong(Changed(("    if scale == 0:\n        return np.zeros(len(row), np.int8), 0.0\n", "")),
              "The scale of a row of zeros is 0, and 0 / 0 is no number. Return codes 0 and the scale 0 before you divide.",
              when=lambda seen: not seen.inputs[0].any() and "FloatingPointError" in seen.error,
              once="one case has zeros alone"),
        Wrong(Changed((".astype(np.int8)", "")), generic="must be int8"),
    ],
)  # fmt: skip
