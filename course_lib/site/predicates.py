"""What `when` of a known mistake asks, as data that the page answers (engine/predicates.mjs).

Such a question is a lambda of a few lines in an exercise's file. What it asks of a case alone, its inputs, expected results or
label, is answered here, for each case; what it asks of an answer, its text and what the checker tells, becomes a tree of lists.
Functions of the exercise's file that it calls are put in its place if they are a few assignments and a `return`.

Limits: of results only whether they differ, no counters, and no Python beyond what `_Reader` names: else there is no tree.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from course_lib.coach.exercise import Case, Mistake, Wrong

OF_CASE = {"inputs", "expected", "label"}  # of a Seen: known before there is an answer
OF_ANSWER = {
    "text",
    "kinds",
    "issues",
}  # what the page knows of an answer, and no coincidence makes (diagnosis.py, FACTS)
OF_ISSUE = {"kind", "line", "other_line", "block", "thread", "message", "count", "source", "other_source"}
FUNCTIONS = {"any", "all", "bool", "set", "len", "min", "max"}
METHODS = {"count", "replace", "startswith", "endswith", "split", "strip", "splitlines"}
COMPARED = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
            ast.NotIn: "not in", ast.Is: "==", ast.IsNot: "!="}  # fmt: skip
COMPUTED = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Mod: "%",
    ast.FloorDiv: "//",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
SEEN = object()


class CannotRead(Exception):
    """The question is none that a page can answer."""


@dataclass(frozen=True)
class _Function:
    """A lambda or a function of an exercise's file, and what its names mean."""

    node: ast.Lambda | ast.FunctionDef
    names: dict


def export(mistake: Wrong | Mistake, cases: list[tuple[Case, Any]]) -> dict | None:
    """{"tree", "facts": for each case a list of [value], or [] where Python raises}; None where it is none for a page.

    cases: with what is expected.
    """
    try:
        reader = _Reader()
        tree = reader.call(_source(mistake.when), [SEEN])
        if not reader.asked & OF_ANSWER and not mistake.once:
            return None
        seen = [SimpleNamespace(inputs=case.inputs, expected=expected, label=case.label) for case, expected in cases]
        asked = _facts_in(tree)
        facts = [fact if number in asked else None for number, fact in enumerate(reader.facts)]
        return {"tree": tree, "facts": [[_answered(fact, one) if fact else [] for fact in facts] for one in seen]}
    except CannotRead:
        return None


def _facts_in(tree: Any) -> set[int]:
    """Numbers of the facts that a tree asks for; others are steps to these, and may be arrays."""
    if not isinstance(tree, list):
        return set()
    return {tree[1]} if tree[:1] == ["fact"] else set().union(*map(_facts_in, tree))


def _answered(fact: Callable, seen: Any) -> list:
    try:
        value = fact(seen)
    except CannotRead:
        raise
    except Exception:  # which means no: diagnosis.holds
        return []
    return [_plain(value)]


def _plain(value: Any) -> Any:
    """A value as JSON holds it; a set as {"set": [...]}."""
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value
    if (
        value is None
        or isinstance(value, bool | int | str)
        or (isinstance(value, float) and value == value and abs(value) < 1e300)
    ):
        return value
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(map(_plain, value))}
    raise CannotRead


@cache
def _parsed(file: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))))


def _source(function: Callable) -> _Function:
    """The text of a function of Python, as a tree."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise CannotRead
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [
        node for node in _parsed(code.co_filename) if isinstance(node, kind) and node.lineno == code.co_firstlineno
    ]
    if len(found) != 1:
        raise CannotRead
    return _Function(found[0], {**function.__globals__, **inspect.getclosurevars(function).nonlocals})


class _Reader:
    """Reads one question. facts: what is answered here, a function of a Seen each. asked: what is asked of a Seen."""

    def __init__(self) -> None:
        self.facts: list[Callable] = []
        self.asked: set[str] = set()

    def call(self, function: _Function, given: list) -> list:
        """A call with these arguments: trees, functions, SEEN."""
        node, arguments = function.node, function.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise CannotRead
        names = [one.arg for one in arguments.args]
        defaults = [self.read(one, function.names, {}) for one in arguments.defaults]
        given = given + defaults[len(defaults) - (len(names) - len(given)) :] if len(given) < len(names) else given
        if len(given) != len(names):
            raise CannotRead
        bound = dict(zip(names, given, strict=True))
        if isinstance(node, ast.Lambda):
            return self.read(node.body, function.names, bound)
        *before, last = [
            one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]
        for one in before:
            if not (isinstance(one, ast.Assign) and len(one.targets) == 1):
                raise CannotRead
            self._assign(one.targets[0], one.value, function.names, bound, dict(bound))
        if not isinstance(last, ast.Return) or last.value is None:
            raise CannotRead
        return self.read(last.value, function.names, bound)

    def _assign(self, target: ast.AST, value: ast.AST, names: dict, bound: dict, before: dict) -> None:
        """Bind what stands left of a `=`, names or tuples of them. before: what names meant there."""
        if isinstance(target, ast.Name):
            bound[target.id] = self.read(value, names, before)
            return
        if not isinstance(target, ast.Tuple):
            raise CannotRead
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            parts = value.elts
        elif self._of_case(value, before):
            parts = [ast.Subscript(value, ast.Constant(i), ast.Load()) for i in range(len(target.elts))]
        else:
            raise CannotRead
        for one, part in zip(target.elts, parts, strict=True):
            self._assign(one, part, names, bound, before)

    def read(self, node: ast.AST, names: dict, bound: dict) -> Any:
        """The tree of an expression. names: the file's; bound: parameters and variables -> trees."""
        if self._of_case(node, bound):
            return self._fact(node, names, bound)
        of = lambda one: self.read(one, names, bound)  # noqa: E731
        match node:
            case ast.Name(id=name) if name in bound:
                return bound[name]
            case ast.Lambda():
                return _Function(node, names)
            case ast.BoolOp():
                return ["and" if isinstance(node.op, ast.And) else "or", *map(of, node.values)]
            case ast.UnaryOp(op=ast.Not()):
                return ["not", of(node.operand)]
            case ast.IfExp():
                return ["if", of(node.test), of(node.body), of(node.orelse)]
            case ast.Compare() if all(type(op) in COMPARED for op in node.ops):
                sides = [of(one) for one in (node.left, *node.comparators)]
                pairs = [[COMPARED[type(op)], sides[i], sides[i + 1]] for i, op in enumerate(node.ops)]
                return ["and", *pairs] if len(pairs) > 1 else pairs[0]
            case ast.BinOp() if type(node.op) in COMPUTED:
                return [COMPUTED[type(node.op)], of(node.left), of(node.right)]
            case ast.Tuple() | ast.List() | ast.Set():
                return ["set" if isinstance(node, ast.Set) else "list", *map(of, node.elts)]
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() if len(node.generators) == 1:
                return self._each(node, names, bound)
            case ast.Attribute(value=ast.Name(id=name)) if bound.get(name) is SEEN and node.attr in OF_ANSWER:
                self.asked.add(node.attr)
                return ["seen", node.attr]
            case ast.Attribute(value=ast.Name(id=name), attr="error") if bound.get(name) is SEEN:
                self.facts.append(lambda seen: "")  # a text that does not compile is answered before
                return ["fact", len(self.facts) - 1]
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr="failing"), attr="difference") if (
                bound.get(name) is SEEN
            ):
                return ["seen", "difference"]
            case ast.Attribute() if node.attr in OF_ISSUE:
                return ["field", of(node.value), node.attr]
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                return ["item", of(node.value), of(node.slice)]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="search")) if 2 <= len(node.args) <= 3:
                return self._search(node, names, bound)
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS and not node.keywords:
                return ["method", name, of(node.func.value), *map(of, node.args)]
            case ast.Call(func=ast.Name(id=name)) if not node.keywords:
                given = [
                    SEEN if isinstance(one, ast.Name) and bound.get(one.id) is SEEN else of(one) for one in node.args
                ]
                function = bound.get(name, names.get(name))
                if isinstance(function, _Function):
                    return self.call(function, given) if name not in bound else self._inner(function, given, bound)
                if inspect.isfunction(function):
                    return self.call(_source(function), given)
                if name in FUNCTIONS and function is None and SEEN not in given:
                    return [name, *given]
        raise CannotRead

    def _inner(self, function: _Function, given: list, bound: dict) -> list:
        names = [one.arg for one in function.node.args.args]
        return self.read(function.node.body, function.names, {**bound, **dict(zip(names, given, strict=True))})

    def _each(self, node: Any, names: dict, bound: dict) -> list:
        (one,) = node.generators
        if not isinstance(one.target, ast.Name):
            raise CannotRead
        name = f"{one.target.id}{len(bound)}"
        inside = {**bound, one.target.id: ["variable", name]}
        conditions = [self.read(test, names, inside) for test in one.ifs]
        what = "set of" if isinstance(node, ast.SetComp) else "list of"
        return [what, name, self.read(one.iter, names, bound), ["and", *conditions], self.read(node.elt, names, inside)]

    def _search(self, node: ast.Call, names: dict, bound: dict) -> list:
        pattern, text, *flags = node.args
        if not self._of_case(pattern, bound) or re.search(r"\(\?[P#(]|\\[AZ]", getattr(pattern, "value", "(?P")):
            raise CannotRead
        given = eval(compile(ast.Expression(flags[0]), "", "eval"), names) if flags else 0
        letters = "".join(letter for flag, letter in ((re.S, "s"), (re.M, "m"), (re.I, "i")) if given & flag)
        return ["search", self.read(pattern, names, bound), letters, self.read(text, names, bound)]

    def _of_case(self, node: ast.AST, bound: dict) -> bool:
        """Whether nothing of an answer is in an expression."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and bound.get(node.value.id) is SEEN:
            return node.attr in OF_CASE
        if isinstance(node, ast.Lambda):
            return False
        if isinstance(node, ast.Name) and node.id in bound:
            tree = bound[node.id]
            return isinstance(tree, list) and tree[0] == "fact"
        return all(self._of_case(child, bound) for child in ast.iter_child_nodes(node))

    def _fact(self, node: ast.AST, names: dict, bound: dict) -> list:
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id in bound}

        def fact(seen: Any) -> Any:
            own = {name: seen if bound[name] is SEEN else self.facts[bound[name][1]](seen) for name in used}
            return eval(code, {**names, **own})

        self.asked |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr in OF_CASE}
        self.facts.append(fact)
        return ["fact", len(self.facts) - 1]
