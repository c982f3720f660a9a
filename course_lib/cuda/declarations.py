"""The memory that a `.cu` text declares by itself: its arrays of dynamic shared memory, its variables for the device.

Read off the text, as in source.py: names only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from course_lib import lexer
from course_lib.cuda.source import IDENTIFIER, Source


@dataclass(frozen=True)
class DynamicShared:
    """One `extern __shared__ T name[];`. `mangled` is its name with its namespaces, as symbols made from it contain it."""

    name: str
    mangled: str

    @property
    def symbol(self) -> str:
        """What the compiler calls the array."""
        return f"_Z{self.mangled}" if self.mangled.startswith("N") else self.name


def dynamic_shared(source: Source) -> list[DynamicShared]:
    """The arrays of dynamic shared memory that a text declares."""
    pattern = r"(?:\bextern\b[^;{}]*\b__shared__|\b__shared__\b[^;{}]*\bextern)\b[^;{}]*"
    text, found = source.all_tokens, set()
    for declaration in re.finditer(pattern, text.code):
        spaces = [name for names in _scopes(text, declaration.start()) for name in names or ()]
        for name in re.findall(rf"\b({IDENTIFIER})\s*\[\s*\]", declaration.group()):
            mangled = "".join(f"{len(part)}{part}" for part in (*spaces, name))
            found.add(DynamicShared(name, f"N{mangled}E" if spaces else mangled))
    return sorted(found, key=lambda array: (array.name, array.mangled))


_ALIGNED = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2, "half2": 4, "int": 4, "unsigned": 4,
            "float": 4, "float3": 4, "int3": 4, "int2": 8, "uint2": 8, "float2": 8, "double": 8, "long": 8, "int4": 16,
            "uint4": 16, "float4": 16, "uint8_t": 1, "int8_t": 1, "uint32_t": 4, "int32_t": 4}  # fmt: skip


def _structures(source: Source) -> Iterator[tuple[str, str, str, set[int | str]]]:
    """Of each structure: struct, class or union; what stands before its braces; its name; its members' alignments.

    Of a member of an unknown type its name stands for its alignment.
    """
    text = source.all_tokens
    for match in re.finditer(r"\b(struct|class|union)\b([^;{}]*)\{", text.code):
        (kind, head), opening = match.groups(), match.end() - 1
        if (end := text.closing(opening)) is None:
            continue
        members = text.code[opening + 1 : end]
        for start, stop in text.brackets.items():  # functions, and structures inside
            if opening < start < end and stop and text.text[start] == "{":
                members = members[: start - opening - 1] + ";" * (stop + 1 - start) + members[stop - opening :]
        behind = re.match(r"\s*(\w*)", text.code[end + 1 :])[1]
        alignments: set[int | str] = set()
        for member in members.split(";"):
            words = re.findall(r"\w+|\*", member.partition("=")[0])
            if "(" not in member and len(words) > 1:
                known = [word for word in words[:-1] if word in _ALIGNED and word != "unsigned"]
                kind_of = known[0] if known else "unsigned" if "unsigned" in words else words[0]
                alignments.add(8 if "*" in words else _ALIGNED.get(kind_of, kind_of))
        name = behind or (re.findall(IDENTIFIER, head.partition(":")[0]) or [""])[-1]
        yield kind, head, name, alignments


@cache
def padded_types(source: Source) -> frozenset[str]:
    """The structures of a text that may have bytes between or behind their members, and its unions."""
    return frozenset(
        name
        for kind, head, name, alignments in _structures(source)
        if kind == "union" or "align" in head or len(alignments) > 1
    )


@cache
def arrays_of_structures(source: Source) -> frozenset[str]:
    """The arrays that a text declares, shared ones among them, whose elements are structures with no member as wide as float4."""
    narrow: set[str] = set()
    for _, head, name, alignments in _structures(source):  # one that is a member stands before
        if name and "align" not in head and all(a in narrow or (isinstance(a, int) and a < 16) for a in alignments):
            narrow.add(name)
    arrays = rf"\b(?:{'|'.join(narrow)})\s+({IDENTIFIER})\s*\["
    return frozenset(re.findall(arrays, source.everything) if narrow else ())


_SPACE = re.compile(
    rf"\bnamespace\s+({IDENTIFIER}(?:\s*::\s*{IDENTIFIER})*)\s*$|(\bnamespace|\bextern\s*\"[^\"]*\")\s*$"
)


def _scopes(text: lexer.Text, offset: int) -> list[list[str] | None]:
    """The braces that are open there, the outermost first: the names that each adds, None for one that is no namespace's."""
    found: list[list[str] | None] = []
    for opening in text.enclosing(offset):
        space = _SPACE.search(text.code, 0, opening)
        found.append(re.split(r"\s*::\s*", space[1]) if space and space[1] else [] if space else None)
    return found


def namespaces(source: Source, offset: int) -> list[str] | None:
    """The namespaces around an offset, the outermost first; None where something else is around it, too."""
    scopes = _scopes(source.all_tokens, offset)
    return None if None in scopes else [name for names in scopes for name in names or ()]


@dataclass(frozen=True)
class Variable:
    """A `__constant__` or `__device__` variable at file scope; `name` has its namespaces before it: `tool::table`."""

    name: str
    constant: bool

    @property
    def plain(self) -> str:
        return self.name.rpartition("::")[2]


def device_variables(source: Source) -> list[Variable]:
    """The variables at file scope that a text declares for the device. (Not templates.)"""
    return list(_device_variables(source.all_tokens))


@lru_cache(512)
def _device_variables(text: lexer.Text) -> tuple[Variable, ...]:
    found: dict[str, Variable] = {}
    words = without_attributes(text)
    first = 0
    for number, word in enumerate(words):
        if word.text in ("{", "}", ";"):
            first = number + 1
        if word.text not in ("__constant__", "__device__", "__managed__"):
            continue
        stop = next((n for n in range(number, len(words)) if words[n].text in (";", "(", "{", "=", "[")), None)
        if stop is None or words[stop].text == "(":  # a function
            continue
        head, scopes = {w.text for w in words[first:stop]}, _scopes(text, word.offset)
        if None in scopes or head & _NOT_VARIABLES:
            continue
        spaces = [name for names in scopes for name in names or ()]
        for name in _declared(text, words[first].offset):
            full = "::".join([*spaces, name])
            found.setdefault(full, Variable(full, "__constant__" in head))
    return tuple(found.values())


_ATTRIBUTES = {"alignas", "__align__", "__attribute__"}
_NOT_VARIABLES = {"template", "extern", "using", "typedef", "struct", "class", "union", "enum", "operator"}


def without_attributes(text: lexer.Text) -> list[lexer.Token]:
    """The words of a text, without `alignas(16)` and its like."""
    words, end = [], 0
    for number, word in enumerate(text.words):
        if word.offset < end:
            continue
        if word.text in _ATTRIBUTES and number + 1 < len(text.words):
            end = (text.closing(text.words[number + 1].offset) or word.offset) + 1
        else:
            words.append(word)
    return words


def _declared(text: lexer.Text, start: int) -> list[str]:
    """The names that the declaration beginning there declares: `a` and `b` of `float a[4] = {1, 2}, b;`."""
    names, given = [""], False
    for token in text.outside(start, len(text.text), angles=True):
        if token.text == ";":
            break
        if token.text == ",":
            names.append("")
        given = token.text == "=" or (given and token.text != ",")
        if not given and token.kind == lexer.NAME and token.text not in _ATTRIBUTES and not token.directive:
            names[-1] = token.text
    return [name for name in names if name]
