"""Pictures of chapter 22b: block tables over pages, what a smaller cache costs, what the accept-reject rule takes."""

from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, CYCLE, GREY, INK, ORANGE, PALE, PAPER, SMALL, figure, sheet, styled


@styled()
def block_tables(texts: Mapping[str, tuple[Sequence[int], int]], pages: int, rows: int) -> Picture:
    """texts: name -> (block table, rows in use). A page's colour is that of the first text that holds it; grey rows are empty."""
    wide, tall = max(7.6, 1.2 + 0.62 * pages), 1.5 + 0.42 * len(texts)
    made, axes = sheet(wide, tall)
    step = (wide - 1.0) / pages
    top = tall - 1.15
    owner, filled, holders = {}, {}, {}
    for number, (table, length) in enumerate(texts.values()):
        for at, page in enumerate(table):
            owner.setdefault(page, number)
            holders[page] = holders.get(page, 0) + 1
            filled[page] = max(filled.get(page, 0), min(rows, length - at * rows))
    for page in range(pages):
        left = 0.5 + page * step
        for row in range(rows):
            used = row < filled.get(page, 0)
            colour = CYCLE[owner[page] % len(CYCLE)] if used else PALE
            axes.add_patch(_box(left + 0.06 + row * (step - 0.12) / rows, top, (step - 0.12) / rows, 0.5, colour))
        shared = f" · {holders[page]} texts" if holders.get(page, 0) > 1 else ""
        axes.text(left + step / 2, top + 0.72, f"{page}{shared}", ha="center", va="center", fontsize=SMALL, color=INK)
    axes.text(0.5, tall - 0.16, "pages of the cache", va="center", fontsize=SMALL, color=GREY)
    for number, (name, (table, length)) in enumerate(texts.items()):
        y = top - 0.42 * (number + 1)
        axes.text(0.5, y, name, va="center", color=CYCLE[number % len(CYCLE)], fontweight="bold")
        axes.text(2.3, y, f"block table {list(table)}, {length} rows", va="center", color=INK)
    empty = rows * len(filled) - sum(filled.values())
    said = "; ".join(f"{name}: pages {', '.join(map(str, table))}" for name, (table, _) in texts.items())
    several = [str(page) for page, count in sorted(holders.items()) if count > 1]
    return picture(
        made,
        f"{len(filled)} of {pages} pages of {rows} rows are held, and {empty} of their rows are empty. {said}. Held by several "
        f"texts: {', '.join(several) or 'none'}.",
    )


def _box(left: float, bottom: float, width: float, height: float, colour: str):
    from matplotlib.patches import Rectangle

    return Rectangle((left, bottom), width, height, facecolor=colour, edgecolor=PAPER, linewidth=1.2)


@styled()
def accepted(target: Sequence[float], draft: Sequence[float], names: Sequence[str]) -> Picture:
    """target, draft: probabilities p and q of the same tokens. What both give is accepted; what p has more is drawn instead."""
    p, q = np.asarray(target, float), np.asarray(draft, float)
    made = figure(8.4, 3.4)
    axes = made.add_subplot()
    at = np.arange(len(p))
    both = np.minimum(p, q)
    axes.bar(at - 0.2, both, 0.36, color=BLUE, label="min(p, q): accepted")
    axes.bar(
        at - 0.2,
        np.maximum(p - q, 0),
        0.36,
        bottom=both,
        color=ORANGE,
        hatch="///",
        label="p - q: drawn after a rejection",
    )
    axes.bar(at + 0.2, q, 0.36, color=PALE, edgecolor=GREY, label="q: what the draft proposes")
    axes.set_xticks(at, list(names))
    axes.set(ylabel="probability", title="Each token of the model: accepted, or made up for")
    axes.legend(frameon=False)
    lacking = [name for name, more in zip(names, p - q, strict=True) if more > 0]
    return picture(
        made,
        f"Of {len(p)} tokens, {both.sum():.0%} of the draft's proposals are accepted. The draft has too little of "
        f"{', '.join(lacking) or 'none'}, and the {1 - both.sum():.0%} of rejections make up for exactly that.",
    )


@styled()
def cache_costs(models: Mapping[str, tuple[int, Sequence[float]]]) -> Picture:
    """models: name -> (numbers cached for a token in a layer, the losses that were measured, one for each seed)."""
    made = figure(7.6, 3.9)
    axes = made.add_subplot()
    means = {name: float(np.mean(losses)) for name, (_, losses) in models.items()}
    for number, (name, (cached, losses)) in enumerate(models.items()):
        colour = CYCLE[number % len(CYCLE)]
        axes.plot([cached] * len(losses), losses, "o", color=colour, markersize=5, alpha=0.6)
        axes.plot(cached, means[name], "_", color=colour, markersize=22, markeredgewidth=2.5)
        axes.annotate(name, (cached, means[name]), xytext=(14, 0), textcoords="offset points", va="center", color=INK)
    sizes = sorted({cached for cached, _ in models.values()})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 2.2)
    axes.set(xlabel="numbers in the cache, for a token in a layer", ylabel="validation loss, nats per token")
    axes.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.8)
    told = "; ".join(f"{name}: {cached} numbers, {means[name]:.3f}" for name, (cached, _) in models.items())
    best = min(means, key=means.get)
    return picture(made, f"Numbers in the cache against the mean loss. The least loss has {best}. {told}.")
