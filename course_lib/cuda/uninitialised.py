"""Local variables that are read before they have a value: the compiler suspects them, another run decides.

A sum that was never set to zero comes out right by luck, and no hook sees why, since it lies in a register. So the checked
build fills such variables with a pattern, if the compiler can. Where it has warned of a variable, or where results show the
pattern, or where the text looks like it (local_variables.py), the launch is run once more with all such variables set to
zero, and then with one at a time; and a single number is tried with a large value, too. If that changes what comes out, the
result depends on a value that was never set, and only then is it told: the first of them, or all if trying takes too long.

Each of these finds what the others do not: without the look at the text 6 of the 73 tests of test_uninitialised fail, without the
look at the results 6, without the large value 4.

Not found: a variable whose pattern happens to lead to the same result as these values.
"""

import copy
import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import native
from course_lib.cuda import declarations, source, variables
from course_lib.cuda.errors import CompileError
from course_lib.cuda.kernel import Kernel, module_of
from course_lib.cuda.local_variables import Variable, accumulates, declared, suspicious
from course_lib.cuda.report import Issue, Report

SAYS = "{} is read before it has a value, and the result depends on what is there by chance: set it first"
TRIES = 1  # of many variables so many more than the likeliest are tried one by one: each costs a build and a run
HUGE = 1e37  # what the pattern is as a float: -1.7e38 by g++, not a number by clang
PATTERNS = (0xFEFEFEFE - 2**32, 0xAAAAAAAA - 2**32)  # and as an int
_WARNING = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?P<level>warning|note): (?P<text>.*)$")
_TOLD = re.compile(r"[‘'](\w+)[’'] (?:was )?declared here|initialize the variable '(\w+)' to silence")
_NUMBER = re.compile(r"float|double|bool|half|__half|__nv_bfloat16|(?:unsigned )?int")
LARGE = " = 1 << 15"  # for where the pattern acts as a zero does: in the greatest of positive values


def find(
    kernel: Kernel, before: tuple, after: tuple, report: Report, run: Callable[[Kernel, tuple], Report]
) -> list[Issue]:
    """The local variable on which the results of a checked launch depend though it has no value: one issue, or none.

    before, after: its arguments before and after it. `run` launches a kernel in silence, under watch, with other arguments.
    """
    library = kernel.compiled(checked=True)
    addresses = any(isinstance(value, np.ndarray) and value.dtype == np.uint64 for value in before)
    changing = any(not variable.constant for variable in declarations.device_variables(kernel.source))
    if addresses or changing:  # memory that the launch may have changed, and that another run would not find as it was
        return []

    def differs(chosen: list[Variable], value: str) -> bool | None:
        """Whether this value for these variables makes a difference; None if they cannot be given it."""
        other, again = _with_values(kernel, chosen, value), copy.deepcopy(before)
        try:
            variables.copy(library, other.compiled(checked=True))
        except CompileError:
            return None
        return _kinds(run(other, again)) != _kinds(report) or not all(map(_same, after, again))

    def changes(chosen: list[Variable]) -> bool | None:
        answer = differs(chosen, " = {}")
        return answer if answer is not False else bool(all(map(_is_number, chosen)) and differs(chosen, LARGE))

    def guilty(chosen: list[Variable]) -> list[Variable]:
        """One of these variables, or those among which it is; none if they make no difference."""
        chosen = sorted(chosen, key=lambda variable: not accumulates(kernel.source, variable.name))
        if not chosen or changes(chosen[:1]):
            return chosen[:1]
        left = chosen[1:]
        together = changes(left) if len(left) > 1 else None
        if together is False:
            return []
        for tried, variable in enumerate(left):
            if together and (tried == TRIES or variable == left[-1]):
                return left[tried:]
            if tried < TRIES and changes([variable]):
                return [variable]
        return []

    warned = _warned(library.path, kernel.source.name)
    suspected = [v for v in declared(kernel.source) if (v.name, v.line) in warned] if warned else []
    suspected += [variable for variable in suspicious(kernel.source) if variable not in suspected]
    own, others = _nearest(kernel, suspected)
    found = guilty(own) or guilty(others)
    # Other faults may bring the pattern along: what lies beyond an array, or was never written. A race does not.
    if not found and {issue.kind for issue in report.issues} <= {"race"} and _shows_pattern(before, after):
        padded = declarations.padded_types(kernel.source)  # a copy of theirs holds bytes that are never set
        own, others = _nearest(kernel, [v for v in declared(kernel.source) if v.type.split()[-1] not in padded])
        found = guilty(own) or guilty(others)
    if not found:
        return []
    line, names = found[0].line, [f"'{variable.name}'" for variable in found]
    who = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    words = kernel.source.text.splitlines()[line - 1].strip()
    return [
        Issue("uninitialised-read", kernel.source.name, line, None, (0, 0, 0), None, SAYS.format(who), source=words)
    ]


@cache
def _warned(library: Path, file: str) -> list[tuple[str, int]]:
    """Variables that the compiler has warned of when it built a library, with the lines of their declarations."""
    found, about = [], False
    for match in filter(None, map(_WARNING.match, native.messages(library).splitlines())):
        if match.group("level") == "warning":
            about = "uninitialized" in match.group("text")
        elif about and match.group("file") == file and (told := _TOLD.search(match.group("text"))):
            found.append((told.group(1) or told.group(2), int(match.group("line"))))
    return list(dict.fromkeys(found))


def _nearest(kernel: Kernel, found: list[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Variables of the kernel itself, and those of functions that it may call; not those of other kernels."""
    own, bodies = source.body_of(kernel.source, kernel.name), source.bodies(kernel.source).values()
    others = [variable for variable in found if not any(variable.line in body for body in bodies)]
    return [variable for variable in found if variable.line in own], others


def _is_number(variable: Variable) -> bool:
    """Whether it is a single number."""
    return not variable.array and _NUMBER.fullmatch(variable.type) is not None


def _with_values(kernel: Kernel, chosen: list[Variable], value: str) -> Kernel:
    """The same kernel, with a value for some of its variables."""
    text = kernel.source.text
    for variable in sorted(chosen, key=lambda variable: -variable.end):
        text = text[: variable.end] + value + text[variable.end :]
    other = copy.copy(kernel)
    other.source = dataclasses.replace(kernel.source, text=text)
    other._module = module_of(other.source, kernel.options)
    other._module.want(kernel.name)
    return other


def _shows_pattern(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether a launch has written what may come from the pattern."""
    for old, new in zip(before, after, strict=True):
        if not isinstance(new, np.ndarray) or new.itemsize > 8 or new.dtype.kind not in "fiu":
            continue
        old, new = (np.ascontiguousarray(array).reshape(-1) for array in (old, new))
        written = new[old.view(f"u{new.itemsize}") != new.view(f"u{new.itemsize}")]
        if new.dtype.kind == "f" and not (np.abs(written.astype(np.promote_types(new.dtype, np.float32))) < HUGE).all():
            return True
        if new.dtype.kind in "iu" and new.itemsize == 4:
            numbers = written.astype(np.int32).astype(np.int64)
            if any((np.abs(numbers - pattern) < 1 << 20).any() for pattern in PATTERNS):
                return True
    return False


def _kinds(report: Report) -> set[str]:
    """What is wrong. (Copies of arrays count as written: reads of what was never written are seen in the first run only.)"""
    return {issue.kind for issue in report.issues} - {"uninitialised-read"}


def _same(old: Any, new: Any) -> bool:
    """Whether two results are one, but for the order in which sums were rounded."""
    if not isinstance(old, np.ndarray):
        return True
    if old.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.allclose(old, new, rtol=1e-3, atol=1e-6, equal_nan=True)
    return old.tobytes() == new.tobytes()
