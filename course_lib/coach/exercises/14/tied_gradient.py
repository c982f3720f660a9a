"""The gradient of an embedding table that is used twice: by the first layer and by the head."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def made(v, c, ids):
        t = len(ids)
        return (
            np.array(ids),
            random.normal(size=(t, c)).round(2),
            random.normal(size=(t, c)).round(2),
            random.normal(size=(t, v)).round(2),
        )

    yield Case("one token", np.array([1]), np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([[0.5, -0.5]]))
    yield Case("two tokens", *made(3, 2, [2, 0]))
    yield Case("T = C = V", *made(3, 3, [0, 1, 2]))
    yield Case("one token occurs twice", *made(4, 2, [3, 1, 3]))
    yield Case("a text of 50", *made(9, 6, random.integers(0, 9, 50).tolist()))


def right(ids, dx, x, dlogits):
    table = dlogits.T @ x
    np.add.at(table, ids, dx)
    return table


exercise = Exercise(
    title="The tied head",
    minutes=10,
    core=False,
    defines="tied_gradient",
    cases=cases,
    reference=right,
    given="import numpy as np",
    hints=(
        "A number that is used twice gets a gradient from each use, and they add up (chapter 02). Which are the two uses?",
        "In the head, logits = x @ table.T. The table's gradient has the shape (V, C): which product of dlogits (T, V) and x "
        "(T, C) has it? In the first layer, row ids[t] was copied to position t.",
        "dtable = dlogits.T @ x, and then for each position t: dtable[ids[t]] += dx[t].",
    ),
    example='''def gradient_of_used_twice(W, a, b, dy):
    """y = a @ W + b @ W: the same W in two products. Each gives a gradient of its own, and they add up."""
    return a.T @ dy + b.T @ dy
''',
    wrong=[
        Wrong(Changed(("dlogits.T @ x", "x.T @ dlogits")),
              "x.T @ dlogits has the shape (C, V). The table is (V, C): take the transpose, dlogits.T @ x."),
        Wrong("def tied_gradient(ids, dx, x, dlogits):\n    return dlogits.T @ x",
              "This is the gradient from the head alone. The first layer used the table too: add its gradient."),
        Wrong("""def tied_gradient(ids, dx, x, dlogits):
    dtable = np.zeros((dlogits.shape[1], x.shape[1]))
    for t in range(len(ids)):
        dtable[ids[t]] += dx[t]
    return dtable
""", "This is the gradient from the first layer alone. The head used the table too: add its gradient."),
        Wrong(Changed(("np.add.at(dtable, ids, dx)", "dtable[ids] += dx")),
              "A token that occurs twice was read twice: both rows of dx belong to it. `table[ids] += dx` keeps only the last; "
              "np.add.at adds all."),
        Wrong(Changed(("np.add.at(dtable, ids, dx)", "dtable[ids] = dx")),
              "In the rows of `ids`, the gradient from the first layer replaces that from the head. Gradients from two uses "
              "add up."),
        Wrong(Changed(("return dtable", "return dtable / 2")),
              "The gradients are averaged over the two uses. Gradients from two uses add up."),
    ],
)  # fmt: skip
