"""A stride of 0 along the other axis: a column, repeated to the right."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("numbers side by side", 1)
    yield Case("a column of a matrix of 4 columns", 4)
    yield Case("a column, backwards", -3)


exercise = Exercise(
    title="Repeat a column",
    minutes=2,
    core=False,
    defines="repeat_column",
    cases=cases,
    reference=lambda stride: (stride, 0),
    hints=("One step to the right must read the same number again. One step down must read the next number of the column.",),
    wrong=[
        Wrong(Changed(("stride, 0", "0, stride")),
              "This repeats a row: to the right the next number is read, and down the same."),
        Wrong(Changed(("stride, 0", "1, 0")),
              "The next number of the column is `stride` further, and that is 1 only in the first case."),
        Wrong(Changed(("stride, 0", "stride, 1")), generic="the 1 in `stride, 1` must be 0"),
    ],
)  # fmt: skip
