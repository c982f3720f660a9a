"""Find the fault with gradcheck: a gradient that is right for one row and wrong for two."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, *shape):
        return Case(label, random.normal(size=shape), random.normal(size=shape) + 0.1)

    yield Case("one row", np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    yield Case("two rows of two", np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([[3.0, 4.0], [5.0, 12.0]]))
    yield case("three rows of five", 3, 5)
    yield case("rows of one number: y is 1 or -1, whatever x", 4, 1)
    yield case("a stack of two matrices", 2, 3, 4)
    yield Case("short and long rows", random.normal(size=(2, 3)), np.array([[1e-3, 2e-3, 2e-3], [1e3, 2e3, -2e3]]))


def right(dy, x):
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    y = x / size
    return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / size


exercise = Exercise(
    title="Find the fault: a gradient that lies",
    minutes=10,
    core=False,
    defines="normalise_rows_backward",
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=(
        "Run gradcheck with two rows, as the cell below does. Which lines mix numbers of different rows?",
        "The length is one number for each row. The sum in the line to fix should be so too.",
        "(dy * y).sum(axis=-1, keepdims=True) gives each row its own sum, in a column.",
    ),
    example='''def centred_backward(dy):
    """The backward pass of y = x - mean of its row. The mean depends on the whole row: the mean of dy is subtracted too."""
    return dy - dy.mean(axis=-1, keepdims=True)
''',
    wrong=[
        Wrong("""def normalise_rows_backward(dy, x):
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    y = x / size
    return (dy - y * np.sum(dy * y)) / size
""", "For one row it is right. With several, the gradient of one row depends on the others, and it must not."),
        Wrong("def normalise_rows_backward(dy, x):\n    return dy / np.sqrt((x * x).sum(-1, keepdims=True))",
              "The length of a row depends on x as well: a longer row is divided by more. "
              "The part of dy along y must be subtracted."),
        Wrong(Changed(("along = (dy * y).sum(axis=-1, keepdims=True)", "along = (dy * y).sum(axis=0)")),
              "That sum runs down the columns. Each row needs its own: it lies along the last axis."),
        Wrong(Changed(("along = (dy * y).sum(", "along = (dy * y).mean(")),
              "This is a mean, and the rule needs a sum: the part of dy along y."),
        Wrong("""def normalise_rows_backward(dy, x):
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    y = x / size
    along = (dy * x).sum(axis=-1, keepdims=True)
    return (dy - y * along) / size
""", "You multiply dy by x. To measure how much of dy points along the row, multiply by y, whose length is 1."),
        Wrong("""def normalise_rows_backward(dy, x):
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    y = x / size
    along = (dy * y).sum(axis=-1, keepdims=True)
    return (dy + y * along) / size
""", "The part along y is added. It must be subtracted: to make x longer or shorter does not change y."),
        Wrong(Changed(("along = (dy * y).sum(axis=-1, keepdims=True)", "along = (dy * y).sum(axis=-1)")),
              generic="Did a reduction drop an axis?"),
    ],
)  # fmt: skip
