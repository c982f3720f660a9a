"""Where the parameters of a model are: a table and a picture of bars, both from `GPTConfig.parameter_table()`."""

import html
from typing import Any

from course_lib.plots.picture import Page, Picture, picture
from course_lib.plots.style import BLUE, INK, figure, styled


def parameter_table(config: Any) -> Page:
    """Part, count and fraction, and the total."""
    rows, total = _rows(config)
    lines = [f"{part:<36}{count:>12,}{count / total:>8.1%}" for part, count in rows]
    text = "\n".join([*lines, f"{'all':<36}{total:>12,}{1:>8.1%}"])
    cells = "".join(
        f'<tr><td style="text-align:left">{html.escape(part)}</td><td>{count:,}</td><td>{count / total:.1%}</td></tr>'
        for part, count in rows
    )
    head = (
        '<th scope="col" style="text-align:left">part</th><th scope="col">parameters</th><th scope="col">fraction</th>'
    )
    last = f'<tr><th scope="row" style="text-align:left">all</th><th>{total:,}</th><th>{1:.1%}</th></tr>'
    return Page(f"<table><thead><tr>{head}</tr></thead><tbody>{cells}{last}</tbody></table>", text)


@styled()
def parameter_bars(config: Any, title: str = "") -> Picture:
    """The same as bars."""
    rows, total = _rows(config)
    made = figure(8, 0.6 + 0.38 * len(rows))
    axes = made.add_subplot()
    counts = [count for _, count in rows]
    bars = axes.barh(range(len(rows)), counts, color=BLUE, height=0.62)
    labels = [f"{count:,} ({count / total:.0%})" for count in counts]
    axes.bar_label(bars, labels, padding=4, color=INK)
    axes.set_yticks(range(len(rows)), [part for part, _ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, max(counts) * 1.3)
    axes.set_xticks([])
    axes.spines[["bottom", "left"]].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(title or f"Where the {total:,} parameters are")
    part, most = max(rows, key=lambda row: row[1])
    return picture(made, f"Of {total:,} parameters, most are in {part}: {most:,}, that is {most / total:.0%}.")


def _rows(config: Any) -> tuple[list[tuple[str, int]], int]:
    rows = config.parameter_table()
    return rows, sum(count for _, count in rows)
