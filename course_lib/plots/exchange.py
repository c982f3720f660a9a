"""How threads that hold one number each bring them together: step by step, as a tree or as a butterfly."""

from collections.abc import Sequence

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, sheet, styled

WIDE, TALL = 0.72, 0.95  # inches from box to box, and from step to step


@styled()
def exchange(values: Sequence[float], kind: str = "tree", title: str = "") -> Picture:
    """The sums that each thread holds after each step. values: one for each thread, a power of two of them, 16 at most.

    kind: "tree", where in each step the first half of the threads adds what the second half holds, or "butterfly", where each
    thread adds what its partner holds, so that all know the sum. Raises ValueError for another kind or number.
    """
    count = len(values)
    if count not in (2, 4, 8, 16):
        raise ValueError(f"exchange() draws 2, 4, 8 or 16 threads, not {count}.")
    if kind not in ("tree", "butterfly"):
        raise ValueError(f"exchange() knows the kinds 'tree' and 'butterfly', not {kind!r}.")
    rows: list[list[float]] = [list(values)]
    links: list[list[tuple[int, int]]] = []
    half = count // 2
    while half:
        pairs = [(i + half, i) for i in range(half)] if kind == "tree" else [(i ^ half, i) for i in range(count)]
        row = list(rows[-1])
        for other, own in pairs:
            row[own] = rows[-1][own] + rows[-1][other]
        rows.append(row)
        links.append(pairs)
        half //= 2
    made, axes = sheet(1.2 + WIDE * count, TALL * len(rows) + 0.35)
    top = TALL * (len(rows) - 1) + 0.45
    axes.text(0.15, top + 0.65, title or f"{kind}: {len(links)} steps for {count} threads", va="top", fontsize=TEXT)
    for step, row in enumerate(rows):
        y, active = top - TALL * step, {own for _, own in links[step - 1]} if step else set(range(count))
        axes.text(0.15, y, f"step {step}" if step else "begin", va="center", fontsize=SMALL, color=GREY)
        for i, value in enumerate(row):
            on = i in active
            axes.text(1.2 + WIDE * i, y, f"{value:g}", ha="center", va="center", fontsize=SMALL, color=INK if on else GREY,
                      bbox={"boxstyle": "round,pad=0.32", "facecolor": (SKY if step else PALE) if on else PAPER,
                            "edgecolor": ORANGE if step == len(rows) - 1 and on else GREY})  # fmt: skip
        for other, own in links[step] if step < len(links) else ():
            axes.annotate("", (1.2 + WIDE * own, y - TALL + 0.2), (1.2 + WIDE * other, y - 0.2),
                          arrowprops={"arrowstyle": "-|>", "color": BLUE, "linewidth": 1.1})  # fmt: skip
    return picture(made, _alt(kind, values, rows))


def _alt(kind: str, values: Sequence[float], rows: list[list[float]]) -> str:
    count, steps = len(values), len(rows) - 1
    held = ", ".join(f"{value:g}" for value in values)
    who = "thread 0 holds" if kind == "tree" else f"all {count} threads hold"
    adders = ", ".join(str(count >> step if kind == "tree" else count) for step in range(1, steps + 1))
    return (
        f"{count} threads hold {held}. In a {kind} of {steps} steps, in which {adders} of them add, {who} the sum "
        f"{rows[-1][0]:g} at the end."
    )
