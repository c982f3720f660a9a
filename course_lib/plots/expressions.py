"""How a tensor was made: its tape, drawn from the live objects, inputs at the left, the result at the right.

Each box is one entry of the tape: the operation, the shape of what it made, the values where they are few, and the gradient
once `backward(keep_gradients=True)` has left one. Values are read through weak references: a tensor that nobody holds any
more is drawn without. Layers by longest path, order in them by barycentres (Sugiyama et al. 1981).
"""

import itertools
from typing import Any

import numpy as np
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from course_lib import autograd
from course_lib.autograd import Node
from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PAPER, SMALL, TEXT, VERMILLION, sheet, styled

MOST = 60  # boxes that a person can still follow
FEW = 4  # elements whose values are written out
GAP, LINE, AIR = 0.62, 0.2, 0.22  # inches: between layers, a line of text, between boxes
NARROWEST, LETTER, BOLD = 1.1, 0.087, 0.115  # inches: a box, a letter of its lines, a letter of its name

Slot = Node | tuple[Node, Node, int]  # a box, or the point where a long edge passes through a layer


@styled()
def graph(tensor: Any, title: str = "") -> Picture:
    """The expression that made a tensor. Name its leaves: `Tensor(2.0, requires_grad=True, name="w")`.

    Raises ValueError for a tensor that is off the tape, or whose graph has more than 60 entries.
    """
    if not hasattr(tensor, "node"):
        raise TypeError(
            f"graph() draws how a Tensor of course_lib was made; a {type(tensor).__name__} keeps no node to draw."
        )
    if tensor.node is None:
        raise ValueError(
            "This tensor does not know how it was made: nothing it depends on was given requires_grad=True "
            "(or it was computed under no_grad()). Give one of its inputs requires_grad=True and compute it again."
        )
    nodes = autograd.topological_order(tensor.node)
    if len(nodes) > MOST:
        raise ValueError(f"This graph has {len(nodes)} entries, too many to read in one picture (the most is {MOST}).")
    layers = arrange(nodes)
    words = {node: describe(node) for node in nodes}
    tall = {slot: AIR / 2 + (LINE * len(words[slot]) + 0.16 if isinstance(slot, Node) else 0.1)
            for layer in layers for slot in layer}  # fmt: skip
    height = max(sum(tall[slot] + AIR for slot in layer) for layer in layers) + (0.4 if title else 0.1)
    wide = [max(_width(words[slot]) if isinstance(slot, Node) else 0 for slot in layer) for layer in layers]
    width = sum(wide) + GAP * (len(wide) - 1) + 0.3
    made, axes = sheet(width, height)
    if title:
        axes.text(0.15, height - 0.12, title, fontsize=TEXT + 1, va="top")
    middles = positions(layers, wide, tall, height - (0.4 if title else 0))
    half = {slot: wide[column] / 2 for column, layer in enumerate(layers) for slot in layer}
    for node in nodes:
        _box(axes, node, words[node], middles[node], 2 * half[node], node is tensor.node)
    for node in nodes:
        for parent in {edge[0] for edge in node.parents if edge is not None}:
            through = [middles[slot] for slot in _passes(parent, node, layers)]
            (x0, y0), (x1, y1) = middles[parent], middles[node]
            _edge(axes, [(x0 + half[parent], y0), *through, (x1 - half[node] - 0.06, y1)])
    return picture(made, _alt(nodes, tensor))


def arrange(nodes: list[Node]) -> list[list[Slot]]:
    """The layers from left to right, each from top to bottom. nodes: in topological order."""
    depth: dict[Node, int] = {}
    for node in nodes:
        depth[node] = 1 + max((depth[edge[0]] for edge in node.parents if edge is not None), default=-1)
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for parent in {edge[0]: None for edge in node.parents if edge is not None}:
            users[parent].append(node)
    for node in reversed(nodes):  # a leaf stands just before its first user, not at the far left
        if node.is_leaf and users[node]:
            depth[node] = min(depth[user] for user in users[node]) - 1
    layers: list[list[Slot]] = [[] for _ in range(max(depth.values()) + 1)]
    links: dict[Slot, list[Slot]] = {}
    for node in nodes:
        layers[depth[node]].append(node)
    for parent in nodes:
        for node in users[parent]:
            chain = [parent, *((parent, node, layer) for layer in range(depth[parent] + 1, depth[node])), node]
            for slot in chain[1:-1]:
                layers[slot[2]].append(slot)
            for left, right in itertools.pairwise(chain):
                links.setdefault(left, []).append(right)
                links.setdefault(right, []).append(left)
    for sweep in range(8):
        order = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for number_ in order:
            beside = layers[number_ - 1 if sweep % 2 == 0 else number_ + 1]
            rank = {slot: row / max(len(beside) - 1, 1) for row, slot in enumerate(beside)}
            layers[number_].sort(key=lambda slot: _mean([rank[other] for other in links[slot] if other in rank]))
    return layers


def positions(
    layers: list[list[Slot]], wide: list[float], tall: dict[Slot, float], height: float
) -> dict[Slot, tuple[float, float]]:
    """The middle of each slot, in inches: layers side by side, slots spread over the height."""
    middles = {}
    for column, layer in enumerate(layers):
        x = 0.15 + sum(wide[:column]) + GAP * column + wide[column] / 2
        free = (height - sum(tall[slot] for slot in layer)) / (len(layer) + 1)
        y = height
        for slot in layer:
            y -= free + tall[slot] / 2
            middles[slot] = x, y
            y -= tall[slot] / 2
    return middles


def describe(node: Node) -> list[str]:
    """The lines of a box: what it is, its shape and values, its gradient."""
    lines = [node.label or ("leaf" if node.is_leaf else node.name)]
    made = [output() for output in node.outputs]
    if any(tensor is not None for tensor in made):
        tensor = next(tensor for tensor in made if tensor is not None)
        lines.append(_values(tensor.numpy()))
    gradients = node.gradient if isinstance(node.gradient, list) else [node.gradient]
    if gradients[0] is not None:
        lines.append("grad " + _values(np.asarray(gradients[0])))
    return lines


def _values(values: np.ndarray) -> str:
    if values.size > FEW:
        return f"shape {values.shape}"
    written = np.array2string(values, separator=", ", formatter={"float_kind": lambda value: f"{value + 0.0:.3g}"})
    return " ".join(written.split())


def _width(lines: list[str]) -> float:
    return max(NARROWEST, BOLD * len(lines[0]) + 0.25, *(LETTER * len(line) + 0.25 for line in lines))


def _box(axes, node: Node, lines: list[str], middle: tuple[float, float], width: float, last: bool) -> None:
    x, y = middle
    height = LINE * len(lines) + 0.16
    edge = GREEN if last else BLUE if node.is_leaf else ORANGE
    axes.add_patch(
        FancyBboxPatch((x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.1",
                       facecolor=PAPER, edgecolor=edge, linewidth=2.2)
    )  # fmt: skip
    for row, line in enumerate(lines):
        at = y + (len(lines) - 1) * LINE / 2 - row * LINE
        color = VERMILLION if line.startswith("grad ") else INK
        axes.text(x, at, line, ha="center", va="center", fontsize=TEXT if row == 0 else SMALL, color=color,
                  weight="bold" if row == 0 else "normal")  # fmt: skip


def _edge(axes, points: list[tuple[float, float]]) -> None:
    """A smooth line through the middles of the layers between, with an arrow head at its end."""
    corners, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = (x0 + x1) / 2
        corners += [(middle, y0), (middle, y1), (x1, y1)]
        codes += [Path.CURVE4] * 3
    axes.add_patch(PathPatch(Path(corners, codes), fill=False, edgecolor=GREY, linewidth=1.5, zorder=0))
    x, y = points[-1]
    axes.fill([x + 0.06, x - 0.06, x - 0.06], [y, y + 0.05, y - 0.05], color=GREY, linewidth=0)


def _passes(parent: Node, node: Node, layers: list[list[Slot]]) -> list[Slot]:
    return [slot for layer in layers for slot in layer if isinstance(slot, tuple) and slot[:2] == (parent, node)]


def _mean(ranks: list[float]) -> float:
    return sum(ranks) / len(ranks) if ranks else 0.5


def _alt(nodes: list[Node], tensor: Any) -> str:
    operations = [node.name for node in nodes if not node.is_leaf]
    leaves = [node for node in nodes if node.is_leaf]
    names = ", ".join(node.label or "one without a name" for node in leaves)
    value = f"the value {number(tensor.item())}" if tensor.size == 1 else f"the shape {tensor.shape}"
    words = f"Graph of {len(operations)} operations ({', '.join(operations)}) on {len(leaves)} leaves ({names})"
    gradients = [f"{node.label} {_values(np.asarray(node.gradient))}" for node in leaves
                 if node.label and node.gradient is not None and np.size(node.gradient) <= FEW]  # fmt: skip
    reached = f"; gradients: {', '.join(gradients)}" if gradients else ""
    return f"{words}; the result has {value}{reached}."
