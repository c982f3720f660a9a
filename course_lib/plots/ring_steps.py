"""A ring all-reduce to step through: who sends which chunk, and what each rank holds after each step."""

from collections.abc import Sequence

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.player import Drawing, Player
from course_lib.plots.style import GREEN, GREY, INK, ORANGE, PALE, SKY, SMALL, TEXT, sheet, styled

WIDE, TALL, GAP, LEFT, TOP = 84, 46, 58, 96, 62  # pixels of a cell, between two ranks, and around
MOST = 6


def ring(values: Sequence[Sequence[float]]) -> Player:
    """values: (N, N), the chunks of each rank, one number for each: row r is rank r. Reduce-scatter, then all-gather.

    The steps of the player are dicts: "values" and "ranks", both (N, N), what each rank holds and how many are added up in it.
    """
    start = np.asarray(values, dtype=float)
    if start.ndim != 2 or start.shape[0] != start.shape[1] or not 2 <= len(start) <= MOST:
        raise ValueError(f"ring() draws 2 to {MOST} ranks with as many chunks each; the shape is {start.shape}.")
    steps = _steps(start)
    size, count = len(start), len(steps)
    drawing = Drawing(LEFT + size * (WIDE + GAP) + 8, TOP + size * (TALL + 10) + 14)
    for rank in range(size):
        drawing.text(_x(rank) + WIDE / 2, TOP - 16, f"rank {rank}", "strong")
        drawing.text(12, _y(rank) + TALL / 2, f"chunk {rank}", "left")
    drawing.text(12, 16, "begin", "left strong", [0])
    drawing.text(12, 16, "reduce-scatter: what arrives is added", "left strong", range(1, size))
    drawing.text(12, 16, "all-gather: what arrives is kept", "left strong", range(size, count))
    for now, step in enumerate(steps):
        for rank in range(size):
            for chunk in range(size):
                _cell(drawing, rank, chunk, step, now, size)
        for rank, chunk in step["sent"]:
            _arrow(drawing, rank, chunk, size, now)
    title = f"A ring all-reduce of {size} ranks"
    return drawing.player(title, [_said(step, now, size) for now, step in enumerate(steps)], steps, _still(steps))


def _steps(start: np.ndarray) -> list[dict]:
    """What each rank holds at the beginning and after each step, and which chunks were sent: (sender, chunk)."""
    size, held = len(start), start.copy()
    ranks = np.ones((size, size), int)
    steps = [{"values": held.copy(), "ranks": ranks.copy(), "sent": []}]
    for step in range(2 * (size - 1)):
        adding = step < size - 1
        sent = [(r, (r - step - adding) % size if adding else (r - step + size - 1) % size) for r in range(size)]
        old, old_ranks = held.copy(), ranks.copy()
        for rank, chunk in sent:
            to = (rank + 1) % size
            held[to, chunk] = old[rank, chunk] + adding * old[to, chunk]
            ranks[to, chunk] = old_ranks[rank, chunk] + adding * old_ranks[to, chunk]
        steps.append({"values": held.copy(), "ranks": ranks.copy(), "sent": sent})
    return steps


def _x(rank: int) -> float:
    return LEFT + rank * (WIDE + GAP)


def _y(chunk: int) -> float:
    return TOP + chunk * (TALL + 10)


def _colour(ranks: int, size: int) -> str:
    return GREEN if ranks == size else SKY if ranks > 1 else PALE


def _cell(drawing: Drawing, rank: int, chunk: int, step: dict, now: int, size: int) -> None:
    arrived = ((rank - 1) % size, chunk) in step["sent"]
    ranks = int(step["ranks"][rank, chunk])
    x, y = _x(rank), _y(chunk)
    drawing.box(x, y, WIDE, TALL, _colour(ranks, size), ORANGE if arrived else GREY, 3 if arrived else 0.8, [now])
    drawing.text(x + WIDE / 2, y + 16, f"{step['values'][rank, chunk]:g}", "strong", [now])
    drawing.text(x + WIDE / 2, y + 34, _of(ranks, size), "small", [now])


def _of(ranks: int, size: int) -> str:
    return "of all" if ranks == size else f"of {ranks} rank{'s' * (ranks > 1)}"


def _arrow(drawing: Drawing, rank: int, chunk: int, size: int, now: int) -> None:
    """To the next rank; from the last one out of the picture, and into it at rank 0."""
    y, start = _y(chunk) + TALL / 2, _x(rank) + WIDE
    if rank < size - 1:
        drawing.arrow(start + 4, y, start + GAP - 4, y, [now])
    else:
        drawing.arrow(start + 4, y, start + GAP / 2 + 4, y, [now])
        drawing.arrow(LEFT - 28, y, LEFT - 4, y, [now])


def _said(step: dict, now: int, size: int) -> str:
    if not now:
        return (
            f"Each of {size} ranks holds an array of its own, cut into {size} chunks. The sum of all is wanted, by all."
        )
    moved = ", ".join(f"rank {rank}{' sends' * (not rank)} chunk {chunk}" for rank, chunk in step["sent"])
    if now < size:
        said = f"Reduce-scatter, step {now} of {size - 1}: {moved}, to the next rank, which adds it to its own."
        return said + (" Now each rank has the whole sum of one chunk, that of its own number." * (now == size - 1))
    said = f"All-gather, step {now - size + 1} of {size - 1}: {moved}, to the next rank, which keeps it as it is."
    return said + (" Now all ranks hold the same." * (now == 2 * size - 2))


@styled()
def _still(steps: list[dict]) -> Picture:
    """The beginning, the middle and the end."""
    size = len(steps[0]["values"])
    shown = (
        ("begin", 0),
        (f"after reduce-scatter: {size - 1} steps", size - 1),
        (f"after all-gather: {size - 1} more", -1),
    )
    cell, high = 0.62, 0.42
    made, axes = sheet(3 * (size * cell + 0.5) + 0.7, size * high + 1.15)
    for block, (name, at) in enumerate(shown):
        left, top = 0.85 + block * (size * cell + 0.5), size * high + 0.1
        axes.text(left, top + 0.75, name, va="center", fontsize=TEXT)
        for rank in range(size):
            x = left + rank * cell
            axes.text(x + cell / 2, top + 0.3, f"rank {rank}" if size < 5 else f"{rank}", ha="center", fontsize=SMALL)
            for chunk in range(size):
                ranks = int(steps[at]["ranks"][rank, chunk])
                axes.text(x + cell / 2, top - (chunk + 0.5) * high, f"{steps[at]['values'][rank, chunk]:g}", ha="center",
                          va="center", color=INK, fontsize=SMALL, bbox={"boxstyle": "square,pad=0.35", "edgecolor": GREY,
                          "facecolor": _colour(ranks, size)})  # fmt: skip
                if not block and not rank:
                    axes.text(
                        0.1, top - (chunk + 0.5) * high, f"chunk {chunk}", va="center", fontsize=SMALL, color=GREY
                    )
    last = ", ".join(f"{value:g}" for value in steps[-1]["values"][0])
    each = 2 * (size - 1) / size
    return picture(
        made,
        f"{size} ranks with {size} chunks each. After {size - 1} steps of reduce-scatter each rank has the sum of one chunk, "
        f"after {size - 1} of all-gather all hold {last}. Each rank has sent {2 * (size - 1)} chunks, {number(each)} times "
        "its own array.",
    )
