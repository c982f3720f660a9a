"""Find the fault: a broadcast that goes the wrong way, and says nothing as long as the matrix is square."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

COLUMNS = "These are the means of the columns. Each row must lose its own."


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
        "Which shape has x.mean(axis=-1) for a (2, 3) matrix? Write it under (2, 3), aligned at the right.",
        "A mean for each row must stand in a column: shape (2, 1). Its 1 is stretched along the row.",
        "keepdims=True keeps the axis that was summed, with length 1.",
    ),
    sibling='''def shares_of_rows(x):
    """Each row divided by its own sum: the same column of one number for each row."""
    return x / x.sum(axis=-1, keepdims=True)
''',
    wrong=[
        Wrong("def centre_rows(x):\n    m = x.mean(-1)\n    return x - m",
              "Column j loses the mean of row j, where row j should. With a square "
              "matrix the shapes fit, and no error comes."),
        Wrong(Changed(("axis=-1, keepdims=True", "axis=0")), COLUMNS),
        Wrong(Changed(("axis=-1", "axis=-2")), COLUMNS),
        Wrong(Changed(("axis=-1, keepdims=True", "")),
              "Every number loses the same mean, that of all of them. Each row must lose its own."),
        Wrong(Changed(("axis=-1", "axis=1")),
              "For a matrix it is right, for a stack it is not. The means must stand beside their "
              "rows: (2, 3, 1) for a stack of (2, 3, 4).",
              when=lambda seen: (seen.label.startswith("a stack") and not seen.outcomes[1].difference)),
        Wrong("def centre_rows(x):\n    x -= x.mean(axis=-1, keepdims=True)\n    return x", generic="changed by your code"),
    ],
)  # fmt: skip
