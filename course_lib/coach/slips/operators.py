"""Slips at operators: a comparison at its border, another operation, exchanged sides, a condition the wrong way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from course_lib.coach.python_source import Source
from course_lib.coach.slips.names import Found, exchanged

COMPARED = {"<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="), ">=": (">", "<=", "<"),
            "==": ("!=", ">=", "<="), "!=": ("==", "<", ">"), "in": ("not in",), "not in": ("in",), "is": ("is not",),
            "is not": ("is",)}  # fmt: skip
COMPUTED = {"+": ("-", "*"), "-": ("+", "*"), "*": ("+", "/", "@", "**"), "/": ("*", "//"), "//": ("/", "%", "*"),
            "%": ("//", "/"), "**": ("*", "+"), "@": ("*",), "&": ("|",), "|": ("&",)}  # fmt: skip
MUST = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "divide and leave the fraction out",
        "%": "take the remainder", "**": "raise to a power", "@": "multiply matrices", "&": "take what both have",
        "|": "take what either has"}  # fmt: skip
FRACTION = {
    ("//", "/"): "leaves the fraction out, which must be kept (`/`)",
    ("/", "//"): "keeps the fraction, which must be left out (`//`)",
}


def _between(source: Source, left: ast.AST, right: ast.AST) -> tuple[int, int, str]:
    """The operator between two operands, without the brackets around them."""
    start, end = source.span(left)[1], source.span(right)[0]
    found = re.search(
        r"not\s+in|is\s+not|\bin\b|\bis\b|\*\*|//|<=|>=|==|!=|\band\b|\bor\b|[-+*/%<>@&|^]", source.text[start:end]
    )
    return (start + found.start(), start + found.end(), " ".join(found[0].split())) if found else (start, start, "")


def _comparison(source: Source, node: ast.Compare) -> Iterator[Found]:
    for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
        start, end, sign = _between(source, left, right)
        for other in COMPARED.get(sign, ()):
            equal = {sign, other} in ({"<", "<="}, {">", ">="})
            wrong = "is wrong where the two are equal" if equal else f"must ask for `{other}`"
            yield (
                (0 if equal else 4 if sign in ("==", "!=") else 2),
                start,
                end,
                other,
                f"{source.quoted(node)} {wrong}",
            )


def _computation(source: Source, node: ast.BinOp) -> Iterator[Found]:
    start, end, sign = _between(source, node.left, node.right)
    left, right, whole = source.of(node.left), source.of(node.right), source.quoted(node)
    for other in COMPUTED.get(sign, ()):
        yield (
            (1 if {sign, other} in ({"/", "//"}, {"+", "-"}, {"*", "/"}) else 3),
            start,
            end,
            other,
            f"{whole} {FRACTION.get((sign, other), 'must ' + MUST[other])}",
        )
    if sign == "+" and isinstance(node.left, ast.Call) and getattr(node.left.func, "attr", "") == "std":
        variance = re.sub(r"\.std(\s*\()", r".var\1", left, count=1)
        says = f"{source.quoted(node.right)} belongs under the root, to the variance, in {whole}"
        yield 1, *source.span(node), f"np.sqrt({variance} + {right})", says
    if sign in ("-", "/", "//", "%", "@", "**"):
        yield 3, *source.span(node), f"({right}) {sign} ({left})", f"the two sides of {whole} are exchanged"
    if sign == "//":
        yield 3, *source.span(node), f"(-(-({left}) // ({right})))", f"{whole} must round up"
    if sign == "@":
        for side, other in (
            (node.left, f"np.swapaxes({left}, -1, -2) @ ({right})"),
            (node.right, f"({left}) @ np.swapaxes({right}, -1, -2)"),
        ):
            yield 3, *source.span(node), other, f"{source.quoted(side)} must be transposed in {whole}"
    if sign in ("+", "-", "*", "/", "//", "**", "%"):
        yield (
            (0 if isinstance(node.right, ast.Constant | ast.UnaryOp) else 4),
            *source.span(node),
            f"({left})",
            f"`{sign} {source.quoted(node.right)[1:]} is too much in {whole}",
        )
        if sign == "*" and isinstance(node.left, ast.UnaryOp):
            shown = source.quoted(node.left.operand)[1:-1]
            yield 4, *source.span(node), f"(-({right}))", f"`{shown} *` is too much in {whole}"
        if sign in ("+", "*"):
            yield (
                4,
                *source.span(node),
                f"({right})",
                f"`{source.quoted(node.left)[1:-1]} {sign}` is too much in {whole}",
            )


def _added(source: Source, node: ast.AugAssign) -> Iterator[Found]:
    (_, start), (end, _) = source.span(node.target), source.span(node.value)
    sign = source.text[start:end].strip()
    for other in ("+=", "-=", "*=", "/=", "="):
        if other != sign:
            must = "store the value, not change what is there" if other == "=" else MUST[other[:-1]]
            yield 3, start, end, f" {other} ", f"{source.quoted(node)} must {must}"


def buffered(source: Source) -> Iterator[tuple[int, int, list[tuple[int, int, str]], str]]:
    """x[index] += value, which adds once where an index comes twice: each such line, and all of them together."""
    found = []
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add | ast.Sub)
            and isinstance(node.target, ast.Subscript)
        ):
            name = "add" if isinstance(node.op, ast.Add) else "subtract"
            array, index = source.of(node.target.value), source.of(node.target.slice)
            index = f"({index})" if isinstance(node.target.slice, ast.Tuple) else index
            change = (*source.span(node), f"np.{name}.at({array}, {index}, {source.of(node.value)})")
            found.append(
                (
                    node.lineno,
                    change,
                    f"{source.quoted(node)} counts an index that comes twice only once: np.{name}.at counts each",
                )
            )
    for line, change, says in found:
        yield 3, line, [change], says
    if len(found) > 1:
        lines = ", ".join(str(line) for line, *_ in found)
        yield 3, found[0][0], [change for _, change, _ in found], f"{found[0][2]}, and so in all such lines ({lines})"


def _stored(source: Source, node: ast.Assign) -> Iterator[Found]:
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name | ast.Subscript):
        (_, start), (end, _) = source.span(node.targets[0]), source.span(node.value)
        for rank, other, must in ((3, "+=", "add to"), (5, "*=", "multiply"), (5, "-=", "subtract from")):
            yield rank, start, end, f" {other} ", f"{source.quoted(node)} must {must} what is there, not replace it"
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
        yield from exchanged(source, node.targets[0].elts, "the names on the left of `=`")


def _negated(source: Source, node: ast.UnaryOp) -> Iterator[Found]:
    inside = source.of(node.operand)
    if isinstance(node.op, ast.USub):
        yield 2, *source.span(node), f"({inside})", f"{source.quoted(node)} has the wrong sign"
    elif isinstance(node.op, ast.Not | ast.Invert):
        yield 2, *source.span(node), f"({inside})", f"{source.quoted(node)} is the reverse of what it must be"


def _condition(source: Source, node: ast.If | ast.IfExp | ast.While) -> Iterator[Found]:
    start, end = source.span(node.test)
    test, shown = source.of(node.test), source.quoted(node.test)
    yield 2, start, end, f"(not ({test}))", f"the condition {shown} is the reverse of what it must be"
    if not isinstance(node, ast.While):
        yield 3, start, end, "True", f"what stands under the condition {shown} must be done without it"
        yield 3, start, end, "False", f"what stands under the condition {shown} must not be done"
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        place = source.span(node.orelse[0])[0]
        if source.text[place:].startswith("elif"):
            yield 3, place, place + 4, "if", f"the `elif` after {shown} must be an `if`: both may hold"


def _both(source: Source, node: ast.BoolOp) -> Iterator[Found]:
    for left, right in zip(node.values, node.values[1:], strict=False):
        start, end, sign = _between(source, left, right)
        other = {"and": "or", "or": "and"}.get(sign)
        if other:
            yield 2, start, end, other, f"{source.quoted(node)} needs `{other}`, not `{sign}`"
    for value in node.values:
        yield (
            4,
            *source.span(node),
            f"({source.of(value)})",
            f"only {source.quoted(value)} counts in {source.quoted(node)}",
        )


READERS = {ast.Compare: _comparison, ast.BinOp: _computation, ast.AugAssign: _added, ast.Assign: _stored, ast.UnaryOp: _negated,
           ast.If: _condition, ast.While: _condition, ast.IfExp: _condition, ast.BoolOp: _both}  # fmt: skip
