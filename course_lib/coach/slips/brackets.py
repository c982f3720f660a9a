"""Slips at brackets: a term that stands inside of a bracket and belongs outside, or the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.coach.python_source import Source
from course_lib.coach.slips.names import Found

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@"}
SUMS, PRODUCTS = ast.Add | ast.Sub, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod | ast.MatMult


def _call(source: Source, node: ast.Call) -> Iterator[Found]:
    """f(a + b), where f(a) + b or a + f(b) is meant."""
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.BinOp):
        return
    inside, function = node.args[0], source.of(node.func)
    sign = SIGNS.get(type(inside.op))
    if sign is None:
        return
    left, right, stands = source.of(inside.left), source.of(inside.right), f"stands inside of {source.quoted(node)}"
    for instead, says in (
        (f"({function}({left}) {sign} ({right}))", f"{source.quoted(inside.right)} {stands}, and belongs behind it"),
        (f"(({left}) {sign} {function}({right}))", f"{source.quoted(inside.left)} {stands}, and belongs before it"),
    ):
        yield 4, *source.span(node), instead, says


def _computation(source: Source, node: ast.BinOp) -> Iterator[Found]:
    """What a computation is where its brackets stand elsewhere."""
    if type(node.op) in SIGNS:
        for instead, says in _regrouped(source, node):
            yield 6, *source.span(node), instead, f"{says} in {source.quoted(node)}"
        if isinstance(node.left, ast.Call) and len(node.left.args) == 1 and not node.left.keywords:
            function, given = source.of(node.left.func), source.of(node.left.args[0])
            instead = f"{function}(({given}) {SIGNS[type(node.op)]} ({source.of(node.right)}))"
            says = f"{source.quoted(node.right)} stands behind {source.quoted(node.left)}, and belongs inside of it"
            yield 6, *source.span(node), instead, says


def _regrouped(source: Source, node: ast.BinOp) -> Iterator[tuple[str, str]]:
    """(a + b) * c, where a + b * c or a * c + b is meant; a + b * c, where (a + b) * c is; a * b + c, where a * (b + c) is;
    a / b / c, where a / (b / c) is: what is meant, and what is wrong."""
    sign, left, right = SIGNS[type(node.op)], source.of(node.left), source.of(node.right)
    if isinstance(node.left, ast.BinOp) and type(node.left.op) in SIGNS:
        a, b, inner = source.of(node.left.left), source.of(node.left.right), SIGNS[type(node.left.op)]
        if isinstance(node.op, PRODUCTS) and isinstance(node.left.op, SUMS):
            by = f"`{sign} {source.quoted(node.right)[1:]} belongs to"
            yield f"({a} {inner} ({b}) {sign} ({right}))", f"{by} {source.quoted(node.left.right)} alone"
            yield f"(({a}) {sign} ({right}) {inner} {b})", f"{by} {source.quoted(node.left.left)} alone"
        elif isinstance(node.op, SUMS) and isinstance(node.left.op, PRODUCTS):
            says = f"`{source.quoted(node.left.left)[1:-1]} {inner}` belongs to all behind it, which needs brackets,"
            yield f"({a} {inner} ({b} {sign} ({right})))", says
        elif isinstance(node.op, PRODUCTS):
            says = f"`{b} {sign} {right}` needs brackets, else what stands before it comes first,"
            yield f"({a} {inner} (({b}) {sign} ({right})))", says
    if isinstance(node.op, SUMS) and isinstance(node.right, ast.BinOp) and isinstance(node.right.op, PRODUCTS):
        b, c, inner = source.of(node.right.left), source.of(node.right.right), SIGNS[type(node.right.op)]
        says = f"`{inner} {source.quoted(node.right.right)[1:]} belongs to all before it, which needs brackets,"
        yield f"(({left} {sign} {b}) {inner} ({c}))", says


READERS = {ast.Call: _call, ast.BinOp: _computation}
