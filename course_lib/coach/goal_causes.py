"""Why a kernel with right results misses a goal, as far as the simulator's counters prove it: for CUDA C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.coach.outcome import HEADER
from course_lib.cuda.report import SECTOR_BYTES, Line, Report

SPREAD = 1.4  # times the sectors, or wavefronts, that an access needs
AGAIN = 1.2  # times the bytes that the arrays hold
TAKES_PART = 8  # lanes: with fewer, a request is a few lanes' own affair
WIDEST = 16  # bytes that one instruction of a lane can ask for


def why(reports: Sequence[Report], ours: Sequence[Report], goal: str, given: Any, got: Any) -> str:
    """A sentence to follow the numbers; "" where they tell nothing more. ours: of our own solution; what it does too is no cause.

    given, got: the inputs and results of the measured case.
    """
    shared, our_shared = (_lines(one, goal, "shared") for one in (reports, ours))
    of_global, our_global = (_lines(one, goal, "global") for one in (reports, ours))
    if "wavefronts" in goal:
        return _conflicts(shared)
    if "idle lanes" in goal:
        return _idle(shared if "shared" in goal else of_global)
    if "sectors" in goal:
        return _apart(of_global, our_global)
    if "bytes" in goal and "global" in goal:
        used, enough = (sum(line.bytes_requested for line in lines) for lines in (of_global, our_global))
        again = _again(of_global, our_global, given, got)
        return (again if enough and used > 1.5 * enough else "") or _apart(of_global, our_global) or again
    if "instructions" in goal or "requests" in goal:
        mine, others = (of_global, our_global) if "global" in goal else (shared, our_shared)
        return _narrow(mine, others) or _again(of_global, our_global, given, got)
    return ""


def _lines(reports: Sequence[Report], goal: str, space: str) -> list[Line]:
    """The lines that a goal speaks of."""
    op = "read" if "read" in goal else "write" if "writ" in goal else ""
    lines = [line for report in reports for line in report.lines]
    return [line for line in lines if line.requests and line.space == space and (not op or line.op == op)]


def _at(line: Line) -> str:
    return f"In {line.file}, line {line.line}," if line.file.endswith(HEADER) else f"In line {line.line}"


def _apart(lines: Sequence[Line], ours: Sequence[Line]) -> str:
    """The line whose warps move most that they do not use."""
    loose = [
        line
        for line in lines
        if line.active_lanes >= TAKES_PART
        and _waste(line) > SPREAD * max([1.0, *(_waste(other) for other in ours if other.op == line.op)])
        and line.sectors_per_request > max(2, SPREAD * line.bytes_requested / line.requests / SECTOR_BYTES)
    ]
    if not loose:
        return ""
    line = max(loose, key=lambda line: line.bytes_moved - line.bytes_requested)
    return (
        f" {_at(line)} a warp moves {_waste(line):.2g} times the bytes that it {_uses(line)}: the addresses of its lanes do not "
        "lie side by side. Let threadIdx.x count the index whose elements are neighbours in memory."
    )


def _waste(line: Line) -> float:
    return line.bytes_moved / line.bytes_requested


def _uses(line: Line) -> str:
    return "reads" if line.op == "read" else "writes"


def _again(lines: Sequence[Line], ours: Sequence[Line], given: Any, got: Any) -> str:
    """What is read, or written, more than once, or more than our solution needs."""
    for op, arrays in (("read", given), ("write", got)):
        found = [line for line in lines if line.op == op]
        moved, held = sum(line.bytes_moved for line in found), _bytes(arrays)
        needed = sum(line.bytes_moved for line in ours if line.op == op)
        if moved <= AGAIN * needed:
            continue
        places = sorted({(line.file.endswith(HEADER), line.file, line.line) for line in found})
        own = [number for header, _, number in places if not header]
        where = f" in {_listed(own)}" if own and len(own) == len(places) < 6 else ""
        if needed > AGAIN * held:
            verb = "read" if op == "read" else "write"
            return f" Your kernel {verb}s {moved:,} bytes{where}; to {verb} {needed:,} is enough."
        if held and moved > AGAIN * held:
            verb, holder, memory = {
                "read": (
                    "reads",
                    "inputs of this case",
                    "what is needed again belongs in a register, or in shared memory",
                ),
                "write": ("writes", "results of this case", "write each number once, when it is complete"),
            }[op]
            return (
                f" Your kernel {verb} {moved:,} bytes{where}, and the {holder} have {held:,}, so it moves {moved / held:.2g} "
                f"times as much: {memory}."
            )
    return ""


def _bytes(arrays: Any) -> int:
    return sum(
        x.nbytes for x in (arrays if isinstance(arrays, tuple | list) else (arrays,)) if isinstance(x, np.ndarray)
    )


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"lines {', '.join(first)} and {last}" if first else f"line {last}"


def _narrow(lines: Sequence[Line], ours: Sequence[Line]) -> str:
    """The line with the most instructions, where each could access more bytes."""
    if not lines:
        return ""
    line = max(lines, key=lambda line: line.requests)
    width = _width(line)
    if width > WIDEST / 2 or (ours and width >= max(map(_width, ours))):
        return ""
    return (
        f" {_at(line)} a lane moves {width:.3g} bytes at a time. One instruction can move {WIDEST}, as one access to a "
        "whole float4 does."
    )


def _width(line: Line) -> float:
    return line.bytes_requested / (line.requests * line.active_lanes)


def _conflicts(lines: Sequence[Line]) -> str:
    """The line with the worst bank conflicts."""
    found = []
    for line in lines:
        ideal = max(1.0, _width(line) / 4)
        if line.wavefronts_per_request > SPREAD * ideal:
            found.append((line.wavefronts_per_request / ideal, line))
    if not found:
        return ""
    ways, line = max(found, key=lambda one: (one[0] - 1) * one[1].requests)
    return (
        f" {_at(line)} lanes of a warp ask one bank for {ways:.3g} different words, so they wait for each other: words whose "
        "numbers differ by a multiple of 32 lie in one bank. Rows that are one word longer spread them, or another order of "
        "the indices."
    )


def _idle(lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    line = max(lines, key=lambda line: (32 - line.active_lanes) * line.requests)
    if line.active_lanes >= 31.5:
        return ""
    return (
        f" {_at(line)} {line.active_lanes:.3g} of 32 lanes take part on average: share the work out among all of them."
    )
