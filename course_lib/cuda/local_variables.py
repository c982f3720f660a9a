"""Local variables that a `.cu` text declares without a value, and those that it seems to use before they have one.

Only the text is read, in its own order: a suspicion costs a build and a run (uninitialised.py), and is never told by itself.
"""

import re
from functools import cache
from typing import NamedTuple

from course_lib import lexer
from course_lib.cuda.declarations import without_attributes
from course_lib.cuda.source import Source

_NO_TYPE = {"return", "else", "goto", "case", "using", "typedef", "extern", "static", "struct", "template", "namespace",
            "__shared__", "__constant__", "__device__"}  # fmt: skip
_STRUCTURES = {"struct", "class", "union", "enum"}
_PACK = re.compile(r"(?:\b(?:u?(?:char|short|int|long|longlong)|float|double|half|__half|__nv_bfloat16))([234])\s*$")
_CONDITION = re.compile(r"\bif\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\{?\s*$")


class Variable(NamedTuple):
    """A variable without a value. end: the offset behind its name and lengths, where `= value` would stand."""

    name: str
    line: int
    type: str
    array: bool
    end: int


@cache
def declared(text: Source) -> tuple[Variable, ...]:
    """The variables that a text declares without a value, those of functions and at file scope; no members."""
    found, statement, members = [], [], []
    read = lexer.read(text.text)
    for word in without_attributes(read):
        if word.text in ("{", "}", ";"):
            if word.text == ";" and not (members and members[-1]):
                found += _without_value(read, statement)
            if word.text == "{":
                words = [before.text for before in statement]
                members.append(bool(_STRUCTURES.intersection(words)) and "(" not in words)
            elif word.text == "}" and members:
                members.pop()
            statement = []
        else:
            statement.append(word)
    return tuple(found)


def _without_value(read: lexer.Text, statement: list[lexer.Token]) -> list[Variable]:
    """The variables of `float sum, a[4], b = 1`, a statement without its semicolon, that are given nothing there."""
    at, depth, kind = 0, 0, []
    while at + 1 < len(statement):  # a type, up to the last name that stands directly before another
        word, behind = statement[at : at + 2]
        depth += (word.text == "<") - (word.text == ">")
        kind.append(word.text)
        at += 1
        if depth == 0 and (word.text == ">" or word.kind == lexer.NAME) and behind.kind == lexer.NAME:
            following = statement[at + 1].text if at + 1 < len(statement) else ";"
            if following in ("[", "=", ",", ";", "(", "{"):
                break
        elif depth == 0 and word.kind != lexer.NAME and word.text not in (":", ">"):
            return []
    else:
        return []
    if _NO_TYPE.intersection(kind):
        return []
    spans = read.split(statement[at].offset, statement[-1].end)
    parts = ([word for word in statement[at:] if start <= word.offset < end] for start, end in spans)
    type_ = re.sub(r" ?(::|[<>]) ?", r"\1", " ".join(kind).replace(": :", "::"))
    return [
        Variable(part[0].text, part[0].line, type_, len(part) > 1, part[-1].end)
        for part in parts
        if part
        and part[0].kind == lexer.NAME
        and all(
            token.text in ("[", "]") for token in read.outside(part[0].end, part[-1].end)
        )  # lengths, and nothing else
    ]


@cache
def suspicious(text: Source) -> tuple[Variable, ...]:
    """Those that are first made from themselves, or set under a condition only, or in part only."""
    found = []
    for variable in declared(text):
        rest = text.code[variable.end :].partition(";")[2]
        first = re.search(rf"\b{variable.name}\b[^;{{}}]*", rest)
        if first and (
            _from_itself(variable.name, rest, first)
            or _on_condition(variable.name, rest, first)
            or _in_part(variable, rest)
        ):
            found.append(variable)
    return tuple(found)


def accumulates(text: Source, name: str) -> bool:
    """Whether a variable is made from itself somewhere, as sums are: `sum += x`, `mma_sync(sum, a, b, sum)`."""
    again = rf"\b{name}\b(?:\[[^\]]*\])*\s*[-+*/|&^]=|\b{name}\b[^;{{}}]*\b{name}\b"
    return re.search(again, text.code) is not None


def _from_itself(name: str, rest: str, first: re.Match) -> bool:
    statement, before = first.group(), rest[: first.start()].rstrip()
    place = re.match(rf"{name}(?:\s*\[[^\]]*\]|\s*\.\s*\w+)*\s*", statement).end()
    if re.match(r"(?:[-+*/|&^]|<<|>>)=|\+\+|--", statement[place:]) or before.endswith(("++", "--")):
        return True
    if re.match(r"=(?!=)", statement[place:]):
        start, end = lexer.read(statement).split(place, len(statement))[0]
        return re.search(rf"\b{name}\b", statement[start:end]) is not None
    return re.match(rf"{name}\s*,[^;]*\b{name}\b[^;]*\)", statement) is not None  # mma_sync(sum, a, b, sum)


def _on_condition(name: str, rest: str, first: re.Match) -> bool:
    """Whether the first mention gives it a value in an `if` that has no `else`."""
    if not re.match(rf"{name}(?:\s*\[[^\]]*\]|\s*\.\s*\w+)*\s*=[^=]", first.group()):
        return False
    before = rest[: first.start()]
    if "{" in before[before.rfind("}") + 1 :]:  # other values may stand before it in the same braces
        opening = before.rfind("{")
        if not _CONDITION.search(before[: opening + 1]):
            return False
        behind = rest[(lexer.read(rest).closing(opening) or len(rest)) + 1 :]
    elif _CONDITION.search(before):
        behind = rest[first.end() :].lstrip(";")
    else:
        return False
    return not re.match(r"\s*else\b", behind)


def _in_part(variable: Variable, rest: str) -> bool:
    """Whether a float4 or the like gets only some of its members."""
    name, members = variable.name, _PACK.search(variable.type)
    if not members or re.search(rf"\b{name}\s*=[^=]|&\s*{name}\b|\(\s*{name}\s*[,)]|,\s*{name}\s*[,)]", rest):
        return False
    given = set(re.findall(rf"\b{name}\s*\.\s*([xyzw])\s*=[^=]", rest))
    return 0 < len(given) < int(members.group(1))
