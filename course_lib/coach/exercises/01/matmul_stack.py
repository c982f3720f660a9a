"""Products of a stack of matrices, read through strides: a transpose or a shared matrix costs no copy."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


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


def first_only(a, a_strides, b, b_strides, sizes):
    return product(a, (0, *a_strides[1:]), b, (0, *b_strides[1:]), sizes)


def in_order(a, a_strides, b, b_strides, sizes):
    _, N, K, M = sizes
    return product(a, (N * K, K, 1), b, (K * M, M, 1), sizes)


def last_term(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    return [a[s * a_strides[0] + i * a_strides[1] + (K - 1) * a_strides[2]]
            * b[s * b_strides[0] + (K - 1) * b_strides[1] + j * b_strides[2]] if K else 0.0
            for s in range(B) for i in range(N) for j in range(M)]  # fmt: skip


def variant(turned=False, by_columns=False):
    def product(a, a_strides, b, b_strides, sizes):
        B, N, K, M = sizes
        p, q, r = b_strides if not turned else (b_strides[0], b_strides[2], b_strides[1])
        places = (
            [(i, j) for j in range(M) for i in range(N)] if by_columns else [(i, j) for i in range(N) for j in range(M)]
        )
        x, y, z = a_strides
        return [
            sum(a[s * x + i * y + k * z] * b[s * p + k * q + j * r] for k in range(K))
            for s in range(B)
            for i, j in places
        ]

    return product


exercise = Exercise(
    title="A stack of products, from strides",
    minutes=15,
    core=False,
    defines="matmul_stack",
    cases=cases,
    reference=product,
    mistakes=[
        Mistake("Only the first matrices of the two stacks are read. The first stride leads from one matrix to the next.",
                like=first_only),
        Mistake("You read both stacks as if they were contiguous. What is given may be transposed or shared: use its strides.",
                like=in_order),
        Mistake("Each element keeps only its last product. It must be the sum over all k.", like=last_term),
        Mistake("The strides of b lead to its next row and its next column: row k, column j. You have them the other way round.",
                like=variant(turned=True)),
        Mistake("The products of each matrix stand column by column. Row-major: the column j runs fastest.",
                like=variant(by_columns=True)),
        Mistake("These are lists in lists. One flat list is asked for, in row-major order.",
                when=lambda seen: len(np.shape(seen.got)) == 3),
    ],
    hints=(
        "Four loops: over the stack, the rows of a, the columns of b, and k inside. Where does a[s, i, k] lie?",
        "a[s, i, k] lies at s * a_strides[0] + i * a_strides[1] + k * a_strides[2]. b[s, k, j] likewise: k is its row.",
        "Begin a list; for s, for i, for j: total = 0.0; for k: total += a[...] * b[...]; append total. The list is in order.",
    ),
    sibling='''def row_sums(x, strides, sizes):
    """Sums of the rows of a stack, read through strides as well: (B, N, K) -> (B, N), as a flat list."""
    B, N, K = sizes
    sums = []
    for s in range(B):
        for i in range(N):
            sums.append(sum(x[s * strides[0] + i * strides[1] + k * strides[2]] for k in range(K)))
    return sums
''',
    right=[
        """def matmul_stack(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    out = [0.0] * (B * N * M)
    for s in range(B):
        for k in range(K):
            for i in range(N):
                x = a[s * a_strides[0] + i * a_strides[1] + k * a_strides[2]]
                for j in range(M):
                    out[(s * N + i) * M + j] += x * b[s * b_strides[0] + k * b_strides[1] + j * b_strides[2]]
    return out
""",
        """import numpy as np

def matmul_stack(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    def view(x, shape, strides):
        x = np.array(x, dtype=float)
        return np.lib.stride_tricks.as_strided(x, shape, [8 * stride for stride in strides])
    return (view(a, (B, N, K), a_strides) @ view(b, (B, K, M), b_strides)).ravel()
""",
    ],
    wrong=[
        Wrong(Changed(("s * a_strides[0] + ", ""), ("s * b_strides[0] + ", "")), "Only the first matrices"),
        Wrong("""def matmul_stack(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    out = []
    for s in range(B):
        for i in range(N):
            for j in range(M):
                out.append(sum(a[s * N * K + i * K + k] * b[s * K * M + k * M + j] for k in range(K)))
    return out
""", "as if they were contiguous"),
        Wrong("""def matmul_stack(a, a_strides, b, b_strides, sizes):
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
""", "These are lists in lists"),
        Wrong(Changed(("total += ", "total = ")), "only its last product"),
        Wrong("""def matmul_stack(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    return [sum(a[s*a_strides[0]+i*a_strides[1]+k*a_strides[2]]
                * b[s*b_strides[0]+j*b_strides[1]+k*b_strides[2]] for k in range(K))
            for s in range(B) for i in range(N) for j in range(M)]
""", "row k, column j"),
        Wrong("""def matmul_stack(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    return [sum(a[s*a_strides[0]+i*a_strides[1]+k*a_strides[2]]
                * b[s*b_strides[0]+k*b_strides[1]+j*b_strides[2]] for k in range(K))
            for s in range(B) for j in range(M) for i in range(N)]
""", "stand column by column"),
    ],
)  # fmt: skip
