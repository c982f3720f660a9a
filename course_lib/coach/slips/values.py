"""Slips at values: one too large, the wrong sign, a root or an absolute value that is missing, a list where it is a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.coach.python_source import Source, holds_slice
from course_lib.coach.slips.names import Found

SIGN, FROM_ONE = "(-({}))", "(1 - ({}))"
WRAPPED = (  # what is done to a value, and what it says of one to which it must be done
    ("({})[-1]", "is a row of several, and only the last is asked for"), (SIGN, "has the wrong sign"),
    ("({})[0]", "is a row of several, and only the first is asked for"), ("abs({})", "lacks the absolute value"),
    ("np.sqrt({})", "lacks the square root"), ("(({}) ** 2)", "must be squared"),
    (FROM_ONE, "must be subtracted from 1"), ("(1 / ({}))", "must be its reciprocal"),
    ("int({})", "must be made a whole number"), ("(2 * ({}))", "must be doubled"), ("(({}) / 2)", "must be halved"),
    ("math.ceil({})", "must be rounded up"), ("({}).sum()", "must be added up to one number"),
    ("({}).mean()", "must be averaged"), ("list({})", "must be made a list"), ("({}).copy()", "must be a copy"),
    ("({})[::-1]", "stands in the reverse order"), ("({}).T", "must be transposed"), ("sorted({})", "must be sorted"),
    ("[{}]", "must be a list of its own"), ("max({}, 0)", "must not fall below 0"), ("max({}, 1)", "must not fall below 1"),
    ("np.asarray({})", "must be an array"),
)  # fmt: skip
LOOSE = (ast.IfExp, ast.BoolOp, ast.Compare, ast.NamedExpr)  # what + binds more than
OF_RESULTS = (("np.exp({})", "lacks the exp"), ("np.log({})", "lacks the log"))


def around(source: Source, node: ast.expr) -> Iterator[Found]:
    """One more thing done to a value: one more or less, another sign, a root, an absolute value."""
    parent = source.parents.get(node)
    if holds_slice(node) or isinstance(
        node, ast.Constant | ast.JoinedStr | ast.Starred | ast.Lambda | ast.GeneratorExp
    ):
        return
    if (isinstance(parent, ast.Call) and node is parent.func) or isinstance(
        parent, ast.Attribute | ast.keyword | ast.JoinedStr
    ):
        return
    start, end = source.span(node)
    if start and source.text[start - 1 : start] == "(" and isinstance(node, ast.GeneratorExp):
        return
    text, shown = source.of(node), source.quoted(node)
    bound = isinstance(parent, ast.Slice | ast.Subscript | ast.Compare) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "range"
    )
    if isinstance(parent, ast.Subscript) and node is parent.value:
        bound = False
    counted = bound and (not isinstance(node, ast.Call) or getattr(node.func, "id", "") == "len")
    whole = f"({text})" if isinstance(node, LOOSE) else text
    yield (0 if counted else 4), start, end, f"({whole} + 1)", f"{shown} is one too small"
    yield (0 if counted else 4), start, end, f"({whole} - 1)", f"{shown} is one too large"
    if bound and isinstance(parent, ast.Slice | ast.Subscript):
        return
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len":
        return  # calls.py: another length is meant, and no other value
    tall = isinstance(parent, ast.Return | ast.Assign | ast.AugAssign | ast.Tuple | ast.BinOp)
    rank = 4 if tall else 6
    counts = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("min", "max", "len", "int", "range")
    for wrapped, says in WRAPPED + (OF_RESULTS if isinstance(parent, ast.Return | ast.Assign) else ()):
        if counts and wrapped == FROM_ONE:
            continue  # of a fraction
        likely = tall and wrapped == SIGN and isinstance(node, ast.BinOp)
        yield (2 if likely else rank), start, end, wrapped.format(text), f"{shown} {says}"
