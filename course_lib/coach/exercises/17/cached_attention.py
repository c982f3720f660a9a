"""A key-value cache by hand: one new token, its query, and the keys and values of all tokens so far."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extreme_attention


def cases(random):
    def case(label, tokens, d, size=1.0, dtype=np.float64):
        return Case(label, *(size * random.normal(size=(3, tokens, d)).round(2)).astype(dtype))

    yield Case("the first token", *np.array([[[1.0, 0.0]], [[1.0, 0.0]], [[3.0, 5.0]]]))
    yield Case("two tokens", *np.array([[[2.0, 0.0], [0.0, 2.0]], [[2.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]]))
    yield case("five tokens", 5, 4)
    yield case("one number each", 4, 1)
    yield case("scores in the thousands", 6, 4, 60.0)
    for label, arrays in extreme_attention(random, 4, 4, 4):
        yield Case(label, *arrays)
    yield case("40 tokens of float32", 40, 16, 1.0, np.float32)


def one_by_one(answer, q, k, v):
    """The results for each token in turn, (T, D), and what the cache holds at the end."""
    cache: list = []
    rows = [answer(cache, q[t], k[t], v[t]) for t in range(len(q))]
    return [np.array(rows), [np.array(part) for part in cache]]


def cached_attention(cache, q, k, v):
    keys, values = cache or (np.zeros((0, len(q))), np.zeros((0, len(q))))
    cache[:] = keys, values = np.concatenate([keys, k[None]]), np.concatenate([values, v[None]])
    scores = keys @ q / len(q) ** 0.5
    e = np.exp(scores - scores.max())
    return e @ values / e.sum()


def check(result, q, k, v):
    if len(result[1]) != 2:
        return "The cache must hold two arrays at the end: all keys and all values, (S, D) each."
    if np.shape(result[0]) != v.shape:
        return f"Each call must return the weighted sum of the values, with the shape {v.shape[1:]}."
    return None


exercise = Exercise(
    title="One more token",
    minutes=15,
    core=False,
    defines="cached_attention",
    given="import numpy as np",
    cases=cases,
    results=("the weighted sum", "the cache"),
    call=one_by_one,
    reference=cached_attention,
    tolerance=1e-4,
    check=check,
    hints=(
        "First the cache: what does it look like for the first token, and how does it grow? Then attention for a single query.",
        "np.concatenate([cache[0], k[None]]) is one row longer; for the first token it is k[None] alone. "
        "`cache[:] = [keys, values]` changes the list that was given. The scores of one query are keys @ q, one for each token.",
        "scores = keys @ q / len(q) ** 0.5; e = np.exp(scores - scores.max()); return e @ values / e.sum(). No mask is needed: "
        "the cache holds no later tokens.",
    ),
    example='''def mean_so_far(cache, number):
    """The mean of all numbers so far; `cache` is a list that holds their sum and their count, or is still empty."""
    total, count = cache if cache else (0.0, 0)
    cache[:] = [total + number, count + 1]
    return cache[0] / cache[1]
''',
    wrong=[
        Wrong(Changed((" / len(q) ** 0.5", "")), "The scores are not divided: divide them by the square root of D."),
        Wrong(Changed(("len(q) ** 0.5", "len(q)")), "The scores are divided by D. It is the square root of D."),
        Wrong(Changed(("    cache[:] = [keys, values]\n", "    cache = [keys, values]\n")),
              "The caller's list did not change, so the next call gets the old cache. Change the list itself: cache[:] = "
              "[keys, values]."),
        Wrong("""def cached_attention(cache, q, k, v):
    if not cache:
        cache[:] = [k[None], v[None]]
        return v
    scores = cache[0] @ q / len(q) ** 0.5
    e = np.exp(scores - scores.max())
    y = e @ cache[1] / e.sum()
    cache[:] = [np.vstack([cache[0], k]), np.vstack([cache[1], v])]
    return y
""", "A token attends to itself too: first append its key and value to the cache, then attend."),
        Wrong(Changed(("[cache[0], k[None]]", "[k[None], cache[0]]"), ("[cache[1], v[None]]", "[v[None], cache[1]]")),
              "The results are right, but the newest token comes first in your cache. Append it at the end."),
        Wrong(Changed(("scores = keys @ q", "scores = values @ q"), ("e @ values", "e @ keys")),
              "Scores are queries times keys, and the weighted sum is that of the values; you have exchanged keys and values."),
        Wrong(Changed(("[cache[0], k[None]]", "[cache[0], q[None]]"), ("else k[None]", "else q[None]")),
              "You store queries in the cache. A query is used once; later tokens need the keys."),
        Wrong("""def cached_attention(cache, q, k, v):
    if not cache:
        cache[:] = [k[None], v[None]]
    else:
        cache.append(k)
        cache.append(v)
    scores = cache[0] @ q / len(q) ** 0.5
    e = np.exp(scores - scores.max())
    return e @ cache[1] / e.sum()
""",
              "The list grows with each token, and cache[0] and cache[1] stay as they were. It must always hold two arrays, "
              "each a row longer than before: the keys and the values of all tokens."),
        Wrong(Changed(("np.exp(scores - scores.max())", "scores")),
              "The scores themselves are the weights. Softmax takes exp of them first, which makes every weight positive."),
        Wrong(Changed((" / e.sum()", "")), "The weights of the values do not sum to 1: divide by the sum of the exp."),
        Wrong(Changed(("np.exp(scores - scores.max())", "np.exp(scores)")),
              "exp of a large score overflows. Subtract the largest score first.",
              when=lambda seen: not np.isfinite(seen.got[0]).all() and np.abs(seen.inputs[0] @ seen.inputs[1].T).max() > 700),
        Wrong(Changed((" if cache else k[None]", ""), (" if cache else v[None]", "")),
              "For the first token the cache is an empty list: there is no cache[0] yet.",
              when=lambda seen: seen.label == "the first token"
                  and seen.error.startswith(("IndexError", "ValueError: not enough"))),
    ],
)  # fmt: skip
