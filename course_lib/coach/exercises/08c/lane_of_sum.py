"""The layout of the sums of an mma, the other way round: from row and column to lane and register."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for row, column in ((0, 0), (1, 3), (9, 2), (8, 7), (15, 4), (7, 5)):
        yield Case(f"row {row}, column {column}", row, column)


exercise = Exercise(
    title="Which lane holds it?",
    minutes=3,
    core=False,
    defines="lane_of_sum",
    results=("lane", "index"),
    cases=cases,
    reference=lambda row, column: (row % 8 * 4 + column // 2, row // 8 * 2 + column % 2),
    hints=("g is row % 8, and t is column // 2. The lane is 4 * g + t. sum[2] and sum[3] belong to the rows from 8 on.",),
    wrong=[
        Wrong(Changed(("row % 8 * 4", "row * 4")), "There are 32 lanes. Row g + 8 is held by the lanes of row g."),
        Wrong(Changed(("column // 2, row", "column % 4, row")),
              "Columns 2t and 2t + 1 belong to one lane: t is half the column, not its remainder."),
        Wrong(Changed(("row // 8 * 2 + column % 2", "column % 2 * 2 + row // 8")),
              "sum[0] and sum[1] are neighbours in one row. The row 8 further down has sum[2] and sum[3]."),
        Wrong(Changed(("row // 8 * 2 + column % 2", "column % 2")),
              "A lane holds four sums: those of row g + 8 are sum[2] and sum[3]."),
    ],
)  # fmt: skip
