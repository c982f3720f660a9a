"""`sanitize(shader, groups, ...)`: run the text with every access, barrier and round of a loop written down.

WebGPU has no sanitizer, and what reaches outside of an array is silently moved inside. So the text is changed before it is
compiled: an index `x[i]` becomes `x[seen_x(u32(i), ...)]`, which counts, looks whether i is inside, and remembers who touched the
element since the last barrier. That holds on any adapter, whatever its threads do first.

What is found: indexes out of bounds; two threads of a group at one element of workgroup memory with no barrier between them, one
of them writing; two threads that write one element of a storage buffer; a barrier that not all threads of a group reach; loops
that do not end. What is not: what goes through pointers, and a read of a storage buffer that races with a write of it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from course_lib import lexer
from course_lib.cuda.report import Issue
from course_lib.devices.webgpu import adapter
from course_lib.wgsl import scan as scanning
from course_lib.wgsl.errors import ShaderError
from course_lib.wgsl.report import Line, Report
from course_lib.wgsl.scan import BOTH, PART, READ, WRITE
from course_lib.wgsl.shader import COPY_DST, COPY_SRC, STORAGE, Shader, compiled, launch

OPS = {READ: 0, WRITE: 1, BOTH: 2, PART: 3}
ROUNDS = 60_000  # of one loop in one thread, before it counts as endless (Mesa's llvmpipe leaves a loop after 65,535)
MOST_SITES = 511
WORDS = 6  # of a site: touches; faults, index, other site, group, thread of the first
BUILTINS = {"local_invocation_index": "u32", "workgroup_id": "vec3<u32>", "num_workgroups": "vec3<u32>"}

# The functions that the changed text calls. A touch is remembered as one word: used, many readers, 11 bits of the number of
# barriers passed, 10 of the thread in its group, 9 of the site.
HELP = """
@group(0) @binding({binding}) var<storage, read_write> watch_log: array<atomic<u32>>;
var<private> watch_lane: u32;
var<private> watch_group: u32;
var<private> watch_epoch: u32;
var<private> watch_rounds: array<u32, {loops}>;

fn watch_fault(site: u32, index: u32, other: u32) {{
    let at = {sites}u + site * {words}u;
    if (atomicAdd(&watch_log[at + 1u], 1u) == 0u) {{
        atomicStore(&watch_log[at + 2u], index);
        atomicStore(&watch_log[at + 3u], other);
        atomicStore(&watch_log[at + 4u], watch_group);
        atomicStore(&watch_log[at + 5u], watch_lane);
    }}
}}
fn watch_meets(old: u32, mine: u32) -> bool {{
    return old != 0u && ((old ^ mine) & 0x3ff80000u) == 0u && ((old & 0x40000000u) != 0u || ((old ^ mine) & 0x7fe00u) != 0u);
}}
fn watch_shared(cell: u32, index: u32, site: u32, op: u32) {{
    let mine = 0x80000000u | ((watch_epoch & 0x7ffu) << 19u) | (watch_lane << 9u) | site;
    var other = 0u;
    // First written down, then looked up: of two threads at once at least one sees the other.
    if (op == 0u || op == 2u) {{
        if (watch_meets(atomicExchange(&watch_log[cell + 1u], mine), mine)) {{ atomicOr(&watch_log[cell + 1u], 0x40000000u); }}
    }}
    if (op == 3u) {{ atomicStore(&watch_log[cell + 2u], mine); }}
    if (op == 1u || op == 2u) {{
        let whole = atomicExchange(&watch_log[cell], mine);
        if (watch_meets(whole, mine)) {{ other = whole; }}
    }} else {{
        let whole = atomicLoad(&watch_log[cell]);
        if (watch_meets(whole, mine)) {{ other = whole; }}
    }}
    if (op != 0u) {{
        let read = atomicLoad(&watch_log[cell + 1u]);
        if (watch_meets(read, mine)) {{ other = read; }}
    }}
    if (op != 3u) {{
        let part = atomicLoad(&watch_log[cell + 2u]);
        if (watch_meets(part, mine)) {{ other = part; }}
    }}
    if (other != 0u) {{ watch_fault(site, index, (other & 0x1ffu) + 1u); }}
}}
fn watch_written(cell: u32, index: u32, site: u32) {{
    let mine = watch_group * {threads}u + watch_lane + 1u;
    let before = atomicExchange(&watch_log[cell], mine);
    let epoch = atomicExchange(&watch_log[cell + 1u], watch_epoch);
    let together = (before - 1u) / {threads}u == watch_group;
    if (before != 0u && before != mine && (!together || epoch == watch_epoch)) {{ watch_fault(site, index, site + 1u); }}
}}
fn watch_barrier(site: u32) {{
    atomicAdd(&watch_log[atomicLoad(&watch_log[0]) + watch_group * {barriers}u + site - {first_barrier}u], 1u);
    watch_epoch += 1u;
    {barrier}
}}
fn watch_waited(index: u32) -> u32 {{
    watch_epoch += 1u;
    return index;
}}
fn watch_round(site: u32) -> bool {{
    let i = site - {first_loop}u;
    watch_rounds[i] += 1u;
    if (watch_rounds[i] == {rounds}u) {{ watch_fault(site, 0u, 0u); }}
    return watch_rounds[i] >= {rounds}u;
}}
"""
SEEN = """
fn seen_{name}({parameters}, site: u32, op: u32) -> u32 {{
    atomicAdd(&watch_log[{sites}u + site * {words}u], 1u);
    let index = {flat};
    if ({outside}) {{
        watch_fault(site, {last}, 0u);
        return 0u;
    }}
    {touch}
    return {last};
}}
"""


def sanitize(shader: Shader, groups: int | tuple[int, ...], **arguments: Any) -> Report:
    """Run watched, with arrays and numbers as in a launch; arrays that are written are, here too. Gives a Report.

    Raises ShaderError as a launch does. Where the changed text cannot be run the Report says so, and the text is run as it is.
    """
    shader.compile()
    try:
        found = scanning.scan(shader.source.text)
        if len(found.accesses) + len(found.barriers) + len(found.loops) > MOST_SITES:
            raise ValueError(f"it touches memory in more than {MOST_SITES} places")
        if found.barriers or found.loops:  # first without waiting: to wait where not all come could last for ever
            copies = {
                name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
            }
            report = _run(shader, dataclasses.replace(found, accesses=[], pointers=[]), groups, copies, waiting=False)
            if not report.ok:
                return report
        return _run(shader, found, groups, arguments, waiting=True)
    except ShaderError:
        shader(groups, **arguments)  # if it is the text's fault, this says so without our changes
        return Report(shader.name, not_checked=["this text, which could not be compiled with what watches it"])
    except (ValueError, IndexError) as error:
        shader(groups, **arguments)
        return Report(shader.name, not_checked=[f"this text ({error})"])


def _run(shader: Shader, found: scanning.Scan, groups, arguments: dict[str, Any], waiting: bool) -> Report:
    sites = [*found.accesses, *found.barriers, *found.loops]
    shape = (*(groups if isinstance(groups, tuple) else (groups,)), 1, 1)[:3]
    count, first = int(np.prod(shape)), 1 + len(found.variables)
    arrivals = first + len(sites) * WORDS
    header, size = [arrivals], arrivals + count * len(found.barriers)  # where each kind of thing is written down
    for variable in found.variables.values():
        header.append(size)
        if variable.space == "workgroup":
            size += 3 * int(np.prod(variable.sizes)) * count
        elif variable.writable and isinstance(arguments.get(variable.name), np.ndarray):
            size += 2 * arguments[variable.name].size
    text, binding = _changed(shader, found, waiting)
    key = shader.name, text
    if key not in _compiled:
        _compiled[key] = compiled(dataclasses.replace(shader.source, text=text), shader.name)
    device = adapter.device()
    log = device.create_buffer(size=4 * size, usage=STORAGE | COPY_SRC | COPY_DST)
    device.queue.write_buffer(log, 0, np.array(header, np.uint32))
    watched = "watch_log" in scanning.reached(
        text, shader.name
    )  # not where all that is watched stands in functions never called
    launch(_compiled[key], shader, groups, arguments, {binding: log} if watched else {})
    seen = np.frombuffer(device.queue.read_buffer(log), np.uint32)
    passed = seen[arrivals : arrivals + count * len(found.barriers)].reshape(count, -1)
    return _report(shader, found, sites, (seen[first:], passed), shape)


_compiled: dict[tuple[str, str], Any] = {}


def _changed(shader: Shader, found: scanning.Scan, waiting: bool) -> tuple[str, int]:
    """The text with calls of HELP and SEEN in it, no line of which begins or ends elsewhere; and the binding of its log."""
    edits: list[tuple[int, str]] = []
    for site, access in enumerate(found.accesses):
        call, rest = f"seen_{access.variable.name}(", f"{site}u, {OPS[access.op]}u)"
        if access.variable.single:
            edits.append((access.end, f"[{call}0u, {rest}]"))
            continue
        for axis, (opening, end) in enumerate(access.brackets[:-1]):
            edits += [(opening + 1, f"watch_axis_{access.variable.name}({axis}u, u32("), (end, "))")]
        opening, end = access.brackets[-1]
        edits += [(opening + 1, f"{call}u32("), (end, f"), {rest}")]
    for access, waits in found.pointers:
        step = "watch_waited" if waits else "u32"  # workgroupUniformLoad is a barrier, too
        if access.variable.single:
            edits.append((access.end, f"[{step}(0u)]"))
        elif waits and len(access.brackets) == 1:
            edits += [(access.brackets[0][0] + 1, f"{step}(u32("), (access.brackets[0][1], "))")]
    text, first_barrier = shader.source.text, len(found.accesses)
    closing = lexer.read(text, wgsl=True).closing
    for number, place in enumerate(found.barriers, first_barrier):
        edits += [(place, f"watch_barrier({number}u); /*"), (closing(text.index("(", place)) + 1, "*/")]
    first_loop = first_barrier + len(found.barriers)
    for number, place in enumerate(found.loops, first_loop):
        edits.append((place + 1, f" if (watch_round({number}u)) {{ break; }}"))
    used = {access.variable.name for access in [*found.accesses, *(access for access, _ in found.pointers)]}
    single = [variable for variable in found.variables.values() if variable.single and variable.name in used]
    edits += [edit for variable in single for edit in ((variable.single[0], "array<"), (variable.single[1], ", 1>"))]
    edits += _entry(shader, found)
    for place, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:place] + new + text[place:]
    binding = (
        max([n for n, _ in shader.source.buffers.values()] + [n for n, _ in shader.source.structs.values()], default=-1)
        + 1
    )
    text += HELP.format(
        binding=binding, words=WORDS, sites=1 + len(found.variables), threads=math.prod(shader.workgroup_size()), rounds=ROUNDS,
        barriers=max(len(found.barriers), 1), first_barrier=first_barrier, loops=max(len(found.loops), 1), first_loop=first_loop,
        barrier="workgroupBarrier();" if waiting else "",
    )  # fmt: skip
    used = {access.variable.name for access in found.accesses}
    header = enumerate(found.variables.values(), 1)
    return text + "".join(_seen(variable, place, found) for place, variable in header if variable.name in used), binding


def _entry(shader: Shader, found: scanning.Scan) -> list[tuple[int, str]]:
    """Edits by which the entry point tells the helpers who it is."""
    function = found.functions[shader.name]
    (opening, parameters), brace = function.parameters, function.body[0]
    head = lexer.read(shader.source.text, wgsl=True).code[opening:parameters]
    names, added = {}, []
    for builtin, kind in BUILTINS.items():
        at = head.find(f"@builtin({builtin})")
        if at < 0:
            names[builtin] = f"watch_{builtin}"
            added.append(f"@builtin({builtin}) watch_{builtin}: {kind}")
        else:
            names[builtin] = scanning.NAME.search(head, at + len(f"@builtin({builtin})"))[0]
    lane, group, groups = names.values()
    edits = [
        (
            brace + 1,
            f" watch_lane = {lane}; watch_group = ({group}.z * {groups}.y + {group}.y) * {groups}.x + {group}.x;",
        )
    ]
    if added:
        edits.append((opening + 1, ", ".join(added) + (", " if head[1:].strip() else "")))
    return edits


def _seen(variable: scanning.Variable, header: int, found: scanning.Scan) -> str:
    """The function that an index of this variable goes through; of a nested array the last index, with the others kept."""
    place = f"atomicLoad(&watch_log[{header}])"
    name, depth = variable.name, len(variable.sizes)
    outside = [f"i >= {variable.sizes[-1]}u" if variable.sizes[-1] else f"i >= arrayLength(&{name})"]
    flat, before = "i", ""
    if depth > 1:
        before = f"\nvar<private> watch_row_{name}: array<u32, {depth - 1}>;\nfn watch_axis_{name}(axis: u32, i: u32) -> u32 {{\n"
        before += f"    watch_row_{name}[axis] = i;\n    return i;\n}}"
        stride = variable.sizes[-1]
        for axis in range(depth - 2, -1, -1):
            flat += f" + watch_row_{name}[{axis}] * {stride}u"
            outside.append(f"watch_row_{name}[{axis}] >= {variable.sizes[axis]}u")
            stride *= variable.sizes[axis]
    cells = int(np.prod(variable.sizes)) if variable.space == "workgroup" else 0
    if variable.space == "workgroup":
        touch = f"watch_shared({place} + 3u * (watch_group * {cells}u + index), index, site, op);"
    else:
        touch = f"if (op != 0u) {{ watch_written({place} + 2u * index, index, site); }}" if variable.writable else ""
    return before + SEEN.format(
        sites=1 + len(found.variables),
        name=name,
        parameters="i: u32",
        words=WORDS,
        flat=flat,
        outside=" || ".join(outside),
        last="i",
        touch=touch,
    )


def _report(
    shader: Shader, found: scanning.Scan, sites: list, seen: tuple[np.ndarray, np.ndarray], shape: tuple
) -> Report:
    (across, down, _), (seen, passed), size = shape, seen, shader.workgroup_size()
    threads = math.prod(size)
    report = Report(shader.name, not_checked=list(found.not_seen))
    rows, text = shader.source.text.splitlines(), shader.source.text

    def where(site) -> tuple[str, int, str]:
        number = text.count("\n", 0, site.place if isinstance(site, scanning.Access) else site)
        file, line = shader.source.lines[number]
        return file, line, rows[number].strip()

    def at(group: int) -> tuple[int, int, int]:
        return group % across, group // across % down, group // across // down

    def who(thread: int) -> tuple[int, int, int]:
        return thread % size[0], thread // size[0] % size[1], thread // size[0] // size[1]

    counted: dict[tuple, list[int]] = {}
    for site, access in enumerate(found.accesses):
        touches, faults, index, other, group, thread = (int(word) for word in seen[site * WORDS :][:WORDS])
        file, line, code = where(access)
        ops = {BOTH: (READ, WRITE), PART: (WRITE,)}.get(access.op, (access.op,))
        for op in ops:
            counts = counted.setdefault((file, line, access.variable.space, op), [0, 0])
            counts[0] += touches
            counts[1] += touches * (_size(access.variable.kind) if access.op != PART else 4)
        if faults:
            report.issues.append(
                _issue(access, index, other, (file, line, code), where, sites, (at(group), who(thread)), faults)
            )
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
