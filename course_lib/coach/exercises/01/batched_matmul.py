"""Products of a stack of matrices, read through strides: a transpose or a shared matrix costs no copy."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def numbers(count):
        return random.integers(-4, 5, count).astype(float).tolist()

    return [
        Case("one product of two numbers", [3.0], (1, 1, 1), [5.0], (1, 1, 1), (1, 1, 1, 1)),
        Case("one 2 x 2 product", [1.0, 2.0, 3.0, 4.0], (4, 2, 1), [5.0, 6.0, 7.0, 8.0], (4, 2, 1), (1, 2, 2, 2)),
        Case("(2, 3) times (3, 4)", numbers(6), (6, 3, 1), numbers(12), (12, 4, 1), (1, 2, 3, 4)),
        Case("(3, 1) times (1, 2)", numbers(3), (3, 1, 1), numbers(2), (2, 2, 1), (1, 3, 1, 2)),
        Case("the second one transposed", numbers(6), (6, 3, 1), numbers(12), (12, 1, 3), (1, 2, 3, 4)),
        Case("the first one transposed", numbers(6), (6, 1, 2), numbers(12), (12, 4, 1), (1, 2, 3, 4)),
        Case("two products", numbers(12), (6, 3, 1), numbers(12), (6, 2, 1), (2, 2, 3, 2)),
        Case(
            "three products that share the second matrix", numbers(18), (6, 3, 1), numbers(6), (0, 2, 1), (3, 2, 3, 2)
        ),
        Case("nothing to add up", [], (0, 0, 1), [], (0, 2, 1), (1, 2, 0, 2)),
    ]


def product(a, a_strides, b, b_strides, sizes):
    """The product by its definition."""
    B, N, K, M = sizes

    def at(x, strides, *index):
        return x[sum(i * stride for i, stride in zip(index, strides, strict=True))]

    return np.array([sum(at(a, a_strides, s, i, k) * at(b, b_strides, s, k, j) for k in range(K))
                     for s in range(B) for i in range(N) for j in range(M)], float)  # fmt: skip


exercise = Exercise(
    title="A stack of products",
    minutes=15,
    core=False,
    defines="batched_matmul",
    cases=cases,
    reference=product,
    hints=(
        "Four loops: over the stack, the rows of a, the columns of b, and k inside. Where does a[s, i, k] lie?",
        "a[s, i, k] lies at s * a_strides[0] + i * a_strides[1] + k * a_strides[2]. b[s, k, j] likewise: k is its row.",
        "Begin a list; for s, for i, for j: total = 0.0; for k: total += a[...] * b[...]; append total. The list is in order.",
    ),
    example='''def row_sums(x, strides, sizes):
    """Sums of the rows of a stack, read through strides as well: (B, N, K) -> (B, N), as a flat list."""
    B, N, K = sizes
    sums = []
    for s in range(B):
        for i in range(N):
            sums.append(sum(x[s * strides[0] + i * strides[1] + k * strides[2]] for k in range(K)))
    return sums
''',
    wrong=[
        Wrong(Changed(("s * a_strides[0] + ", ""), ("s * b_strides[0] + ", "")),
              "Only the first matrices of the two stacks are read. The first stride leads from one matrix to the next."),
        Wrong("""def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    out = []
    for s in range(B):
        for i in range(N):
            for j in range(M):
                out.append(sum(a[s * N * K + i * K + k] * b[s * K * M + k * M + j] for k in range(K)))
    return out
""", "You read both stacks as if they were contiguous. What is given may be transposed or shared: use its strides."),
        Wrong(Changed(("total += ", "total = ")), "Each element keeps only its last product. It must be the sum over all k."),
        Wrong("""def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    return [sum(a[s*a_strides[0]+i*a_strides[1]+k*a_strides[2]]
                * b[s*b_strides[0]+j*b_strides[1]+k*b_strides[2]] for k in range(K))
            for s in range(B) for i in range(N) for j in range(M)]
""", "The strides of b lead to its next row and its next column: row k, column j. You have them the other way round."),
        Wrong("""def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    return [sum(a[s*a_strides[0]+i*a_strides[1]+k*a_strides[2]]
                * b[s*b_strides[0]+k*b_strides[1]+j*b_strides[2]] for k in range(K))
            for s in range(B) for j in range(M) for i in range(N)]
""", "Your results stand column after column. In row-major order the column j changes fastest."),
        Wrong("""def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    out = []
    for s in range(B):
        matrix = []
        for i in range(N):
            matrix.append([sum(a[s * a_strides[0] + i * a_strides[1] + k * a_strides[2]]
                               * b[s * b_strides[0] + k * b_strides[1] + j * b_strides[2]] for k in range(K))
                           for j in range(M)])
        out.append(matrix)
    return out
""", "These are nested lists. The task asks for one flat list, in row-major order.",
              when=lambda seen: len(np.shape(seen.got)) == 3),
    ],
)  # fmt: skip
