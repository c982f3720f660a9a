"""Which functions of a `.cu` text a kernel can reach, read off the text: name by name, without types or overloads."""

import re
from functools import cache

from course_lib.cuda.source import IDENTIFIER, Source


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
    text, found = source.all_tokens, {}
    for function in text.functions:
        names = frozenset(re.findall(IDENTIFIER, text.code[slice(*function.body)]))
        found[function.name] = found.get(function.name, frozenset()) | names
    return found
