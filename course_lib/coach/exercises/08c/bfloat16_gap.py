"""How far apart two neighbouring bfloat16 numbers are: eight binary digits, wherever the first one is."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for x in (1.0, 256.0, 255.0, 3.14159, 0.75, 1000.0, 0.3, 2.0**40):
        yield Case(f"{x:g}", x)


exercise = Exercise(
    title="The next bfloat16",
    minutes=3,
    core=False,
    defines="bfloat16_gap",
    cases=cases,
    reference=lambda x: 2.0 ** (math.floor(math.log2(x)) - 7),
    tolerance=1e-9,
    hints=("The first digit is worth the largest power of two not above x, 2.0 ** math.floor(math.log2(x)). The last one, "
           "7 digits later, is worth 2.0**-7 of that.",),
    wrong=[
        Wrong(Changed((" - 7", " - 8")),
              "The first of the eight digits is worth the power of two. The last comes seven digits later, not eight."),
        Wrong("def bfloat16_gap(x):\n    return x / 128",
              "That is right for powers of two. In between the distance stays as it is: from 256 to 512 it is 2."),
        Wrong(Changed(("math.floor(math.log2(x))", "math.ceil(math.log2(x))")),
              "This begins at the power of two above x. The first digit of x is at the one below."),
        Wrong(Changed(("math.floor(math.log2(x))", "int(math.log2(x))")),
              "int rounds towards 0. Below 1 the logarithm is negative, and must be rounded down: math.floor."),
        Wrong("def bfloat16_gap(x):\n    return 2.0**-7",
              "That is the distance at 1. It is relative: twice as far for a number twice as large."),
    ],
)  # fmt: skip
