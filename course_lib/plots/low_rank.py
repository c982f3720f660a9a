"""A frozen matrix beside its change of low rank, drawn to scale: W (outputs, inputs), B (outputs, rank), A (rank, inputs)."""

from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, INK, ORANGE, PALE, SMALL, TEXT, sheet, styled

SIDE, THIN = 2.3, 0.045  # inches: the longest side of W, a side at least


@styled()
def low_rank(outputs: int, inputs: int, rank: int) -> Picture:
    """How many numbers are frozen and how many are trained. Raises ValueError for a rank below 1."""
    if min(outputs, inputs, rank) < 1:
        raise ValueError(f"low_rank() draws sides from 1 on; got {outputs} x {inputs} at rank {rank}.")
    scale = SIDE / max(outputs, inputs)
    high, wide, thin = outputs * scale, inputs * scale, max(rank * scale, THIN)
    widths = [0.9, wide, 1.9, thin, 0.5, wide, 1.0]  # of margins, matrices and what stands between them
    made, axes = sheet(max(sum(widths), 5.6), high + 1.3)
    top, middle = high + 0.85, 0.85 + high / 2
    lefts = [sum(widths[:place]) for place in range(len(widths))]
    _matrix(axes, lefts[1], top, wide, high, PALE, f"W  {outputs:,} x {inputs:,}", f"{outputs * inputs:,}, frozen")
    axes.text(lefts[2] + 0.95, middle, "+  scale / rank  ·", fontsize=TEXT + 1, va="center", ha="center")
    _matrix(axes, lefts[3], top, thin, high, ORANGE, f"B  {outputs:,} x {rank:,}", f"{outputs * rank:,}")
    _matrix(axes, lefts[5], middle + thin / 2, wide, thin, BLUE, f"A  {rank:,} x {inputs:,}", f"{rank * inputs:,}")
    trained = rank * (outputs + inputs)
    axes.text(lefts[3] + thin / 2 - 0.3, 0.25, f"trained: {trained:,} numbers", fontsize=TEXT, va="center", color=INK)
    return picture(
        made,
        f"A frozen matrix of {outputs:,} x {inputs:,} and its change of rank {rank}, to scale: {trained:,} numbers are trained, "
        f"{trained / (outputs * inputs):.1%} of the {outputs * inputs:,} that stay as they are.",
    )


def _matrix(axes, x: float, top: float, wide: float, high: float, colour: str, name: str, count: str) -> None:
    axes.add_patch(Rectangle((x, top - high), wide, high, facecolor=colour, edgecolor=GREY, linewidth=0.9))
    axes.text(x + wide / 2, top + 0.2, name, ha="center", va="center", fontsize=SMALL)
    axes.text(x + wide / 2, top - high - 0.18, count, ha="center", va="center", fontsize=SMALL, color=GREY)
