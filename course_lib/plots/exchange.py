"""How threads that hold one number each bring them together: step by step, to one sum or to all prefix sums."""

from collections.abc import Sequence

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, sheet, styled

WIDE, TALL = 0.72, 0.95  # inches from box to box, and from step to step
KINDS = ("tree", "butterfly", "scan", "tree scan")
Link = tuple[int, int]  # from the thread that gives a number to the one that adds it


@styled()
def exchange(values: Sequence[float], kind: str = "tree", title: str = "") -> Picture:
    """The sums that each thread holds after each step. values: one for each thread, a power of two of them, 16 at most.

    kind: "tree", where in each step the first half of the threads adds what the second half holds; "butterfly", where each
    thread adds what its partner holds, so that all know the sum; "scan", where each adds what the one 1, 2, 4, ... below it
    holds, so that thread i has the sum of 0 to i (Kogge and Stone 1973); "tree scan", up a tree and down it again, so that
    thread i has the sum of 0 to i - 1 (Blelloch 1990). Raises ValueError for another kind or number.
    """
    count = len(values)
    if count not in (2, 4, 8, 16):
        raise ValueError(f"exchange() draws 2, 4, 8 or 16 threads, not {count}.")
    if kind not in KINDS:
        raise ValueError(f"exchange() knows the kinds {', '.join(map(repr, KINDS))}, not {kind!r}.")
    rows, links = _tree_scan(values) if kind == "tree scan" else _sums(values, kind)
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


def _sums(values: Sequence[float], kind: str) -> tuple[list[list[float]], list[list[Link]]]:
    """What each thread holds at the beginning and after each step, and who gave to whom in each step."""
    count, rows, links = len(values), [list(values)], []
    halves = [1 << step for step in range(count.bit_length() - 1)]
    for half in halves if kind == "scan" else reversed(halves):
        pairs = {
            "tree": [(i + half, i) for i in range(half)],
            "butterfly": [(i ^ half, i) for i in range(count)],
            "scan": [(i - half, i) for i in range(half, count)],
        }[kind]
        row = list(rows[-1])
        for other, own in pairs:
            row[own] = rows[-1][own] + rows[-1][other]
        rows.append(row)
        links.append(pairs)
    return rows, links


def _tree_scan(values: Sequence[float]) -> tuple[list[list[float]], list[list[Link]]]:
    """Up: a node adds its left child. The root becomes 0. Down: the left child gets the node's number, and the node adds it."""
    count, rows, links = len(values), [list(values)], []
    halves = [1 << step for step in range(count.bit_length() - 1)]
    for half in halves:
        pairs = [(node - half, node) for node in range(2 * half - 1, count, 2 * half)]
        row = list(rows[-1])
        for left, node in pairs:
            row[node] += row[left]
        rows.append(row)
        links.append(pairs)
    rows[-1][-1] = 0  # nothing lies before the root
    for half in reversed(halves):
        row, pairs = list(rows[-1]), []
        for node in range(2 * half - 1, count, 2 * half):
            row[node - half], row[node] = row[node], row[node - half] + row[node]
            pairs += [(node, node - half), (node - half, node)]
        rows.append(row)
        links.append(pairs)
    return rows, links


def _alt(kind: str, values: Sequence[float], rows: list[list[float]]) -> str:
    count, steps = len(values), len(rows) - 1
    held, last = (", ".join(f"{value:g}" for value in row) for row in (values, rows[-1]))
    if "scan" in kind:
        upto = "i, itself included" if kind == "scan" else "i - 1"
        return f"{count} threads hold {held}. After {steps} steps of a {kind} thread i holds the sum of 0 to {upto}: {last}."
    who = "thread 0 holds" if kind == "tree" else f"all {count} threads hold"
    adders = ", ".join(str(count >> step if kind == "tree" else count) for step in range(1, steps + 1))
    return (
        f"{count} threads hold {held}. In a {kind} of {steps} steps, in which {adders} of them add, {who} the sum "
        f"{rows[-1][0]:g} at the end."
    )
