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
    left, right, whole = source.of(inside.left), source.of(inside.right), source.quoted(node)
    yield (
        4,
        *source.span(node),
        f"({function}({left}) {sign} ({right}))",
        f"{source.quoted(inside.right)} stands inside of {whole}, and belongs behind it",
    )
    yield (
        4,
        *source.span(node),
        f"(({left}) {sign} {function}({right}))",
        f"{source.quoted(inside.left)} stands inside of {whole}, and belongs before it",
    )


def _computation(source: Source, node: ast.BinOp) -> Iterator[Found]:
    """(a + b) * c, where a + b * c or a * c + b is meant; a + b * c, where it is (a + b) * c; f(a) + b, where it is f(a + b)."""
    sign, whole = SIGNS.get(type(node.op)), source.quoted(node)
    if sign is None:
        return
    left, right = source.of(node.left), source.of(node.right)
    if isinstance(node.op, PRODUCTS) and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, SUMS):
        a, b, inner = source.of(node.left.left), source.of(node.left.right), SIGNS[type(node.left.op)]
        by = f"{sign} {source.quoted(node.right)[1:]}"
        yield (
            6,
            *source.span(node),
            f"({a} {inner} ({b}) {sign} ({right}))",
            f"`{by} belongs to {source.quoted(node.left.right)} alone in {whole}",
        )
        yield (
            6,
            *source.span(node),
            f"(({a}) {sign} ({right}) {inner} {b})",
            f"`{by} belongs to {source.quoted(node.left.left)} alone in {whole}",
        )
    if isinstance(node.op, SUMS) and isinstance(node.right, ast.BinOp) and isinstance(node.right.op, PRODUCTS):
        b, c, inner = source.of(node.right.left), source.of(node.right.right), SIGNS[type(node.right.op)]
        by = f"{inner} {source.quoted(node.right.right)[1:]}"
        yield (
            6,
            *source.span(node),
            f"(({left} {sign} {b}) {inner} ({c}))",
            f"`{by} belongs to all before it in {whole}, which needs brackets",
        )
    if isinstance(node.op, SUMS) and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, PRODUCTS):
        a, b, inner = source.of(node.left.left), source.of(node.left.right), SIGNS[type(node.left.op)]
        of = f"`{source.quoted(node.left.left)[1:-1]} {inner}`"
        yield (
            6,
            *source.span(node),
            f"({a} {inner} ({b} {sign} ({right})))",
            f"{of} belongs to all behind it in {whole}, which needs brackets",
        )
    if isinstance(node.op, PRODUCTS) and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, PRODUCTS):
        a, b, inner = source.of(node.left.left), source.of(node.left.right), SIGNS[type(node.left.op)]
        of = f"`{b} {sign} {right}`"
        yield (
            6,
            *source.span(node),
            f"({a} {inner} (({b}) {sign} ({right})))",
            f"{of} needs brackets in {whole}, else what stands before it comes first",
        )
    if isinstance(node.left, ast.Call) and len(node.left.args) == 1 and not node.left.keywords:
        function, given = source.of(node.left.func), source.of(node.left.args[0])
        yield (
            6,
            *source.span(node),
            f"{function}(({given}) {sign} ({right}))",
            f"{source.quoted(node.right)} stands behind {source.quoted(node.left)}, and belongs inside of it",
        )


READERS = {ast.Call: _call, ast.BinOp: _computation}
