"""WGSL text: includes, constants, and what a file declares.

    // include "gelu.wgsl"      in a line of its own: that file of kernels/include/, once
    constants                   T="f32" becomes `alias T = f32;`, TILE=16 becomes `const TILE = 16u;`, CAUSAL=True becomes
                                `const CAUSAL = true;`, all in front of the first line, so that line numbers stay

A kernel's arguments are what its file declares: storage buffers, and structs of numbers in uniform buffers. The patterns of
declarations are for text without comments, as `Source.code` is.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from course_lib import lexer
from course_lib.cuda.source import KERNELS

_BINDING = r"@group\(0\)\s*@binding\((\d+)\)\s*"
STORAGE = re.compile(_BINDING + r"var<storage(?:,\s*(read|read_write))?>\s*(\w+)\s*:\s*([^;]*?)\s*;")
UNIFORM = re.compile(_BINDING + r"var<uniform>\s*(\w+)\s*:\s*(\w+)\s*;")
STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{([^}]*)\}")
FIELD = re.compile(r"(\w+)\s*:\s*(array<vec4<[ui]32>,\s*2>|vec4<[ui]32>|[uif]32)\s*(?:,|$)")
INCLUDE = re.compile(r'// include "(\w+\.wgsl)"')
FORMATS = {"u32": "I", "i32": "i", "f32": "f"}


class ShaderError(RuntimeError):
    """A text that cannot be compiled, or not be launched as it was. line: in its file, None if it is no line's fault."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


@dataclass
class Source:
    """The text that is compiled, the (file, line) that each of its lines comes from, and what it declares."""

    text: str
    lines: list[tuple[str, int]]
    buffers: dict[str, tuple[int, bool]] = field(default_factory=dict)  # name -> binding, whether it is written
    structs: dict[frozenset, tuple[int, list[tuple[str, str]]]] = field(
        default_factory=dict
    )  # field names -> binding, fields
    uniforms: dict[str, frozenset] = field(default_factory=dict)  # name of such a struct's variable -> field names

    @property
    def code(self) -> str:
        """The text with blanks for its comments."""
        return lexer.read(self.text, wgsl=True).code

    def line(self, number: int) -> tuple[str, int, str]:
        """Where line `number` of the text comes from, file and line, and what stands there."""
        rows = self.text.splitlines()
        code = rows[number - 1].strip() if number <= len(rows) else ""
        return *self.lines[min(number, len(self.lines)) - 1], code

    def check(self, title: str, arrays: Collection[str], numbers: Collection[str]) -> None:
        """Raises ValueError unless there are buffers for these arrays, and a struct of just these numbers."""
        if missing := sorted(set(arrays) - self.buffers.keys()):
            declared = ", ".join(self.buffers) or "none"
            raise ValueError(
                f"{title} is given the array {missing[0]}, but declares no storage buffer of that name; it declares {declared}."
            )
        if numbers and frozenset(numbers) not in self.structs:
            declared = " or ".join(f"({', '.join(name for name, _ in fields)})" for _, fields in self.structs.values())
            raise ValueError(
                f"{title} is given the numbers {', '.join(sorted(numbers))}, but has no uniform buffer with a struct of just "
                f"these fields; it has {declared or 'none'}."
            )


def read(file: str | Path, constants: tuple[tuple[str, object], ...]) -> Source:
    """kernels/`file`, or any file by its Path, with its includes and constants."""
    lines: list[tuple[str, str, int]] = []
    _read(KERNELS / file, lines, set())
    text = "".join(constant(*one) for one in constants) + "\n".join(line for line, _, _ in lines)
    return declaring(text, [(name, number) for _, name, number in lines])


def declaring(text: str, lines: list[tuple[str, int]]) -> Source:
    """A text with what it declares. Raises KeyError, with its name, for a struct that is not there."""
    source = Source(text, lines)
    for binding, access, name, _ in STORAGE.findall(source.code):
        source.buffers[name] = int(binding), access == "read_write"
    structs = {name: FIELD.findall(body) for name, body in STRUCT.findall(source.code)}
    for binding, name, struct_name in UNIFORM.findall(source.code):
        source.uniforms[name] = frozenset(field_name for field_name, _ in structs[struct_name])
        source.structs[source.uniforms[name]] = int(binding), structs[struct_name]
    return source


def _read(path: Path, lines: list[tuple[str, str, int]], seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        included = INCLUDE.fullmatch(line)
        if included:
            _read(KERNELS / "include" / included[1], lines, seen)
        else:
            lines.append((line, path.name, number))


def constant(name: str, value: object) -> str:
    """A constant as the head of this file says, with a space behind it."""
    if isinstance(value, bool):
        return f"const {name} = {str(value).lower()}; "
    return f"const {name} = {value}u; " if isinstance(value, int) else f"alias {name} = {value}; "


def pack(fields: list[tuple[str, str]], values: dict) -> bytes:
    """The bytes of a struct in a uniform buffer. A value is a number, or up to 4 or 8 of them for a vector or an array."""
    packed = b""
    for name, kind in fields:
        letter = FORMATS[re.search(r"[uif]32", kind)[0]]
        count = {"a": 8, "v": 4}.get(kind[0], 1)
        if count > 1:
            packed += b"\0" * (-len(packed) % 16)  # vectors begin at a multiple of 16 bytes
        numbers = [values[name]] if count == 1 else [*values[name], *[0] * (count - len(values[name]))]
        packed += struct.pack(f"<{count}{letter}", *numbers)
    return packed + b"\0" * (-len(packed) % 16)
