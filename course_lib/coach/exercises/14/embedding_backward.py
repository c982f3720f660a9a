"""Find the fault: the gradient of an embedding when a token occurs twice."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("every token once", np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), 2)
    yield Case("one token occurs twice", np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([1, 0, 1]), 2)
    yield Case("a token that does not occur", np.array([[1.0, -1.0]]), np.array([1]), 3)
    yield Case("the same token everywhere", np.ones((4, 2)), np.array([2, 2, 2, 2]), 3)
    yield Case(
        "two texts of three tokens",
        random.normal(size=(2, 3, 4)).astype(np.float32),
        np.array([[0, 4, 0], [4, 4, 1]]),
        5,
    )
    yield Case("two texts in which all differ", random.normal(size=(2, 2, 3)), np.array([[3, 1], [0, 2]], np.int32), 4)
    yield Case("300 tokens out of 7", random.normal(size=(300, 5)), random.integers(0, 7, 300), 7)


def check(result, dy, indices, rows):
    if np.asarray(result).dtype != dy.dtype:
        return f"The result is {np.asarray(result).dtype}, and dy is {dy.dtype}: keep its dtype."
    return None


exercise = Exercise(
    title="Find the fault: a token that comes twice",
    minutes=5,
    core=False,
    defines="embedding_backward",
    target="op:embedding_backward",
    cases=cases,
    reference=lambda *inputs: devices.ops("reference").embedding_backward(*inputs),
    check=check,
    given="import numpy as np",
    hints=(
        "Run it with indices [1, 0, 1] and dy of ones. What should row 1 of the table be, and what is it?",
        "Row 1 was read at two positions, so it gets two gradients. A loop over the positions would add both.",
        "np.add.at(table, indices, dy) adds each row of dy by itself, also when an index occurs again.",
    ),
    example='''def count_tokens(indices, rows):
    """How often each token occurs: the same trap, because counts[indices] += 1 counts each token once."""
    counts = np.zeros(rows, np.int64)
    np.add.at(counts, indices, 1)
    return counts
''',
    wrong=[
        Wrong("""def embedding_backward(dy, indices, rows):
    dtable = np.zeros((rows, dy.shape[-1]), dy.dtype)
    dtable[indices] = dtable[indices] + dy
    return dtable
""",
              "A token that occurs twice gets the gradient of its last position alone. `table[indices] += dy` reads all rows, "
              "adds, and then writes all rows, so a row that occurs twice is written twice, each time with one addition."),
        Wrong("""def embedding_backward(dy, indices, rows):
    dtable = np.zeros((rows, dy.shape[-1]), dy.dtype)
    flat = dy.reshape(-1, dy.shape[-1])
    for row in range(rows):
        own = flat[indices.ravel() == row]
        if len(own):
            dtable[row] = own.mean(axis=0)
    return dtable
""", "The gradients of a token's positions are averaged. They add up: each position used the row."),
        Wrong("""def embedding_backward(dy, indices, rows):
    flat = dy.reshape(-1, dy.shape[-1])
    return np.array([flat[indices.ravel() == token].sum(axis=0) for token in np.unique(indices)])
""", "Only the tokens that occur have a row in your result. The table has `rows` rows; the others get 0.",
              when=lambda seen: len(seen.got) == len(np.unique(seen.inputs[1])) < seen.inputs[2]),
        Wrong("""def embedding_backward(dy, indices, rows):
    dtable = np.zeros((rows, dy.shape[-1]), dy.dtype)
    for text in range(len(indices)):
        dtable[indices[text]] += dy[text]
    return dtable
""", "You add text by text, and a token that comes twice in one text still counts once there. Add position by position."),
        Wrong(Changed((", dy.dtype)", ")")), generic="keep its dtype"),
    ],
)  # fmt: skip
