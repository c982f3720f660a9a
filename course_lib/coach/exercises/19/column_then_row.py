"""Tensor parallel: an MLP whose first matrix is cut into columns and whose second is cut into rows."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks

GIVEN = """
def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
"""


def cases(random):
    def case(label, ranks, T, C, F):
        return Case(label, ranks, *(random.normal(size=shape).round(1) for shape in ((T, C), (C, F), (F, C))))

    yield Case("two ranks, all sizes small", 2, np.array([[1.0]]), np.array([[1.0, -2.0]]), np.array([[3.0], [4.0]]))
    yield case("one rank", 1, 2, 2, 4)
    yield case("two ranks", 2, 3, 2, 8)
    yield case("four ranks", 4, 2, 3, 12)
    yield case("as many ranks as hidden channels", 3, 2, 2, 3)


def called(answer, ranks, x, A, B):
    own = np.arange(A.shape[1]) // (A.shape[1] // ranks) == np.arange(ranks)[:, None]  # (ranks, F)
    y, sent = on_ranks(answer, *([one] * ranks for one in (x, A, B)), given=("all_reduce",))
    alone = on_ranks(answer, [x] * ranks, [*(own[:, None] * A)], [*(own[..., None] * B)], given=("all_reduce",))
    return y, sent, alone[0]


def by_parts(communicator, x, A, B):
    u = x @ np.array_split(A, communicator.size, axis=1)[communicator.rank]
    h = 0.5 * u * (1 + np.tanh(0.7978845608 * (u + 0.044715 * u**3)))
    return communicator.all_reduce(h @ np.array_split(B, communicator.size)[communicator.rank])


exercise = Exercise(
    title="Columns, then rows",
    minutes=10,
    core=False,
    defines="column_then_row",
    given=GIVEN,
    cases=cases,
    reference=by_parts,
    call=called,
    results=("y on each rank", "the bytes that the ranks send", "y where a rank has zeros for the parts of others"),
    hints=(
        "x @ A[:, own] gives some columns of the hidden layer, and these are complete. So what may be done with them at once?",
        "A product h @ B is a sum over the rows of B. Each rank has the terms of its own rows: who adds them up?",
        "rank, size = communicator.rank, communicator.size; part = A.shape[1] // size; own = slice(rank * part, (rank + 1) * "
        "part); return communicator.all_reduce(gelu(x @ A[:, own]) @ B[own]).",
    ),
    example='''def two_halves(x, W):
    """A product cut the other way: x into columns, W into rows. The two summands have the shape of the result."""
    half = len(W) // 2
    return x[:, :half] @ W[:half] + x[:, half:] @ W[half:]
''',
    wrong=[
        Wrong(Changed(("return communicator.all_reduce(h @ B[own])", "return h @ B[own]")),
              "Each rank returns its own summand of y, and nobody adds them up."),
        Wrong("""def column_then_row(communicator, x, A, B):
    part = x.shape[1] // communicator.size
    own = slice(communicator.rank * part, (communicator.rank + 1) * part)
    if communicator.rank == communicator.size - 1:
        own = slice(communicator.rank * part, None)
    h = gelu(x[:, own] @ A[own])
    return communicator.all_reduce(h @ B)
""", "You cut A into rows, so each rank holds a summand of every hidden number when GELU comes, and gelu(a) + gelu(b) is "
              "not gelu(a + b). Cut A into columns: then each rank has some hidden numbers whole."),
        Wrong("""def column_then_row(communicator, x, A, B):
    n = A.shape[1] // communicator.size
    own = slice(communicator.rank * n, (communicator.rank + 1) * n)
    return gelu(communicator.all_reduce((x @ A[:, own]) @ B[own]))
""", "GELU stands behind both products. It belongs between them, on the hidden layer: x @ A, then GELU, then @ B."),
        Wrong("""def column_then_row(communicator, x, A, B):
    n = A.shape[1] // communicator.size
    own = slice(communicator.rank * n, (communicator.rank + 1) * n)
    h = np.zeros((len(x), A.shape[1]))
    h[:, own] = gelu(x @ A[:, own])
    return communicator.all_reduce(h) @ B
""", "The result is right, but the ranks exchange the hidden layer, F numbers for each token, and then each multiplies by "
              "all of B. Multiply by your own rows first, and exchange y: C numbers for each token.",
              when=lambda seen: seen.got[1] > seen.expected[1] and np.allclose(seen.got[0], seen.expected[0]),
              once="right, with more bytes than y has"),
        Wrong(Changed(("communicator.all_reduce(h @ B[own])", "communicator.all_reduce(h @ B[own]) / communicator.size")),
              "The summands of y are added, and not averaged: each rank has other terms of the same sum."),
        Wrong("""def column_then_row(communicator, x, A, B):
    y = gelu(x @ A) @ B
    return communicator.all_reduce(y)
""", "Every rank computes everything, and the sum is y once for each rank. A rank may multiply by its own columns and rows "
              "only."),
        Wrong("""def column_then_row(communicator, x, A, B):
    return communicator.all_reduce(gelu(x @ A) @ B) / communicator.size
""", "Every rank computes all of y, and the mean of equal arrays is what each had before. A rank may multiply by its own "
              "columns and rows only."),
        Wrong(Changed(("communicator.all_reduce(h @ B[own])", "communicator.all_reduce(h) @ B[own]")),
              "The all-reduce adds up hidden numbers, which belong to different columns on each rank. Multiply by your own "
              "rows first: what can be added is y."),
        Wrong("""def column_then_row(communicator, x, A, B):
    n = A.shape[1] // communicator.size
    own = slice(communicator.rank * n, (communicator.rank + 1) * n)
    return gelu(communicator.all_reduce(x @ A[:, own])) @ B[own]
""", "The all-reduce stands before GELU and adds up hidden numbers, which belong to different columns on each rank. Your own "
              "are complete: GELU, then your own rows of B, and then the all-reduce."),
        Wrong(Changed(("B[own]", "B[:part]")),
              "Every rank multiplies by the first rows of B. The rows must have the numbers of the rank's columns."),
    ],
)  # fmt: skip
