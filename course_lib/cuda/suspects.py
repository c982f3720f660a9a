"""Local variables without a value that a `.cu` text seems to use before they have one. unset.py finds out whether it does.

Only the text is read, in its own order: a suspicion costs a build and a run, and is never told by itself.
"""

import re
from functools import cache

from course_lib import lexer
from course_lib.cuda.source import Source

_NO_TYPE = "return|else|goto|case|using|typedef|extern|static|struct|__shared__|__constant__|__device__"
_DECLARATION = re.compile(
    rf"^\s*(?!(?:{_NO_TYPE})\b)(?P<type>(?:[A-Za-z_][\w:]*(?:<[^;=]*>)?\s+)+)(?P<names>\w+\s*[\[=,;].*|\w+\s*);"
)
_PACK = re.compile(r"(?:\b(?:u?(?:char|short|int|long|longlong)|float|double|half|__half|__nv_bfloat16))([234])\s*$")
_CONDITION = re.compile(r"\bif\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\{?\s*$")


@cache
def declared(text: Source) -> tuple[tuple[str, int, str], ...]:
    """(name, line, type) of the variables that a text declares without a value."""
    found = []
    for number, line in enumerate(_without_members(text.code).splitlines(), 1):
        for match in filter(None, map(_DECLARATION.match, re.findall(r"[^;{}]*;", line))):
            names = match.group("names")
            while (flat := re.sub(r"\[[^\[\]]*\]|\([^()]*\)|(?<==)[^,(\[]*<[^<>;=]*>", "", names)) != names:
                names = flat
            kind = " ".join(match.group("type").split())
            found += [(name.strip(), number, kind) for name in names.split(",") if name.strip().isidentifier()]
    return tuple(found)


@cache
def suspects(text: Source) -> tuple[tuple[str, int], ...]:
    """(name, line) of those that are first made from themselves, or set under a condition only, or in part only."""
    lines, found = text.code.splitlines(), []
    for name, number, kind in declared(text):
        rest = "\n".join(lines[number - 1 :])
        rest = rest[re.search(rf"\b{name}\b", rest).end() :].partition(";")[2]
        first = re.search(rf"\b{name}\b[^;{{}}]*", rest)
        if first and (
            _from_itself(name, rest, first) or _on_condition(name, rest, first) or _in_part(name, kind, rest)
        ):
            found.append((name, number))
    return tuple(found)


def gathers(text: Source, name: str) -> bool:
    """Whether a variable is made from itself somewhere, as sums are: `sum += x`, `mma_sync(sum, a, b, sum)`."""
    again = rf"\b{name}\b(?:\[[^\]]*\])*\s*[-+*/|&^]=|\b{name}\b[^;{{}}]*\b{name}\b"
    return re.search(again, text.code) is not None


def _from_itself(name: str, rest: str, first: re.Match) -> bool:
    statement, before = first.group(), rest[: first.start()].rstrip()
    place = re.match(rf"{name}(?:\s*\[[^\]]*\]|\s*\.\s*\w+)*\s*", statement).end()
    if re.match(r"(?:[-+*/|&^]|<<|>>)=|\+\+|--", statement[place:]) or before.endswith(("++", "--")):
        return True
    if re.match(r"=(?!=)", statement[place:]):
        return re.search(rf"\b{name}\b", statement[slice(*lexer.read(statement).split(place, len(statement))[0])]) is not None
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


def _without_members(text: str) -> str:
    """The text, with what stands directly between the braces of a structure blanked."""
    letters, found = list(text), lexer.read(text)
    for word in found.words:
        around = found.enclosing(word.offset)
        if around and word.text not in ("{", "}", ";"):
            head = text[max(text.rfind(letter, 0, around[-1]) for letter in "{};") + 1 : around[-1]]
            head = re.sub(r"\b(?:alignas|__align__)\s*\([^{}]*\)", "", head)
            if re.search(r"\b(?:struct|class|union|enum)\b[^()]*$", head):
                letters[word.offset : word.end] = " " * len(word.text)
    return "".join(letters)


def _in_part(name: str, kind: str, rest: str) -> bool:
    """Whether a float4 or the like gets only some of its members."""
    members = _PACK.search(kind)
    if not members or re.search(rf"\b{name}\s*=[^=]|&\s*{name}\b|\(\s*{name}\s*[,)]|,\s*{name}\s*[,)]", rest):
        return False
    given = set(re.findall(rf"\b{name}\s*\.\s*([xyzw])\s*=[^=]", rest))
    return 0 < len(given) < int(members.group(1))
