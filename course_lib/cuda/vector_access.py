"""Keep vector accesses in one piece: between clang's front end and its optimiser, in the text that one hands to the other.

`float4 v = x[i];` is one access of 16 bytes, on a GPU and to the checker. clang's optimiser would take it apart where `v` is
used in parts, before the checker's hooks are put in. Its front end still has one `llvm.memcpy` for it (LLVM's Language
Reference, "llvm.memcpy Intrinsic"): here each becomes one volatile load and one volatile store, which nothing may split, or,
where no load is so large, a call of the checker's own copy. Text with and without typed pointers (LLVM before and from 15)
is understood. g++ needs none of this: flags.py.

Why text: a hook of clang's is told neither the alignment of what is copied nor, once it is taken apart, that it was one access.
Without this 27 of the 29 tests of test_packs fail under clang with -O1, and under zig. With -O0 it takes nothing apart,
and 22 fail: a `float4` and a struct of four floats look the same, so rows of layernorm count four times, and 6 misaligned
accesses of the zoo go unseen.
"""

import re

from course_lib import lexer

TYPES = {1: "i8", 2: "i16", 4: "i32", 8: "i64", 16: "<4 x i32>"}  # the type of one access, by its bytes
COPY = "sim_check_copy"  # hooks.cpp
LOCAL, DECLARED = "a local variable", "a variable at a fixed place"
_FUNCTION = re.compile(r"define .*?\) (?:[^()]*? )?(#\d+)(?= |$)")
_POINTER = re.compile(r"  (?P<name>%\S+) = (?P<what>alloca|bitcast|getelementptr|addrspacecast|call)\b(?P<rest>.*)")
_ORIGIN = re.compile(r"(?:\*|\bptr)(?: align \d+)? (?P<name>[%@](?:\"[^\"]*\"|[-\w.$]+))")
_COPY = re.compile(
    r"  (?:tail )?call void @llvm\.memcpy\.p0(?:i8)?\.p0(?:i8)?\.i(?:32|64)\("
    r"(?P<arguments>.*), i(?:32|64) (?P<bytes>\d+), i1 false\)(?P<rest>.*)"
)
_ADDRESS = re.compile(
    r"(?:i8\*|ptr) (?P<attributes>(?:[a-z_]+(?: \d+|\(\d+\))? )*)(?P<value>[%@].*|(?:bitcast|getelementptr) .*)"
)


_HANDLER = re.compile(r"(?m)^(declare .*@__ubsan_handle_\w+\([^\n]*?\))")
_ROOM = re.compile(r"(@llvm\.objectsize\.[^\n]*, i1 \w+, i1 \w+, i1 )false\)")


def keep_vector_accesses(text: str) -> str:
    """LLVM's text of a file, with the copies that the checker watches made indivisible.

    The room behind a pointer (`llvm.objectsize`) is asked for wherever it can be computed, not only where it is a constant.
    What tells that there is too little changes nothing that a kernel sees: what was read before it need not be read again.
    """
    text = _ROOM.sub(r"\1true)", text)
    elsewhere = "memory(inaccessiblemem: readwrite)" if re.search(r"\bmemory\(", text) else "inaccessiblememonly"
    text = _HANDLER.sub(rf"\1 {elsewhere}", text)
    watched = set(re.findall(r"(?m)^attributes (#\d+) = \{.*\bsanitize_thread\b", text))
    constants = set(re.findall(r"(?m)^(@\S+) = [^@]*?\bconstant\b", text))
    byte = "i8*" if "@llvm.memcpy.p0i8" in text else "ptr"
    lines, roots, inside = [], {}, False
    for line in text.splitlines():
        if line.startswith("define "):
            roots, function = {}, _FUNCTION.match(line)
            inside = bool(function) and function.group(1) in watched
        elif inside:
            if pointer := _POINTER.match(line):
                roots[pointer.group("name")] = _root(pointer.group("what"), pointer.group("rest"), roots)
            elif copy := _COPY.match(line):
                line = _one_access(copy, roots, constants, byte, len(lines)) or line
        lines.append(line)
    if any(f"@{COPY}(" in line for line in lines):
        lines.append(f"declare void @{COPY}({byte} nocapture, {byte} nocapture, i64) nounwind")
    return "\n".join(lines) + "\n"


def _root(what: str, operands: str, roots: dict) -> str | None:
    """Where an address points that is made from others: LOCAL, DECLARED, or None if that is not known."""
    if what == "alloca":
        return LOCAL
    if what == "call":  # how a thread_local variable, __shared__ here, may be reached
        return DECLARED if "@llvm.threadlocal.address" in operands or "@_ZTW" in operands else None
    origin = _ORIGIN.search(operands)
    return _place(origin.group("name"), roots) if origin else None


def _place(value: str, roots: dict) -> str | None:
    return roots.get(value) if value.startswith("%") else DECLARED


def _one_access(copy: re.Match, roots: dict, constants: set, byte: str, number: int) -> str | None:
    """The text of one copy, or None where the checker watches neither side."""
    to, source = (_ADDRESS.match(part) for part in _arguments(copy.group("arguments")))
    values = [side.group("value") for side in (to, source)]
    places = [_place(value, roots) for value in values]
    if places == [LOCAL, LOCAL] or any(name in constants for name in re.findall(r"@[-\w.$]+", values[1])):
        return None
    note = (re.search(r", !dbg !\d+", copy.group("rest")) or [""])[0]
    kind = TYPES.get(int(copy.group("bytes")))
    if kind is None:
        return f"  call void @{COPY}({byte} {values[0]}, {byte} {values[1]}, i64 {copy.group('bytes')}){note}"
    aligns = [int((re.search(r"\balign (\d+)", side.group("attributes")) or "01")[1]) for side in (to, source)]
    # A variable may be declared with more alignment than its type asks for, or be of another type: the other side tells.
    aligns = [aligns[1 - i] if place == DECLARED else aligns[i] for i, place in enumerate(places)]
    whole, pointer, text = f"%whole.{number}", byte, []
    if byte != "ptr":
        pointer = f"{kind}*"
        text = [f"  {whole}.{i} = bitcast i8* {value} to {pointer}{note}" for i, value in enumerate(values)]
        values = [f"{whole}.0", f"{whole}.1"]
    store, load = ("" if place == LOCAL else " volatile" for place in places)
    text.append(f"  {whole} = load{load} {kind}, {pointer} {values[1]}, align {aligns[1]}{note}")
    text.append(f"  store{store} {kind} {whole}, {pointer} {values[0]}, align {aligns[0]}{note}")
    return "\n".join(text)


def _arguments(text: str) -> list[str]:
    """The arguments of a call, which may hold brackets and commas of their own."""
    return [text[start:end].strip() for start, end in lexer.read(text).split(0, len(text), angles=True)]
