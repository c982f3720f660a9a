"""One query of each text over the rows of its own, which lie in pages."""

import numpy as np

from course_lib import devices
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extreme_attention


def cases(random):
    def made(R, H, G, D, P, N, tables, positions, dtype=np.float64):
        sizes = (R, H, D), (P, N, G, D), (P, N, G, D)
        arrays = [random.normal(size=size).astype(dtype) for size in sizes]
        return *arrays, np.array(tables, np.int32), np.array(positions, np.int32)

    yield Case("one text of one row", *made(1, 1, 1, 2, 1, 1, [[0]], [0]))
    yield Case("two pages in order", *made(1, 1, 1, 2, 3, 2, [[0, 1]], [3]))
    yield Case("pages out of order", *made(1, 1, 1, 2, 3, 2, [[2, 0]], [2]))
    yield Case("a table filled up with zeros", *made(2, 1, 1, 4, 4, 2, [[3, 1, 2], [2, 0, 0]], [4, 1]))
    yield Case("two heads", *made(2, 2, 2, 4, 5, 3, [[4, 1], [0, 3]], [3, 5]))
    yield Case("grouped-query attention", *made(3, 6, 2, 4, 9, 4, [[5, 2, 0], [8, 1, 7], [3, 0, 0]], [9, 11, 0]))
    yield Case("float32", *made(2, 4, 1, 8, 6, 8, [[5, 2], [1, 4]], [15, 8], np.float32))
    q, *rest = made(1, 2, 1, 4, 3, 2, [[2, 0]], [3])
    yield Case("one head's scores far above the other's", q * [[[9000.0], [1.0]]], *rest)
    for label, (q, k, v) in extreme_attention(random, 1, 4, 4):
        k, v = (x[[2, 3, 0, 1]].reshape(2, 2, 1, 4) for x in (k, v))  # (P, N, G, D), for the table [1, 0]
        yield Case(label, q[:, None], k, v, np.array([[1, 0]], np.int32), np.array([3], np.int32))


def check(result, q, *_):
    if np.asarray(result).dtype != q.dtype:
        return f"y is {np.asarray(result).dtype}, and q is {q.dtype}: keep its dtype."
    return None


REPEATED = "np.repeat(x, shared, axis=1)"

exercise = Exercise(
    title="Attention over pages",
    minutes=15,
    core=False,
    defines="paged_attention_forward",
    target="op:paged_attention_forward",
    given="import numpy as np",
    cases=cases,
    reference=lambda q, k_pages, v_pages, tables, positions: devices.ops("reference").paged_attention_forward(
        q, k_pages, v_pages, tables, positions
    ),
    check=check,
    tolerance=1e-4,
    hints=(
        "For one text: gather its rows first, so that you have k and v (S, G, D) in order. After that it is attention of one "
        "query, without a mask.",
        "k_pages[table] is (M, N, G, D), the pages in the text's order. Reshape it to (M N, G, D), and take the first "
        "position + 1 rows. np.repeat(k, H // G, axis=1) gives each query head its keys; v needs the same.",
        "scores = (k * q[r]).sum(axis=-1) / D ** 0.5 is (S, H). Subtract the largest of each head, take exp, divide by the sum "
        "over the rows, axis 0; then y[r] = (weights[..., None] * v).sum(axis=0).",
    ),
    example='''def means_of_texts(pages, tables, positions):
    """The mean of each text's own rows: pages (P, N, C) -> (R, C)."""
    y = np.empty((len(tables), pages.shape[-1]))
    for r, (table, position) in enumerate(zip(tables, positions)):
        y[r] = pages[table].reshape(-1, pages.shape[-1])[: position + 1].mean(axis=0)
    return y
''',
    wrong=[
        Wrong(Changed((" / q.shape[-1] ** 0.5", "")),
              "The scores are not divided: divide them by the square root of D before softmax."),
        Wrong(Changed(("[: position + 1]", "[: max(position, 1)]")),
              "Row positions[r] belongs to the text too: the token attends to itself. The text has positions[r] + 1 rows."),
        Wrong(Changed(("[: position + 1]", "")),
              "The query attends to all rows of its pages. Those behind positions[r] are not the text's own."),
        Wrong(Changed(("pages[table].reshape(-1, *pages.shape[2:])", "pages.reshape(-1, *pages.shape[2:])")),
              "The rows are taken in the order of the pages in memory; the block table was not used."),
        Wrong(Changed((REPEATED, "np.tile(x, (1, shared, 1))")),
              "The key-value heads are assigned one after the other, h % G. Consecutive query heads share one: 0 .. H / G - 1 "
              "read the first."),
        Wrong(Changed(("np.exp(scores - scores.max(axis=0))", "np.exp(scores)")),
              "The exponential of a large score overflows. Subtract the largest score of each head first."),
        Wrong(Changed(("scores.max(axis=0)", "scores.max()")),
              "You subtract the largest score of all heads. Every exponential of a head far below it is then 0: each head needs "
              "its own maximum."),
        Wrong(Changed(("e / e.sum(axis=0)", "e")),
              "The weights of a head do not add up to 1: divide its exponentials by their sum over the rows, axis 0."),
        Wrong(Changed(("e / e.sum(axis=0)", "e / e.sum(axis=1, keepdims=True)")),
              "The weights are divided by the sum over heads. Each head has its own softmax, over the rows."),
        Wrong(Changed(("y = np.empty_like(q)", "y = np.empty(q.shape, np.float16)")), generic="keep its dtype"),
    ],
)  # fmt: skip
