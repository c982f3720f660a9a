"""Find the fault: a broadcast that goes the wrong way, and says nothing as long as the matrix is square."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

COLUMNS = "These are the means of the columns. Subtract from each row its own mean."


def cases(random):
    return [
        Case("a 2 x 2 matrix", np.array([[1.0, 3.0], [10.0, 30.0]])),
        Case("2 rows of 3", np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 60.0]])),
        Case("one row", np.array([[4.0, 6.0, 8.0, 2.0]])),
        Case("rows of one number", np.array([[4.0], [6.0]])),
        Case("a large square one", random.normal(size=(9, 9)) + np.arange(9.0)[:, None]),
        Case("a stack of two matrices", random.normal(size=(2, 3, 4))),
        Case("a stack of two square ones", random.normal(size=(2, 3, 3))),
        Case("large numbers in float32", np.array([[30000.0, 30001.0, 30005.0]], dtype=np.float32)),
    ]


def right(x):
    return x - x.mean(axis=-1, keepdims=True)


exercise = Exercise(
    title="Find the fault: rows with mean 0",
    minutes=5,
    core=False,
    defines="centre_rows",
    cases=cases,
    reference=right,
    hints=(
        "What shape does x.mean(axis=-1) have for a (2, 3) matrix? Write it under (2, 3), aligned at the right.",
        "The means of the rows must form a column, shape (2, 1). Broadcasting then repeats each mean along its row.",
        "keepdims=True keeps the axis of the mean, with length 1.",
    ),
    example='''def rows_with_sum_1(x):
    """Each row divided by its own sum: the sums form a column, one number for each row."""
    return x / x.sum(axis=-1, keepdims=True)
''',
    wrong=[
        Wrong("def centre_rows(x):\n    m = x.mean(-1)\n    return x - m",
              "The mean of row j is subtracted from column j; it belongs to row j. In a square "
              "matrix the shapes fit, so there is no error."),
        Wrong(Changed(("axis=-1, keepdims=True", "axis=0")), COLUMNS),
        Wrong(Changed(("axis=-1", "axis=-2")), COLUMNS, also=True),
        Wrong(Changed(("axis=-1, keepdims=True", "")),
              "One mean, that of all numbers, is subtracted from every number. Subtract from each row its own."),
        Wrong(Changed(("axis=-1", "axis=1")),
              "This is right for a matrix, and wrong for a stack. For a stack of shape (2, 3, 4) "
              "the means must have the shape (2, 3, 1).",
              when=lambda seen: (seen.label.startswith("a stack") and not seen.outcomes[1].difference)),
        Wrong("def centre_rows(x):\n    x -= x.mean(axis=-1, keepdims=True)\n    return x", generic="changed by your code"),
    ],
)  # fmt: skip
