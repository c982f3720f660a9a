"""Top-p: keep the likeliest tokens that together reach p."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


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


def cut(probabilities, p, keeps=lambda upto, own, p: upto - own < p, scaled=True, sorted_=False):
    """Top-p row by row. keeps: (running sum with the token, its own probability, p) -> whether it stays."""
    result = np.zeros(probabilities.shape)
    for row, out in zip(probabilities, result, strict=True):
        upto = 0.0
        for place, token in enumerate(np.argsort(-row, kind="stable")):
            upto += row[token]
            if keeps(upto, row[token], p):
                out[place if sorted_ else token] = row[token]
        out /= out.sum() if scaled else 1.0
    return result


def too_few(probabilities, p):
    def keeps(upto, own, p):
        return upto <= p or upto == own

    return cut(probabilities, p, keeps)


def one_more(probabilities, p):
    return cut(probabilities, p, lambda upto, own, p: upto - own <= p)


def all_equal_ones(probabilities, p):
    least = np.where(cut(probabilities, p) > 0, probabilities, np.inf).min(-1, keepdims=True)
    kept = np.where(probabilities >= least, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)


def check(result, probabilities, p):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; a NumPy array of the shape of `probabilities` is asked for."
    return None


def unsorted(probabilities, p):
    kept = np.where(np.cumsum(probabilities, -1) - probabilities < p, probabilities, 0.0)
    return kept / kept.sum(-1, keepdims=True)


def threshold(probabilities, p):
    kept = np.where(probabilities >= 1 - p, probabilities, 0.0)
    with np.errstate(invalid="ignore"):
        return kept / kept.sum(-1, keepdims=True)


exercise = Exercise(
    title="As many as it takes",
    test_out=True,
    minutes=20,
    defines="top_p_filter",
    target="course_lib.sampling.top_p_filter",
    given="import numpy as np",
    cases=cases,
    check=check,
    mistakes=[
        Mistake("The token with which p is reached must stay as well: those before it do not reach p without it.", like=too_few),
        Mistake("Where p is reached exactly you keep one token more. Enough is enough.", like=one_more),
        Mistake("What is kept must sum to 1 again: divide each row by its sum.",
                like=lambda probabilities, p: cut(probabilities, p, scaled=False)),
        Mistake("The probabilities stand in the order of their size. Put each back in the place of its token.",
                like=lambda probabilities, p: cut(probabilities, p, sorted_=True)),
        Mistake("Tokens that are equally likely are kept together here, though the first of them are enough.",
                like=all_equal_ones),
        Mistake("You add up in the order of the tokens. Sort each row first: the likeliest tokens are to be kept.",
                like=unsorted),
        Mistake("p is no limit for a single token: it is what the kept ones reach together.", like=threshold),
    ],
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
    right=[
        """def top_p_filter(probabilities, p):
    result = np.zeros(probabilities.shape)
    for r, row in enumerate(probabilities):
        total = 0.0
        for v in sorted(range(len(row)), key=lambda v: -row[v]):
            if total >= p:
                break
            result[r, v] = row[v]
            total += row[v]
        result[r] = result[r] / total
    return result
""",
        """def top_p_filter(probabilities, p):
    ranks = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
    falling = -np.sort(-probabilities, axis=1)
    count = 1 + (np.cumsum(falling, axis=1)[:, :-1] < p).sum(axis=1, keepdims=True)
    kept = probabilities * (ranks < count)
    return kept / kept.sum(axis=1, keepdims=True)
""",
    ],
    wrong=[
        Wrong("""def top_p_filter(probabilities, p):
    result = np.zeros(probabilities.shape)
    for r, row in enumerate(probabilities):
        order = np.argsort(-row, kind="stable")
        count = max(1, (np.cumsum(row[order]) <= p).sum())
        result[r, order[:count]] = row[order[:count]]
    return result / result.sum(-1, keepdims=True)
""", "must stay as well"),
        Wrong(Changed(("before < p", "before <= p")), "you keep one token more"),
        Wrong(Changed((" / filtered.sum(-1, keepdims=True)", "")), "must sum to 1 again"),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.where(np.cumsum(ordered, -1) - ordered < p, ordered, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "in the place of its token"),
        Wrong("""def top_p_filter(probabilities, p):
    ordered = -np.sort(-probabilities, axis=-1)
    kept = np.cumsum(ordered, -1) - ordered < p
    least = np.where(kept, ordered, 2).min(-1, keepdims=True)
    result = np.where(probabilities >= least, probabilities, 0)
    return result / result.sum(-1, keepdims=True)
""", "the first of them are enough"),
        Wrong(Changed(("np.argsort(-probabilities", "np.argsort(probabilities")), "element (0, 0)"),
        Wrong("""def top_p_filter(probabilities, p):
    c = probabilities.cumsum(-1)
    kept = np.where(c - probabilities < p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "in the order of the tokens"),
        Wrong("""def top_p_filter(probabilities, p):
    kept = np.where(probabilities >= 1 - p, probabilities, 0)
    return kept / kept.sum(-1, keepdims=True)
""", "p is no limit for a single token"),
    ],
)  # fmt: skip
