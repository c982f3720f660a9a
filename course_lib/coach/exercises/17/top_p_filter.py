"""Top-p: keep the likeliest tokens that together reach p."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

PER_TOKEN = "p is not a limit for a single token: the kept tokens together must reach it."
ONE_TOO_FEW = "The token with which p is reached must be kept as well: those before it do not reach p."


def cases(random):
    def case(label, rows, p):
        return Case(label, np.array(rows, np.float64), p)

    yield case("two tokens, one is enough", [[0.75, 0.25]], 0.5)
    yield case("two tokens, both are needed", [[0.25, 0.75]], 0.875)
    yield case("p is reached exactly", [[0.25, 0.5, 0.125, 0.125]], 0.75)
    yield case("one row of low entropy, one of high", [[0.0625, 0.875, 0.0625], [0.25, 0.25, 0.5]], 0.8)
    yield case("equally likely tokens: the first are kept", [[0.25, 0.25, 0.25, 0.25]], 0.5)
    # NumPy's own sort keeps the order of 16 equal numbers, and not of so many
    yield case("32 of 64 tokens are equally likely", [[1 / 128, 3 / 128] * 32], 0.5)
    yield case("the likeliest alone is more than p", [[0.125, 0.25, 0.625]], 0.05)
    yield case("p is 1", [[0.125, 0.0, 0.375, 0.5]], 1.0)
    yield case("one token", [[1.0], [1.0]], 0.3)
    raw = np.exp(2 * random.normal(size=(4, 50)))
    yield Case("four rows of 50 tokens", raw / raw.sum(-1, keepdims=True), 0.9)


def check(result, probabilities, p):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; it must be a NumPy array of the shape of `probabilities`."
    return None


exercise = Exercise(
    title="Top-p sampling",
    test_out=True,
    minutes=20,
    defines="top_p_filter",
    target="course_lib.sampling.top_p_filter",
    given="import numpy as np",
    cases=cases,
    check=check,
    hints=(
        "Sort each row, the likeliest first. For each token: did those before it reach p already?",
        "order = np.argsort(-probabilities, -1, kind=\"stable\") keeps equal ones in their order. "
        "np.take_along_axis(probabilities, order, -1) sorts; np.put_along_axis(result, order, kept, -1) undoes the sorting.",
        "With s sorted: before = np.cumsum(s, -1) - s; kept = np.where(before < p, s, 0); undo the sorting; divide by each "
        "row's sum.",
    ),
    example='''def pack(weights, limit):
    """The heaviest things of a row until their weights together reach a limit, each at its own index; 0 for the others."""
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
""", ONE_TOO_FEW),
        Wrong(Changed(("before < p", "before + sorted_ <= p")), ONE_TOO_FEW, also=True),
        Wrong(Changed(("before < p", "np.cumsum(sorted_, -1) < p")), ONE_TOO_FEW, also=True),
        Wrong(Changed(("before < p", "np.cumsum(sorted_, -1) <= p")), ONE_TOO_FEW, also=True),
        Wrong(Changed((", kind=\"stable\"", "")),
              "Of equally likely tokens the first are taken: np.argsort keeps their order with kind=\"stable\"."),
        Wrong(Changed(("before < p", "before <= p")), "If p is reached exactly, you keep one token too many."),
        Wrong(Changed((" / filtered.sum(-1, keepdims=True)", "")),
              "The kept probabilities must sum to 1 again: divide each row by its sum."),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.where(np.cumsum(ordered, -1) - ordered < p, ordered, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "The probabilities are sorted. Put each back at the index of its token."),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.cumsum(ordered, -1) - ordered < p
    least = np.where(kept, ordered, 2).min(-1, keepdims=True)
    result = np.where(probabilities >= least, probabilities, 0)
    return result / result.sum(-1, keepdims=True)
""", "You keep all tokens that are equally likely, though the first of them are enough."),
        Wrong("""def top_p_filter(probabilities, p):
    c = probabilities.cumsum(-1)
    kept = np.where(c - probabilities < p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "You add up in the order of the tokens. Sort each row first: the likeliest tokens are to be kept."),
        Wrong("""def top_p_filter(probabilities, p):
    kept = np.where(probabilities >= 1 - p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", PER_TOKEN),
        Wrong(Changed(("before < p", "sorted_ >= p")), PER_TOKEN, also=True),
        Wrong(Changed(("np.argsort(-probabilities", "np.argsort(probabilities")), generic="`probabilities` has the wrong sign"),
    ],
)  # fmt: skip
