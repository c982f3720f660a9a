"""Do these strides pass through the buffer in row-major order, without gaps?"""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    return [
        Case("a row in order", (4,), (1,)),
        Case("every second number", (3,), (2,)),
        Case("a matrix in order", (3, 4), (4, 1)),
        Case("a transposed matrix", (4, 3), (1, 4)),
        Case("rows with a gap between them", (3, 4), (8, 1)),
        Case("one row, repeated", (3, 4), (0, 1)),
        Case("a row, backwards", (4,), (-1,)),
        Case("an axis of length 1", (1, 4), (99, 1)),
        Case("an axis of length 1 at the end", (3, 1), (1, 5)),
        Case("an axis of length 1 inside", (2, 1, 3), (3, 77, 1)),
        Case("a gap behind an axis of length 1", (2, 1, 3), (6, 3, 1)),
        Case("one number, no axes", (), ()),
        Case("one number, three axes", (1, 1, 1), (5, 0, -2)),
        Case("three axes in order", (2, 3, 4), (12, 4, 1)),
        Case("three axes, the first two swapped", (3, 2, 4), (4, 12, 1)),
        Case("three axes, a gap before the first", (2, 3, 4), (24, 4, 1)),
        Case("no rows at all", (0, 3), (3, 1)),
    ]


exercise = Exercise(
    title="In order, without gaps?",
    minutes=10,
    defines="is_contiguous",
    target="course_lib.tensor.shapes.is_contiguous",
    cases=cases,
    hints=(
        "Begin at the last axis. Which stride must it have? And the one before it?",
        "Keep one number: how many elements the axes so far hold. The next one must have this stride, unless its length is 1.",
        "With step = 1, iterate over the pairs (length, stride) from the last to the first: compare stride with step if "
        "length is not 1, then "
        "step = step * length.",
    ),
    example='''def is_column_major(shape, strides):
    """The other order, of Fortran: the first axis moves by 1, and each one after it skips what stands before."""
    step = 1
    for length, stride in zip(shape, strides):
        if length > 1 and stride != step:
            return False
        step = step * length
    return True
''',
    wrong=[
        Wrong("""def is_contiguous(shape, strides):
    wanted = []
    step = 1
    for n in reversed(shape):
        wanted.insert(0, step)
        step *= n
    return list(strides) == wanted
""", "No step is ever taken along an axis of length 1, so its stride does not matter."),
        Wrong("def is_contiguous(shape, strides):\n    return list(strides) == sorted(strides, reverse=True)",
              "Strides that fall are not enough: each must be exactly the number of elements that the axes behind it hold."),
        Wrong("def is_contiguous(shape, strides):\n    return len(strides) == 0 or strides[-1] == 1",
              "A last stride of 1 is not enough: each axis before it must skip exactly what comes after it."),
        Wrong("""def is_contiguous(shape, strides):
    if len(strides) == 0:
        return True
    return strides[-1] == 1 and all(a >= b for a, b in zip(strides, strides[1:]))
""", "Strides that get smaller are not enough: with (8, 1), rows of 4 numbers have a gap between them."),
        Wrong(Changed(("reversed(shape), reversed(strides)", "shape, strides")),
              "You begin at the first axis. Row-major order begins at the last: its stride is 1."),
        Wrong("""def is_contiguous(shape, strides):
    step = 1
    for n, s in reversed(list(zip(shape, strides))):
        step *= n
        if n != 1 and s != step:
            return False
    return True
""", "You multiply too early: an axis skips what comes after it, and its own length is not part of that."),
        Wrong(Changed(("return True", "return step")), generic="expected True"),
    ],
)  # fmt: skip
