"""The tape: which operation made which value, and the backward pass over it that yields gradients.

This file knows no Tensor and no device. A gradient is anything that the `add` handed to `backward` can add; a node only
knows its name, its parents, and a function that turns gradients of its outputs into gradients of its inputs.
(Reverse-mode differentiation: Linnainmaa 1970; Baydin et al. 2018, "Automatic differentiation in machine learning".)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from typing import Any


class GraphError(RuntimeError):
    """The tape cannot do what was asked: the graph was freed, there is none, or its values were changed."""


class Node:
    """One entry of the tape: a leaf that needs a gradient, or an operation with the rule of its backward pass.

    name: the operation, "leaf" for a leaf. label: a name given by the user, for drawings.
    parents: for each input the edge (node, number of its output) it came from; None for an input without gradient.
    backward: gradients of the outputs -> gradients of the inputs (None where there is none); None once freed.
    outputs: one weak reference for each value made, so that a drawing can show it while it lives.
    gradient: where a leaf accumulates; set on other nodes only by `backward(..., keep=True)`.
    accumulated: of a leaf: called with nothing when a backward pass has added all that it has for this leaf, and goes on.
    """

    __slots__ = ("accumulated", "backward", "gradient", "label", "name", "outputs", "parents")

    def __init__(self, name: str, parents: Sequence[tuple[Node, int] | None] = (), backward: Callable | None = None):
        self.name, self.label = name, ""
        self.parents = parents
        self.backward = backward
        self.outputs: list = []
        self.gradient: Any = None
        self.accumulated: Callable[[], None] | None = None

    @property
    def is_leaf(self) -> bool:
        return self.name == "leaf"

    def __repr__(self) -> str:
        return f"Node({self.name}{': ' + self.label if self.label else ''})"


_state = threading.local()  # a sample drawn in one thread must not switch off the tape of a training in another


def recording() -> bool:
    """Whether operations are written to the tape in this thread."""
    return getattr(_state, "recording", True)


class no_grad(ContextDecorator):
    """`with no_grad():` or `@no_grad()`: operations inside are not written to the tape, which saves time and memory."""

    def __enter__(self) -> None:
        self.before = recording()
        _state.recording = False

    def __exit__(self, *exception) -> None:
        _state.recording = self.before


def topological_order(root: Node) -> list[Node]:
    """Every node that `root` depends on, each after all its parents, `root` last. Iterative: graphs can be deep."""
    order: list[Node] = []
    visited = {root}
    stack = [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for edge in parents:
            if edge is not None and edge[0] not in visited:
                visited.add(edge[0])
                stack.append((edge[0], iter(edge[0].parents)))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def backward(edge: tuple[Node, int], gradient: Any, add: Callable, retain: bool = False, keep: bool = False) -> None:
    """Propagate `gradient`, that of the value at `edge`, to every leaf, where it is added to what is there already.

    A node runs only when every node that used its value has run: the reverse of the topological order sees to that.
    add: (gradient, gradient) -> their sum, a new value. retain: keep the graph for a second backward pass. keep: leave each
    node's gradient on the node, for inspection. Raises GraphError if a part of the graph was freed by an earlier pass.
    """
    root, number = edge
    waiting: dict[Node, list] = {root: [None] * number + [gradient]}  # gradients of each node's outputs so far
    for node in reversed(topological_order(root)):
        gradients = waiting.pop(node, None)
        if gradients is None:
            continue  # every path from here carried no gradient
        if keep and not node.is_leaf:
            node.gradient = gradients[0] if len(gradients) == 1 else gradients
        if node.is_leaf:
            node.gradient = gradients[0] if node.gradient is None else add(node.gradient, gradients[0])
            if node.accumulated is not None:
                node.accumulated()
            continue
        if node.backward is None:
            raise GraphError(
                f"backward() came to '{node.name}' for a second time, but its saved values were freed by the first. "
                "Compute the loss again before the next backward(), or call the first one with retain_graph=True."
            )
        gradients += [None] * (len(node.outputs) - len(gradients))
        for parent, gradient in zip(node.parents, node.backward(*gradients), strict=True):
            if parent is None or gradient is None:
                continue
            source, number = parent
            slots = waiting.setdefault(source, [])
            slots += [None] * (number + 1 - len(slots))
            slots[number] = gradient if slots[number] is None else add(slots[number], gradient)
        if not retain:
            node.backward = None
