"""A stacked bar that the reader drives: a slider for each input of a function, and no server. All values are computed here."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.plots.picture import Picture, picture
from course_lib.plots.player import Player, embedded, file
from course_lib.plots.style import BLUE, GREY, INK, ORANGE, PURPLE, SKY, SMALL, TEXT, figure, styled

COLOURS = (SKY, ORANGE, BLUE, PURPLE)
MOST = 5000  # combinations


def sliders(parts_of: Callable[..., Mapping[str, float]], choices: Mapping[str, Sequence[Any]], limit: float, mark: str,
            unit: str, title: str, start: Sequence[Any] = ()) -> Player:  # fmt: skip
    """parts_of(one value of each) -> name -> size, 4 parts at most, drawn end to end beside `limit`, which `mark` names.

    choices: what each slider is called -> its values, in the order of the function's arguments. start: one value of each, the
    first ones if not given. The steps are what was computed: a row for each combination, the last slider the fastest.
    """
    combinations = list(itertools.product(*choices.values()))
    if len(combinations) > MOST:
        raise ValueError(f"sliders() shows at most {MOST:,} combinations; these are {len(combinations):,}.")
    found = [dict(parts_of(*one)) for one in combinations]
    names = list(found[0])
    if len(names) > len(COLOURS) or any(list(one) != names for one in found):
        raise ValueError(f"parts_of() must give the same {len(COLOURS)} parts or fewer each time; it gave {names}.")
    begin = tuple(start) or tuple(values[0] for values in choices.values())
    if begin not in combinations:
        raise ValueError(f"The sliders cannot start at {begin}: it is not among their choices.")
    said = ", ".join(f"{name}: {_shown(value)}" for name, value in zip(choices, begin, strict=True))
    still = _still(found[combinations.index(begin)], limit, mark, unit, title, said)
    data = {
        "title": title, "names": names, "colours": COLOURS, "limit": limit, "mark": mark, "unit": unit,
        "fits": f"which fits into the {mark}", "full": f"more than the {mark}",
        "controls": [{"name": name, "choices": [_shown(value) for value in values], "value": list(values).index(value)}
                     for (name, values), value in zip(choices.items(), begin, strict=True)],
        "rows": [[float(f"{part:.3g}") for part in one.values()] for one in found],
    }  # fmt: skip
    return Player(embedded(file("panel.html"), data, still), still, found)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(value: float) -> str:
    """Three digits, as the page rounds."""
    return f"{value:,.0f}" if value >= 100 else f"{float(f'{value:.3g}'):g}"


@styled()
def _still(parts: Mapping[str, float], limit: float, mark: str, unit: str, title: str, said: str) -> Picture:
    """The bar as the sliders are at first."""
    made = figure(8, 2.3)
    axes = made.add_subplot()
    left = 0.0
    for (name, size), colour in zip(parts.items(), COLOURS, strict=False):
        axes.barh(0, size, left=left, color=colour, edgecolor=INK, linewidth=0.6, label=f"{name} {_short(size)}")
        left += size
    axes.axvline(limit, color=INK, linestyle="--", linewidth=1.6)
    right = max(1.25 * limit, 1.02 * left)
    axes.text(limit, 0.52, f" {mark} ", ha="right" if limit > right / 3 else "left", va="bottom", fontsize=SMALL)
    axes.set(xlim=(0, right), ylim=(-0.5, 0.8), yticks=[], xlabel=unit)
    axes.spines["left"].set_visible(False)
    made.legend(ncols=4, loc="outside lower left", frameon=False)
    axes.set_title(title, fontsize=TEXT)
    axes.set_title(said, fontsize=SMALL, color=GREY, loc="right")
    listed = ", ".join(f"{name} {_short(size)}" for name, size in parts.items())
    verdict = "which fits into" if math.fsum(parts.values()) <= limit else "more than"
    return picture(made, f"{title}, at {said}: {listed}. That is {_short(left)} {unit} in all, {verdict} the {mark}.")
