"""The way of an optimiser downhill: a loss of two numbers as a map of heights, and the points visited."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import CYCLE, GREY, INK, figure, styled

MARKS = ("o", "s", "^", "D")


@styled()
def valley(loss: Callable, paths: Mapping[str, Sequence[tuple[float, float]]], title: str = "") -> Picture:
    """loss: a function of two arrays of coordinates. paths: name -> the points visited, from the start to the end."""
    points = np.concatenate([np.asarray(path, dtype=float) for path in paths.values()])
    low, high = points.min(0), points.max(0)
    room = 0.12 * np.maximum(high - low, 0.5)
    x, y = np.meshgrid(*(np.linspace(a, b, 160) for a, b in zip(low - room, high + room, strict=True)))
    heights = loss(x, y)
    made = figure(7.6, 4.4)
    axes = made.add_subplot()
    levels = np.quantile(heights, np.linspace(0.01, 0.97, 12))
    axes.contour(x, y, heights, levels=levels, colors=GREY, alpha=0.5, linewidths=0.9)
    ends = []
    for index, (name, path) in enumerate(paths.items()):
        route = np.asarray(path, dtype=float)
        axes.plot(*route.T, color=CYCLE[index % len(CYCLE)], marker=MARKS[index % len(MARKS)], markersize=5,
                  linewidth=1.6, label=name)  # fmt: skip
        ends.append(f"{name} ends at loss {number(float(loss(*route[-1])), 3)} after {len(route) - 1} steps")
    axes.plot(*np.asarray(next(iter(paths.values())))[0], "o", color=INK, markersize=9, label="start")
    axes.set(title=title or "Paths of descent", xlabel="first number", ylabel="second number")
    axes.legend(frameon=True, framealpha=0.9)
    return picture(made, f"Paths over a loss of two numbers: {'; '.join(ends)}.")
