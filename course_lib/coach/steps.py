"""The values that a Python text computes on its way, expression by expression: noted while it runs on the inputs of a case.

    marked(text) -> the same text as code in which each expression of interest goes through one call, and its Sites
    Recorder(sites) takes those calls: which numbers were seen at each site; or it puts other values in the place of one

It runs where the answer runs. What is made of the values stands in parting.py.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.coach import answers
from course_lib.coach.exercise import Exercise
from course_lib.coach.python_source import Source

CALLED = "_course_seen"  # the name of the call
MOST = 20_000  # numbers that are kept of a site; one with more is not looked at
WHOLE = 20  # whole numbers up to this one are counters and indices, which are everywhere
_WRAPPED = (ast.BinOp, ast.Call, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Subscript, ast.ListComp)


@dataclass(frozen=True)
class Site:
    """An expression. inside: the number of the one that it is a part of, -1 if there is none, its own if it is what a sum of a
    loop holds on its way. target: what a statement stores it in, `return` if it is given back, else "". names: the variables that
    it is made of.
    """

    line: int
    words: str
    inside: int
    target: str
    names: tuple[str, ...]


def marked(text: str) -> tuple[ast.Module, list[Site]]:
    """The tree to be compiled, and the sites by number. Raises SyntaxError for a text that is none."""
    source = Source(text)
    marker = _Marker(source)
    tree = marker.visit(source.tree)
    return ast.fix_missing_locations(tree), marker.sites


class _Marker(ast.NodeTransformer):
    """Wraps the expressions of functions; a variable that is added to is looked at where it is used."""

    def __init__(self, source: Source):
        self.source, self.sites = source, []
        self.within, self.target, self.depth = -1, "", 0
        self.added_to: set[str] = set()
        self.loops: list[set[str]] = []  # the variables that each loop around sets

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        before, self.depth = self.added_to, self.depth + 1
        adds = [n.target for n in ast.walk(node) if isinstance(n, ast.AugAssign)]
        self.added_to = before | {t.id for t in adds if isinstance(t, ast.Name)}
        node.body = [one for statement in node.body for one in _as_list(self.visit(statement))]
        self.added_to, self.depth = before, self.depth - 1
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name | ast.Subscript):
            node.value = self._whole(node.value, self.source.of(node.targets[0]))
        else:
            node.value = self.visit(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.AST]:
        target = self.source.of(node.target)
        node.value = self._whole(node.value, target)
        if not self.depth or not isinstance(node.target, ast.Name):
            return node
        number = len(self.sites)
        on_its_way = self.loops and target not in self.loops[-1]
        self.sites.append(Site(node.lineno, f"`{target}`", number if on_its_way else -1, target, (target,)))
        return [node, ast.copy_location(ast.Expr(_wrapped(ast.Name(target, ast.Load()), number)), node)]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None:
            node.value = self._whole(node.value, "return")
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        held = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
        node.value = self._whole(node.value, called.value.id if held else "")  # as of result.append(...)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.visit(node.iter)
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        added = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
        names = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.loops.append({n.id for n in names if id(n) not in added})
        for part in ("body", "orelse"):
            setattr(node, part, [one for statement in getattr(node, part) for one in _as_list(self.visit(statement))])
        self.loops.pop()
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._part(node, lambda: setattr(node, "value", self.visit(node.value)))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        used = isinstance(node.ctx, ast.Load) and node.id in self.added_to
        return self._part(node, lambda: None) if used else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _WRAPPED) and not (
            isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        ):
            return self._part(node, lambda: ast.NodeTransformer.generic_visit(self, node))
        return super().generic_visit(node)

    def _whole(self, node: ast.expr, target: str) -> ast.expr:
        """The value of a statement."""
        if isinstance(node, ast.Tuple):  # of `return a, b` each part is one by itself
            node.elts = [self._whole(part, target) for part in node.elts]
            return node
        self.target = target
        node = self.visit(node)
        self.target = ""
        return node

    def _part(self, node: ast.expr, go_on: Any) -> ast.expr:
        if not self.depth or not hasattr(node, "lineno"):
            go_on()
            return node
        number, outer = len(self.sites), self.within
        names = tuple(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
        self.sites.append(Site(node.lineno, self.source.quoted(node), outer, self.target, names))
        self.within, self.target = number, ""
        go_on()
        self.within = outer
        return ast.copy_location(_wrapped(node, number), node)


def _wrapped(node: ast.expr, number: int) -> ast.expr:
    return ast.Call(ast.Name(CALLED, ast.Load()), [ast.Constant(number), node], [])


def _as_list(found: Any) -> list:
    return found if isinstance(found, list) else [found]


def recorded(exercise: Exercise, texts: list[str], inputs: tuple) -> list[tuple[list[tuple], list]]:
    """Of each text its sites, and the numbers that were seen at them for the inputs of a case."""
    found = []
    for text in texts:
        tree, sites = marked(text)
        recorder = Recorder(sites)
        _call(exercise, _loaded(exercise, tree, recorder), inputs)
        found.append(([tuple(vars(site).values()) for site in sites], recorder.seen()))
    return found


def instead(
    exercise: Exercise, text: str, other: str, pairs: list[tuple[int, int]], inputs: tuple
) -> Iterator[tuple[Any, tuple] | None]:
    """What a text gives if one of its sites has the values of a site of another text, with the inputs as they are then."""
    tree, sites = marked(other)
    theirs = Recorder(sites, whole=True)
    _call(exercise, _loaded(exercise, tree, theirs), inputs)
    tree, sites = marked(text)
    recorder = Recorder(sites)
    function = _loaded(exercise, tree, recorder)
    for site, place in pairs:
        recorder.replace(site, theirs.values[place])
        try:
            got = _call(exercise, function, inputs)
        except Exception:  # as where the shapes do not fit
            yield None
        else:
            yield got if recorder.all_taken else None


def _loaded(exercise: Exercise, tree: ast.Module, recorder: Recorder) -> Any:
    namespace: dict[str, Any] = {"__name__": exercise.name, CALLED: recorder}
    exec(compile(exercise.prelude, "<string>", "exec"), namespace)
    exec(compile(tree, f"{exercise.name}.py", "exec"), namespace)
    return namespace[exercise.defines]


def _call(exercise: Exercise, function: Any, inputs: tuple) -> tuple[Any, tuple]:
    given = copy.deepcopy(inputs)
    with answers.quiet():
        return answers.call(exercise, function, given), given


class Recorder:
    """What CALLED does. whole: whether the values themselves are kept, and not only their numbers."""

    def __init__(self, sites: list[Site], whole: bool = False):
        self.numbers: list[list[np.ndarray] | None] = [[] for _ in sites]
        self.size = [0] * len(sites)
        self.values: list[list] = [[] for _ in sites]
        self.whole = whole
        self.place, self.instead, self.next = -1, (), 0

    def __call__(self, number: int, value: Any) -> Any:
        if number == self.place:
            return self._other(value)
        if self.place < 0 and self.numbers[number] is not None:
            self._see(number, value)
        return value

    def replace(self, place: int, instead: list) -> None:
        """From now on the values of one site are these."""
        self.place, self.instead, self.next = place, instead, 0

    def _other(self, value: Any) -> Any:
        other = copy.deepcopy(self.instead[self.next])  # IndexError: it comes oftener than in the other text
        self.next += 1
        if np.shape(value) != np.shape(other):
            raise ValueError("another shape")
        return other

    @property
    def all_taken(self) -> bool:
        """Whether the site was met as often as there are values for it."""
        return self.next == len(self.instead) > 0

    def _see(self, number: int, value: Any) -> None:
        found = numbers(value)
        if found is None:
            return
        self.size[number] += found.size
        if self.size[number] > MOST:
            self.numbers[number] = None
            self.values[number] = []
            return
        self.numbers[number].append(found)
        if self.whole:
            self.values[number].append(copy.deepcopy(value))

    def seen(self) -> list[np.ndarray | None]:
        """The different numbers of each site, in order; None where there were too many, or none."""
        return [np.unique(np.concatenate(found)) if found else None for found in self.numbers]


def numbers(value: Any) -> np.ndarray | None:
    """The numbers in a value, flat, as float64, but no counters and indices; None if it holds something else."""
    if hasattr(value, "numpy") and hasattr(value, "requires_grad"):
        value = value.numpy()
    if isinstance(value, float | np.floating):
        return np.array([value], np.float64)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return np.array([value] if WHOLE < abs(value) < 2**60 else [], np.float64)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.size <= MOST:
        flat = value.ravel().astype(np.float64)
        return flat if value.dtype.kind == "f" else flat[np.abs(flat) > WHOLE]
    if isinstance(value, list | tuple) and 0 < len(value) <= MOST:
        parts = [numbers(one) for one in value]
        return None if any(part is None for part in parts) else np.concatenate(parts)
    return None
