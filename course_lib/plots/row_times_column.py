"""One number of a matrix product: a row of A lies on the left, a column of B above, and they meet in C."""

import numpy as np
from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREY, INK, ORANGE, PALE, PAPER, SKY, sheet, styled

MOST = 6  # rows, columns or terms whose numbers can still be read
CELL, GAP, EDGE = 0.56, 0.5, 0.3  # inches


@styled()
def row_times_column(a, b, i: int, j: int) -> Picture:
    """How C[i, j] of C = A B comes about. a, b: (N, K) and (K, M), arrays or anything with `tolist()`.

    Raises ValueError for matrices that do not fit, or are too large to be read.
    """
    A, B = (np.array(matrix.tolist() if hasattr(matrix, "tolist") else matrix, dtype=float) for matrix in (a, b))
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0] or max(*A.shape, *B.shape) > MOST:
        raise ValueError(
            f"row_times_column() needs matrices (N, K) and (K, M), no side above {MOST}; got {A.shape} and {B.shape}."
        )
    (n, k), m = A.shape, B.shape[1]
    if not (0 <= i < n and 0 <= j < m):
        raise ValueError(f"C has {n} rows and {m} columns, so there is no C[{i}, {j}]: both count from 0.")
    C = A @ B
    terms = " + ".join(f"{x:g} · {y:g}" for x, y in zip(A[i], B[:, j], strict=True))
    c_x, b_y = EDGE + k * CELL + GAP, EDGE + 0.45 + n * CELL + GAP  # left end of C, lower end of B
    width = max(c_x + m * CELL + EDGE, EDGE + 0.11 * len(f"C[{i}, {j}] = {terms} = {C[i, j]:g}") + EDGE)
    made, axes = sheet(width, b_y + k * CELL + EDGE)
    _grid(axes, A, EDGE, EDGE + 0.45, lambda row, _: SKY if row == i else PAPER)
    _grid(axes, B, c_x, b_y, lambda _, column: SKY if column == j else PAPER)
    _grid(axes, C, c_x, EDGE + 0.45, lambda *at: ORANGE if at == (i, j) else PALE)
    top = EDGE + 0.45 + n * CELL  # of A and C
    for x, y, name in ((EDGE, top, "A"), (c_x, b_y + k * CELL, "B"), (c_x, top, "C")):
        axes.text(x, y + 0.08, name, weight="bold")
    axes.text(EDGE, EDGE, f"C[{i}, {j}] = {terms} = {C[i, j]:g}", color=INK)
    return picture(
        made, f"Row {i} of A and column {j} of B meet in C at row {i}, column {j}: {terms} = {C[i, j]:g}. C has a row for each "
              f"of the {n} rows of A and a column for each of the {m} columns of B."
    )  # fmt: skip


def _grid(axes, numbers: np.ndarray, left: float, low: float, colour) -> None:
    for (row, column), number in np.ndenumerate(numbers):
        x, y = left + column * CELL, low + (len(numbers) - 1 - row) * CELL
        axes.add_patch(Rectangle((x, y), CELL, CELL, facecolor=colour(row, column), edgecolor=GREY, linewidth=0.8,
                                 alpha=0.7))  # fmt: skip
        axes.text(x + CELL / 2, y + CELL / 2, f"{number:g}", ha="center", va="center")
