"""A sum over one axis of a tensor that lies in memory as one row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def numbers(count):
        return random.integers(-9, 10, count).astype(float).tolist()

    return [
        Case("a row", [1.0, 2.0, 3.0], (3,), 0),
        Case("a 2 x 2 matrix, down its columns", [1.0, 2.0, 3.0, 4.0], (2, 2), 0),
        Case("a 2 x 2 matrix, along its rows", [1.0, 2.0, 3.0, 4.0], (2, 2), 1),
        Case("a 2 x 3 matrix, along its rows", numbers(6), (2, 3), 1),
        Case("a 2 x 3 matrix, down its columns", numbers(6), (2, 3), 0),
        Case("the axis in the middle", numbers(24), (2, 3, 4), 1),
        Case("the first of three", numbers(24), (2, 3, 4), 0),
        Case("the last of three", numbers(24), (2, 3, 4), 2),
        Case("an axis of length 1", numbers(8), (4, 1, 2), 1),
        Case("an axis of length 0", [], (2, 0, 3), 1),
        Case("four axes", numbers(120), (2, 3, 4, 5), 2),
    ]


def right(numbers, shape, axis):
    return np.array(numbers, float).reshape(shape).sum(axis).ravel()


ADJACENT = (
    "You add up adjacent elements. Only along the last axis are the terms of a sum adjacent; along any other they lie as far "
    "apart as the axes behind it have elements, math.prod(shape[axis + 1:])."
)

exercise = Exercise(
    title="A sum over one axis",
    minutes=15,
    core=False,
    defines="sum_axis",
    cases=cases,
    reference=right,
    hints=(
        "Take the shape (2, 3, 4) and axis 1. Which three indices does the first sum read? And the second?",
        "Let outer be the product of the lengths before the axis, length its own, and inner the product of those behind it. "
        "Element (o, k, i) lies at (o * length + k) * inner + i.",
        "For o in range(outer): for i in range(inner): append sum(numbers[(o * length + k) * inner + i] for k in range(length)).",
    ),
    example='''def first_along(numbers, shape, axis):
    """The same loops with another aim: the first number along an axis, for each index of the other axes."""
    outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])
    return [numbers[o * length * inner + i] for o in range(outer) for i in range(inner)]
''',
    wrong=[
        Wrong("""def sum_axis(numbers, shape, axis):
    n = shape[axis]
    size = 1
    for other, length in enumerate(shape):
        size *= 1 if other == axis else length
    return [sum(numbers[i * n:(i + 1) * n]) for i in range(size)]
""",
              ADJACENT),
        Wrong("""def sum_axis(numbers, shape, axis):
    n = shape[axis]
    return [sum(numbers[i:i + n]) for i in range(0, len(numbers), max(n, 1))]
""", ADJACENT, also=True),
        Wrong("""def sum_axis(numbers, shape, axis):
    length, step = shape[axis], math.prod(shape[:axis])
    return [sum(numbers[first + k * step] for k in range(length)) for first in range(len(numbers) // length)]
""", "The terms of a sum lie as far apart as the axes *behind* `axis` have elements, math.prod(shape[axis + 1:]); you take "
              "those before it."),
        Wrong(Changed(("(o * length + k) * inner + i", "k * inner + i")),
              "Every sum begins in the first block. Each step of the axes before `axis` skips length * inner elements."),
        Wrong("""def sum_axis(numbers, shape, axis):
    outer = 1
    for n in shape[:axis]:
        outer *= n
    length = shape[axis]
    inner = len(numbers) // (outer * length)
    return [sum(numbers[(o * length + k) * inner + i] for k in range(length)) for o in range(outer) for i in range(inner)]
""", "A sum of no terms is 0, and there is still one for each index of the other axes.",
              when=lambda seen: seen.label == "an axis of length 0" and bool(seen.error)),
        Wrong("""def sum_axis(numbers, shape, axis):
    rows, columns = shape
    if axis == 0:
        return [sum(numbers[j::columns]) for j in range(columns)]
    return [sum(numbers[i * columns:(i + 1) * columns]) for i in range(rows)]
""", generic="ValueError"),
        Wrong("""import numpy as np

def sum_axis(numbers, shape, axis):
    return np.array(numbers).reshape(shape).sum(axis)
""", generic="in another shape"),
    ],
)  # fmt: skip
