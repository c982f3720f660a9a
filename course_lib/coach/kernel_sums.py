"""A sum, or a maximum, that a kernel's threads share, and that one of them takes for the whole: read off the text.

The sentence is said of a kernel with wrong values only, and where our solution reduces over the threads oftener than the answer.
"""

from __future__ import annotations

import re

from course_lib import lexer

REDUCES = re.compile(r"\b((?:block|warp)_(?:sum|max|min|reduce|merge)|__shfl_\w+_sync|atomicAdd)\b")
_LOCAL = re.compile(r"(?<![\w.])float\s+([^;()]*;)")
_SHARE = re.compile(r"threadIdx\.x|\.COUNT\b|\blane\b")


def says(read: lexer.Text, solution: str) -> str:
    """One sentence about the first variable that holds one thread's part alone; "" if there is none."""
    ours, theirs = (_calls(text) for text in (solution, read.code))
    if not ours or ours[0] in ("__shfl_down_sync", "atomicAdd") or theirs.count(ours[0]) >= ours.count(ours[0]):
        return ""
    for function in read.functions:
        body = read.code[slice(*function.body)]
        for name, offset in _collected(read, function):
            if _goes_on(body, name):
                continue
            what = "largest number" if "max" in ours[0] else "sum"
            return (
                f"Line {read.line(offset)}: `{name}` is the {what} of this thread's own elements, and never taken over all "
                f"threads, as by {ours[0]}."
            )
    return ""


def _calls(text: str) -> list[str]:
    """The reductions that a text calls, outside of the functions that are one."""
    read = lexer.read(text)
    found = []
    for function in read.functions:
        if not REDUCES.search(function.name):
            found += REDUCES.findall(read.code[slice(*function.body)])
    return found


def _collected(read: lexer.Text, function: lexer.Function) -> list[tuple[str, int]]:
    """The local floats to which a loop over a thread's part of the elements adds, each with the place where it does."""
    start, end = function.body
    code, found = read.code, []
    names = {
        name for one in _LOCAL.finditer(code, start, end) for name in re.findall(r"([A-Za-z_]\w*)\s*(?=[=,;])", one[1])
    }
    for loop in re.finditer(r"\bfor\s*\(", code[start:end]):
        head = start + loop.end() - 1
        closed = read.closing(head)
        if closed is None or not _SHARE.search(code[head:closed]):
            continue
        after = closed + 1 + len(code[closed + 1 :]) - len(code[closed + 1 :].lstrip())
        last = (read.closing(after) if code[after] == "{" else code.find(";", after)) or end
        for name in sorted(names, key=len, reverse=True):
            if added := re.search(rf"(?<![\w.\]]){name}\s*(?:\+=|=\s*f(?:max|min)f\s*\(\s*{name}\b)", code[after:last]):
                found.append((name, after + added.start()))
    return sorted(found, key=lambda one: one[1])


def _goes_on(body: str, name: str) -> bool:
    """Whether a reduction takes it, or it is stored where other threads, or a later kernel, can read it."""
    word = rf"(?<![\w.]){name}(?!\w)"
    return bool(
        re.search(rf"{REDUCES.pattern}(?:<[^<>;]*>)?\s*\([^;]*{word}", body)
        or re.search(rf"[\w\]]\s*\[[^;]*\]\s*[-+*]?=\s*{word}\s*;", body)
        or re.search(rf"\w+\s*=\s*(?:see|merge)\s*\([^;]*{word}", body)
    )
