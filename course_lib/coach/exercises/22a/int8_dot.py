"""Find the fault: products of int8 that do not fit int8."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, a, b, *scales):
        return Case(label, np.array(a, np.int8), np.array(b, np.int8), *scales)

    yield case("small codes", [1, 2, 3], [1, 0, -1], 0.5, 2.0)
    yield case("one product of 200", [10], [20], 1.0, 1.0)
    yield case("the largest codes", [127, -127], [127, 127], 0.01, 0.02)
    codes = random.integers(-127, 128, (2, 1536))
    yield case("1536 codes", *codes, 0.01, 0.02)
    yield case("a sum beyond 16 bits", [127] * 600, [127] * 600, 0.001, 0.5)


def right(a, b, scale_a, scale_b):
    return float(a.astype(np.int64) @ b.astype(np.int64)) * scale_a * scale_b


exercise = Exercise(
    title="Find the fault: a product that wraps around",
    minutes=4,
    core=False,
    defines="int8_dot",
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=("10 times 20 is 200, and int8 ends at 127: NumPy wraps around. a.astype(np.int32) makes products of 32 bits.",),
    wrong=[
        Wrong(Changed(("(a.astype(np.int32) * b).sum()", "(a * b).sum()")),
              "The products are int8, as a and b are, and wrap around beyond 127. Widen one of them to int32 before you "
              "multiply."),
        Wrong(Changed((" * scale_a * scale_b", " * scale_a")), "The second scale is missing: both rows are quantised."),
        Wrong(Changed(("(a.astype(np.int32) * b).sum()", "(a.astype(np.int16) * b).sum(dtype=np.int16)")),
              "Each product fits 16 bits, but their sum does not. Add up in 32 bits."),
    ],
)  # fmt: skip
