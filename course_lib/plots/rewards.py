"""Pictures of chapter 21: estimators of a gradient against the exact one, and how often a model tells each plot."""

from collections.abc import Mapping

import numpy as np

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, CYCLE, GREY, INK, ORANGE, PALE, SMALL, figure, styled

FACTOR = 3.0  # a plot told three times as often as it should be, or a third as often, is out of the band


@styled()
def estimators(measured: Mapping[str, tuple[float, float]]) -> Picture:
    """measured: name -> (noise, bias), both as parts of the length of the mean estimate. The better the shorter its bars."""
    made = figure(7.6, 0.62 * len(measured) + 1.1)
    axes = made.add_subplot()
    heights = np.arange(len(measured))[::-1]
    for side, colour, label in ((0, BLUE, "noise of one group"), (1, ORANGE, "bias: mean off the exact direction")):
        values = [pair[side] for pair in measured.values()]
        middle = heights + (0.19 if side == 0 else -0.19)
        axes.barh(middle, values, 0.34, color=colour, label=label)
        for y, value in zip(middle, values, strict=True):
            axes.text(value, y, f" {value:.2f}", va="center", fontsize=SMALL, color=INK)
    axes.set_yticks(heights, list(measured))
    axes.set(xlabel="times the length of the mean estimate", title="Which estimate points the right way?")
    axes.margins(x=0.12)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.45, -0.02 - 0.75 / len(measured)), ncols=2)
    worst, best = (pick(measured, key=lambda name: measured[name][0]) for pick in (max, min))
    bent = max(measured, key=lambda name: measured[name][1])
    return picture(
        made,
        f"Of {len(measured)} estimates of one gradient, {best} has the least noise, {measured[best][0]:.2f} times the length of "
        f"its mean, and {worst} the most, {measured[worst][0]:.2f}. The mean of {bent} is farthest off the exact direction, by "
        f"{measured[bent][1]:.2f} of its length.",
    )


@styled()
def plot_frequencies(told: Mapping[str, Mapping[str, int]], true: Mapping[str, float]) -> Picture:
    """How often each run told each plot, by its true frequency. told: run -> plot -> count; true: plot -> frequency."""
    made = figure(9.0, 4.3)
    axes = made.add_subplot()
    axes.axhspan(1 / FACTOR, FACTOR, color=PALE, zorder=0)
    axes.axhline(1.0, color=GREY, linewidth=1)
    never, outside = 1 / 40, {}
    for number, (name, counts) in enumerate(told.items()):
        total = max(sum(counts.values()), 1)
        ratios = np.array([counts[plot] / total / chance for plot, chance in true.items()])
        outside[name] = int(((ratios > FACTOR) | (ratios < 1 / FACTOR)).sum())
        axes.plot(np.arange(len(true)) + 0.12 * (number - (len(told) - 1) / 2),
                  np.maximum(ratios, never),
                  "os^Dv"[number % 5], color=CYCLE[number % len(CYCLE)], label=name, markersize=7)  # fmt: skip
    axes.set_yscale("log")
    axes.set_yticks([never, 1 / 10, 1 / 3, 1, 3, 10], ["never", "1/10", "1/3", "1", "3", "10"])
    axes.minorticks_off()
    axes.set_xticks(range(len(true)), list(true), rotation=45, ha="right")
    axes.set(ylabel="times its true frequency", title="How often each plot is told", ylim=(never * 0.8, 70))
    axes.legend(frameon=False, ncols=len(told), loc="upper left")
    said = ", ".join(f"{name} {count}" for name, count in outside.items())
    return picture(
        made,
        f"Frequencies of {len(true)} plots, divided by their true ones. Plots farther off than a factor of {FACTOR:g}: {said}.",
    )
