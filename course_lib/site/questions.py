"""Reads a question that an exercise asks in Python, a lambda or a short function, into a tree of lists and facts.

What concerns a case alone becomes a fact, a function to be answered here; what is asked of an answer becomes a tree, in which a
call of a function of the exercise's file is replaced by what it returns. Raises CannotRead at what a page could not answer.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_lib import lexer

OF_CASE = {"inputs", "expected", "label"}  # of a Seen: known before there is an answer
OF_ANSWER = {
    "text",
    "kinds",
    "issues",
}  # what the page knows of an answer, and no coincidence makes (diagnosis.py, FACTS)
OF_ISSUE = {"kind", "line", "other_line", "block", "thread", "message", "count", "source", "other_source"}
FUNCTIONS = {"any", "all", "bool", "set", "len", "min", "max"}
METHODS = {"count", "replace", "startswith", "endswith", "split", "strip", "splitlines", "index", "partition"}
SEARCHES = {"search": "search", "findall": "find all"}  # of re
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


def _is_plain(part: ast.AST) -> bool:
    """Whether a part of an f-string is a value as it is."""
    return isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None


@cache
def _parsed(file: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))))


def source_of(function: Callable) -> _Function:
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


class Reader:
    """Reads one question. facts: what is answered here, a function of a Seen each. asked: what is asked of a Seen."""

    def __init__(self) -> None:
        self.facts: list[Callable] = []
        self.asked: set[str] = set()

    def call(self, function: _Function, given: list, named: dict | None = None) -> list:
        """A call with these arguments, and with those that are `named`: trees, functions, SEEN."""
        node = function.node
        bound = self._bound(node.args, function.names, given, dict(named or {}))
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

    def _bound(self, arguments: ast.arguments, names: dict, given: list, named: dict) -> dict:
        """What each parameter stands for."""
        if arguments.kwarg or arguments.kwonlyargs:
            raise CannotRead
        parameters = [one.arg for one in arguments.args]
        bound = dict(zip(parameters, given, strict=False))
        defaults = dict(zip(reversed(parameters), reversed(arguments.defaults), strict=False))
        for name in parameters[len(given) :]:
            if name not in named and name not in defaults:
                raise CannotRead
            bound[name] = named.pop(name) if name in named else self.read(defaults[name], names, {})
        more = given[len(parameters) :]
        if arguments.vararg:
            bound[arguments.vararg.arg] = ["list", *more]
        elif more:
            raise CannotRead
        if named:
            raise CannotRead
        return bound

    def _assign(self, target: ast.AST, value: ast.AST, names: dict, bound: dict, before: dict) -> None:
        """Bind what stands left of a `=`, names or tuples of them. before: what names meant there."""
        if isinstance(target, ast.Name):
            bound[target.id] = self.read(value, names, before)
            return
        if not isinstance(target, ast.Tuple) or not all(isinstance(one, ast.Name) for one in target.elts):
            raise CannotRead
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            parts = value.elts
        elif self._of_case(value, before):
            row = ast.List([ast.Starred(value, ast.Load())], ast.Load())  # it may be a generator
            parts = [ast.Subscript(row, ast.Constant(i), ast.Load()) for i in range(len(target.elts))]
        else:
            tree = self.read(value, names, before)
            for i, one in enumerate(target.elts):
                bound[one.id] = ["item", tree, self.read(ast.Constant(i), names, before)]
            return
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
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self._each(
                    "set of" if isinstance(node, ast.SetComp) else "list of", node.elt, node.generators, names, bound
                )
            case ast.JoinedStr() if all(isinstance(one, ast.Constant) or _is_plain(one) for one in node.values):
                return ["text", *(of(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values)]
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
            case ast.Attribute(
                attr="code",
                value=ast.Call(func=ast.Attribute(attr="read", value=ast.Name(id=name)), args=[text], keywords=[]),
            ) if names.get(name) is lexer:
                return ["code", of(text)]
            case ast.Attribute() if node.attr in OF_ISSUE:
                return ["field", of(node.value), node.attr]
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                return ["item", of(node.value), of(node.slice)]
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper, step=None)):
                return ["slice", of(node.value), *(of(one or ast.Constant(None)) for one in (lower, upper))]
            case ast.Call(func=ast.Name(id="next"), args=[found, other], keywords=[]):
                return ["first", of(found), of(other)]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name in SEARCHES and len(
                node.args
            ) in (2, 3):
                return self._search(node, names, bound)
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS and not node.keywords:
                return ["method", name, of(node.func.value), *map(of, node.args)]
            case ast.Call(func=ast.Name(id=name)) if all(one.arg for one in node.keywords):
                given = [
                    SEEN if isinstance(one, ast.Name) and bound.get(one.id) is SEEN else of(one) for one in node.args
                ]
                named = {one.arg: of(one.value) for one in node.keywords}
                function = bound.get(name, names.get(name))
                if isinstance(function, _Function) and not named:
                    return self.call(function, given) if name not in bound else self._inner(function, given, bound)
                if inspect.isfunction(function):
                    own = source_of(function)
                    return self._case_alone(function, own, given) or self.call(own, given, named)
                if name in FUNCTIONS and function is None and SEEN not in given and not named:
                    return [name, *given]
        raise CannotRead

    def _inner(self, function: _Function, given: list, bound: dict) -> list:
        names = [one.arg for one in function.node.args.args]
        return self.read(function.node.body, function.names, {**bound, **dict(zip(names, given, strict=True))})

    def _case_alone(self, function: Callable, own: _Function, given: list) -> list | None:
        """A function of one Seen, whatever it does, that looks at nothing of an answer: it is answered here."""
        parameters = [one.arg for one in own.node.args.args]
        if given != [SEEN] or len(parameters) != 1:
            return None
        nodes = list(ast.walk(own.node))
        named = [one for one in nodes if isinstance(one, ast.Name) and one.id == parameters[0]]
        asked = [one.attr for one in nodes if isinstance(one, ast.Attribute) and one.value in named]
        if len(asked) < len(named) or not set(asked) <= OF_CASE:
            return None
        self.asked |= set(asked)
        self.facts.append(function)
        return ["fact", len(self.facts) - 1]

    def _each(self, what: str, element: ast.AST, generators: list, names: dict, bound: dict) -> list:
        """A comprehension; of two `for` the inner one gives a list for each pass of the outer one, and these are joined."""
        one, *more = generators
        if not isinstance(one.target, ast.Name):
            raise CannotRead
        name = f"{one.target.id}{len(bound)}"
        inside = {**bound, one.target.id: ["variable", name]}
        conditions = [self.read(test, names, inside) for test in one.ifs]
        every, found = self.read(one.iter, names, bound), "list of" if more else what
        made = self._each("list of", element, more, names, inside) if more else self.read(element, names, inside)
        tree = [found, name, every, ["and", *conditions], made]
        if more and what == "set of":
            raise CannotRead
        return ["joined", tree] if more else tree

    def _search(self, node: ast.Call, names: dict, bound: dict) -> list:
        pattern, text, *flags = node.args
        if not self._of_case(pattern, bound):
            raise CannotRead
        tree = self.read(pattern, names, bound)
        try:
            words = self.facts[tree[1]](None)
        except AttributeError as error:  # another one in each case
            raise CannotRead from error
        several = node.func.attr == "findall" and re.search(r"(?<!\\)\((?!\?)", words)  # it would give groups
        if several or re.search(r"\(\?[P#(]|\\[AZ]", words):  # which JavaScript reads otherwise
            raise CannotRead
        given = eval(compile(ast.Expression(flags[0]), "", "eval"), names) if flags else 0
        letters = "".join(letter for flag, letter in ((re.S, "s"), (re.M, "m"), (re.I, "i")) if given & flag)
        return [SEARCHES[node.func.attr], tree, letters, self.read(text, names, bound)]

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
