"""One element of a matrix product: a row times a column, summed."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two 2 x 2 matrices", [[1, 2], [3, 4]], [[5, 6], [7, 8]], 0, 1)
    yield Case("another row", [[1, 2], [3, 4]], [[5, 6], [7, 8]], 1, 0)
    for label, (n, k, m), i, j in (("(1, 3) times (3, 1)", (1, 3, 1), 0, 0), ("(4, 2) times (2, 3)", (4, 2, 3), 3, 2),
                                   ("(2, 1) times (1, 3)", (2, 1, 3), 1, 2)):  # fmt: skip
        yield Case(label, random.integers(-9, 10, (n, k)).tolist(), random.integers(-9, 10, (k, m)).tolist(), i, j)


exercise = Exercise(
    title="A row times a column",
    minutes=3,
    core=False,
    defines="product_element",
    cases=cases,
    reference=lambda a, b, i, j: sum(x * row[j] for x, row in zip(a[i], b, strict=True)),
    hints=("Along row i of a the second index changes, a[i][k]. Along column j of b the first one does, b[k][j].",),
    wrong=[
        Wrong("def product_element(a, b, i, j):\n    return sum(x * y for x, y in zip(a[i], b[j]))\n",
              "This is row i of a times row j of b. Column j of b is b[0][j], b[1][j], and so on."),
        Wrong("def product_element(a, b, i, j):\n    return sum(a[i]) * sum(row[j] for row in b)\n",
              "The row and the column are summed before they are multiplied. Multiply pair by pair, then sum."),
        Wrong(Changed(("b[k][j]", "b[j][k]")), "b[j][k] is in row j of b. Its column j is b[0][j], b[1][j], and so on."),
        Wrong(Changed(("a[i][k] * b[k][j]", "a[j][k] * b[k][i]")), "i and j are exchanged: row i of a, column j of b."),
        Wrong(Changed(("range(len(b))", "range(len(a))")),
              "There are as many products as a row of a has numbers, or a column of b: len(b). Yours is another number."),
        Wrong(Changed(("sum(a[i][k] * b[k][j] for k in range(len(b)))", "a[i][j] * b[i][j]")),
              "This multiplies two single elements. Sum the products along the whole row and column."),
    ],
)  # fmt: skip
