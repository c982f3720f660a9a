"""A random number in [0, 1) chooses a token for each row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BELOW_ONE = "The last prefix sum may be a little below 1. Multiply each number by the last prefix sum of its row."


def cases(random):
    def case(label, rows, uniform):
        return Case(label, np.array(rows, np.float64), np.array(uniform))

    yield case("two tokens, one row", [[0.25, 0.75]], [0.5])
    yield case("the first token", [[0.25, 0.75]], [0.125])
    yield case("exactly the first prefix sum", [[0.25, 0.75]], [0.25])
    yield case("a first token of probability 0", [[0.0, 1.0]], [0.0])
    yield case("two rows, two numbers", [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], [0.375, 0.875])
    yield case("a row that sums to a little less than 1", [[0.5, 0.499, 0.0]], [0.9995])
    yield case("ten tenths, whose prefix sum ends a bit below their sum", [[0.1] * 10], [np.nextafter(1, 0)])
    yield case("one token alone", [[1.0], [1.0]], [0.0, 0.99])
    raw = random.random((200, 12))
    yield Case("200 rows", raw / raw.sum(-1, keepdims=True), random.random(200))


def check(result, probabilities, uniform):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; it must be a NumPy array with one token for each row."
    if result.dtype.kind not in "iu":
        return f"Tokens are integers; yours have the dtype {result.dtype}."
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
        "Put the probabilities of a row end to end on a line of length 1. In which token's interval is the number?",
        "np.cumsum(probabilities, -1) holds the end of each interval. How many of them end at or before the number?",
        "cumulative <= uniform[:, None] * cumulative[:, -1:] is a matrix of True and False, (R, V). Sum each of its rows.",
    ),
    example='''def grade(points, limits):
    """Which grade do the points earn? limits is sorted, the smallest first; grade i ends just before limits[i]."""
    return sum(limit <= points for limit in limits)
''',
    wrong=[
        Wrong("""def draw(probabilities, uniform):
    cumulative = np.cumsum(probabilities, -1)
    return (cumulative < uniform[:, None] * cumulative[:, -1:]).sum(-1)
""",
              "If the number equals a prefix sum, the next token is drawn: the prefix sum must exceed the number. Otherwise a "
              "token of probability 0 can be drawn."),
        Wrong(Changed(("uniform[:, None] * total", "uniform[0] * total")),
              "The number of the first row is used for every row. Each row has its own."),
        Wrong("""def draw(probabilities, uniform):
    tokens = []
    for row, number in zip(probabilities, uniform):
        tokens.append(np.searchsorted(np.cumsum(row), number, side="right"))
    return np.array(tokens)
""", BELOW_ONE),
        Wrong("""def draw(probabilities, uniform):
    return (np.cumsum(probabilities, -1) > uniform[:, None]).argmax(-1)
""", BELOW_ONE, also=True),
        Wrong("""def draw(probabilities, uniform):
    cumulative = np.cumsum(probabilities, 0)
    return (cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(-1)
""", "The sums run down the columns, over the rows. Sum along each row: np.cumsum(probabilities, -1)."),
        Wrong("""def draw(probabilities, uniform):
    cumulative = np.cumsum(probabilities).reshape(probabilities.shape)
    return (cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(-1)
""", "The sums go on from one row to the next. Each row begins at 0: np.cumsum(probabilities, -1)."),
        Wrong("""def draw(probabilities, uniform):
    cumulative = np.cumsum(probabilities, -1)
    return (cumulative < uniform[:, None] * cumulative[:, -1:]).argmax(-1)
""", "argmax finds the first token whose prefix sum is *below* the number, nearly always the first token. Find the first above."),
        Wrong("""def draw(probabilities, uniform):
    return np.argmax(probabilities, axis=-1)
""", "You take the likeliest token, and do not use `uniform`."),
        Wrong("""def draw(probabilities, uniform):
    return [int((np.cumsum(p) <= u * p.sum()).sum()) for p, u in zip(probabilities, uniform)]
""", generic="The result is a list"),
    ],
)  # fmt: skip
