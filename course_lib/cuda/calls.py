"""Which functions of a `.cu` text a kernel can reach, read off the text: name by name, without types or overloads."""

import re
from functools import cache

from course_lib.cuda.source import IDENTIFIER, Source

_NOT_FUNCTIONS = {
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "sizeof",
    "alignof",
    "decltype",
    "__launch_bounds__",
}
_BEFORE_BODY = re.compile(rf"\s*(?:const\b|noexcept\b|mutable\b|->\s*[\w:<>*&\s]+?|:\s*{IDENTIFIER}[^;{{}}]*)?\s*\{{")


@cache
def reached(source: Source, name: str) -> frozenset[str]:
    """The names of all functions of the text that `name` may call, its own included."""
    bodies = functions(source)
    found, pending = {name}, [name]
    while pending:
        for other in bodies.get(pending.pop(), frozenset()) & bodies.keys():
            if other not in found:
                found.add(other)
                pending.append(other)
    return frozenset(found)


@cache
def functions(source: Source) -> dict[str, frozenset[str]]:
    """Every function that the text defines, with all names that stand in its body (those of overloads together)."""
    text = source.everything
    found: dict[str, frozenset[str]] = {}
    for match in re.finditer(rf"\b({IDENTIFIER})\s*\(", text):
        end = _closing(text, match.end() - 1, "()")
        body = _BEFORE_BODY.match(text, end)
        if match.group(1) in _NOT_FUNCTIONS or not body:
            continue
        names = re.findall(IDENTIFIER, text[body.end() : _closing(text, body.end() - 1, "{}")])
        found[match.group(1)] = found.get(match.group(1), frozenset()) | frozenset(names)
    return found


def _closing(text: str, start: int, brackets: str) -> int:
    """The index behind the bracket that closes the one at `start`."""
    depth = 0
    for match in re.compile(rf"[{re.escape(brackets)}]").finditer(text, start):
        depth += 1 if match.group() == brackets[0] else -1
        if depth == 0:
            return match.end()
    return len(text)
