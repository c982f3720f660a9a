"""Curves over numbers: one line for each named series, and words that say what they show."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import LogFormatter, MaxNLocator

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import CYCLE, GREY, INK, figure, styled

# Where a label may stand, in points from its point: upper right first.
SIDES = [13 * np.array([np.cos(turn), np.sin(turn)]) for turn in np.pi / 4 * np.arange(1, 9)]
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))  # lines differ in more than their colour


@styled()
def lines(x: Sequence[float], series: Mapping[str, Sequence[float]], finding: str, title: str = "", across: str = "",
          up: str = "", logs: str = "", marks: Mapping[str, tuple[float, float]] | None = None,
          dots: bool = False) -> Picture:  # fmt: skip
    """series: name -> values over x. finding: a sentence with the numbers of the data; where each line goes is added.

    across, up: what the axes measure. logs: "x", "y" or "xy" for logarithmic axes. marks: label -> point. dots: show each value.
    """
    made = figure(7.6, 3.9)
    axes = made.add_subplot()
    for number, (name, values) in enumerate(series.items()):
        axes.plot(x, values, color=CYCLE[number % len(CYCLE)], linestyle=DASHES[number % len(DASHES)], label=name,
                  marker="o" if dots else None, markersize=5)  # fmt: skip
    for point in (marks or {}).values():
        axes.plot(*point, "o", color=INK, markersize=7)
    for letter in logs:
        axes.set(**{f"{letter}scale": "log"})
        axis = getattr(axes, f"{letter}axis")
        axis.set_major_formatter(lambda value, _: f"{value:.0e}" if value < 0.01 else f"{value:g}")
        axis.set_minor_formatter(
            LogFormatter(labelOnlyBase=False)
        )  # the other one writes TeX, which style.py leaves as it is
    if "x" not in logs and all(float(number).is_integer() for number in x):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no token of rank 2.5
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.8)
    if len(series) > 1:
        axes.legend(frameon=False)
    place_labels(axes, marks or {})
    ways = "; ".join(f"{name or 'the line'} goes from {_short(v[0])} to {_short(v[-1])}" for name, v in series.items())
    return picture(made, f"{finding} From {_short(x[0])} to {_short(x[-1])}, {ways}.")


def place_labels(axes, marks: Mapping[str, tuple[float, float]]) -> None:
    """Each label goes to that side of its point which is farthest from other points, other labels and the edges."""
    axes.get_xlim(), axes.get_ylim()  # so that the limits are known before the picture is drawn
    points = {label: axes.transData.transform(point) for label, point in marks.items()}
    pixels = axes.figure.dpi / 72  # to a point
    placed: list[np.ndarray] = []

    def room(label: str, side: np.ndarray) -> float:
        centre = points[label] + side * pixels
        others = [point for other, point in points.items() if other != label] + placed
        edges = np.abs(np.concatenate([centre - axes.bbox.min, axes.bbox.max - centre])).min()
        return min(edges, 24 * pixels, *(np.linalg.norm(centre - other) for other in others))  # more is as good

    for label, point in marks.items():
        side = max(SIDES, key=lambda side, label=label: room(label, side))
        placed.append(points[label] + side * pixels)
        across, up = (("left", "center", "right")[int(1 - np.sign(round(s)))] for s in side)
        axes.annotate(label, point, xytext=side * 0.6, textcoords="offset points", color=INK, ha=across,
                      va={"left": "bottom", "center": "center", "right": "top"}[up])  # fmt: skip


def _short(value: float) -> str:
    value = float(value) + 0.0
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
