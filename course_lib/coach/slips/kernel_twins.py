"""What stands twice in a kernel, and not alike: changes of one place that make it as the other is.

kernel_edits.py tries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from course_lib import lexer

Change = tuple[int, int, int, str]  # rank, start, end, what stands there instead


def of_indices(read: lexer.Text) -> Iterator[Change]:
    """x[row * N + column], where x[column * N + row] is meant."""
    code = read.code
    for start, end in read.brackets.items():
        if code[start] != "[" or end is None or "\n" in code[start:end]:
            continue
        nested = [one for one in read.brackets.items() if start < one[0] and one[1] is not None and one[1] < end]
        inside = [at for at in range(start + 1, end) if not any(a <= at <= b for a, b in nested)]
        stars = [at for at in inside if code[at] == "*"]
        plus = [at for at in inside if code[at] == "+" and (not stars or at > stars[0])]
        if len(stars) != 1 or not plus or any(code[at] in "?:<>=&|" for at in inside):
            continue
        row, by = read.text[start + 1 : stars[0]].strip(), read.text[stars[0] + 1 : plus[0]].strip()
        yield 1, start + 1, end, f"({read.text[plus[0] + 1 : end].strip()}) * {by} + {row}"


def of_reversed(read: lexer.Text) -> Iterator[Change]:
    """(7 - j), where j is meant."""
    for found in re.finditer(r"\(\s*(?:\d+|[A-Z]\w* - 1) - ([a-z]\w*)\s*\)", read.code):
        yield 0, found.start(), found.end(), found[1]


def of_components(read: lexer.Text) -> Iterator[Change]:
    """make_float4(a.x * s, a.y * s, a.z * s, a.w), where one of the four differs from the others."""
    for start, end in read.brackets.items():
        if read.code[start] not in "({" or end is None:
            continue
        spans = read.split(start + 1, end)
        parts = [read.text[a:b].strip() for a, b in spans]
        if len(parts) != 4:
            continue
        forms = [re.sub(rf"\.{letter}\b", ".#", part) for letter, part in zip("xyzw", parts, strict=True)]
        usual = max(forms, key=forms.count)
        if "#" in usual and forms.count(usual) == 3:
            odd = next(i for i, form in enumerate(forms) if form != usual)
            a, b = spans[odd]
            a += len(read.text[a:b]) - len(read.text[a:b].lstrip())
            yield 0, a, a + len(parts[odd]), usual.replace("#", "xyzw"[odd])


def of_twins(read: lexer.Text, first: int, last: int, begin: int, end: int) -> Iterator[Change]:
    """One term of a sum as the other, with another name: in a.l * f(a.m) + b.l the second lacks f(b.m)."""
    left, right = read.text[first:last].strip(), read.text[begin:end]
    names = [re.findall(r"(?<![\w.])([A-Za-z_]\w*)(?=\s*[.\[])", term) for term in (left, right)]
    ours, theirs = (sorted(set(a) - set(b)) for a, b in (names, names[::-1]))
    if len(ours) == len(theirs) == 1:
        first += len(read.text[first:last]) - len(read.text[first:last].lstrip())
        yield 2, begin, end, re.sub(rf"(?<![\w.]){ours[0]}\b", theirs[0], left)
        yield 2, first, first + len(left), re.sub(rf"(?<![\w.]){theirs[0]}\b", ours[0], right)


def of_transposed(read: lexer.Text) -> Iterator[Change]:
    """b[x][t], where b[t][x] is meant: each time that it is read in a statement."""
    code, found = read.code, {}
    for one in re.finditer(r"\b([a-z]\w*)\[([\w +*]+)\]\[([\w +*]+)\](?!\s*[-+*/]?=(?!=)|\[)", code):
        start = max(code.rfind(sign, 0, one.start()) for sign in ";{}")
        if "=" in code[start : one.start()]:  # it is read, and not declared
            found.setdefault((start, one[0]), []).append(one)
    for (_, words), places in found.items():
        first, last = places[0].start(), places[-1].end()
        name, i, j = places[0].groups()
        if i != j and ";" not in code[first:last]:
            yield 1, first, last, read.text[first:last].replace(words, f"{name}[{j}][{i}]")


def of_divisors(read: lexer.Text) -> Iterator[Change]:
    """sum / D, where its root is meant; / 128, where another number of the text is; a mean that is a sum."""
    code = read.code
    floats = {name for some in re.findall(r"\bfloat\s+([^;(){}]*)", code) for name in re.findall(r"[A-Za-z_]\w*", some)}
    for one in re.finditer(r"\b([A-Za-z_]\w*)(?:\[\w+\])*\s*/=\s*([A-Za-z_]\w*)\s*;", code):
        if one[1] in floats:
            yield 1, one.start(2), one.end(2), f"sqrtf({one[2]})"
    for one in re.finditer(r"\bfloat\s+\w+\s*=[^;=]*/\s*([A-Za-z_]\w*)\s*;", code):
        yield 1, one.start(1), one.end(1), f"sqrtf({one[1]})"
    numbers = dict.fromkeys(re.findall(r"(?<![\w.])[1-9]\d+(?![\w.])", code))
    for one in re.finditer(r"/\s*([1-9]\d+)(?![\w.])", code):
        for other in list(numbers)[:5]:
            yield 2, one.start(1), one.end(1), other
    sizes = list(dict.fromkeys(re.findall(r"\bint\s+([A-Z]\w*)\b", code)))[:3]
    for one in re.finditer(r"\bblock_sum\s*<[^<>;()]*>\s*(\()", code):
        end = read.closing(one.start(1))
        if end is not None and not re.match(r"\s*[/*]", code[end + 1 :]):
            for size in sizes:
                yield 2, one.start(), end + 1, f"({read.text[one.start() : end + 1]} / {size})"
