"""A view of the same matrix, its last row first: a negative stride, and where it starts."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("a 2 x 2 matrix", (2, 2), (2, 1), 0)
    yield Case("3 rows of 4", (3, 4), (4, 1), 0)
    yield Case("a slice, which begins later", (2, 2), (4, 2), 4)
    yield Case("a transposed matrix", (4, 3), (1, 4), 0)
    yield Case("one row", (1, 4), (4, 1), 8)
    yield Case("rows that are in reverse order already", (3, 4), (-4, 1), 8)


exercise = Exercise(
    title="The last row first",
    minutes=3,
    core=False,
    defines="reversed_rows",
    cases=cases,
    reference=lambda shape, strides, offset: ((-strides[0], strides[1]), offset + (shape[0] - 1) * strides[0]),
    results=("the strides", "the offset"),
    hints=("One step down now leads back by one row: -strides[0]. And the start is shape[0] - 1 steps down from the old one.",),
    wrong=[
        Wrong(Changed(("(shape[0] - 1)", "shape[0]")),
              "One row too far: from the first row to the last it is shape[0] - 1 steps."),
        Wrong(Changed(("offset + ", "")), "The given matrix may start later in the buffer: add the steps to its offset."),
        Wrong(Changed(("(shape[0] - 1) * strides[0]", "shape[0] - 1")),
              "The offset counts numbers, not rows. One row further is strides[0] further."),
        Wrong(Changed(("(shape[0] - 1) * strides[0]", "(shape[0] - 1) * shape[1]")),
              "From row to row it is strides[0]. In a slice or a transpose that is not the length of a row."),
        Wrong("""def reversed_rows(shape, strides, offset):
    start = offset + (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1]
    return (-strides[0], -strides[1]), start
""", "The columns are reversed too. Only the rows change their order."),
        Wrong(Changed(("-strides[0]", "strides[0]")), generic="the sign is wrong"),
    ],
)  # fmt: skip
