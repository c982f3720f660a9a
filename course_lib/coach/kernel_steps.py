"""The floats that a kernel computes on its way: as steps.py, for CUDA C++.

    marked(text, own) -> the text in which the values of statements go through one call, and their Sites
    recorded(watched) -> which different numbers were seen at each site, once the marked text was launched

The call writes to a variable of the file: no memory of the kernel's own is touched, and nothing is computed otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from course_lib import lexer
from course_lib.coach.kernels import Watched
from course_lib.coach.slips.kernel_scopes import functions, inserted
from course_lib.coach.steps import Site
from course_lib.cuda import variables

CALLED, VALUES, COUNTS = "course_seen", "course_values", "course_counts"
MOST, EACH = 96, 16384  # sites of a text, and numbers that are kept of one
SHOWN = 48  # letters of an expression that is quoted
# One line, so that the lines of the text are one further down. Of a struct nothing is kept.
HELPER = (
    f"__device__ float {VALUES}[{MOST * EACH}]; __device__ int {COUNTS}[{MOST}]; "
    f"inline __device__ float {CALLED}(int k, float v) {{ int n = atomicAdd(&{COUNTS}[k], 1); "
    f"if (n < {EACH}) {VALUES}[k * {EACH} + n] = v; return v; }} "
    f"inline __device__ float4 {CALLED}(int k, float4 v) {{ "
    f"{CALLED}(k, v.x), {CALLED}(k, v.y), {CALLED}(k, v.z), {CALLED}(k, v.w); return v; }} "
    f"template <class V> inline __device__ V {CALLED}(int k, const V& v) {{ return v; }}\n"
)
_SETS = re.compile(r"(?<![<>=!+\-*/%&|^])([-+*/]?)=(?!=)")
_HEAD = re.compile(r"\s*(?:else\b\s*)?((?:const\s+|volatile\s+)*)([A-Za-z_][\w:]*)")
_FIXED = {"constexpr", "static", "__shared__", "extern", "typedef", "using", "template", "enum", "struct", "case", "int",
          "unsigned", "long", "size_t", "bool", "char", "auto", "static_assert", "asm", "short", "signed"}  # fmt: skip
_REDUCED = re.compile(r"\b(?:block|warp)_(?:sum|max|min|reduce)\s*(?:<[^<>;()]*>)?\s*\(\s*([A-Za-z_]\w*)\s*\)")
_STORED = re.compile(r"\.store\s*\(|\bstore(?:_four)?\s*\(")  # whose last argument is the value
_ARGUMENTS = re.compile(r"<[\w\s,:*]*>(?=\s*\()")  # of a template


def marked(text: str, own: set[int] | None = None) -> tuple[str, list[Site]]:
    """own: the lines that are marked, all if None."""
    read = lexer.read(text)
    found = sorted(
        (start, end, target) for start, end, target in _values(read) if own is None or read.line(start) in own
    )[:MOST]
    opens, closes, sites = {}, {}, []
    for number, (start, end, target) in enumerate(found):
        opens[start] = f"{opens.get(start, '')}{CALLED}({number}, "
        closes[end] = f"{closes.get(end, '')})"
        words = " ".join(text[start:end].split())
        words = words if len(words) <= SHOWN else f"{words[: SHOWN - 4]} ..."
        names = tuple(dict.fromkeys(lexer.IDENTIFIER.findall(read.code[start:end])))
        sites.append(Site(read.line(start), f"`{words}`", -1, target, names))
    return HELPER + inserted(text, opens, closes), sites


def _values(read: lexer.Text) -> Iterator[tuple[int, int, str]]:
    """Where the values of statements begin and end, and the variable that they are stored in."""
    code = read.code
    for function in functions(read):
        begin, stop = function.body
        for sign in _SETS.finditer(code, begin, stop):
            if any(open_ > begin for open_ in (*read.enclosing(sign.start(), "("), *read.enclosing(sign.start(), "["))):
                continue  # of a loop's head, or of a default
            start = max(code.rfind(end, begin, sign.start()) for end in ";{}") + 1
            before = code[start : sign.start()]
            head = _HEAD.match(before)
            target = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^=;]*\]|\.\w+)*\s*$", before)
            if (
                not head
                or not target
                or head[2] in _FIXED
                or (re.search(r"[&*]\s*\w+\s*$", before) and head[2] == "float")
            ):
                continue
            yield from _value(read, sign.end(), stop, target[1])
        if not re.search(r"\b(?:int|void|bool|unsigned|auto|size_t|long)\s*$", code[: function.start]):
            for back in re.finditer(r"\breturn\b", code[begin:stop]):
                yield from _value(read, begin + back.end(), stop, "return")
        for call in _REDUCED.finditer(code, begin, stop):
            yield call.start(1), call.end(1), ""
        for call in _STORED.finditer(code, begin, stop):
            if (closed := read.closing(call.end() - 1)) is not None:
                *_, last = read.split(call.end(), closed)
                yield from _value(read, *last, "")


def _value(read: lexer.Text, start: int, stop: int, target: str) -> Iterator[tuple[int, int, str]]:
    code, at = read.code, start
    while at < stop and code[at] not in ",;)]}":
        if given := _ARGUMENTS.match(code, at):
            at = given.end()
        at = (read.closing(at) or stop) + 1 if code[at] in "([{" else at + 1
    start += len(code[start:at]) - len(code[start:at].lstrip())
    end = start + len(code[start:at].rstrip())
    if start < end and code[start] == "{":  # a struct
        for first, last in read.split(start + 1, end - 1):
            yield from _value(read, first, last, target)
    elif start < end and code[start] != "[" and set(lexer.IDENTIFIER.findall(code[start:end])) - {"INFINITY"}:
        yield start, end, target


def recorded(watched: Watched, sites: int) -> list[np.ndarray | None]:
    """The different numbers of each site, in order; None where nothing was seen, or more than is kept."""
    found: list[list[np.ndarray]] = [[] for _ in range(sites)]
    for kernel in watched.launched:
        library = kernel.compiled(checked=True)
        counts = variables.read(library, kernel.name, COUNTS, np.int32)
        values = variables.read(library, kernel.name, VALUES, np.float32).reshape(MOST, EACH)
        for site in range(sites):
            found[site].append(values[site, : counts[site]] if counts[site] <= EACH else np.full(EACH + 1, np.nan))
    whole = [np.concatenate(parts) if parts else np.zeros(0) for parts in found]
    return [np.unique(x.astype(np.float64)) if 0 < x.size <= EACH else None for x in whole]


def forget(watched: Watched) -> None:
    """What was seen is seen no longer."""
    for kernel in watched.launched:
        variables.write(kernel.compiled(checked=True), kernel.name, COUNTS, np.zeros(MOST, np.int32))
    watched.launched.clear()
