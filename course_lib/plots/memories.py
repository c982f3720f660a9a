"""The memories of a GPU in one picture: the nearer to the arithmetic, the faster, and the less for one thread."""

from matplotlib.patches import Polygon

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREEN, GREY, INK, ORANGE, PALE, SKY, SMALL, TEXT, sheet, styled

# An H100 SXM: NVIDIA's data sheet (HBM); Hopper Tuning Guide (sizes of L2, shared memory, registers); 132 multiprocessors.
# Bandwidth: 128 bytes a clock and multiprocessor from shared memory, and three operands and a
# result of 4 bytes for each of 128 multiply-adds from registers, at 1.98 GHz. NVIDIA gives none for L2.
LEVELS = (
    ("registers", "256 kB in each multiprocessor, 34 MB in all", "536 TB/s: 160 times HBM", GREEN),
    ("shared memory (SRAM)", "up to 228 kB in each multiprocessor, 30 MB in all", "33.5 TB/s: 10 times HBM", SKY),
    ("L2 cache", "50 MB, for all multiprocessors", "NVIDIA does not say", ORANGE),
    ("global memory (HBM)", "80 GB", "3.35 TB/s", PALE),
)


@styled()
def memories() -> Picture:
    """Four levels as a pyramid, with what each holds and how many bytes a second it moves, for an H100."""
    made, axes = sheet(9.6, 3.9)
    high, middle = 0.78, 2.1
    for x, words in ((middle, "nearest to the arithmetic"), (4.2, "how large"), (7.5, "bytes each second")):
        axes.text(x, 3.62, words, fontsize=SMALL, va="center", ha="center" if x == middle else "left", color=GREY)
    for level, (name, holds, moves, colour) in enumerate(LEVELS):
        top, bottom = 0.9 + 0.25 * level, 0.9 + 0.25 * (level + 1)
        y = 3.4 - high * (level + 1)
        axes.add_patch(
            Polygon([(middle - top, y + high - 0.06), (middle + top, y + high - 0.06), (middle + bottom, y),
                     (middle - bottom, y)], facecolor=colour, edgecolor=INK, linewidth=0.8, alpha=0.85)
        )  # fmt: skip
        axes.text(middle, y + 0.36, name, fontsize=TEXT, va="center", ha="center", color=INK)
        axes.text(4.2, y + 0.36, holds.replace(", ", ",\n"), fontsize=SMALL, va="center", color=INK)
        axes.text(7.5, y + 0.36, moves.replace(": ", ":\n"), fontsize=SMALL, va="center", color=INK)
    axes.text(middle, 0.14, "farthest from it", fontsize=SMALL, va="center", ha="center", color=GREY)
    return picture(
        made,
        "The memories of an H100 as a pyramid. At the top the registers, 34 MB, 536 TB/s, 160 times the bandwidth of HBM; below "
        "shared memory, 30 MB, 33.5 TB/s, 10 times; then the L2 cache, 50 MB; at the bottom HBM, 80 GB at 3.35 TB/s. The nearer "
        "to the arithmetic, the faster, and the less for one thread.",
    )
