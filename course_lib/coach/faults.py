"""Exceptions and the simulator's issues, as sentences for a learner."""

from __future__ import annotations

import re
from collections.abc import Collection

from course_lib import lexer
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Fault, Seen


def sentence(fault: Fault, exercise: Exercise, known: Collection[str] = ()) -> str:
    """What to say first about an exception out of an answer."""
    line = f" in line {fault.line}" if fault.line else ""
    if fault.kind == "StillRunning":
        return (
            f"Your code was still running after {exercise.seconds:g} seconds and was stopped{line}. "
            "Look for a loop that never ends."
        )
    if fault.kind == "SystemExit":
        return f"Your code asks Python to end{line} (exit or sys.exit). Return a result instead."
    if fault.kind in ("CompileError", "KernelError", "ArgumentError"):
        return fault.message
    if fault.kind == "ShaderError":
        return fault.message.partition("\n")[0]  # its line of code stands below
    if fault.kind == "MemoryError":
        return f"Your code asked for more memory than an exercise gets (2 GB){line}."
    if fault.kind == "RecursionError":
        return f"A function calls itself{line} and never comes to an end."
    if fault.kind == "NameError" and (name := re.match(r"name '(\w+)' is not defined", fault.message)):
        if name[1] in known:
            return (
                f"`{name[1]}` lives in another cell of your notebook. An answer is judged by itself: define or import it "
                f"in this cell{', above line ' + str(fault.line) if fault.line else ''}."
            )
        return f"Python does not know the name `{name[1]}`{line}. Is it spelled right, and defined above?"
    if fault.kind == "NameError":
        return fault.message
    if fault.kind in ("SyntaxError", "IndentationError", "TabError"):
        return f"Python cannot read {f'line {fault.line}' if fault.line else 'your cell'}: {fault.message}."
    if fault.line:
        place = f"Your code raised {fault.kind}{line}"
    elif re.search(r"positional argument|keyword argument|multiple values for argument|not callable", fault.message):
        place = f"Your code cannot be called as the task says, {fault.kind}"
    else:
        place = f"What your code gives back cannot be used, {fault.kind}"
    return f"{place}: {fault.message.rstrip('.')}."


def of_issue(issue, seen: Seen) -> str:
    """What to say first about something that the simulator found in a kernel."""
    says = {
        "out-of-bounds": "Your kernel reaches outside an array",
        "race": "Two threads use the same place, and nothing says who comes first",
        "uninitialised-read": "Your kernel reads a value that nobody has written",
        "divergent-barrier": "Some threads wait at a barrier that others of their block or group never reach",
        "missed-barrier": "A thread ends before a barrier where others wait for it",
        "missing-lanes": "A warp's function is called while some of its lanes are elsewhere",
        "misaligned-access": "An address is not a multiple of what is read there",
        "null-pointer": "Your kernel follows a pointer that points nowhere",
        "host-pointer": "Your kernel follows an address of the host",
        "division-by-zero": "A whole number is divided by zero",
        "timeout": "Your kernel was still running when its time was over: look for a loop that never ends",
        "crash": "Your kernel crashed",
    }.get(issue.kind, issue.kind)
    if issue.kind == "race" and (words := _all_the_same(issue, seen)):
        return words
    if issue.kind == "timeout" or not issue.line:
        return f"{says}."
    return f"{says}: line {issue.line}: {issue.message}."


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
            "Your kernel asks nowhere which thread it is, by threadIdx or blockIdx. So every thread does all the work, and all "
            f"of them write to the same places{line}. Which part of the work is this thread's?"
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
                f"This launch has more than one dimension: {has} {shape} {units}. Your kernel never asks for {word}.{letter}, so "
                f"{units} that differ only in it do the same work, and write to the same places{line}."
            )
        who = f"all {size} {units}{'' if among_blocks else ' of a block'}"
        return f"Your kernel never asks for {word}.x, so {who} do the same work, and write to the same places{line}."
    return ""
