"""The variables of a kernel's text: what type each has, and where it is known."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_lib import lexer

_TYPE = r"(?:unsigned long long|long long|unsigned int|unsigned|size_t|int|float|double|bool|T|A|X|I)"
_DECLARED = re.compile(
    rf"(?<![\w.])(const\s+)?({_TYPE})(\s*\*\s*(?:const\s+)?(?:__restrict__\s+)?|\s+)(?=[A-Za-z_]\w*\s*[=;,:)])"
)


@dataclass(frozen=True)
class Variable:
    name: str
    kind: str  # its type; with a * if it is a pointer
    start: int
    end: int  # where its scope ends


def functions(read: lexer.Text) -> list[lexer.Function]:
    """Every function with a body, the operator() of a struct too."""
    found = list(read.functions)
    for one in re.finditer(r"\boperator\s*\(\s*\)\s*(\()", read.code):
        end = read.closing(one.start(1))
        body = end and re.compile(r"\s*(?:const\s*)?(\{)").match(read.code, end + 1)
        if body and (closed := read.closing(body.start(1))) is not None:
            found.append(lexer.Function("operator()", one.start(), (one.start(1), end), (body.start(1), closed)))
    return found


def inserted(text: str, opens: dict[int, str], closes: dict[int, str]) -> str:
    """The text with more before its offsets: what closes there first, then what opens."""
    parts, last = [], 0
    for offset in sorted({*opens, *closes}):
        parts += [text[last:offset], closes.get(offset, ""), opens.get(offset, "")]
        last = offset
    return "".join(parts) + text[last:]


def variables(read: lexer.Text) -> list[Variable]:
    """The scalars and pointers of all functions, with their scopes."""
    found, code = [], read.code
    for function in functions(read):
        for start, end in read.split(function.parameters[0] + 1, function.parameters[1]):
            if given := re.search(
                rf"(const\s+)?({_TYPE})\s*(\*?)\s*(?:__restrict__\s*)?([A-Za-z_]\w*)\s*$", code[start:end]
            ):
                found.append(Variable(given[4], _kind(given[1], given[2], given[3]), start, function.body[1]))
        for match in _DECLARED.finditer(code, *function.body):
            end = code.find(";", match.end())
            inside = read.enclosing(match.start(), "{")
            scope = read.closing(inside[-1]) if inside else function.body[1]
            rounds = read.enclosing(match.start(), "(")
            if rounds and rounds[-1] > (inside[-1] if inside else 0):
                if not re.search(r"\bfor\s*$", code[: rounds[-1]]):
                    continue
                scope = _behind(read, (read.closing(rounds[-1]) or match.end()) + 1)
            for first, last in read.split(match.end(), end if end > 0 else match.end()):
                if given := re.match(r"\s*([A-Za-z_]\w*)\s*(=|:|$)", code[first:last]):
                    kind = _kind(match[1], match[2], match[3])
                    found.append(Variable(given[1], kind, first + given.start(1), scope or function.body[1]))
    return found


def _kind(const: str | None, name: str, star: str) -> str:
    """The type of a variable, in one way of writing: what a pointer points to may be const."""
    return ("const " if const else "") + name + "*" if "*" in star else name


def _behind(read: lexer.Text, start: int) -> int:
    """Where the statement ends that begins at an offset, for a scope: at its brace, or at the first semicolon in no bracket."""
    code = read.code
    while start < len(code) and code[start] != ";":
        if code[start] == "{":
            return read.closing(start) or len(code)
        start = (read.closing(start) or start) + 1 if code[start] in "([" else start + 1
    return start


def declares(code: str, variable: Variable, offset: int) -> bool:
    """Whether a place stands in the declaration of a variable itself."""
    end = code.find(";", variable.start)
    return variable.start <= offset < end and "=" in code[variable.start : end]


def counts(code: str, opened: int) -> str:
    """The variable that a for loop counts with, whose head begins there; "" if none does."""
    head = re.compile(r"\(\s*(?:[\w:]+\s+)*?([A-Za-z_]\w*)\s*=").match(code, opened)
    return head[1] if head and re.search(r"\bfor\s*$", code[:opened]) else ""
