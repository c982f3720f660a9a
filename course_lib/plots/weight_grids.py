"""Weights of a row, and what each way to round them leaves: the grid of each group behind the weights."""

from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, ORANGE, figure, styled


@styled()
def weight_grids(weights: np.ndarray, ways: Mapping[str, tuple[Sequence[float], int]], levels: int = 16) -> Picture:
    """weights (K,). ways: name -> (the scale of each group, weights of a group), symmetric grids of -8 .. 7 steps for 16 levels.

    Raises ValueError where the groups do not add up to the row.
    """
    if any(len(scales) * size != len(weights) for scales, size in ways.values()):
        raise ValueError(f"weight_grids() needs groups that add up to the {len(weights)} weights of the row.")
    made = figure(8.4, 2.1 * len(ways))
    found = {}
    for axes, (name, (scales, size)) in zip(
        made.subplots(len(ways), 1, sharex=True, squeeze=False)[:, 0], ways.items(), strict=True
    ):
        steps = np.arange(-levels // 2, levels // 2)
        for group, scale in enumerate(scales):
            start, stop = group * size - 0.5, (group + 1) * size - 0.5
            axes.hlines(steps * scale, start, stop, color=GREY, linewidth=0.5, alpha=0.7)
        spread = np.repeat(np.asarray(scales, float), size)
        rounded = np.clip(np.rint(weights / spread), steps[0], steps[-1]) * spread
        found[name] = float(np.sqrt(np.mean((rounded - weights) ** 2)))
        axes.vlines(np.arange(len(weights)), weights, rounded, color=ORANGE, linewidth=1.6)
        axes.plot(weights, ".", color=BLUE, markersize=4)
        axes.set(title=f"{name}: error {found[name]:.3f}", ylabel="weight", xlim=(-1, len(weights)))
        axes.set_ylim(1.15 * min(weights.min(), 0), 1.15 * max(weights.max(), 0))
    axes.set_xlabel("position in the row; grey: the values that can be stored, orange: how far a weight moves")
    said = "; ".join(f"{name} {error:.3f}" for name, error in found.items())
    return picture(
        made,
        f"{len(weights)} weights of a row on the grids that they are rounded to. Root mean square of the error: {said}.",
    )
