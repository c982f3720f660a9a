"""The work of a masked attention kernel: which tiles of the score matrix are computed whole, in part, or not at all."""

from matplotlib.patches import Polygon, Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREY, INK, ORANGE, PAPER, SKY, SMALL, TEXT, sheet, styled

MOST = 12  # tiles along a side


@styled()
def attention_tiles(T: int, queries: int, keys: int, owner: str = "queries") -> Picture:
    """T queries and T keys under a causal mask, in tiles; a block owns some of one side, and passes tiles of the other.

    queries, keys: how many of each belong to a tile. owner: "queries" in the forward and for dq, "keys" for dk and dv.
    Raises ValueError for more than 12 tiles along a side.
    """
    rows, columns = -(-T // queries), -(-T // keys)
    if max(rows, columns) > MOST:
        raise ValueError(
            f"attention_tiles() draws at most {MOST} tiles along a side; this score matrix has {rows} x {columns}."
        )
    made, axes = sheet(7.4, 4.35)
    side, left, top = 3.4, 0.95, 3.8
    high, wide = side * queries / T, side * keys / T
    bottom, right = top - side, left + side
    row, column = ("block", "tile") if owner == "queries" else ("tile", "block")
    count = {"whole": 0, "in part": 0, "skipped": 0}
    for i in range(rows):
        for j in range(columns):
            first, last = i * queries, min((i + 1) * queries, T) - 1  # of the block's queries
            begin, end = j * keys, min((j + 1) * keys, T) - 1  # of the tile's keys
            kind = "skipped" if begin > last else "whole" if end <= first else "in part"
            count[kind] += 1
            x, y = left + j * wide, max(top - (i + 1) * high, bottom)
            axes.add_patch(
                Rectangle((x, y), min(wide, right - x), top - i * high - y, edgecolor=GREY, linewidth=0.8,
                          facecolor={"whole": SKY, "in part": ORANGE, "skipped": PAPER}[kind])
            )  # fmt: skip
        axes.text(left - 0.1, top - (i + 0.5) * high, f"{row} {i}", ha="right", va="center", fontsize=SMALL)
    for j in range(columns):
        axes.text(left + (j + 0.5) * wide, top + 0.12, f"{column} {j}", ha="center", va="center", fontsize=SMALL)
    axes.add_patch(Polygon([(left, top), (right, bottom)], closed=False, edgecolor=INK, linewidth=1.6, linestyle="--"))
    words = {"whole": (SKY, "each query attends to each key"), "in part": (ORANGE, "the mask cuts through"),
             "skipped": (PAPER, "all of it masked: skipped")}  # fmt: skip
    for index, (kind, (colour, said)) in enumerate(words.items()):
        y = 3.3 - 0.55 * index
        axes.add_patch(Rectangle((4.6, y - 0.11), 0.22, 0.22, facecolor=colour, edgecolor=GREY, linewidth=0.8))
        axes.text(4.92, y, f"{count[kind]}: {said}", va="center", fontsize=SMALL)
    axes.text(left, bottom - 0.25, "rows: queries, columns: keys; dashed: the mask", va="center", fontsize=SMALL)
    axes.text(left, top + 0.38, f"{T} queries and {T} keys, in tiles", va="center", fontsize=TEXT)
    whose = "" if owner == "queries" else ", and blocks that own keys"
    done = count["whole"] + count["in part"]
    return picture(
        made,
        f"A causal mask over {T} queries and {T} keys, in tiles of {queries} queries by {keys} keys{whose}: {done} of "
        f"{rows * columns} tiles have to be computed, {count['whole']} of them whole and {count['in part']} cut by the mask; "
        f"{count['skipped']} are skipped.",
    )
