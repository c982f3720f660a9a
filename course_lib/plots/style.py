"""How every picture looks: colours that the colour-blind can tell apart, on a paper of its own, in letters large enough.

The colours are those of Okabe and Ito (2008), "Color universal design", without the yellow, which is too pale for lines.
The paper is white in every theme: a picture with a see-through ground would lose its black letters in a dark one.
"""

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILLION, SKY, PURPLE = "#D55E00", "#56B4E9", "#CC79A7"
CYCLE = (BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE)  # in this order for lines of one plot
INK, GREY, PALE, PAPER = "#1A1A1A", "#6B6B6B", "#EDEDED", "#FFFFFF"

TEXT, SMALL = 11, 9.5  # points, where a picture is 100 pixels an inch; nothing is smaller than SMALL

RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so pictures are the same everywhere
    "font.size": TEXT, "axes.titlesize": TEXT + 1, "axes.labelsize": TEXT, "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL, "legend.fontsize": SMALL, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": GREY,
    "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlelocation": "left", "figure.facecolor": PAPER, "axes.facecolor": PAPER, "lines.linewidth": 2.2,
    "text.parse_math": False,  # a dollar sign in a token is a dollar sign
}  # fmt: skip


def styled():
    """`with styled():` or `@styled()`: what is drawn inside looks like the course."""
    return rc_context(RC)


def figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, off pyplot: nothing shows itself twice, nothing has to be closed."""
    made = Figure(figsize=(width, height), layout="constrained")
    made.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # inches of paper around
    FigureCanvasAgg(made)
    return made


def sheet(width: float, height: float, columns: float | None = None, rows: float | None = None):
    """A figure for a drawing without axes: (figure, axes), with coordinates 0..columns and 0..rows, inches if not given."""
    made = figure(width, height)
    made.set_layout_engine("none")
    axes = made.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, columns or width), ylim=(0, rows or height))
    axes.axis("off")
    return made, axes
