"""The memory that a `.cu` text declares by itself: its arrays of dynamic shared memory, its variables for the device.

Read off the text, as in source.py: names only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

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
    text, found = source.everything, set()
    for declaration in re.finditer(pattern, text):
        spaces = _namespaces(text[: declaration.start()])
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
    body = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
    for match in re.finditer(rf"\b(struct|class|union)\b([^;{{}}]*)\{{({body})\}}\s*(\w*)", source.everything):
        kind, head, members, behind = match.groups()
        alignments: set[int | str] = set()
        for member in re.sub(r"\{[^{}]*\}", ";", re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", ";", members)).split(";"):
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


def _open_scopes(before: str) -> list[list[str] | None]:
    """What is open at the end of a text: the names that each brace adds, None for one that is no namespace's."""
    named = rf"\bnamespace\s+({IDENTIFIER}(?:\s*::\s*{IDENTIFIER})*)\s*\{{"
    scopes: list[list[str] | None] = []
    for match in re.finditer(rf'{named}|(\bnamespace\s*\{{|\bextern\s*""\s*\{{)|[{{}}]', before):
        if match.group(1):
            scopes.append(re.split(r"\s*::\s*", match.group(1)))
        elif match.group().endswith("{"):
            scopes.append([] if match.group(2) else None)
        elif scopes:
            scopes.pop()
    return scopes


def _namespaces(before: str) -> list[str]:
    """The named namespaces that are open at the end of a text."""
    return [name for names in _open_scopes(before) for name in names or ()]


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
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\[\s\S])*", "", source.everything)
    text = re.sub(r"\b(?:alignas|__align__|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)", "", text)
    found: dict[str, Variable] = {}
    for qualifier in re.finditer(r"\b(?:__constant__|__device__|__managed__)\b", text):
        start = 1 + max(text.rfind(letter, 0, qualifier.start()) for letter in ";{}")
        stop = re.compile(r"[;({=\[]").search(text, qualifier.end())
        if not stop or stop.group() == "(":  # a function
            continue
        head, scopes = text[start : stop.start()], _open_scopes(text[:start])
        if None in scopes or re.search(r"\b(template|extern|using|typedef|struct|class|union|enum|operator)\b", head):
            continue
        spaces = [name for names in scopes for name in names or ()]
        for name in _declared(text, start):
            full = "::".join([*spaces, name])
            found.setdefault(full, Variable(full, "__constant__" in head))
    return list(found.values())


def _declared(text: str, start: int) -> list[str]:
    """The names that the declaration beginning there declares: `a` and `b` of `float a[4] = {1, 2}, b;`."""
    plain, depth = "", 0
    for letter in text[start:]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth == 0:
            break
        plain += letter if depth == 0 and letter not in ")]}" else ""
    while (shorter := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = shorter
    return [names[-1] for part in plain.split(",") if (names := re.findall(IDENTIFIER, part.partition("=")[0]))]
