"""Top-p: keep the likeliest tokens that together reach p."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, rows, p):
        return Case(label, np.array(rows, np.float64), p)

    yield case("two tokens, the likelier one is enough", [[0.75, 0.25]], 0.5)
    yield case("both are needed", [[0.25, 0.75]], 0.875)
    yield case("p is reached exactly", [[0.25, 0.5, 0.125, 0.125]], 0.75)
    yield case("one row is sure, one is not", [[0.0625, 0.875, 0.0625], [0.25, 0.25, 0.5]], 0.8)
    yield case("equally likely tokens: the first stays", [[0.25, 0.25, 0.25, 0.25]], 0.5)
    yield case("the likeliest alone is more than p", [[0.125, 0.25, 0.625]], 0.05)
    yield case("p is 1", [[0.125, 0.0, 0.375, 0.5]], 1.0)
    yield case("one token", [[1.0], [1.0]], 0.3)
    odds = np.exp(2 * random.normal(size=(4, 50)))
    yield Case("four rows of 50 tokens", odds / odds.sum(-1, keepdims=True), 0.9)


def check(result, probabilities, p):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; a NumPy array of the shape of `probabilities` is asked for."
    return None


exercise = Exercise(
    title="As many as it takes",
    test_out=True,
    minutes=20,
    defines="top_p_filter",
    target="course_lib.sampling.top_p_filter",
    given="import numpy as np",
    cases=cases,
    check=check,
    hints=(
        "Sort each row, the likeliest first. For each token ask: did those before it reach p already?",
        "order = np.argsort(-probabilities, -1, kind=\"stable\") keeps equal ones in their order. "
        "np.take_along_axis(probabilities, order, -1) sorts; np.put_along_axis(result, order, kept, -1) puts back.",
        "With s sorted: before = np.cumsum(s, -1) - s; kept = np.where(before < p, s, 0); put back; divide by each row's sum.",
    ),
    sibling='''def pack(weights, limit):
    """The heaviest things of a row until their weights together reach a limit, each in its own place, else 0."""
    order = np.argsort(-weights, kind="stable")
    packed, load = np.zeros_like(weights), 0.0
    for i in order:
        if load >= limit:
            break
        packed[i] = weights[i]
        load += weights[i]
    return packed
''',
    wrong=[
        Wrong("""def top_p_filter(probabilities, p):
    result = np.zeros(probabilities.shape)
    for r, row in enumerate(probabilities):
        order = np.argsort(-row, kind="stable")
        count = max(1, (np.cumsum(row[order]) <= p).sum())
        result[r, order[:count]] = row[order[:count]]
    return result / result.sum(-1, keepdims=True)
""", "The token with which p is reached must stay as well: those before it do not reach p without it."),
        Wrong(Changed(("before < p", "before <= p")), "Where p is reached exactly you keep one token more. Enough is enough."),
        Wrong(Changed((" / filtered.sum(-1, keepdims=True)", "")),
              "What is kept must sum to 1 again: divide each row by its sum."),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.where(np.cumsum(ordered, -1) - ordered < p, ordered, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "The probabilities stand in the order of their size. Put each back in the place of its token."),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.cumsum(ordered, -1) - ordered < p
    least = np.where(kept, ordered, 2).min(-1, keepdims=True)
    result = np.where(probabilities >= least, probabilities, 0)
    return result / result.sum(-1, keepdims=True)
""", "Tokens that are equally likely are kept together here, though the first of them are enough."),
        Wrong("""def top_p_filter(probabilities, p):
    c = probabilities.cumsum(-1)
    kept = np.where(c - probabilities < p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "You add up in the order of the tokens. Sort each row first: the likeliest tokens are to be kept."),
        Wrong("""def top_p_filter(probabilities, p):
    kept = np.where(probabilities >= 1 - p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "p is no limit for a single token: it is what the kept ones reach together."),
        Wrong(Changed(("np.argsort(-probabilities", "np.argsort(probabilities")), generic="element (0, 0)"),
    ],
)  # fmt: skip
