"""Where a WGSL text touches arrays, waits and loops. It is read by its words, not by a whole grammar.

What is found: elements of storage buffers (`array<T>`), of workgroup arrays (`array<T, N>`, nested ones too) and single workgroup
variables, each with how it is used there; calls of workgroupBarrier; loops. What goes through a pointer is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from course_lib import lexer
from course_lib.devices.webgpu.source import STORAGE

READ, WRITE, BOTH, PART = "read", "write", "both", "part"  # PART: a component of a vector is written
NAME = re.compile(r"\b[A-Za-z_]\w*")
WORKGROUP = re.compile(r"\bvar<workgroup>\s*(\w+)\s*:\s*([^;]*);")
CONSTANT = re.compile(r"\bconst\s+(\w+)\s*(?::\s*\w+\s*)?=\s*([^;]*);")


@dataclass
class Variable:
    """A storage buffer or a workgroup variable. sizes: of the axes that are watched; None where only a launch knows."""

    name: str
    space: str  # "storage" or "workgroup"
    kind: str  # of an element: "f32", "vec4<f32>"
    sizes: list[int | None] = field(default_factory=list)
    writable: bool = True
    single: tuple[int, int] | None = None  # a workgroup variable that is no array: where its type stands


@dataclass
class Access:
    """A use of a variable. brackets: places of `[` and `]` of each index; end: behind the name, where there is none."""

    variable: Variable
    op: str
    place: int
    end: int
    brackets: list[tuple[int, int]]


@dataclass
class Scan:
    """All that was found, by places in the text."""

    variables: dict[str, Variable]
    accesses: list[Access]
    barriers: list[int]
    loops: list[int]  # of the opening brace
    functions: dict[str, lexer.Function]
    not_seen: list[str]
    pointers: list[tuple[Access, bool]] = field(
        default_factory=list
    )  # `&` before one; whether workgroupUniformLoad takes it


def numbers(code: str) -> dict[str, int]:
    """Constants of the text that are whole numbers."""
    found: dict[str, int] = {}
    for name, value in CONSTANT.findall(code):
        number = evaluated(value, found)
        if number is not None:
            found[name] = number
    return found


def evaluated(words: str, known: dict[str, int]) -> int | None:
    """A constant expression of whole numbers, None if it is something else."""
    words = re.sub(r"\b(\d+)[ui]\b", r"\1", words).replace("/", "//")
    words = NAME.sub(lambda name: str(known.get(name[0], name[0])), words)
    if not re.fullmatch(r"[\d\s+*/%()<>-]+", words):
        return None
    try:
        return int(eval(words, {"__builtins__": {}}))  # digits and operators, nothing else
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None


def reached(text: str, entry: str) -> set[str]:
    """All names in an entry point and in the functions that it calls, directly or not."""
    found = lexer.read(text, wgsl=True)
    functions, names, todo = {function.name: function for function in found.functions}, set(), [entry]
    while todo:
        if function := functions.get(todo.pop()):
            new = {name[0] for name in _names(found.code, function.parameters[0], function.body[1])} - names
            names |= new
            todo += new
    return names


def _names(code: str, start: int, end: int) -> Iterator[re.Match]:
    """The names there that are not those of members."""
    return (name for name in NAME.finditer(code, start, end) if code[name.start() - 1] != ".")


def scan(text: str) -> Scan:
    """Everything that is watched in a text. Raises ValueError for a bracket that is never closed."""
    read = lexer.read(text, wgsl=True)
    code = read.code
    if (open_ := next((at for at, end in read.brackets.items() if end is None), None)) is not None:
        raise ValueError(f"the {text[open_]!r} in line {read.line(open_)} is never closed")
    variables, functions = _variables(code), {function.name: function for function in read.functions}
    found = Scan(variables, [], [], [], functions, [])
    for function in functions.values():
        brace, end = function.body
        body = code[brace:end]
        taken = set(re.findall(r"(\w+)\s*:", code[slice(*function.parameters)]))
        taken |= set(re.findall(r"\b(?:let|var|const)\s+(\w+)", body))  # a name of the function's own hides ours
        for name in _names(code, brace, end):
            if name[0] in variables and name[0] not in taken:
                _access(read, name, variables[name[0]], found)
        found.barriers += [brace + at.start() for at in re.finditer(r"\bworkgroupBarrier\s*\(\s*\)", body)]
        found.loops += [_brace_of_loop(read, brace + at.start()) for at in re.finditer(r"\b(for|while|loop)\b", body)]
    if re.search(r"\bptr\s*<\s*(storage|workgroup)|=\s*&\s*\w+", code):
        found.not_seen.append("what goes through a pointer")
    return found


def _variables(code: str) -> dict[str, Variable]:
    found, known = {}, numbers(code)
    for _, access, name, kind in STORAGE.findall(code):
        if array := re.fullmatch(r"array<(.*)>", kind, re.S):
            found[name] = Variable(name, "storage", array[1].strip(), [None], access == "read_write")
    for at in WORKGROUP.finditer(code):
        name, kind, sizes = at[1], at[2].strip(), []
        single = None if kind.startswith("array") else at.span(2)
        while array := re.fullmatch(r"array<(.*),([^,<>]*)>", kind, re.S):
            kind = array[1].strip()
            sizes.append(evaluated(array[2], known))
        if not kind.startswith("atomic") and (sizes or single) and None not in sizes:
            found[name] = Variable(name, "workgroup", kind, sizes or [1], True, single)
    return found


def _access(read: lexer.Text, name: re.Match, variable: Variable, found: Scan) -> None:
    code, place, brackets = read.code, name.end(), []
    component = False
    while True:
        blank = len(code[place:]) - len(code[place:].lstrip())
        if code[place + blank] == "[":
            end = read.closing(place + blank)
            if len(brackets) < len(variable.sizes) and not variable.single:
                brackets.append((place + blank, end))
            else:
                component = True
            place = end + 1
        elif member := re.match(r"\s*\.\s*\w+", code[place:]):
            component, place = True, place + member.end()
        else:
            break
    if not variable.single and len(brackets) < len(variable.sizes):
        return  # a whole array: arrayLength, or a pointer
    before, after = code[: name.start()].rstrip(), code[place:].lstrip()
    op = READ
    if re.match(r"=(?!=)", after):
        op = PART if component else WRITE
    elif re.match(r"([-+*/%&|^]|<<|>>)=|\+\+|--", after):
        op = PART if component else BOTH
    if before.endswith("&") and not before.endswith("&&"):
        waits = bool(re.search(r"\bworkgroupUniformLoad\s*\(\s*&$", before))
        found.pointers.append((Access(variable, READ, name.start(), name.end(), brackets), waits))
        return
    found.accesses.append(Access(variable, op, name.start(), name.end(), brackets))


def _brace_of_loop(read: lexer.Text, place: int) -> int:
    brace, round_ = read.code.index("{", place), read.code.find("(", place)
    if 0 <= round_ < brace:
        brace = read.code.index("{", read.closing(round_))
    return brace
