"""Slips at names and numbers: a number off by one, one variable for another, a function for its kin, two that are exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, pairwise

from course_lib.coach.python_source import Source, names_of

MANY = 6  # parameters of a function of which two are exchanged
Found = tuple[int, int, int, str, str]  # rank, start, end, what stands there instead, what is wrong
KIN = (
    ("sum", "mean", "prod", "max", "min", "median"), ("max", "min", "len"), ("maximum", "minimum"),
    ("argmax", "argmin"), ("log", "log2", "log10", "log1p", "exp"), ("exp", "exp2", "expm1", "log"), ("sqrt", "square", "abs"),
    ("floor", "ceil", "round", "trunc", "rint"), ("std", "var"), ("cumsum", "cumprod", "sum"), ("argsort", "sort"),
    ("zeros", "ones", "empty"), ("zeros_like", "ones_like", "empty_like"), ("triu", "tril"), ("any", "all"), ("isnan", "isinf"),
    ("append", "extend"), ("keys", "values", "items"), ("find", "rfind"), ("sin", "cos"), ("logical_and", "logical_or"),
    ("float16", "float32", "float64"), ("int8", "int16", "int32", "int64"), ("pop", "popleft"), ("append", "appendleft"),
    ("hstack", "vstack"), ("ceil", "int", "round", "floor"), ("tanh", "exp"),
    ("ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "AssertionError"),
)  # fmt: skip


def exchanged(source: Source, nodes: list, what: str) -> Iterator[Found]:
    """Two neighbours in each other's place."""
    for a, b in pairwise(nodes):
        (start, _), (_, end) = source.span(a), source.span(b)
        middle = source.text[source.span(a)[1] : source.span(b)[0]]
        yield (
            (2 if len(nodes) == 2 else 3),
            start,
            end,
            source.of(b) + middle + source.of(a),
            f"{source.quoted(a)} and {source.quoted(b)} are exchanged in {what}",
        )


def _tuple(source: Source, node: ast.Tuple) -> Iterator[Found]:
    if isinstance(node.ctx, ast.Load):
        yield from exchanged(source, node.elts, source.quoted(node))


def _constant(source: Source, node: ast.Constant) -> Iterator[Found]:
    value, around = node.value, source.around(node, (ast.expr, ast.stmt))
    while isinstance(around, ast.UnaryOp | ast.Slice):
        around = source.around(around, (ast.expr, ast.stmt))
    simple = ast.expr | ast.Return | ast.Assign | ast.AugAssign
    place = f" in {source.quoted(around)}" if isinstance(around, simple) else ""
    if isinstance(value, bool):
        yield 2, *source.span(node), str(not value), f"`{value}` must be `{not value}`{place}"
    elif isinstance(value, int):
        for other in dict.fromkeys((value + 1, value - 1, *((-1, 0, 1, 2, -2) if abs(value) < 3 else ()))):
            if other != value and getattr(getattr(source.parents[node], "func", None), "id", "") != "round":
                near = abs(other - value) == 1
                shown = f"{other}" if other >= 0 else f"({other})"
                yield (
                    (0 if near and other >= 0 else 4 if other == -1 else 2),
                    *source.span(node),
                    shown,
                    f"the {value}{place} must be {other}",
                )
        function = source.around(node, ast.FunctionDef)
        for counter in _counters(function)[:2] if function and value > 2 and not isinstance(around, ast.Tuple) else ():
            yield (
                3,
                *source.span(node),
                f"({value} + {counter})",
                f"the {value}{place} must grow: `{value} + {counter}`",
            )
    elif isinstance(value, float):
        for other in dict.fromkeys((0.0, 1.0, 2.0, 0.5, -1.0)):
            if other != value:
                yield 4, *source.span(node), f"({other})", f"the {source.of(node)}{place} must be {other:g}"


def _counters(function: ast.FunctionDef) -> list[str]:
    """The variables of loops over a range."""
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For) and isinstance(node.target, ast.Name)]
    return [
        loop.target.id
        for loop in loops
        if getattr(getattr(loop.iter, "func", None), "id", "") == "range" and loop.target.id[0] != "_"
    ]


def _name(source: Source, node: ast.Name) -> Iterator[Found]:
    if isinstance(node.ctx, ast.Load):
        yield from _kin(source, node, node.id, *source.span(node))
        function = source.around(node, ast.FunctionDef)
        known = names_of(function) if function else []
        around = source.around(node, (ast.expr, ast.stmt))
        for other in known[:14] if node.id in known else []:
            if other != node.id and not other.startswith("_"):
                place = (
                    f" in {source.quoted(around)}"
                    if isinstance(around, ast.expr | ast.Return | ast.AugAssign | ast.Assign)
                    else ""
                )
                yield 3, *source.span(node), other, f"`{node.id}`{place} must be `{other}`"
                if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add | ast.Sub) and other == known[0]:
                    yield 4, *source.span(node), "1", f"`{node.id}`{place} must be 1"
                if isinstance(around, ast.BinOp):
                    for sign in "-*+":
                        both = f"{node.id} {sign} {other}"
                        yield 5, *source.span(node), f"({both})", f"`{node.id}`{place} must be `{both}`"


def _attribute(source: Source, node: ast.Attribute) -> Iterator[Found]:
    end = source.span(node)[1]
    yield from _kin(source, node, node.attr, end - len(node.attr), end)
    if node.attr == "T":
        yield 2, *source.span(node), source.of(node.value), f"{source.quoted(node.value)} must not be transposed"


def throughout(source: Source) -> Iterator[tuple[int, int, list[tuple[int, int, str]], str]]:
    """Two parameters in each other's place, wherever a function reads them: rank, line, changes, what is wrong."""
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = [argument.arg for argument in function.args.args]
        read = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        for a, b in combinations(given[:MANY], 2):
            other = {a: b, b: a}
            changes = [(*source.span(node), other[node.id]) for node in read if node.id in other]
            if len(changes) > 1:
                yield (
                    2,
                    min(node.lineno for node in read if node.id in other),
                    changes,
                    f"`{a}` and `{b}` are exchanged",
                )


def _kin(source: Source, node: ast.AST, name: str, start: int, end: int) -> Iterator[Found]:
    for other in dict.fromkeys(one for group in KIN if name in group for one in group if one != name):
        shown = source.quoted(node)
        yield (
            1,
            start,
            end,
            other,
            f"{shown} must be `{other}`" if shown == f"`{name}`" else f"`{name}` must be `{other}` in {shown}",
        )


READERS = {ast.Tuple: _tuple, ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute}
