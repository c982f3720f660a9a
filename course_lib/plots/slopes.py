"""A slope as a picture: a curve, and straight lines through one of its points that come closer to the tangent."""

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import BLUE, CYCLE, GREY, INK, figure, styled


@styled()
def slope(function: Callable[[float], float], at: float, steps: Sequence[float], title: str = "",
          name: str = "f", across: str = "x") -> Picture:  # fmt: skip
    """The curve of `function` and, for each step h, the line through its points at `at` and `at + h`.

    name, across: what to call the function and its input.
    """
    reach = max(abs(step) for step in steps) * 1.5
    x = np.linspace(at - reach, at + reach, 200)
    made = figure(7.6, 4.2)
    axes = made.add_subplot()
    axes.plot(x, [function(value) for value in x], color=BLUE, linewidth=3, label=f"the curve {name}")
    here, found = function(at), []
    for index, step in enumerate(steps):
        there = function(at + step)
        rise = (there - here) / step
        found.append(f"{number(rise, 3)} with h = {step:g}")
        color = CYCLE[1 + index % (len(CYCLE) - 1)]
        axes.plot(x, here + rise * (x - at), color=color, linewidth=1.6, linestyle=(0, (5, 2)),
                  label=f"h = {step:g}: slope {rise:.3f}")  # fmt: skip
        axes.plot(at + step, there, "o", color=color, markersize=6)
    axes.plot(at, here, "o", color=INK, markersize=8)
    axes.set(title=title or f"The slope at {at:g}", xlabel=across, ylabel=f"{name}({across})")
    axes.grid(color=GREY, alpha=0.2, linewidth=0.8)
    axes.legend(frameon=False)
    return picture(made, f"Lines through the point of {name} at {at:g} approach the tangent as the step h shrinks: "
                         f"slope {', '.join(found)}.")  # fmt: skip
