"""Who works when: one row for each device or queue, one bar for each piece of work."""

from collections.abc import Mapping, Sequence

from matplotlib.ticker import MaxNLocator

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import CYCLE, GREY, INK, PAPER, SMALL, figure, styled

Bar = tuple[float, float, str, str]  # begin, length, the text in it, the kind of work
HATCHES = ("", "///", "..", "xx")  # kinds differ in more than their colour


@styled()
def timeline(rows: Mapping[str, Sequence[Bar]], finding: str, title: str = "", across: str = "time") -> Picture:
    """rows: name -> bars (begin, length, text, kind). Kinds get colours in the order in which they first come.

    finding: a sentence with the numbers; how long each row works, and when the last one ends, is added.
    """
    kinds = list(dict.fromkeys(bar[3] for bars in rows.values() for bar in bars))
    end = max(begin + long for bars in rows.values() for begin, long, *_ in bars)
    made = figure(8.4, 0.95 + 0.44 * len(rows))
    axes = made.add_subplot()
    for row, bars in enumerate(rows.values()):
        for begin, long, text, kind in bars:
            style = kinds.index(kind) % len(HATCHES)
            axes.barh(row, long, left=begin, height=0.72, color=(*_rgb(CYCLE[style]), 0.45), edgecolor=INK, linewidth=0.7,
                      hatch=HATCHES[style], label=kind)  # fmt: skip
            axes.text(begin + long / 2, row, text, ha="center", va="center", fontsize=SMALL, color=INK,
                      bbox={"boxstyle": "round,pad=0.12", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75})  # fmt: skip
    axes.set(xlim=(0, end * 1.01), ylim=(len(rows) - 0.5, -0.5), xlabel=across)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GREY, alpha=0.2)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(title)
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))  # each kind once
    made.legend(named.values(), named.keys(), ncols=4, loc="outside lower right", frameon=False)
    works = ", ".join(f"{name} {number(sum(bar[1] for bar in bars), 1)}" for name, bars in rows.items())
    return picture(made, f"{finding} The last piece of work ends at {number(end, 1)}; at work are: {works}.")


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
