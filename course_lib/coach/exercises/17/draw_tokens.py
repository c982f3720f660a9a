"""A random number in [0, 1) chooses a token for each row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, rows, uniform):
        return Case(label, np.array(rows, np.float64), np.array(uniform))

    yield case("two tokens, one row", [[0.25, 0.75]], [0.5])
    yield case("the first token", [[0.25, 0.75]], [0.125])
    yield case("exactly at the end of the first token's part", [[0.25, 0.75]], [0.25])
    yield case("a first token that cannot come", [[0.0, 1.0]], [0.0])
    yield case("two rows, two numbers", [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], [0.375, 0.875])
    yield case("a row that sums to a little less than 1", [[0.5, 0.499, 0.0]], [0.9995])
    yield case("one token alone", [[1.0], [1.0]], [0.0, 0.99])
    odds = random.random((200, 12))
    yield Case("200 rows", odds / odds.sum(-1, keepdims=True), random.random(200))


def check(result, probabilities, uniform):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; a NumPy array of one token for each row is asked for."
    if result.dtype.kind not in "iu":
        return f"Tokens are whole numbers; yours have the dtype {result.dtype}."
    return None


exercise = Exercise(
    title="Draw a token",
    minutes=10,
    defines="draw",
    target="course_lib.sampling.draw",
    given="import numpy as np",
    cases=cases,
    check=check,
    hints=(
        "Lay the probabilities of a row end to end on a line of length 1. In whose part does the number lie?",
        "np.cumsum(probabilities, -1) holds where each part ends. How many of the parts end at or before the number?",
        "cumulative <= uniform[:, None] * cumulative[:, -1:] is a table of True and False, (R, V). Sum it along its rows.",
    ),
    sibling='''def grade(points, limits):
    """Which grade do the points earn? limits is a rising list; grade i ends just before limits[i]."""
    return sum(limit <= points for limit in limits)
''',
    wrong=[
        Wrong("""def draw(probabilities, uniform):
    cumulative = np.cumsum(probabilities, -1)
    return (cumulative < uniform[:, None] * cumulative[:, -1:]).sum(-1)
""",
              "A number that lies exactly at the end of a part belongs to the next token: the running sum must exceed it. "
              "Else a token of probability 0 can come."),
        Wrong(Changed(("uniform[:, None] * total", "uniform[0] * total")),
              "Every row is drawn with the number of the first. Each row has its own."),
        Wrong("""def draw(probabilities, uniform):
    tokens = []
    for row, number in zip(probabilities, uniform):
        tokens.append(np.searchsorted(np.cumsum(row), number, side="right"))
    return np.array(tokens)
""", "The running sum may end a little below 1. Multiply each number by what the row really sums to."),
        Wrong("""def draw(probabilities, uniform):
    return np.argmax(probabilities, axis=-1)
""", "You take the likeliest token and do not look at `uniform`."),
        Wrong("""def draw(probabilities, uniform):
    return [int((np.cumsum(p) <= u * p.sum()).sum()) for p, u in zip(probabilities, uniform)]
""", generic="The result is a list"),
    ],
)  # fmt: skip
