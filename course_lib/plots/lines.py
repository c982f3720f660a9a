"""Curves over numbers: one line for each named series, and words that say what they show."""

from collections.abc import Mapping, Sequence

from matplotlib.ticker import MaxNLocator

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import CYCLE, GREY, INK, figure, styled

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
    for label, point in (marks or {}).items():
        axes.plot(*point, "o", color=INK, markersize=7)
        axes.annotate(label, point, xytext=(8, 8), textcoords="offset points", color=INK)
    for letter in logs:
        axes.set(**{f"{letter}scale": "log"})
        getattr(axes, f"{letter}axis").set_major_formatter(
            lambda value, _: f"{value:.0e}" if value < 0.01 else f"{value:g}"
        )
    if "x" not in logs and all(float(number).is_integer() for number in x):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no token of rank 2.5
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.8)
    if len(series) > 1:
        axes.legend(frameon=False)
    ways = "; ".join(f"{name or 'the line'} goes from {_short(v[0])} to {_short(v[-1])}" for name, v in series.items())
    return picture(made, f"{finding} From {_short(x[0])} to {_short(x[-1])}, {ways}.")


def _short(value: float) -> str:
    value = float(value) + 0.0
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
