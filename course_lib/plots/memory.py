"""A view and the buffer under it: the same numbers twice, above as they lie in memory, below as the view shows them."""

import itertools
from collections import Counter
from dataclasses import dataclass

from matplotlib.patches import Rectangle

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, SKY, SMALL, VERMILLION, sheet, styled

ROWS = (SKY, ORANGE, GREEN, PURPLE, VERMILLION, BLUE)  # a colour for each row of the view
MOST = 24  # indices of a buffer that can still be read
CELL, GAP = 0.56, 0.62  # inches


@dataclass(frozen=True)
class Layout:
    """A view and the buffer under it. indices: for each row of the view, the indices of the buffer that it reads."""

    buffer: list
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    indices: list[list[int]]

    @property
    def owner(self) -> dict[int, int]:
        """Index of the buffer -> the first row of the view that reads it, whose colour it has."""
        return {index: row for row, line in reversed(list(enumerate(self.indices))) for index in line}


def layout(view, caller: str) -> Layout:
    """Reads a view as `memory` takes it. Raises TypeError or ValueError, in the name of `caller`, for what cannot be drawn."""
    if not (hasattr(view, "strides") and (hasattr(view, "buffer") or hasattr(view, "storage"))):
        raise TypeError(
            f"{caller}() draws a view: something with a buffer, a shape, strides and an offset. A {type(view).__name__} has "
            "none of them; give the view itself, without .tolist()."
        )
    buffer = (
        list(view.buffer) if hasattr(view, "buffer") else view.ops.to_numpy(view.storage.array).reshape(-1).tolist()
    )
    shape, strides = tuple(view.shape), tuple(view.strides)
    if len(shape) not in (1, 2) or len(buffer) > MOST:
        raise ValueError(
            f"{caller}() draws views with one or two axes over at most {MOST} numbers; this one has the shape {shape} over "
            f"{len(buffer)}."
        )
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    down, right = strides if len(shape) == 2 else (0, strides[0])
    indices = [[view.offset + i * down + j * right for j in range(columns)] for i in range(rows)]
    outside = sorted({index for line in indices for index in line if not 0 <= index < len(buffer)})
    if outside:
        raise ValueError(
            f"This view reads index {outside[0]}, but the buffer has the indices 0 to {len(buffer) - 1}: look at the shape "
            f"{shape}, the strides {strides} and the offset {view.offset}."
        )
    return Layout(buffer, shape, strides, view.offset, indices)


@styled()
def memory(view) -> Picture:
    """view: anything with `shape` (one or two axes), `strides` and `offset` in elements, and a `buffer` list or a `storage`."""
    read = layout(view, "memory")
    buffer, shape, strides, indices, owner = read.buffer, read.shape, read.strides, read.indices, read.owner
    rows, columns = len(indices), len(indices[0])
    width = max(len(buffer), columns + 5) * CELL + 0.8
    height = (rows + 2) * CELL + GAP + 0.95
    made, axes = sheet(width, height)
    left, top = 0.35, height - 0.55 - CELL

    axes.text(left, height - 0.18, "the buffer: one row of numbers", va="top", color=INK)
    for index, value in enumerate(buffer):
        colour = ROWS[owner[index] % len(ROWS)] if index in owner else PALE
        _cell(axes, left + index * CELL, top, short(value), colour, quiet=index not in owner)
        axes.text(left + (index + 0.5) * CELL, top - 0.15, str(index), ha="center", color=GREY, fontsize=SMALL)

    base = top - GAP - 0.36
    axes.text(
        left, base + 0.1, f"the view: shape {shape}, strides {strides}, offset {view.offset}", va="bottom", color=INK
    )
    for i, line in enumerate(indices):
        y = base - (i + 1) * CELL
        for j, index in enumerate(line):
            _cell(axes, left + j * CELL, y, short(buffer[index]), ROWS[owner[index] % len(ROWS)])
        reads = ", ".join(str(index) for index in line)
        axes.text(
            left + columns * CELL + 0.15, y + CELL / 2, f"row {i} reads indices {reads}", va="center", fontsize=SMALL
        )
    return picture(made, _alt(indices, shape, strides, len(buffer)))


def _cell(axes, x: float, y: float, text: str, colour: str, quiet: bool = False) -> None:
    axes.add_patch(
        Rectangle((x, y), CELL, CELL, facecolor=colour, edgecolor=INK, linewidth=0.8, alpha=1.0 if quiet else 0.62)
    )
    axes.text(x + CELL / 2, y + CELL / 2, text, ha="center", va="center", color=GREY if quiet else INK)


def short(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _alt(indices: list[list[int]], shape: tuple, strides: tuple, size: int) -> str:
    """Which indices each row reads, which are read more than once, and which not at all."""
    lines = "; ".join(f"row {i} reads indices {', '.join(map(str, line))}" for i, line in enumerate(indices))
    counts = Counter(itertools.chain.from_iterable(indices))
    said = f"A view of shape {shape} with strides {strides} over {size} numbers: {lines}."
    if max(counts.values()) > 1:
        said += f" Each index that is read is read {max(counts.values())} times, and nothing is stored twice."
    elif len(counts) < size:
        said += f" {size - len(counts)} indices are skipped."
    return said
