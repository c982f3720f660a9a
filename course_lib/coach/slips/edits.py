"""The slips of a hurried hand, undone one at a time: changes of a Python text that leave all but one thing as it is.

    edits(text) -> Edit(text, line, says), ...: likely ones first

Each says what is wrong where it is, in words that are true if the changed text is right: repairs.py finds out which one is. It is
mutation testing (mutation.py) the other way round, which is called mutation-based repair (Debroy and Wong, "Using mutation to
automatically suggest fixes for faulty programs", 2010).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.coach.python_source import LONGEST, Source
from course_lib.coach.slips import brackets, calls, moves, names, operators, values
from course_lib.coach.slips.names import Found


@dataclass(frozen=True)
class Edit:
    """A changed text. line: where, in the text before. says: what is wrong there. rank: unlikely ones have more.

    before, after: the expression that is changed, where it is short enough to be quoted. stored: whether a value is stored there.
    """

    text: str
    line: int
    says: str
    rank: int
    before: str = ""
    after: str = ""
    stored: bool = False


def edits(text: str) -> list[Edit]:
    """All changes of a text, likely ones first, no text twice; none of one that cannot be read."""
    try:
        source = Source(text)
    except (SyntaxError, ValueError, RecursionError):  # too deep, or with a null in it
        return []
    found: dict[str, Edit] = {}
    targets = [source.span(target) for node in ast.walk(source.tree) for target in _targets(node)]
    for rank, line, changes, says in (
        *_replacements(source),
        *moves.moves(source),
        *names.throughout(source),
        *operators.buffered(source),
    ):
        changed = text
        for start, end, instead in sorted(changes, reverse=True):
            changed = changed[:start] + instead + changed[end:]
        if changed != text:
            shown = _shown(source, *changes[0]) if len(changes) == 1 else ("", "")
            stored = any(first <= start and end <= last for first, last in targets for start, end, _ in changes)
            found.setdefault(changed, Edit(changed, line, says, rank, *shown, stored))
    return sorted(found.values(), key=lambda edit: edit.rank)


def _targets(node: ast.AST) -> list[ast.expr]:
    """What an assignment stores in."""
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []


def _shown(source: Source, start: int, end: int, instead: str) -> tuple[str, str]:
    """The smallest expression around a change that says something by itself, before and after; ("", "") if it is long."""
    for first, last in source.expressions():
        if first <= start and end <= last and last - first >= max(6, end - start + 1):
            before, after = source.text[first:last], source.text[first:start] + instead + source.text[end:last]
            return (before, after) if last - first <= LONGEST and "\n" not in before else ("", "")
    return "", ""


def _replacements(source: Source) -> Iterator[moves.Change]:
    # The same in several places: the one thing may be wrong in all of them, or in all bounds, as `:t` where `[t]` is right.
    alike: dict[tuple[str, str, bool], list] = {}
    unseen = {part for node in ast.walk(source.tree) for part in _unseen(node)}  # and what has no place of its own
    for node in ast.walk(source.tree):
        if node in unseen or not hasattr(node, "lineno"):
            continue
        for rank, start, end, instead, says in _of_node(source, node):
            yield rank, node.lineno, [(start, end, instead)], says
            if isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.BinOp | ast.Compare | ast.Call):
                for bounds in {False, isinstance(source.parents.get(node), ast.Slice)}:
                    alike.setdefault((source.text[start:end].strip(), instead.strip(), bounds), []).append(
                        (node, rank, start, end, instead, says)
                    )
    for (old, _, _), same in alike.items():
        if old and 1 < len(same) < 9 and len(old) <= 12:
            lines = sorted({one[0].lineno for one in same})
            where = (
                f", and so in all lines that have it ({', '.join(map(str, lines))})"
                if len(lines) > 1
                else ", each time"
            )
            yield same[0][1] + 2, lines[0], [one[2:5] for one in same], f"{same[0][5]}{where}"


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """What no result depends on: annotations; and the inside of an f-string, whose places Python 3.11 does not know."""
    if isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)
    for field in ("annotation", "returns"):
        if annotation := getattr(node, field, None):
            yield from ast.walk(annotation)


def _of_node(source: Source, node: ast.AST) -> Iterator[Found]:
    """rank, start, end, what stands there instead, what is wrong."""
    kind = type(node)
    for readers in (operators.READERS, names.READERS, calls.READERS, brackets.READERS):
        if kind in readers:
            yield from readers[kind](source, node)
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield from values.around(source, node)
