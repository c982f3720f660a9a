"""A matrix product as three sheets: A on the left, B above, C in the corner where rows of A and columns of B meet."""

from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, sheet, styled

MOST = 32  # rows, columns or terms that can still be told apart
STRIP, NOW, RESULT = "#CFE8F7", SKY, ORANGE


@styled()
def product(
    M: int,
    N: int,
    K: int,
    rows: range,
    columns: range,
    inner: range,
    title: str = "",
    parts: tuple[int, int] | None = None,
) -> Picture:
    """What C[rows, columns] (orange) is made of: the rows of A and columns of B (pale), those of `inner` now (blue).

    C (M, N) = A (M, K) B (K, N). parts: (TM, TN) draws the borders of parts of that size inside the orange ones.
    Raises ValueError for matrices too large to be drawn.
    """
    if max(M, N, K) > MOST:
        raise ValueError(f"product() draws at most {MOST} rows, columns and terms; this product is {M} x {N} x {K}.")
    cell = min(0.3, 4.2 / max(M + K, 0.55 * (N + K)))
    gap, edge = 0.35, 0.45
    width, height = 2 * edge + (K + N) * cell + gap, 2 * edge + (K + M) * cell + gap
    made, axes = sheet(max(width, 5.6), height + (0.55 if title else 0.2))
    a_x, c_x, c_y = edge, edge + K * cell + gap, 0.55  # left ends of A and C, lower end of both
    b_y = c_y + M * cell + gap

    def grid(left, low, count, across, colour):
        for i in range(count):
            for j in range(across):
                axes.add_patch(Rectangle((left + j * cell, low + (count - 1 - i) * cell), cell, cell, facecolor=colour(i, j),
                                         edgecolor=GREY, linewidth=0.35))  # fmt: skip

    grid(a_x, c_y, M, K, lambda i, k: (NOW if k in inner else STRIP) if i in rows else PAPER)
    grid(c_x, b_y, K, N, lambda k, j: (NOW if k in inner else STRIP) if j in columns else PAPER)
    grid(c_x, c_y, M, N, lambda i, j: RESULT if i in rows and j in columns else PALE)
    if parts:
        for i in rows[:: parts[0]]:
            for j in columns[:: parts[1]]:
                axes.add_patch(Rectangle((c_x + j * cell, c_y + (M - i - parts[0]) * cell), parts[1] * cell, parts[0] * cell,
                                         fill=False, edgecolor=INK, linewidth=1.6))  # fmt: skip
    names = ((a_x, c_y - 0.12, f"A: {M} rows of {K}"), (c_x, c_y - 0.12, f"C: {M} rows of {N}"))
    for x, y, words in names:
        axes.text(x, y, words, va="top", fontsize=SMALL)
    axes.text(c_x - 0.1, b_y + K * cell / 2, f"B: {K} rows of {N}", ha="right", va="center", fontsize=SMALL)
    axes.text(a_x, height + 0.45, title, va="top", fontsize=TEXT, color=INK)
    later = "     pale blue: before or after" if len(inner) < K else ""
    axes.text(a_x, 0.1, f"orange: results     blue: read now{later}", fontsize=SMALL, color=GREY)
    return picture(made, _alt(M, N, K, rows, columns, inner, parts))


def _alt(M: int, N: int, K: int, rows: range, columns: range, inner: range, parts) -> str:
    results, terms = len(rows) * len(columns), len(inner)
    read = terms * (len(rows) + len(columns))
    said = (
        f"A product of {M} x {K} and {K} x {N}. The {results} {'result' if results == 1 else 'results'} in rows {_span(rows)}, "
        f"columns {_span(columns)} of C need rows {_span(rows)} of A and columns {_span(columns)} of B. For the "
        f"{'term' if terms == 1 else 'terms'} {_span(inner)} that is {read} numbers read for {results * terms} multiplications: "
        f"{read / (results * terms):.3g} for each."
    )
    return said + (f" Parts of {parts[0]} x {parts[1]} results are outlined." if parts else "")


def _span(numbers: range) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
