"""What each rank holds: the states of training under ZeRO, and the two matrices of an MLP that is split over ranks."""

from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import BLUE, GREY, INK, ORANGE, PALE, SKY, SMALL, TEXT, sheet, styled

STATES = (("weights", 2, SKY), ("gradients", 2, ORANGE), ("AdamW", 12, BLUE))  # bytes for each parameter
STAGES = ("plain", "stage 1: AdamW's arrays", "stage 2: gradients too", "stage 3: weights too")


@styled()
def zero_stages(ranks: int = 4) -> Picture:
    """One row for each stage of ZeRO, one column for each rank. An array is cut into `ranks` shards; those held are filled."""
    if not 2 <= ranks <= 6:
        raise ValueError(f"zero_stages() draws 2 to 6 ranks, not {ranks}.")
    wide, high = 6.4 / ranks, 0.92
    made, axes = sheet(10.1, 4 * high + 1.3)
    top, held = 4 * high + 0.5, []
    for rank in range(ranks):
        axes.text(2.35 + (rank + 0.5) * wide - 0.125, top + 0.2, f"rank {rank}", ha="center", fontsize=TEXT)
    axes.text(8.7, top + 0.2, "bytes a parameter", fontsize=SMALL, color=GREY)
    for stage, name in enumerate(STAGES):
        base = top - (stage + 1) * high
        axes.text(0.1, base + 0.38, name, va="center", fontsize=SMALL)
        for rank in range(ranks):
            for row, (_, _, colour) in enumerate(STATES):
                sharded = stage > 2 - row
                for shard in range(ranks):
                    own = not sharded or shard == rank
                    size = (wide - 0.25) / ranks
                    axes.add_patch(Rectangle((2.35 + rank * wide + shard * size, base + 0.52 - 0.24 * row), size, 0.19,
                                             facecolor=colour if own else "none", edgecolor=GREY, linewidth=0.6))  # fmt: skip
        held.append(sum(size / (ranks if stage > 2 - row else 1) for row, (_, size, _) in enumerate(STATES)))
        axes.text(8.85, base + 0.38, f"{held[-1]:g}", va="center", fontsize=TEXT)
    for number_, (name, size, colour) in enumerate(STATES):
        axes.add_patch(Rectangle((2.35 + 2.5 * number_, 0.12), 0.22, 0.17, facecolor=colour, edgecolor=GREY))
        axes.text(2.65 + 2.5 * number_, 0.2, f"{name}: {size} bytes", va="center", fontsize=SMALL)
    said = ", ".join(f"{name.partition(':')[0]} {size:g}" for name, size in zip(STAGES, held, strict=True))
    return picture(made, f"With {ranks} ranks each holds so many bytes for each parameter: {said}. What is sharded, a rank "
                         f"holds 1/{ranks} of; without limit of ranks stage 3 would hold next to nothing.")  # fmt: skip


@styled()
def split_mlp(ranks: int = 2) -> Picture:
    """An MLP with its first matrix cut into columns and its second into rows: what each rank computes, and where they meet."""
    if not 2 <= ranks <= 4:
        raise ValueError(f"split_mlp() draws 2 to 4 ranks, not {ranks}.")
    colours, high = (SKY, ORANGE, BLUE, PALE), 1.75
    made, axes = sheet(9.2, ranks * high + 0.2)

    def block(x: float, y: float, width: float, height: float, text: str, part: tuple | None, colour: str) -> None:
        """A matrix, of which `part` = (x, y, width, height), as fractions, is held and filled."""
        axes.add_patch(Rectangle((x, y), width, height, facecolor="none", edgecolor=GREY, linewidth=0.8))
        px, py, pw, ph = part or (0, 0, 1, 1)
        axes.add_patch(Rectangle((x + px * width, y + py * height), pw * width, ph * height, facecolor=colour, alpha=0.62,
                                 edgecolor=INK, linewidth=0.8))  # fmt: skip
        axes.text(x + width / 2, y - 0.13, text, ha="center", va="center", fontsize=SMALL)

    for rank in range(ranks):
        y, colour, part = (ranks - 1 - rank) * high + 0.4, colours[rank], 1 / ranks
        axes.text(0.1, y + 0.6, f"rank {rank}", va="center", fontsize=TEXT)
        block(1.0, y + 0.2, 0.4, 0.8, "x (T, C)", None, PALE)
        block(1.95, y + 0.4, 1.2, 0.4, "columns of A", (rank * part, 0, part, 1), colour)
        block(4.3, y + 0.2, 1.2, 0.8, "columns of h", (rank * part, 0, part, 1), colour)
        block(6.05, y, 0.4, 1.2, "rows of B", (0, 1 - (rank + 1) * part, 1, part), colour)
        block(7.05, y + 0.2, 0.4, 0.8, "a summand", None, colour)
        for x, sign in ((1.68, "@"), (3.72, "GELU →"), (5.78, "@"), (6.75, "=")):
            axes.text(x, y + 0.6, sign, ha="center", va="center", fontsize=TEXT)
    middle = 1.0 + (ranks - 1) * high / 2
    for rank in range(ranks):
        axes.annotate("", (8.02, middle), (7.55, rank * high + 1.0), arrowprops={"arrowstyle": "-|>", "color": INK})
    axes.text(8.07, middle, "all-reduce:\ny (T, C)", va="center", fontsize=TEXT)
    return picture(made, f"An MLP on {ranks} ranks: each multiplies the whole x by {number(100 / ranks, 0)} % of A's columns, "
                         "applies GELU to its own columns of h, and multiplies them by the same rows of B. The results are "
                         f"{ranks} summands of y: one all-reduce, at the end, adds them up.")  # fmt: skip
