"""Statements of a Python text that stand in the wrong place: under a loop, behind it, before one another, or too many."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from course_lib.coach.python_source import Source

Change = tuple[int, int, list[tuple[int, int, str]], str]  # rank, line, what is replaced in the text, what is wrong
BLOCKS = ast.For | ast.While | ast.If


def moves(source: Source) -> Iterator[Change]:
    """Changes of one statement's place."""
    lines = source.text.splitlines(keepends=True)
    for owner in ast.walk(source.tree):
        for field in ("body", "orelse"):
            body = getattr(owner, field, None)
            if (
                not isinstance(body, list)
                or not body
                or not isinstance(body[0], ast.stmt)
                or isinstance(owner, ast.Module)
            ):
                continue
            yield from _within(source, lines, body)
            if isinstance(owner, BLOCKS) and len(body) > 1 and field == "body" and not owner.orelse:
                yield from _out(source, lines, owner, body)


def _block(lines: list[str], first: ast.stmt, last: ast.stmt | None = None) -> str:
    return "".join(lines[first.lineno - 1 : (last or first).end_lineno])


def _replace(lines: list[str], first: int, last: int, instead: str) -> list[tuple[int, int, str]]:
    """Lines `first` to `last`, from 1, replaced."""
    start = sum(map(len, lines[: first - 1]))
    end = start + sum(map(len, lines[first - 1 : last]))
    return [(start, end, instead if instead.endswith("\n") or end >= sum(map(len, lines)) else instead + "\n")]


def _indented(text: str, by: int) -> str:
    text = text if text.endswith("\n") else text + "\n"
    plain = textwrap.dedent(text)
    depth = len(text) - len(text.lstrip(" ")) + by
    return textwrap.indent(plain, " " * depth)


def _out(source: Source, lines: list[str], owner: ast.stmt, body: list[ast.stmt]) -> Iterator[Change]:
    """The last statement of a block, behind the block."""
    last, before = body[-1], body[-2]
    if before.end_lineno >= last.lineno or owner.lineno >= body[0].lineno:
        return
    by = owner.col_offset - last.col_offset
    block = _indented(_block(lines, last), by)
    changes = _replace(lines, last.lineno, last.end_lineno, block)
    what = "the loop" if not isinstance(owner, ast.If) else f"`if {source.quoted(owner.test)[1:]}"
    if isinstance(last, ast.Return) and not isinstance(owner, ast.If):
        yield 0, last.lineno, changes, f"{source.quoted(last)} stands in the loop, so it ends in its first round"
    else:
        yield 1, last.lineno, changes, f"{source.quoted(last)} stands under {what}, and must stand behind it"


def _within(source: Source, lines: list[str], body: list[ast.stmt]) -> Iterator[Change]:
    for number, one in enumerate(body):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # a docstring
        if isinstance(one, ast.Return) and isinstance(source.parents[one], ast.For | ast.While):
            says = f"{source.quoted(one)} stands in the loop, so it ends in its first round"
            yield 0, one.lineno, [(*source.span(one), "pass")], says
        if not isinstance(one, ast.Return | ast.Pass | ast.FunctionDef) and not isinstance(one, ast.For | ast.While):
            start, end = source.span(one)
            yield (
                3,
                one.lineno,
                [(start, end, "pass")],
                f"{source.quoted(source.of(one).splitlines()[0])} must not be there",
            )
        if number + 1 == len(body):
            break
        after = body[number + 1]
        if after.lineno <= one.end_lineno:
            continue
        ours, theirs = _block(lines, one), _block(lines, after)
        between = "".join(lines[one.end_lineno : after.lineno - 1])
        theirs = theirs if theirs.endswith("\n") else theirs + "\n"
        if not isinstance(after, ast.Return) and not isinstance(one, ast.FunctionDef):
            first, second = (source.quoted(block.splitlines()[0]) for block in (ours, theirs))
            says = f"{first} stands before {second}, and must stand behind it"
            yield 2, one.lineno, _replace(lines, one.lineno, after.end_lineno, theirs + between + ours), says
        if isinstance(one, BLOCKS) and one.body[0].lineno > one.lineno and not one.orelse:
            inside = one.body[-1].col_offset - one.col_offset
            moved = ours + ("" if ours.endswith("\n") else "\n") + between + _indented(theirs, inside)
            what = "the loop" if not isinstance(one, ast.If) else f"`if {source.quoted(one.test)[1:]}"
            says = f"{source.quoted(after)} stands behind {what}, and must stand in it"
            yield 1, after.lineno, _replace(lines, one.lineno, after.end_lineno, moved), says
        if isinstance(after, ast.For | ast.While) and after.body[0].lineno > after.lineno:
            yield from _into(source, lines, body[: number + 1], after)


def _into(source: Source, lines: list[str], before: list[ast.stmt], loop: ast.For | ast.While) -> Iterator[Change]:
    """An assignment before a loop, done anew in each round: of this loop, or of one inside of it."""
    loops = [
        node for node in ast.walk(loop) if isinstance(node, ast.For | ast.While) and node.body[0].lineno > node.lineno
    ]
    for one in (one for one in before if isinstance(one, ast.Assign | ast.AnnAssign)):
        for inner in loops:
            first = inner.body[0]
            again = _indented(_block(lines, one), first.col_offset - one.col_offset)
            moved = "".join(lines[one.end_lineno : first.lineno - 1]) + again
            says = f"{source.quoted(one)} stands before the loop in line {inner.lineno}: each of its rounds must begin with it"
            yield 1, one.lineno, _replace(lines, one.lineno, first.lineno - 1, moved), says
