"""The bytes that kernels move, as bars: what is read and what is written, kernel after kernel, plan under plan."""

from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle

from course_lib.cuda.report import Report
from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import GREY, INK, ORANGE, PAPER, SKY, SMALL, TEXT, sheet, styled

WIDE = 8.2  # inches of the longest bar


@styled()
def traffic(plans: Mapping[str, Sequence[Report]], title: str = "") -> Picture:
    """plans: name -> the reports of `sanitize`, one for each kernel of the plan, in order. Bytes of global memory.

    Raises ValueError where a plan moves nothing.
    """
    bytes_of = {name: [_moved(report) for report in reports] for name, reports in plans.items()}
    totals = {name: sum(map(sum, kernels)) for name, kernels in bytes_of.items()}
    if not totals or not all(totals.values()):
        raise ValueError("traffic() needs plans that move bytes: {name: [sanitize(...), ...]}.")
    longest, tall = max(totals.values()), 0.95
    made, axes = sheet(WIDE + 0.9, tall * len(plans) + 0.4 + (0.35 if title else 0))
    axes.text(0.3, tall * len(plans) + 0.65, title, fontsize=TEXT, va="top")
    for row, (name, kernels) in enumerate(bytes_of.items()):
        x, y = 0.3, 0.5 + tall * (len(plans) - 1 - row)
        axes.text(x, y + 0.52, f"{name}: {totals[name]:,} bytes", va="bottom", fontsize=SMALL, color=INK)
        for report, (read, written) in zip(plans[name], kernels, strict=True):
            start = x
            for amount, colour, hatch in ((read, SKY, ""), (written, ORANGE, "///")):
                width = WIDE * amount / longest
                axes.add_patch(
                    Rectangle((x, y), width, 0.42, facecolor=colour, edgecolor=PAPER, hatch=hatch, linewidth=0)
                )
                x += width
            axes.add_patch(Rectangle((start, y), x - start, 0.42, fill=False, edgecolor=INK, linewidth=1.1))
            if x - start > 0.09 * len(report.kernel):
                axes.text(
                    (start + x) / 2, y + 0.21, report.kernel.partition("<")[0], ha="center", va="center", fontsize=SMALL
                )
    axes.text(0.3, 0.15, "blue: read     orange, hatched: written     a frame: one kernel", fontsize=SMALL, color=GREY)
    return picture(made, _alt(bytes_of, totals))


def _moved(report: Report) -> tuple[int, int]:
    """Bytes of global memory that a launch read and wrote."""
    lines = [line for line in report.lines if line.space == "global"]
    read, written = (sum(line.bytes_moved for line in lines if line.op == op) for op in ("read", "write"))
    return read, written


def _alt(bytes_of: Mapping[str, Sequence[tuple[int, int]]], totals: Mapping[str, int]) -> str:
    told = []
    for name, kernels in bytes_of.items():
        read, count = sum(kernel[0] for kernel in kernels), len(kernels)
        told.append(f"{name.capitalize()}: {totals[name]:,} bytes {'in one launch' if count == 1 else f'in {count} launches'}, "
                    f"{read:,} of them read and {totals[name] - read:,} written.")  # fmt: skip
    names = list(totals)
    if len(names) > 1:
        told.append(
            f"That is {totals[names[0]] / totals[names[-1]]:.3g} times as many with {names[0]} as with {names[-1]}."
        )
    return " ".join(told)
