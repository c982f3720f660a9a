"""The loop of flash attention: what stays, what streams past, and in which memory. (After Dao et al. 2022, figure 1)"""

from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, sheet, styled

TILES = 4
LEFT, MIDDLE, RIGHT = 0.3, 3.75, 7.0  # of the three memories, in inches
TOP, BOTTOM = 3.75, 0.35


@styled()
def flash_loop(queries: int = 2, keys: int = 1) -> Picture:
    """Block `queries` of four, at its tile `keys` of keys: both from 0 to 3. Raises ValueError for others."""
    if not (0 <= queries < TILES and 0 <= keys < TILES):
        raise ValueError(f"flash_loop() draws {TILES} tiles, 0 to {TILES - 1}; it got {queries} and {keys}.")
    made, axes = sheet(9.6, 4.25)
    for x, wide, name in ((LEFT, 2.75, "HBM (global memory)"), (MIDDLE, 2.6, "SRAM (shared memory of a block)"),
                          (RIGHT, 2.3, "registers of the threads")):  # fmt: skip
        axes.add_patch(Rectangle((x, BOTTOM), wide, TOP - BOTTOM, facecolor="none", edgecolor=GREY, linewidth=1))
        axes.text(x + 0.05, TOP + 0.2, name, fontsize=TEXT, va="center")
    high = 0.62
    for column, (letter, chosen, colour) in enumerate((("Q", queries, SKY), ("K", keys, ORANGE), ("V", keys, GREEN))):
        x = LEFT + 0.15 + 0.66 * column
        for tile in range(TILES):
            _tile(axes, x, 2.65 - 0.72 * tile, 0.52, high, colour if tile == chosen else PALE)
        axes.text(x + 0.26, 3.45, letter, ha="center", fontsize=TEXT)
    x = LEFT + 0.15 + 0.66 * 3
    for tile in range(TILES):
        _tile(axes, x, 2.65 - 0.72 * tile, 0.52, high, PALE if tile < queries else PAPER)
    axes.text(x + 0.26, 3.45, "O", ha="center", fontsize=TEXT)
    _tile(axes, MIDDLE + 0.2, 2.65, 0.9, high, SKY, "Q tile\nstays")
    _tile(axes, MIDDLE + 0.2, 1.6, 0.9, high, ORANGE, "K tile")
    _tile(axes, MIDDLE + 0.2, 0.7, 0.9, high, GREEN, "V tile")
    _tile(axes, MIDDLE + 1.5, 1.15, 0.9, high, PALE, "P")
    _tile(axes, RIGHT + 0.2, 2.65, 1.0, high, PALE, "S = Q Kᵀ")
    _tile(axes, RIGHT + 0.2, 1.75, 1.0, high, PALE, "m, l")
    _tile(axes, RIGHT + 0.2, 0.7, 1.0, high, PALE, "O, unfinished")
    # From the edge of HBM on: arrows across the tiles would hide them.
    for y, colour in ((2.96, SKY), (1.91, ORANGE), (1.01, GREEN)):
        _arrow(axes, (LEFT + 2.77, y), (MIDDLE + 0.2, y), colour, 2.6)
    _arrow(axes, (MIDDLE + 1.1, 2.96), (RIGHT + 0.2, 2.96))
    _arrow(axes, (MIDDLE + 1.1, 1.95), (RIGHT + 0.2, 2.8))
    _arrow(axes, (RIGHT + 0.2, 2.7), (MIDDLE + 2.4, 1.6))
    _arrow(axes, (MIDDLE + 2.4, 1.4), (RIGHT + 0.2, 1.05))
    _arrow(axes, (MIDDLE + 1.1, 0.95), (RIGHT + 0.2, 0.9))
    axes.text(
        RIGHT + 0.2, 0.5, "written to HBM once,\nas O / l, after the loop", fontsize=SMALL, va="center", color=INK
    )
    axes.text(LEFT + 0.1, 0.12, f"block {queries} at tile {keys} of {TILES}: Q was read once; K and V stream past, tile by tile",
              fontsize=SMALL, va="center", color=INK)  # fmt: skip
    return picture(
        made,
        f"Three memories side by side. HBM holds Q, K, V and O in {TILES} tiles each. Block {queries} keeps its tile of Q in "
        f"SRAM for the whole loop, while the tiles of K and V come in one after the other, now tile {keys}. The scores S, the "
        "running maximum m, the running sum l and the unfinished output O stay in registers; the weights P pass through SRAM. "
        "Only the finished output goes back to HBM: no score ever does.",
    )


def _tile(axes, x: float, y: float, wide: float, high: float, colour: str, words: str = "") -> None:
    axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, edgecolor=GREY, linewidth=0.8))
    axes.text(x + wide / 2, y + high / 2, words, ha="center", va="center", fontsize=SMALL)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], colour: str = BLUE, wide: float = 1.3) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=13, color=colour, linewidth=wide))
