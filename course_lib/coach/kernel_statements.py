"""The statements of a kernel's text that kernel_slips.py looks at: its loops, and what is set where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib import lexer

_SET = re.compile(
    r"(?<![\w.>\])])([A-Za-z_]\w*)((?:\s*\[[^\[\]]*\])*(?:\s*\.\s*\w+(?:\s*\[[^\[\]]*\])*)?)\s*([-+*/%&|^]|<<|>>)?=(?!=)"
)
_DEREFERENCED = re.compile(r"\*\s*\([^()]*\*\s*\)\s*\(([^()=]*)")


@dataclass(frozen=True)
class Loop:
    """A for loop: where it begins, its parentheses, its body, and the variable that it counts with."""

    start: int
    head: tuple[int, int]
    body: tuple[int, int]
    counts: str


@dataclass(frozen=True)
class Store:
    """Something is set: `name` + `place` operator= value, e.g. y, "[i]", "+", "x[i]"."""

    name: str
    place: str
    operator: str
    value: str
    offset: int


def loops_of(read: lexer.Text) -> Iterator[Loop]:
    for word in read.words:
        if word.text == "for":
            head = read.code.find("(", word.end)
            end = read.closing(head)
            if end is None:
                continue
            variable = re.match(r"\s*(?:[\w:]+\s+)*?([A-Za-z_]\w*)\s*=", read.code[head + 1 : end])
            yield Loop(
                word.offset, (head, end), (end + 1, statement_end(read, end + 1)), variable[1] if variable else ""
            )


def statement_end(read: lexer.Text, start: int) -> int:
    """Where the statement ends that begins at an offset."""
    code = read.code
    while start < len(code) and code[start].isspace():
        start += 1
    if code[start : start + 1] == "{":
        return (read.closing(start) or len(code) - 1) + 1
    if keyword := re.match(r"(?:for|while|if)\s*(?=\()", code[start:]):
        end = read.closing(start + keyword.end())
        if end is None:
            return len(code)
        after = statement_end(read, end + 1)
        other = re.match(r"\s*else\b", code[after:])
        return statement_end(read, after + other.end()) if keyword[0].startswith("if") and other else after
    while start < len(code) and code[start] != ";":
        start = (read.closing(start) or start) + 1
    return start + 1


def stores_of(read: lexer.Text, span: tuple[int, int]) -> Iterator[Store]:
    code = read.code
    for found in _SET.finditer(code, *span):
        end = found.end()
        while end < span[1] and code[end] not in ",;)":
            end = (read.closing(end) or end) + 1
        yield Store(found[1], found[2], found[3] or "", code[found.end() : end].strip(), found.start())


def through_pointers(read: lexer.Text, span: tuple[int, int]) -> Iterator[Store]:
    """`*(Pack<float, N>*)(y + i) = value` as a store of y at "[i]"."""
    code = read.code
    for found in _DEREFERENCED.finditer(code, *span):
        start, end = found.start(1) - 1, read.closing(found.start(1) - 1)
        value = re.compile(r"\s*=(?!=)").match(code, end + 1) if end else None
        name, plus, place = code[start + 1 : end or 0].partition("+")
        if value and plus and name.strip().isidentifier():
            last = statement_end(read, value.end()) - 1
            yield Store(name.strip(), f"[{place.strip()}]", "", code[value.end() : last].strip(), found.start())
