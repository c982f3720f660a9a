"""The memories of a GPU in one picture: the nearer to the arithmetic, the faster, and the less for one thread."""

from matplotlib.patches import Polygon

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, SKY, SMALL, TEXT, sheet, styled

# An H100 SXM: NVIDIA's data sheet (HBM); Hopper Tuning Guide (sizes of L2, shared memory, registers); 132 multiprocessors.
# Bandwidth as a multiple of HBM's 3.35 TB/s: 128 bytes a clock and multiprocessor from shared memory, and three operands and a
# result of 4 bytes for each of 128 multiply-adds from registers, at 1.98 GHz. NVIDIA gives none for L2.
LEVELS = (
    ("registers", "34 MB in all: 256 kB in each multiprocessor", "160 x", GREEN),
    ("shared memory (SRAM)", "30 MB in all: up to 228 kB in each multiprocessor", "10 x", SKY),
    ("L2 cache", "50 MB, for all multiprocessors", "not published", ORANGE),
    ("HBM, global memory", "80 GB", "3.35 TB/s", PALE),
)


@styled()
def memories() -> Picture:
    """Four levels as a pyramid, with what each holds and how many bytes a second it moves, for an H100."""
    made, axes = sheet(8.8, 3.6)
    high, middle = 0.78, 2.35
    for level, (name, holds, moves, colour) in enumerate(LEVELS):
        top, bottom = 0.35 + 0.4 * level, 0.35 + 0.4 * (level + 1)
        y = 3.35 - high * (level + 1)
        axes.add_patch(
            Polygon([(middle - top, y + high - 0.06), (middle + top, y + high - 0.06), (middle + bottom, y),
                     (middle - bottom, y)], facecolor=colour, edgecolor=INK, linewidth=0.8, alpha=0.85)
        )  # fmt: skip
        axes.text(4.75, y + 0.5, name, fontsize=TEXT, va="center")
        axes.text(4.75, y + 0.22, holds, fontsize=SMALL, va="center", color=GREY)
        axes.text(middle, y + 0.34, moves, fontsize=SMALL, va="center", ha="center", color=INK)
    axes.annotate("", (0.2, 0.4), (0.2, 3.1), arrowprops={"arrowstyle": "<|-|>", "color": BLUE})
    axes.text(0.12, 3.3, "fast, small", fontsize=SMALL, va="center", color=BLUE)
    axes.text(0.12, 0.12, "slow, large; the number is the bandwidth", fontsize=SMALL, va="center", color=BLUE)
    return picture(
        made,
        "The memories of an H100 as a pyramid. At the top the registers, 34 MB, 160 times the bandwidth of HBM; below shared "
        "memory, 30 MB, 10 times; then the L2 cache, 50 MB; at the bottom HBM, 80 GB at 3.35 TB/s. The nearer to the "
        "arithmetic, the faster, and the less for one thread.",
    )
