"""What normalising a row takes away from a gradient: the part along the row itself."""

from collections.abc import Sequence

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, VERMILLION, figure, styled


@styled()
def projection(x: Sequence[float], gradient: Sequence[float]) -> Picture:
    """A row x of two numbers on the circle of RMSNorm, and a gradient at that point, cut in the part along x and the rest."""
    x, gradient = np.asarray(x, dtype=float), np.asarray(gradient, dtype=float)
    landed = x / np.sqrt((x * x).mean())  # (2,): on the circle of radius sqrt(2)
    ahead = landed / np.linalg.norm(landed)
    along = (gradient @ ahead) * ahead
    rest = gradient - along
    made = figure(7.6, 4.6)
    axes = made.add_subplot()
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.sqrt(2) * np.cos(turn), np.sqrt(2) * np.sin(turn), color=GREY, linewidth=1.4)
    axes.plot(*np.stack([0 * x, 1.1 * x]).T, color=GREY, linestyle=(0, (5, 2)), linewidth=1.4)
    axes.plot(*x, "o", color=INK, markersize=8)
    axes.annotate("x", x, xytext=(8, -4), textcoords="offset points")
    axes.plot(*landed, "o", color=INK, markersize=8)
    for arrow, color, words in ((gradient, BLUE, "dy"), (along, VERMILLION, "its part along x: taken away"),
                                (rest, GREEN, "what remains: a right angle to x")):  # fmt: skip
        axes.annotate("", landed + arrow, landed, arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.4,
                                                               "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        axes.plot([], [], color=color, linewidth=2.4, label=words)
    axes.set(xlabel="first number", ylabel="second number", title="RMSNorm moves every row onto one circle")
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
    told = [", ".join(number(float(value), 2) for value in v) for v in (x, landed, gradient, along, rest)]
    return picture(
        made,
        f"The row ({told[0]}) lands at ({told[1]}) on a circle. The gradient ({told[2]}) there has the part ({told[3]}) along "
        f"the row, which is taken away, and the part ({told[4]}) at a right angle, which remains.",
    )
