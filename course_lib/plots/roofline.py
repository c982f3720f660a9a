"""The roofline: what a kernel could reach at most, by the operations that it does for each byte of memory.

(Williams, Waterman and Patterson 2009, "Roofline: an insightful visual performance model")
"""

from collections.abc import Mapping

import numpy as np

from course_lib.cuda.report import Roofline
from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, CYCLE, GREY, INK, SMALL, figure, styled

MARKERS = "os^DvP"
GIGA = 1e9


@styled()
def roofline(kernels: Mapping[str, Roofline], title: str = "") -> Picture:
    """kernels: name -> what `report.roofline(peak_bandwidth, peak_flops, flops)` gave, all for one machine.

    Raises ValueError where there are none, or where two of them stand under different roofs.
    """
    if not kernels:
        raise ValueError("roofline() needs at least one kernel: {name: report.roofline(...)}.")
    first = next(iter(kernels.values()))
    if any(not np.isclose(kernel.ridge, first.ridge) for kernel in kernels.values()):
        raise ValueError("The kernels stand under different roofs: give the same two peaks to each report.roofline().")
    bandwidth, peak = _roof(kernels.values())
    intensities = [kernel.intensity for kernel in kernels.values()]
    left, right = min([*intensities, first.ridge]) / 3, max([*intensities, first.ridge]) * 8
    made = figure(7.6, 4.2)
    axes = made.add_subplot()
    x = np.array([left, peak / bandwidth, right])
    axes.plot(x, np.minimum(peak, x * bandwidth) / GIGA, color=INK)
    axes.axvline(peak / bandwidth, color=GREY, linestyle=(0, (2, 3)), linewidth=1.2)
    for words, side in (("memory is the limit  ", "right"), ("  arithmetic", "left")):
        axes.text(peak / bandwidth, 2 * peak / GIGA, words, ha=side, va="center", fontsize=SMALL, color=GREY)
    for number, (name, kernel) in enumerate(kernels.items()):
        axes.plot(kernel.intensity, kernel.attainable / GIGA, MARKERS[number % len(MARKERS)], markersize=8, label=name,
                  color=CYCLE[number % len(CYCLE)])  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(left * bandwidth / GIGA, 3 * peak / GIGA), title=title,
             xlabel="operations for each byte of global memory", ylabel="billions of operations a second")  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(color=BLUE, alpha=0.12, linewidth=0.8)
    axes.legend(frameon=False, loc="lower right")
    return picture(made, _alt(kernels, bandwidth, peak))


def _roof(kernels) -> tuple[float, float]:
    """Bytes and operations per second of the machine, from what one of the kernels reached under its roof."""
    kernel = next(iter(kernels))
    if kernel.bound == "memory":
        bandwidth = kernel.attainable / kernel.intensity
        return bandwidth, bandwidth * kernel.ridge
    return kernel.attainable / kernel.ridge, kernel.attainable


def _alt(kernels: Mapping[str, Roofline], bandwidth: float, peak: float) -> str:
    said = (
        f"A roofline for {bandwidth / GIGA:,.0f} billion bytes and {peak / GIGA:,.0f} billion operations a second, with its "
        f"ridge at {peak / bandwidth:.3g} operations for each byte."
    )
    told = [
        f"{name} does {kernel.intensity:.2g} for each byte and can reach {100 * kernel.attainable / peak:.3g} % of the peak: "
        f"{kernel.bound} is its limit."
        for name, kernel in kernels.items()
    ]
    return " ".join([said, *told]).replace("compute is its limit", "arithmetic is its limit")
