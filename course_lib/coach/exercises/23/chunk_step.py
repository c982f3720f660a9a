"""Find the fault: what a chunk writes is decayed by the steps before it, in the place of those after it."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two steps", *(np.array(x, float) for x in ([[1], [1]], [[1], [1]], [[1], [2]], [-1, -2], [[0]])))
    for label, C, D, E in (("one step", 1, 2, 3), ("four steps", 4, 2, 2), ("seven steps", 7, 3, 4)):
        q, k = random.normal(size=(2, C, D))
        yield Case(label, q, k, random.normal(size=(C, E)), -random.uniform(0, 1, C), random.normal(size=(D, E)))
    q, k, v = random.normal(size=(3, 5, 2))
    yield Case("no decay", q, k, v, np.zeros(5), random.normal(size=(2, 2)))


def recurrence(q, k, v, g, S):
    y, S = np.empty((len(q), v.shape[1])), S.copy()
    for t in range(len(q)):
        S = np.exp(g[t]) * S + np.outer(k[t], v[t])
        y[t] = S.T @ q[t]
    return y, S


exercise = Exercise(
    title="Find the fault: the wrong side of the chunk",
    minutes=10,
    defines="chunk_step",
    given="import numpy as np",
    cases=cases,
    reference=recurrence,
    results=("y", "S"),
    call=lambda answer, q, k, v, g, S: tuple(answer(q, k, v, g, S)),
    hints=(
        "The verdict says which of the two results is wrong. Take the chunk of two steps, and follow what the first one wrote.",
        "np.exp(G[t]) is the decay from the beginning of the chunk to t. The new state is what is left at the end. Which "
        "decays apply to what step s wrote: those before s, or those after it?",
        "From s to the end the decay is np.exp(G[-1] - G[s]): so np.exp(G[-1] - G)[:, None] * k.",
    ),
    example='''def left_of_deposits(deposits, rates):
    """What yearly deposits are worth in the end: each is multiplied by the rates of the years after it, not before."""
    grown = np.cumprod(rates)  # from the beginning to each year, itself included
    return (deposits * grown[-1] / grown).sum()
''',
    wrong=[
        Wrong(Changed(("np.exp(G[-1] - G)[:, None] * k", "np.exp(G)[:, None] * k")),
              "The new state is wrong: what step s wrote is multiplied by the decays before it. What applies are the decays "
              "after it, up to the end of the chunk."),
        Wrong(Changed(("np.exp(G[-1] - G)[:, None] * k", "np.exp(G - G[-1])[:, None] * k")),
              "This grows what a chunk writes. G[-1] is the lowest, so the exponent that is at most 0 is G[-1] - G."),
        Wrong(Changed(("np.exp(G[-1] - G)[:, None] * k", "np.exp(G[-1]) * k")),
              "This decays each step's write as if it were made before the chunk. Only the decays after step s apply."),
        Wrong(Changed(("(np.exp(G[-1] - G)[:, None] * k).T", "k.T")),
              "What a step writes decays until the end of the chunk as well, by the steps after it."),
        Wrong(Changed(("np.exp(G[-1] - G)[:, None] * k", "np.exp(G)[:, None] * k"),
                      ("np.exp(G)[:, None] * (q @ S)", "np.exp(G[-1] - G)[:, None] * (q @ S)")),
              "Now both are wrong. The line of y was right: the decays from the beginning of the chunk to t apply to "
              "the old state."),
    ],
)  # fmt: skip
