"""`sanitize(shader, groups, ...)`: run the text with every access, barrier and round of a loop written down.

WebGPU has no sanitizer, and what reaches outside of an array is silently moved inside. So the text is changed before it is
compiled (instrument.py). That holds on any adapter, whatever its threads do first.

What is found: indexes out of bounds; two threads of a group at one element of workgroup memory with no barrier between them, one
of them writing; two threads that write one element of a storage buffer; a barrier that not all threads of a group reach; loops
that do not end. What is not: what goes through pointers, and a read of a storage buffer that races with a write of it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from course_lib.cuda.report import Issue
from course_lib.wgsl import scan as scanning
from course_lib.wgsl.errors import ShaderError
from course_lib.wgsl.instrument import ROUNDS, WORDS, instrumented
from course_lib.wgsl.report import Line, Report
from course_lib.wgsl.scan import BOTH, PART, READ, WRITE
from course_lib.wgsl.shader import Shader

MOST_SITES = 511  # nine bits of a remembered touch


def sanitize(shader: Shader, groups: int | tuple[int, ...], **arguments: Any) -> Report:
    """Run watched, with arrays and numbers as in a launch; arrays that are written are, here too. Gives a Report.

    Raises ShaderError as a launch does. Where the changed text cannot be run the Report says so, and the text is run as it is.
    """
    shader.compile()
    try:
        found = scanning.scan(shader.source.text)
        if len(found.accesses) + len(found.barriers) + len(found.loops) > MOST_SITES:
            raise ValueError(f"it touches memory in more than {MOST_SITES} expressions")
        if found.barriers or found.loops:  # first without waiting: to wait where not all come could last for ever
            copies = {
                name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
            }
            report = _run(shader, dataclasses.replace(found, accesses=[], pointers=[]), groups, copies, waiting=False)
            if not report.ok:
                return report
        return _run(shader, found, groups, arguments, waiting=True)
    except (ShaderError, ValueError, IndexError) as error:
        shader(groups, **arguments)  # if it is the text's fault, this says so without our changes
        compiled = not isinstance(error, ShaderError)
        why = f"this text ({error})" if compiled else "this text, which could not be compiled with what watches it"
        return Report(shader.name, _grid(groups), shader.workgroup_size(), [], [], [why])


def _grid(groups: int | tuple[int, ...]) -> tuple[int, int, int]:
    return (*(groups if isinstance(groups, tuple) else (groups,)), 1, 1)[:3]


def _run(shader: Shader, found: scanning.Scan, groups, arguments: dict[str, Any], waiting: bool) -> Report:
    sites = [*found.accesses, *found.barriers, *found.loops]
    shape = _grid(groups)
    count, first = int(np.prod(shape)), 1 + len(found.variables)
    arrivals = first + len(sites) * WORDS
    header, size = [arrivals], arrivals + count * len(found.barriers)  # where each kind of thing is written down
    for variable in found.variables.values():
        header.append(size)
        if variable.space == "workgroup":
            size += 3 * int(np.prod(variable.sizes)) * count
        elif variable.writable and isinstance(arguments.get(variable.name), np.ndarray):
            size += 2 * arguments[variable.name].size
    text = instrumented(shader, found, waiting)
    if (watched := _watched.get((shader.name, text))) is None:
        watched = _watched[shader.name, text] = shader.with_text(text)
    log = np.zeros(size, np.uint32)
    log[: len(header)] = header
    watched(groups, **arguments, watch_log=log)
    passed = log[arrivals : arrivals + count * len(found.barriers)].reshape(count, -1)
    return _report(shader, found, sites, (log[first:], passed), shape)


_watched: dict[tuple[str, str], Shader] = {}  # the changed texts, compiled


def _report(
    shader: Shader, found: scanning.Scan, sites: list, seen: tuple[np.ndarray, np.ndarray], shape: tuple
) -> Report:
    (across, down, _), (seen, passed), size = shape, seen, shader.workgroup_size()
    threads = math.prod(size)
    rows, text = shader.source.text.splitlines(), shader.source.text
    sources = {place: row.strip() for place, row in zip(shader.source.lines, rows, strict=False)}
    report = Report(shader.name, shape, size, [], [], list(found.not_seen), sources)

    def where(site) -> tuple[str, int, str]:
        number = text.count("\n", 0, site.place if isinstance(site, scanning.Access) else site)
        file, line = shader.source.lines[number]
        return file, line, rows[number].strip()

    def at(group: int) -> tuple[int, int, int]:
        return group % across, group // across % down, group // across // down

    def who(thread: int) -> tuple[int, int, int]:
        return thread % size[0], thread // size[0] % size[1], thread // size[0] // size[1]

    counted: dict[tuple, list[int]] = {}
    touched: dict[tuple, Issue] = {}
    for site, access in enumerate(found.accesses):
        touches, faults, index, other, group, thread = (int(word) for word in seen[site * WORDS :][:WORDS])
        file, line, code = where(access)
        ops = {BOTH: (READ, WRITE), PART: (WRITE,)}.get(access.op, (access.op,))
        for op in ops:
            counts = counted.setdefault((file, line, access.variable.space, op), [0, 0])
            counts[0] += touches
            counts[1] += touches * (_size(access.variable.kind) if access.op != PART else 4)
        if faults:
            issue = _issue(access, index, other, (file, line, code), where, sites, (at(group), who(thread)), faults)
            key = (issue.kind, file, line, issue.message)  # what a line reads four times is one fault
            before = touched.get(key)
            touched[key] = dataclasses.replace(before, count=before.count + faults) if before else issue
    report.issues += touched.values()
    report.lines = sorted(
        (Line(*key, *counts) for key, counts in counted.items() if counts[0]), key=lambda n: (n.file, n.line)
    )
    for number, place in enumerate(found.barriers):
        uneven = np.flatnonzero(passed[:, number] % threads)
        if uneven.size:
            file, line, code = where(place)
            report.issues.append(Issue(
                "divergent-barrier", file, line, None, at(int(uneven[0])), None,
                "not all threads of a group come to this barrier as often as the others: it must stand where all of them pass, "
                "in no `if` or loop that depends on the thread, and behind no `return` of some",
                source=code, unit="group"))  # fmt: skip
    for number, place in enumerate(found.loops, len(found.accesses) + len(found.barriers)):
        _, faults, _, _, group, thread = (int(word) for word in seen[number * WORDS :][:WORDS])
        if faults:
            file, line, code = where(place)
            message = f"this loop was still running after {ROUNDS:,} rounds"
            report.issues.append(
                Issue("timeout", file, line, None, at(group), who(thread), message, source=code, unit="group")
            )
    order = ("timeout", "divergent-barrier", "out-of-bounds", "race")
    report.issues.sort(key=lambda issue: order.index(issue.kind))
    return report


def _issue(access, index: int, other: int, place: tuple, where, sites: list, who: tuple, times: int) -> Issue:
    (file, line, code), name = place, access.variable.name
    does = {READ: "reads", WRITE: "writes", BOTH: "reads and writes", PART: "writes a part of"}[access.op]
    other_line, other_code, kind = None, "", "race"
    if not other:
        kind, number = "out-of-bounds", index if index < 2**31 else index - 2**32
        message = f"a thread {does} `{name}[{number}]`, which is outside of the array"
    elif access.variable.space == "storage":
        message = f"two threads write `{name}[{index}]`, and nothing says whose number stays"
    else:
        second = sites[other - 1]
        _, other_line, other_code = where(second)
        element = f"`{name}`" if access.variable.single else f"`{name}[{index}]`"
        if len(access.variable.sizes) > 1:
            element = f"element {index} of `{name}`"
        message = (
            f"a thread {does} {element}, which another thread {'reads' if second.op == READ else 'writes'} in line "
            f"{other_line}, with no workgroupBarrier between them"
        )
    return Issue(kind, file, line, other_line, *who, message, times, code, other_code, "group")


def _size(kind: str) -> int:
    return 4 * int(kind[3]) if kind.startswith("vec") else 4
