"""A WGSL text changed so that it writes down every access, barrier and round of a loop: what sanitizer.py runs.

An index `x[i]` becomes `x[seen_x(u32(i), ...)]`, which counts, looks whether i is inside, and remembers who touched the element
since the last barrier. No line begins or ends elsewhere than before.
"""

from __future__ import annotations

import math

import numpy as np

from course_lib import lexer
from course_lib.wgsl import scan as scanning
from course_lib.wgsl.scan import BOTH, PART, READ, WRITE
from course_lib.wgsl.shader import Shader

OPS = {READ: 0, WRITE: 1, BOTH: 2, PART: 3}
ROUNDS = 60_000  # of one loop in one thread, before it counts as endless (Mesa's llvmpipe leaves a loop after 65,535)
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


def instrumented(shader: Shader, found: scanning.Scan, waiting: bool) -> str:
    """The text with calls of HELP and SEEN in it, and the array `watch_log`. waiting: whether barriers are still waited at."""
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
    return text + "".join(_seen(variable, place, found) for place, variable in header if variable.name in used)


def _entry(shader: Shader, found: scanning.Scan) -> list[tuple[int, str]]:
    """Edits by which the entry point tells the helpers who it is."""
    function = found.functions[shader.name]
    (opening, parameters), brace = function.parameters, function.body[0]
    head = shader.source.code[opening:parameters]
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
