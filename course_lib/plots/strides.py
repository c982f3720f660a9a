"""A view, element after element: which index of the buffer `(i, j)` names, and the sum that gives it."""

from dataclasses import dataclass

from course_lib.plots.memory import ROWS, Layout, layout, memory, short
from course_lib.plots.player import Drawing, Player
from course_lib.plots.style import INK, PALE

CELL, LEFT, GAP = 38, 44, 84  # pixels; the gap is between the buffer and the view


@dataclass(frozen=True)
class Element:
    """One step: the element of the view at `index`, and where it lies."""

    index: tuple[int, ...]
    flat_index: int
    value: float


def strides(view) -> Player:
    """Steps through the elements of a view in order. view: as in `memory`, whose picture stands where no script runs.

    Raises TypeError or ValueError for what cannot be drawn.
    """
    read = layout(view, "strides")
    rows, columns = len(read.indices), len(read.indices[0])
    top, base = 34, 34 + CELL + GAP  # of the buffer and of the view
    drawing = Drawing(LEFT + max(len(read.buffer), columns, 11) * CELL + 10, base + rows * CELL + 62)
    elements = [
        Element((i, j)[-len(read.shape) :], flat, read.buffer[flat])
        for i, line in enumerate(read.indices)
        for j, flat in enumerate(line)
    ]
    cells = [(LEFT + n % columns * CELL, base + n // columns * CELL) for n in range(len(elements))]
    above = [LEFT + element.flat_index * CELL for element in elements]
    sums = [_sum(element, read) for element in elements]

    for now, (x, y) in enumerate(cells):  # first, so that it lies under the numbers
        drawing.line(x + CELL / 2, y, above[now] + CELL / 2, top + CELL + 20, [now])
    drawing.text(LEFT, 16, "the buffer", "left")
    for index, value in enumerate(read.buffer):
        x = LEFT + index * CELL
        drawing.box(x, top, CELL, CELL, ROWS[read.owner[index] % len(ROWS)] if index in read.owner else PALE)
        drawing.text(x + CELL / 2, top + CELL / 2, short(value))
        drawing.text(x + CELL / 2, top + CELL + 11, str(index), "small")
    drawing.text(LEFT, base - 34, f"the view: shape {read.shape}, strides {read.strides}, offset {read.offset}", "left")
    for j in range(columns):
        drawing.text(
            LEFT + (j + 0.5) * CELL, base - 12, f"{'ij'[len(read.shape) - 1]} = 0" if j == 0 else str(j), "small"
        )
    for i in range(rows if len(read.shape) == 2 else 0):
        drawing.text(LEFT / 2, base + (i + 0.5) * CELL, "i = 0" if i == 0 else str(i), "small")
    for element, (x, y) in zip(elements, cells, strict=True):
        drawing.box(x, y, CELL, CELL, ROWS[read.owner[element.flat_index] % len(ROWS)])
        drawing.text(x + CELL / 2, y + CELL / 2, short(element.value))

    low = base + rows * CELL
    names = " + ".join(("i · stride 0", "j · stride 1")[: len(read.shape)])
    drawing.text(LEFT, low + 22, f"index in the buffer = offset + {names}", "left")
    for now, (x, y) in enumerate(cells):
        drawing.box(x, y, CELL, CELL, edge=INK, line=3, steps=[now])
        drawing.box(above[now], top, CELL, CELL, edge=INK, line=3, steps=[now])
        drawing.text(LEFT, low + 44, f"= {sums[now]}", "left strong", [now])
    said = [
        f"Element {element.index} is {short(element.value)}, at index {words} of the buffer."
        for element, words in zip(elements, sums, strict=True)
    ]
    title = f"Shape {read.shape}, strides {read.strides}, offset {read.offset}: element after element"
    return drawing.player(title, said, elements, memory(view))


def _sum(element: Element, read: Layout) -> str:
    """The sum that gives the index: "4 + 1 · 4 + 0 · 2 = 8"."""
    pairs = zip(element.index, read.strides, strict=True)
    terms = [f"{at} · {stride}" if stride >= 0 else f"{at} · ({stride})" for at, stride in pairs]
    return f"{' + '.join([str(read.offset), *terms])} = {element.flat_index}"
