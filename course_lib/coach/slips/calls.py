"""Slips at calls, loops and indices: the wrong axis, a range that begins or ends elsewhere, a bound too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.coach.python_source import Source
from course_lib.coach.slips.names import Found, exchanged

REDUCTIONS = {"sum", "mean", "max", "min", "argmax", "argmin", "cumsum", "std", "var", "prod", "argsort", "sort", "norm", "any",
              "all"}  # fmt: skip
POLITE = {"list", "tuple", "int", "float", "sorted", "reversed", "abs", "round"}


def _call(source: Source, node: ast.Call) -> Iterator[Found]:
    whole, name = source.quoted(node), getattr(node.func, "attr", getattr(node.func, "id", ""))
    inside = node.args[0] if node.args else getattr(node.func, "value", None)
    plain = [arg for arg in node.args if not isinstance(arg, ast.Starred)]
    for keyword in node.keywords:
        start, end = source.span(keyword)
        if keyword.arg == "strict":
            continue
        if keyword.arg == "axis":
            for axis in ("-1", "0", "1", "-2", "None"):
                if source.of(keyword.value) != axis:
                    wanted = "all axes are" if axis == "None" else f"axis {axis} is"
                    yield 0, *source.span(keyword.value), axis, f"{whole} runs over the wrong axis: {wanted} meant"
        before = source.text[:start].rstrip()
        if before.endswith(","):
            yield 2, len(before) - 1, end, "", f"`{source.of(keyword)}` must not be in {whole}"
    given = {keyword.arg for keyword in node.keywords}
    at_end = source.span(node)[1] - 1
    comma = ", " if node.args or node.keywords else ""
    if name in REDUCTIONS and "axis" not in given and len(node.args) < 2:
        keep = "" if name.startswith("arg") or name in ("cumsum", "sort") else ", keepdims=True"
        for axis in ("-1", "0"):
            yield (
                1,
                at_end,
                at_end,
                f"{comma}axis={axis}{keep}",
                f"{whole} takes all axes together: only axis {axis} is meant",
            )
    if name in REDUCTIONS and "axis" in given and "keepdims" not in given:
        yield (
            1,
            at_end,
            at_end,
            ", keepdims=True",
            f"{whole} drops the axis: it must be kept, with the size 1 (`keepdims=True`)",
        )
    if name in ("std", "var") and "ddof" not in given:
        yield 1, at_end, at_end, f"{comma}ddof=1", f"{whole} divides by n: here it is n - 1"
    if name in ("sorted", "sort") and "reverse" not in given and isinstance(node.func, ast.Name):
        yield 1, at_end, at_end, f"{comma}reverse=True", f"{whole} puts the smallest first, not the largest"
    if name == "len" and len(node.args) == 1 and isinstance(inside, ast.Name):
        shown = f"{source.of(inside)}.shape[-1]"
        yield 2, *source.span(node), shown, f"{whole} counts the rows: the length of one is meant, `{shown}`"
        yield (
            3,
            *source.span(node),
            f"len({source.of(inside)}[0])",
            f"{whole} counts the rows: the length of one is meant",
        )
        shown = f"{source.of(inside)}.size"
        yield (
            3,
            *source.span(node),
            shown,
            f"{whole} counts along the first axis alone: all elements are meant, `{shown}`",
        )
    if len(plain) == len(node.args):
        yield from exchanged(source, node.args, whole)
    if name == "range" and node.args and len(plain) == len(node.args):
        yield from _range(source, node, whole)
    elif (
        inside is not None
        and not isinstance(inside, ast.Starred | ast.GeneratorExp)
        and (name in POLITE or len(node.args) < 3)
    ):
        yield (
            (1 if name in POLITE else 3),
            *source.span(node),
            f"({source.of(inside)})",
            f"`{name}` must not be in {whole}",
        )


def _range(source: Source, node: ast.Call, whole: str) -> Iterator[Found]:
    arguments = [source.of(arg) for arg in node.args]
    if len(arguments) == 1:
        yield 1, *source.span(node), f"range(1, {arguments[0]})", f"{whole} begins with 0, one too early"
        yield 1, *source.span(node), f"range(1, {arguments[0]} + 1)", f"{whole} counts from 0: here one counts from 1"
    if len(arguments) == 2:
        yield (
            0,
            *source.span(node),
            f"range({arguments[1]})",
            f"{whole} leaves out the first ones: it must begin with 0",
        )
    if len(arguments) < 3:
        yield (
            1,
            *source.span(node),
            f"reversed({source.of(node)})",
            f"{whole} runs from the first to the last: it must be the other way round",
        )


def _loop(source: Source, node: ast.For | ast.comprehension) -> Iterator[Found]:
    over, shown = source.of(node.iter), source.quoted(node.iter)
    for instead, says in ((f"reversed(list({over}))", "in the reverse order"), (f"list({over})[1:]", "without the first of them"),
                          (f"list({over})[:-1]", "without the last of them"),
                          (f"sorted({over})", "in sorted order")):  # fmt: skip
        yield 3, *source.span(node.iter), instead, f"the loop over {shown} must go over it {says}"
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "reversed":
        yield (
            1,
            *source.span(node.iter),
            f"({source.of(node.iter.args[0])})",
            f"the loop over {shown} goes in the wrong direction",
        )


def _comprehension(
    source: Source, node: ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
) -> Iterator[Found]:
    for one in node.generators:
        for _, start, end, instead, says in _loop(source, one):
            yield 4, start, end, instead, says
        for test in one.ifs:
            yield 3, *source.span(test), "True", f"the condition {source.quoted(test)} must not be there"
            yield (
                2,
                *source.span(test),
                f"(not ({source.of(test)}))",
                f"the condition {source.quoted(test)} is the reverse of what it must be",
            )


def _single(source: Source, node: ast.List) -> Iterator[Found]:
    """[x], where it is to be left out if x is empty."""
    if len(node.elts) == 1 and isinstance(node.elts[0], ast.Name):
        name = node.elts[0].id
        says = f"`[{name}]` must be left out where `{name}` is empty"
        yield 5, *source.span(node), f"([{name}] if len({name}) else [])", says


def _subscript(source: Source, node: ast.Subscript) -> Iterator[Found]:
    if not isinstance(node.ctx, ast.Load):
        return
    for index in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub) and source.of(index.right) == "1":
            shown = f"-{source.of(index.left)}" if isinstance(index.left, ast.Name) else f"-({source.of(index.left)})"
            says = (
                f"`{source.of(index)}` in {source.quoted(node)} counts from the beginning: from the end it is `{shown}`"
            )
            yield 2, *source.span(index), shown, says
    whole, value = source.quoted(node), source.of(node.value)
    yield 4, *source.span(node), value, f"{whole} must be all of {source.quoted(node.value)}"
    if isinstance(node.value, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        inner, outer = source.span(node.value.slice), source.span(node.slice)
        middle = source.text[inner[1] : outer[0]]
        says = f"the indices of {whole} are exchanged"
        yield 1, inner[0], outer[1], f"{source.of(node.slice)}{middle}{source.of(node.value.slice)}", says
    if isinstance(node.slice, ast.Name | ast.Subscript | ast.Constant):
        for other, shown in (("0", "0"), ("()", "nothing"), ("[]", "nothing")):
            get = f"{value}.get({source.of(node.slice)}, {other})"
            yield 2, *source.span(node), get, f"{whole} asks for a key that may not be there: it counts as {shown} then"


def _slice(source: Source, node: ast.Slice) -> Iterator[Found]:
    whole = source.quoted(source.around(node, ast.Subscript))
    for bound in (node.lower, node.upper):
        if bound is not None:
            end = "begins" if bound is node.lower else "ends"
            yield 3, *source.span(bound), "", f"{whole} {end} in the wrong place: there must be no bound"
    if node.step is not None and source.of(node.step) == "-1":
        yield 2, *source.span(node.step), "1", f"{whole} reverses the order, which must stay"


def _left_out(source: Source, node: ast.stmt) -> Iterator[Found]:
    if isinstance(node, ast.Break | ast.Continue):
        word = source.of(node)
        yield 3, *source.span(node), "pass", f"the `{word}` must not be there"
        yield (
            3,
            *source.span(node),
            {"break": "continue", "continue": "break"}[word],
            f"the `{word}` does not do what is meant: the loop must {'go on' if word == 'break' else 'end'}",
        )


READERS = {ast.Call: _call, ast.List: _single, ast.For: _loop, ast.Subscript: _subscript,
           ast.Slice: _slice, ast.ListComp: _comprehension,
           ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension, ast.SetComp: _comprehension, ast.Break: _left_out,
           ast.Continue: _left_out}  # fmt: skip
