"""Gated linear attention in chunks: products within a chunk, the state between chunks."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong


def cases(random):
    def case(label, T, D, E, chunk, decay=0.5):
        q, k = random.normal(size=(2, T, D)).round(2)
        v, S = random.normal(size=(T, E)).round(2), random.normal(size=(D, E)).round(2)
        return Case(label, q, k, v, -decay * random.uniform(0, 1, (T, D)), S, chunk)

    yield Case(
        "two steps, one chunk",
        *(np.array(x, float) for x in ([[1], [1]], [[1], [1]], [[1], [2]], [[0], [0]], [[0]])),
        2,
    )
    yield case("one step", 1, 3, 2, 4)
    yield case("one chunk", 4, 3, 2, 4)
    yield case("two chunks", 6, 2, 3, 3)
    yield case("the last chunk is shorter", 7, 3, 2, 4)
    yield case("chunks of one", 5, 2, 2, 1)
    yield case("strong decays", 8, 2, 2, 4, 500.0)


def recurrence(q, k, v, g, S, chunk):
    y, S = np.empty((len(q), v.shape[1])), S.copy()
    for t in range(len(q)):
        S = np.exp(g[t])[:, None] * S + np.outer(k[t], v[t])
        y[t] = S.T @ q[t]
    return y, S


def exponentials(answer):
    """How often np.exp is called for 512 steps in chunks of 64."""
    random, calls, exp = np.random.default_rng(0), [], np.exp
    q, k, v = random.normal(size=(3, 512, 4))
    np.exp = lambda *args, **options: calls.append(1) or exp(*args, **options)
    try:
        answer(q, k, v, -random.uniform(0, 0.1, (512, 4)), np.zeros((4, 4)), 64)
    finally:
        np.exp = exp
    return len(calls)


def pieces(answer):
    """How often a piece of the inputs, or of what is computed from them, is taken for 512 steps in chunks of 64."""
    taken = []

    class Watched(np.ndarray):
        def __getitem__(self, index):
            taken.append(1)
            return super().__getitem__(index)

    random = np.random.default_rng(0)
    q, k, v = random.normal(size=(3, 512, 4))
    inputs = [x.view(Watched) for x in (q, k, v, -random.uniform(0, 0.1, (512, 4)))]
    answer(*inputs, np.zeros((4, 4)), 64)
    return len(taken)


exercise = Exercise(
    title="In chunks",
    minutes=15,
    defines="chunked_attention",
    given="import numpy as np",
    cases=cases,
    reference=recurrence,
    results=("y", "S"),
    call=lambda answer, q, k, v, g, S, chunk: tuple(answer(q, k, v, g, S, chunk)),
    goals=[Goal("calls of np.exp, for 512 steps in chunks of 64", exponentials, at_most=40),
           Goal("pieces taken of arrays, such as q[part], for 512 steps in chunks of 64", pieces, at_most=256)],
    hints=(
        "As `one_chunk` of the lecture, in a loop over range(0, len(q), chunk). Only G, np.cumsum(g, axis=0), has an axis "
        "more, (C, D), so the decay between two steps differs from channel to channel.",
        "between = np.exp(np.minimum(G[:, None] - G[None], 0)) is (C, C, D); the score of t and s is the sum over d of "
        "q[t, d] * between[t, s, d] * k[s, d], which np.einsum computes.",
        "With q, k and v of the chunk: scores = np.tril(np.einsum('td,tsd,sd->ts', q, between, k)); its y is scores @ v + "
        "(q * np.exp(G)) @ S; S = np.exp(G[-1])[:, None] * S + (k * np.exp(G[-1] - G)).T @ v.",
    ),
    example='''def chunked_prefix_sums(x, chunk):
    """Prefix sums of x (T,), chunk by chunk: a masked product within, a sum carried between."""
    y, carried = np.empty_like(x), 0.0
    for start in range(0, len(x), chunk):
        part = x[start : start + chunk]
        y[start : start + chunk] = np.tri(len(part)) @ part + carried
        carried += part.sum()
    return y
''',
    wrong=[
        Wrong(Changed((" + (q[part] * np.exp(G)) @ S", "")),
              "Each chunk begins with an empty memory: what the state before says to each query is missing from y."),
        Wrong(Changed(("(q[part] * np.exp(G)) @ S", "q[part] @ S")),
              "When step t reads it, the old state has decayed by all steps of the chunk up to t: by e^G for each channel."),
        Wrong(Changed(("(q[part] * np.exp(G)) @ S", "np.exp(G) * (q[part] @ S)")),
              "y: e^G has a number for each channel of the key, and here it multiplies those of the value. Multiply q by it, "
              "then read: (q * np.exp(G)) @ S."),
        Wrong(Changed(("np.exp(G[-1])[:, None] * S", "np.exp(G[-1]) * S")),
              "S: e^G[-1] has a number for each channel of the key, and here it multiplies the columns of S. The channels of the "
              "key are its rows: [:, None]."),
        Wrong(Changed(("(k[part] * np.exp(G[-1] - G)).T", "k[part].T")),
              "What a step wrote decays until the end of its chunk, by e^(G[-1] - G), before it is in the new state."),
        Wrong(Changed(("(k[part] * np.exp(G[-1] - G)).T", "(k[part] * np.exp(G)).T")),
              "What step s wrote is decayed by the steps before it. It must be decayed by those after it, up to the end of the "
              "chunk: e^(G[-1] - G)."),
        Wrong(Changed(("np.exp(G[-1])[:, None] * S", "S")),
              "The old state does not decay on its way through a chunk: multiply it by e^G[-1], channel by channel."),
        Wrong(Changed(("np.tril(np.einsum(\"td,tsd,sd->ts\", q[part], between, k[part]))",
                       "np.einsum(\"td,tsd,sd->ts\", q[part], between, k[part])")),
              "Steps read what comes after them. Mask the scores: np.tril keeps those with s up to t."),
        Wrong(Changed(("        between = np.exp(np.minimum(G[:, None] - G[None], 0))  # (C, C, D): from step s to step t\n", ""),
                      ('np.einsum("td,tsd,sd->ts", q[part], between, k[part])',
                       "(q[part] * np.exp(G)) @ (k[part] * np.exp(-G)).T")),
              "An exponent above 0 overflows where decays are strong. Compute e^(G_t - G_s) from the difference, for each pair "
              "of steps, and let no exponent be above 0: np.minimum(..., 0).",
              when=lambda seen: seen.label == "strong decays" and not np.isfinite(seen.got[0]).all(),
              once="the only case with strong decays, and finite results are expected"),
        Wrong("""def chunked_attention(q, k, v, g, S, chunk):
    y = np.empty_like(v)
    for t in range(len(q)):
        S = np.exp(g[t])[:, None] * S + np.outer(k[t], v[t])
        y[t] = S.T @ q[t]
    return y, S
""", generic="the goal is not reached"),
        Wrong("""def chunked_attention(q, k, v, g, S, chunk):
    y, decays = np.empty_like(v), np.exp(g)
    for t in range(len(q)):
        S = decays[t][:, None] * S + np.outer(k[t], v[t])
        y[t] = S.T @ q[t]
    return y, S
""", generic="the goal is not reached: pieces taken of arrays"),
    ],
)  # fmt: skip
