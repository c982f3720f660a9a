"""Find the fault: `dtable[ids] += dy` adds once for each token, however often it occurs."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

ONCE = (
    "Of a token that occurs at several positions only the last gradient is left: each write replaces the one before. Add the "
    "positions one by one. (`dtable[ids] += dy` reads all rows before it writes any.)"
)


def cases(random):
    yield Case("one token twice", np.array([[1.0, 2.0], [10.0, 20.0]]), np.array([1, 1]), 3)
    yield Case("the text of the lecture", np.outer(np.arange(1.0, 6.0), np.ones(3)), np.array([2, 0, 2, 2, 3]), 4)
    for label, n, V in (("every token once", 4, 4), ("one position", 1, 2), ("twenty positions", 20, 6)):
        ids = random.permutation(V) if n == V else random.integers(0, V, n)
        yield Case(label, random.normal(size=(n, 2)), ids, V)


def added(dy, ids, V):
    dtable = np.zeros((V, dy.shape[1]))
    np.add.at(dtable, ids, dy)
    return dtable


exercise = Exercise(
    title="Find the fault: added once",
    minutes=3,
    core=False,
    defines="rows_added",
    cases=cases,
    reference=added,
    hints=("A loop does what the line only seems to do: for position i in order, dtable[ids[i]] += dy[i].",),
    wrong=[
        Wrong(Changed(("for i in range(len(ids)):\n        dtable[ids[i]] += dy[i]", "dtable[ids] += dy")),
              ONCE),
        Wrong(Changed(("dtable[ids[i]] += dy[i]", "dtable[ids[i]] += dy[i] / (ids == ids[i]).sum()")),
              "The gradients of a token's positions are added up, without taking a mean."),
        Wrong(Changed(("dtable[ids[i]] += dy[i]", "dtable[ids[i]] += dy[ids[i]]")),
              "dy has a row for each *position* i, and dtable one for each token ids[i]."),
        Wrong(Changed(("dtable[ids[i]] += dy[i]", "dtable[i] += dy[i]")),
              "dtable has a row for each *token*, and position i holds the token ids[i]."),
        Wrong(Changed(("dtable[ids[i]] += dy[i]", "dtable[ids[i]] = dy[i]")),
              ONCE, also=True),
    ],
)  # fmt: skip
