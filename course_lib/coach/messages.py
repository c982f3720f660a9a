"""Exceptions and the simulator's issues, as sentences for a learner."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection

from course_lib import lexer
from course_lib.coach import kernel_source
from course_lib.coach.exercise import Exercise, Refused
from course_lib.coach.outcome import ENDED, FORGED, HEADER, KILLED, RaisedError, Seen

KEEP = "Did a reduction drop an axis? `keepdims=True` keeps it, with the size 1."
# Exceptions of Python and NumPy, which say what happened and not why.
BARE = {"ArithmeticError", "AssertionError", "AttributeError", "AxisError", "FloatingPointError", "IndexError", "KeyError",
        "LinAlgError", "OverflowError", "RecursionError", "TypeError", "UFuncTypeError", "UnboundLocalError", "ValueError",
        "ZeroDivisionError", "StopIteration", "NameError"}  # fmt: skip


def of_error(error: RaisedError, exercise: Exercise, known: Collection[str] = ()) -> str:
    """What to say first about an exception out of an answer."""
    line = f" in line {error.line}" if error.line else ""
    if error.kind == "StillRunning":
        return (
            f"Your code was still running after {exercise.seconds:g} seconds and was stopped{line}. "
            "Look for a loop that never ends, or for work that is done again and again."
        )
    if error.kind == KILLED:
        return (
            f"Your code was still running after {exercise.seconds:g} seconds and had to be killed. "
            "Look for a loop that never ends."
        )
    if error.kind == ENDED:
        return of_end(int(error.message))
    if error.kind == FORGED:
        return (
            "Your code wrote into the connection over which its results are sent, or closed it, so they could not be read. "
            "Return a result, and use no file descriptor that you have not opened."
        )
    if error.kind == "SystemExit":
        return f"Your code exits Python{line} (exit or sys.exit). Return a result instead."
    if error.kind in ("CompileError", "KernelError", "ArgumentError", Refused.__name__):
        return error.message
    if error.kind == "ShaderError":
        return error.message.partition("\n")[0]  # its line of code stands below
    if error.kind == "MemoryError":
        return f"Your code allocated more than the 2 GB of memory that an exercise has{line}."
    if error.kind == "RecursionError":
        return (
            f"A function calls itself{line} more than a thousand times deep, and Python allows no more. Either no case stops it, "
            "or the depth grows with the input: then a loop does the same."
        )
    if error.kind == "NameError" and (name := re.match(r"name '(\w+)' is not defined", error.message)):
        if name[1] in known:
            return (
                f"`{name[1]}` is defined in another cell of your notebook. Each answer is judged by itself: define or import it "
                f"in this cell{', above line ' + str(error.line) if error.line else ''}."
            )
        return f"The name `{name[1]}` is not defined{line}. Is it spelled right, and defined above?"
    if error.kind == "NameError":
        return error.message
    if error.kind in ("SyntaxError", "IndentationError", "TabError"):
        return f"Syntax error in {f'line {error.line}' if error.line else 'your cell'}: {error.message}."
    if error.line:
        place = f"Your code raised {error.kind}{line}"
        if words := _of_numpy(error.message):
            return f"{place}: {words}"
        if words := _of_python(error):
            return f"{place}: {error.message.rstrip('.')}. {words}"
    elif re.search(r"positional argument|keyword argument|multiple values for argument|not callable", error.message):
        place = f"Your code cannot be called with the task's arguments, {error.kind}"
    else:
        place = f"The value that your code returns cannot be used, {error.kind}"
    return f"{place}: {error.message.rstrip('.')}."


def of_end(status: int) -> str:
    """What to say of the end of the process that an answer ran in."""
    if status >= 0:
        return f"Your code ended the process that ran it, with status {status}. Return a result instead of exiting."
    name = signal.Signals(-status).name
    cause = {
        "SIGSEGV": "Look for very deep recursion or an invalid pointer.",
        "SIGBUS": "Look for an invalid pointer.",
        "SIGKILL": "Either the system had no memory left for it, or your code killed it.",
        "SIGABRT": "A library of C gave up: an assertion of it failed, or it found its memory damaged.",
        "SIGFPE": "Look for an integer that is divided by zero.",
        "SIGXCPU": "It had used up its processor time: look for a loop that never ends.",
        "SIGXFSZ": "It wrote a file of more than 64 MB.",
    }.get(name, "Return a result instead.")
    return f"Your code ended the process that ran it ({name}). {cause}"


def _of_python(error: RaisedError) -> str:
    """What commonly stands behind an exception of Python's own; "" for another."""
    if error.kind == "IndexError" and re.search("out of (range|bounds)", error.message):
        return "An index must be less than the length: the last of n entries has the index n - 1, and an empty list has none."
    if error.kind == "KeyError":
        return "Nothing is stored under it: `in` asks whether a key is there, and `.get(key, value)` gives a value if it is not."
    if error.kind == "ZeroDivisionError":
        return "What it divides by can be 0: that case needs an answer of its own."
    if error.kind == "UnboundLocalError":
        return "A name that a function assigns to is its own, and on this path nothing was assigned to it before it is read."
    if "'NoneType'" in error.message:
        return "A None is used as a value: a function without `return` gives it, and so do list methods such as sort and append."
    if found := re.match(r"'(\w+)' object has no attribute '(\w+)'", error.message):
        return f"The value is of type {found[1]}, which has no `{found[2]}`."
    if found := re.match(r"'(\w+)' object does not support item assignment", error.message):
        return f"A {found[1]} cannot be changed: make a new one, or a list."
    return ""


def _of_numpy(message: str) -> str:
    """NumPy's commonest errors in words; "" for another."""
    if found := re.match(r"operands could not be broadcast together with shapes (\([\d,]*\)) (\([\d,]*\))", message):
        left, right = (tuple(int(size) for size in re.findall(r"\d+", shape)) for shape in found.groups())
        dropped = any(
            longer[:axis] + longer[axis + 1 :] == shorter
            for longer, shorter in ((left, right), (right, left))
            for axis in range(len(longer))
        )
        hint = f" {KEEP}" if dropped else ""
        return (
            f"the shapes {left} and {right} do not fit together. From the right, two axes must have the same size, or one of "
            f"them the size 1.{hint}"
        )
    if found := re.match(r"matmul: .*core dimension.*\(size (\d+) is different from (\d+)\)", message):
        return (
            f"the inner sizes of a matrix product differ: {found[2]} columns on the left, {found[1]} rows on the right. "
            "(N, K) @ (K, M) gives (N, M): must one of the two be transposed?"
        )
    if "only integer scalar arrays can be converted" in message:
        return (
            "an array stands where one whole number is needed, such as the bound of a slice or the length of a range. Go through "
            "its elements one by one, or index by an array of all indices."
        )
    if "truth value of an array" in message:
        return "an array of several elements is neither true nor false. To choose element by element, use `np.where`."
    return ""


def of_issue(issue, seen: Seen) -> str:
    """What to say first about something that the simulator found in a kernel."""
    says = {
        "out-of-bounds": "Your kernel accesses an array out of bounds",
        "race": "Two threads access the same address, and nothing orders them (a race condition)",
        "uninitialised-read": "Your kernel reads memory that was never written",
        "divergent-barrier": "Some threads wait at a barrier that others of their block or group never reach",
        "missed-barrier": "A thread exits before a barrier at which others wait for it",
        "missing-lanes": "A warp function is called without all lanes of its mask",
        "misaligned-access": "Misaligned access: the address is not a multiple of the size of what is accessed",
        "null-pointer": "Your kernel dereferences a null pointer",
        "host-pointer": "Your kernel dereferences a pointer to host memory",
        "division-by-zero": "An integer is divided by zero",
        "timeout": "Your kernel was still running at its time limit: look for a loop that never ends",
        "crash": "Your kernel crashed",
    }.get(issue.kind, issue.kind)
    if issue.kind == "race" and (words := _all_the_same(issue, seen)):
        return words
    if issue.kind == "timeout" or not issue.line:
        return f"{says}."
    if not issue.file.endswith(HEADER):
        return f"{says}: line {issue.line}: {issue.message}."
    calls = kernel_source.calls_into(seen.text, issue.file, issue.line)
    inside = f"{issue.file}, line {issue.line}"
    if not calls:
        return f"{says}: {inside}: {issue.message}."
    lines = f"line {calls[0]}" if len(calls) == 1 else f"one of the lines {' and '.join(map(str, calls))}"
    return f"{says}: {lines}, through {inside}: {issue.message}."


def _all_the_same(issue, seen: Seen) -> str:
    """Why threads meet, if it can be read off the text: what tells them apart stands nowhere in it."""
    text = lexer.read(seen.text).code
    asked = {f"{word}.{letter}" for word, letter in re.findall(r"\b(threadIdx|blockIdx)\s*\.\s*([xyz])", text)}
    in_other_ways = r"(threadIdx|blockIdx)\b(?!\s*\.)|#\s*include|cooperative_groups|\basm\b"
    if "__global__" not in text or not seen.reports or re.search(in_other_ways, text):
        return ""
    grid, block = seen.reports[-1].grid, seen.reports[-1].block
    line = f" (line {issue.line})" if issue.line else ""
    if not asked:
        return (
            "Your kernel uses neither threadIdx nor blockIdx, so every thread does all the work, and all "
            f"of them write to the same addresses{line}. Compute from these which part of the work is this thread's."
        )
    among_blocks = "in different blocks" in issue.message
    word, sizes, has = ("blockIdx", grid, "the grid has") if among_blocks else ("threadIdx", block, "a block has")
    units = "blocks" if among_blocks else "threads"
    for letter, size in zip("xyz", sizes, strict=True):
        if size == 1 or f"{word}.{letter}" in asked:
            continue
        if max(sizes[1:]) > 1:
            shape = " x ".join(str(size) for size in sizes[: 3 if sizes[2] > 1 else 2])
            return (
                f"This launch has more than one dimension: {has} {shape} {units}. Your kernel never uses {word}.{letter}, so "
                f"{units} that differ only in it do the same work, and write to the same addresses{line}."
            )
        who = f"all {size} {units}{'' if among_blocks else ' of a block'}"
        return f"Your kernel never uses {word}.x, so {who} do the same work, and write to the same addresses{line}."
    return ""
