"""Which lane of a warp, or which thread of a block, holds which element of a small matrix."""

from collections.abc import Callable

from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, sheet, styled

CELL = 0.3  # inches
COLOURS = (ORANGE, SKY)  # of the lanes that are pointed out, in turn


@styled()
def lane_map(
    rows: int, columns: int, lane: Callable[[int, int], int], shown: tuple[int, ...] = (0, 5), title: str = "",
    holder: str = "lane"
) -> Picture:  # fmt: skip
    """A table of rows x columns; in each cell the number of its lane, lane(row, column). shown: one or two lanes in colour.

    holder: what the numbers count, "lane" or "thread".
    """
    width, height = max(columns * CELL + 0.9, 5.4), rows * CELL + 1.0
    made, axes = sheet(width, height)
    axes.text(0.2, height - 0.1, title, va="top", fontsize=TEXT)
    held: dict[int, list[tuple[int, int]]] = {}
    for i in range(rows):
        for j in range(columns):
            who = lane(i, j)
            held.setdefault(who, []).append((i, j))
            x, y = 0.6 + j * CELL, height - 0.8 - (i + 1) * CELL
            colour = COLOURS[shown.index(who) % 2] if who in shown else (PALE if who // 4 % 2 else PAPER)
            axes.add_patch(Rectangle((x, y), CELL, CELL, facecolor=colour, edgecolor=GREY, linewidth=0.5))
            axes.text(x + CELL / 2, y + CELL / 2, str(who), ha="center", va="center", fontsize=SMALL - 1)
            if j == 0:
                axes.text(0.5, y + CELL / 2, str(i), ha="right", va="center", fontsize=SMALL - 1, color=GREY)
            if i == 0:
                axes.text(x + CELL / 2, y + CELL + 0.06, str(j), ha="center", fontsize=SMALL - 1, color=GREY)
    axes.text(0.6, 0.06, f"in each cell: the {holder} that holds it", fontsize=SMALL, color=INK)
    each = {len(elements) for elements in held.values()}
    words = "; ".join(
        f"{holder} {who} holds the elements (row, column) {', '.join(map(str, held[who]))}" for who in shown
    )
    return picture(
        made,
        f"{rows} x {columns} elements dealt to {len(held)} {holder}s, {' or '.join(map(str, sorted(each)))} for each: {words}.",
    )
