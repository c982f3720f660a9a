"""The backward pass of softmax: every score changes every probability of its row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops


def cases(random):
    def case(label, *shape, dtype=np.float32):
        scores = 2 * random.normal(size=shape)
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        y = exps / exps.sum(-1, keepdims=True)
        return Case(label, random.normal(size=shape).astype(dtype), y.astype(dtype))

    return [
        Case("two probabilities", np.array([[1.0, 0.0]], np.float32), np.array([[0.5, 0.5]], np.float32)),
        Case("three probabilities", np.array([[0.0, 0.0, 4.0]], np.float32), np.array([[0.25, 0.25, 0.5]], np.float32)),
        case("two rows of three", 2, 3),
        case("three rows of three", 3, 3),
        case("one column", 4, 1),
        Case(
            "a row of which only one is possible",
            np.array([[3.0, 5.0, 7.0]], np.float32),
            np.array([[0.0, 1.0, 0.0]], np.float32),
        ),
        case("a single row, one axis", 5),
        case("a batch of 2 heads", 2, 2, 3, 4),
        case("float64", 3, 6, dtype=np.float64),
    ]


def check(result, dy, y):
    if getattr(result, "dtype", dy.dtype) != dy.dtype:
        return (
            f"The numbers are right, but their dtype is {result.dtype}; dy is {dy.dtype}. A gradient keeps the dtype."
        )
    return None


exercise = Exercise(
    title="The backward pass of softmax",
    minutes=10,
    core=False,
    defines="softmax_backward",
    target="op:softmax_backward",
    given="import numpy as np",
    cases=cases,
    reference=ops("reference").softmax_backward,
    check=check,
    hints=(
        "If score j rises, probability j rises by y_j (1 - y_j), and every other y_i falls by y_i y_j. Multiply each change "
        "by its dy, and add up.",
        "dx_j = y_j (dy_j - sum over i of dy_i y_i). The sum is the same for the whole row.",
        "(dy * y).sum(axis=-1, keepdims=True) is that sum, as a column. Then y * (dy - sum).",
    ),
    example='''def log_softmax_backward(dy, y):
    """The same for log(softmax): y holds the probabilities. Here the plain sum of dy appears, weighted by y outside."""
    return dy - y * dy.sum(axis=-1, keepdims=True)
''',
    wrong=[
        Wrong("def softmax_backward(dy, y):\n    return dy * y * (1 - y)",
              "You let each score change its own probability only. It changes all of its row: they must add "
              "up to 1, so if one rises the others fall."),
        Wrong(Changed((".sum(axis=-1, keepdims=True)", ".sum()")),
              "What is subtracted must be summed for each row: along the last axis, and kept as a column."),
        Wrong(Changed(("(dy * y).sum(axis=-1, keepdims=True)", "dy.mean(axis=-1, keepdims=True)")),
              "You subtract the mean of dy. It must be the average weighted by the probabilities, the sum of dy * y."),
        Wrong(Changed(("y * (dy - (dy * y).sum(axis=-1, keepdims=True))", "dy - (dy * y).sum(axis=-1, keepdims=True)")),
              "The sum of dy * y is a column of averages, right. The whole difference must then be multiplied by y."),
        Wrong(Changed(("(dy * y).sum(axis=-1, keepdims=True)", "dy.sum(axis=-1, keepdims=True)")),
              "You subtract the plain sum of dy. Each term must be weighted by its probability: dy * y."),
        Wrong("""def softmax_backward(dy, y):
    return dy * y
""", "You stop at dy * y. When one score rises all other probabilities of its row fall: subtract the weighted average of "
              "dy first."),
        Wrong(Changed((".sum(axis=-1, keepdims=True)", ".sum(axis=-1)")), generic="ValueError"),
    ],
)  # fmt: skip
