"""`sanitize(kernel, grid, block, args)`: run the checked build once and report what a kernel does wrong, by source line."""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.cuda import declarations, flops, launch, lines, registers, runtime, source, symbols, uninitialised
from course_lib.cuda.arguments import Arguments, Parameter
from course_lib.cuda.build import Library
from course_lib.cuda.kernel import Kernel, is_cupy
from course_lib.cuda.report import SECTOR_BYTES, WAVEFRONT_BYTES, Issue, Line, Report

GLOBAL = 0
NOBODY = 0xFFFFFFFF
MOST_KEPT = 64 << 20  # bytes of inputs that a report keeps, for its operations to be counted
ZIG_BLIND = ("misaligned accesses where the compiler knows the address beforehand (g++ and clang 14 report them)",)


def sanitize(
    kernel: Kernel,
    grid: Sequence[int] | int,
    block: Sequence[int] | int,
    args: Sequence[Any],
    shared_mem: int = 0,
    timeout: float | None = 60,
    seed: int = 0,
) -> Report:
    """Run `kernel` once with every memory access watched. Returns a Report; results are in the arrays as after a launch.

    Blocks run one after the other, and each access costs tens of nanoseconds: use small sizes. seed: not 0 shuffles the
    order of lanes, warps and blocks, and lets threads overtake each other at memory accesses. Where a local variable may have
    been read before it had a value, the launch is run again, in silence and with copies of the arrays (uninitialised.py).
    Local arrays are watched where the compiler sees which of them a pointer points into: not in a function that gets the
    pointer and is not inlined, and under g++ not where the pointer itself is moved on.
    Lanes that are gone are missing where a mask names them; at a vote, a reduction or a __syncwarp() they are not if the kernel
    has a `return` that they may have taken.
    A copy of a structure with bytes between its members, or of a union, is told as unwritten only as a whole.
    Raises KernelError for a launch that a GPU would refuse, CompileError for a text that does not compile.
    """
    args = tuple(value.get() if is_cupy(value) else value for value in args)
    prepared = launch.prepare(kernel.compiled(checked=True), kernel.name, kernel.parameter_names)
    again = _snapshot(args, prepared.signature.parameters)

    def watch(kernel: Kernel, args: tuple, silent: bool = True) -> Report:
        return _watch(kernel, grid, block, args, shared_mem, timeout, seed, silent)

    report = watch(kernel, args, silent=False)
    report.shared = (symbols.static_shared(kernel.compiled(checked=True), kernel.name), shared_mem)
    report.resources = lambda architecture: registers.resources(kernel, architecture)
    if again is not None:
        if "timeout" not in {issue.kind for issue in report.issues}:
            report.issues[:0] = uninitialised.find(kernel, again, args, report, watch)
        report.count_flops = lambda: flops.count(kernel, grid, block, again, shared_mem, timeout)
    return report


def _watch(kernel: Kernel, grid, block, args: tuple, shared_mem: int, timeout, seed: int, silent: bool) -> Report:
    """One launch of the checked build, and all that was seen."""
    library = kernel.compiled(checked=True)
    prepared = launch.prepare(library, kernel.name, kernel.parameter_names)
    sized = prepared.sized(grid, block, shared_mem)
    with runtime.LAUNCH_LOCK:
        arguments = Arguments(prepared.signature, args, checked=True)
        base = symbols.base(library.handle)
        known_shared = describe(library, kernel.source, kernel.name, _of_structures(kernel), base, shared_mem)
        try:
            launch.Running(prepared, sized, seed, silent).wait(timeout)
            arguments.finish()
        finally:
            arguments.release()
        return collect(
            kernel, library, base, sized.grid.tuple(), sized.block.tuple(), timeout, known_shared, _texts(kernel)
        )


def _snapshot(args: tuple, parameters: list[Parameter]) -> tuple | None:
    """The arguments as they are before the launch, to run it once more; None if they are large or hold addresses."""
    arrays = {id(value): value for value in args if isinstance(value, np.ndarray)}
    addresses = any(p.pointer and isinstance(v, (int, np.integer)) for p, v in zip(parameters, args, strict=False))
    if addresses or sum(array.nbytes for array in arrays.values()) > MOST_KEPT:
        return None
    copies = {key: array.copy() for key, array in arrays.items()}
    return tuple(copies.get(id(value), value) for value in args)


class _Counter(ctypes.Structure):
    """counters.cpp: CounterResult."""

    _fields_ = [
        ("pc", ctypes.c_void_p),
        ("space", ctypes.c_int),
        ("write", ctypes.c_int),
        ("bytes", ctypes.c_int),
        ("requests", ctypes.c_uint64),
        ("lanes", ctypes.c_uint64),
        ("sectors", ctypes.c_uint64),
        ("wavefronts", ctypes.c_uint64),
    ]


def describe(
    library: Library, text: source.Source, name: str, structures: set[str], base: int, shared_mem: int
) -> bool:
    """Tell the checker where things lie, before the launch of a kernel. Returns whether the shared arrays are known.

    structures: the arrays of structures that are not aligned as a float4 is.
    """
    lib = runtime.library()
    table, image = symbols.table(library.path)
    mark = next((s.value for s in table if s.kind == symbols.STT_TLS and s.name.endswith("sim_anchor")), None)
    find = ctypes.cast(library.handle.sim_find_anchor, ctypes.c_void_p) if mark is not None else None
    lib.sim_check_library.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_uint64,
    ]
    lib.sim_check_library(base, symbols.loaded_bytes(library.path), find, mark or 0, image)
    lib.sim_check_shared_array.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int]
    known = symbols.shared_arrays(library.path)
    for symbol in known:
        lib.sim_check_shared_array(symbol.value, symbol.size, symbols.plain_name(symbol.name).encode(), 0)
    for symbol in table:
        if symbol.kind != symbols.STT_TLS or symbol in known:
            continue
        if symbol.name == "sim_dynamic":
            lib.sim_check_shared_array(symbol.value, symbol.size, _dynamic_names(library.path, text), 1)
        elif symbol.name.startswith("_ZGV"):  # whether g++ has set up an array of structs
            lib.sim_check_shared_array(symbol.value, symbol.size, b"", 0)
    lib.sim_check_variable.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    constants = _constants(library.path, text)
    named, end = symbols.variables(library.path)
    for symbol, variable in named:
        lib.sim_check_variable(base + symbol.value, symbol.size, base + end, variable.encode(), variable in constants)
    lib.sim_check_structures.argtypes = [ctypes.c_char_p]
    for array in structures:
        lib.sim_check_structures(array.encode())
    lib.sim_check_begin.argtypes = [ctypes.c_uint64, ctypes.c_int, ctypes.c_int]
    padded = bool(declarations.padded_types(text))
    lib.sim_check_begin(shared_mem, padded, source.returns_early(text, name))
    return mark is not None


@cache
def _dynamic_names(path: Path, text: source.Source) -> bytes:
    """What a library's text calls its dynamic shared memory (`path` tells apart texts whose includes have changed)."""
    return "/".join(dict.fromkeys(array.name for array in declarations.dynamic_shared(text))).encode()


def _of_structures(kernel: Kernel) -> set[str]:
    """The arrays of structures that are not aligned as a float4 is: parameters, and what the text declares."""
    parameters = launch.prepare(kernel.compiled(checked=True), kernel.name, kernel.parameter_names).signature.parameters
    named = zip(kernel.parameter_names, parameters, strict=True)
    passed = {name for name, p in named if p.pointer and p.kind == b"s" and p.alignment < 16}
    return passed | declarations.arrays_of_structures(kernel.source)


@cache
def _constants(path: Path, text: source.Source) -> frozenset[str]:
    """The `__constant__` variables of a library's text (`path` as above)."""
    return frozenset(variable.plain for variable in declarations.device_variables(text) if variable.constant)


def collect(
    kernel, library: Library, base: int, grid, block, timeout, known_shared, texts: dict[str, list[str]]
) -> Report:
    """What the last launch has done wrong, and its counters. kernel: its source, name and line. texts: the files' lines."""
    faults, counters = runtime.faults(), _counters()
    functions = {s.value for s in symbols.table(library.path)[0] if s.kind == symbols.STT_FUNC}
    stops = [pc for pc in _stops() if pc - base not in functions]  # a pointer to a function is where none was called
    pcs = [f.pc for f in faults] + [f.other_pc for f in faults] + [c.pc for c in counters] + stops
    called = lines.calls(library.path, [pc - 1 - base for pc in pcs if pc])
    where = {offset: places[0] for offset, places in called.items()}

    def place(pc: int | None, file: bytes | None, line: int) -> tuple[str, int]:
        if line:
            return (file or b"").decode().rsplit("/", 1)[-1], line
        return where.get(pc - 1 - base, ("?", 0)) if pc else ("?", 0)

    issues = []
    for fault in faults:
        kind = runtime.KINDS[fault.kind]
        file, line = place(fault.pc, fault.file, fault.line)
        other_file, other_line = place(fault.other_pc, fault.other_file, fault.other_line)
        message = fault.message.decode(errors="replace")
        if kind == "timeout":
            message = f"still running after timeout={timeout:g} s: look for a loop that never ends"
            if words := source.word_on_waiting(kernel.source):
                message += f". {words}"
        if kind == "timeout" or not line:  # a crash may lie in code of ours, which the learner's has called
            known = [where[pc - 1 - base] for pc in stops if pc - 1 - base in where]
            if kind == "timeout":  # what is left of calls long finished lies about, too: the loop's are more
                known = [max(known, key=known.count)] if known else []
            file, line = known[0] if known else (kernel.source.name, kernel.line)
        if fault.other_thread != NOBODY and kind in ("race", "divergent-barrier", "missing-lanes") and other_line:
            message += f"; the other is thread {launch.coordinates(fault.other_thread, block)}"
            if other_line != line:
                message += f", line {other_line}"
        elif other_line and other_line != line:
            message += f"; the other is at line {other_line}"
        own = kernel.source.name
        if file != own and fault.pc and (at := [n for name, n in called.get(fault.pc - 1 - base, ()) if name == own]):
            message += f" (in {file}, line {line}, which this line calls)"  # a header's: its line alone is no help
            file, line = own, at[0]
        issues.append(
            Issue(
                kind, file, line, other_line or None, (fault.block.x, fault.block.y, fault.block.z),
                launch.coordinates(fault.thread, block) if fault.thread != NOBODY else None, message, fault.count,
                _line_text(texts, file, line), _line_text(texts, other_file, other_line),
            )
        )  # fmt: skip
    issues = _unique(issues)
    not_checked = list(ZIG_BLIND) if library.compiler == "zig" else []
    if not known_shared:
        not_checked.append("shared memory and variables at file scope (their addresses are not known on this system)")
    if lines.tool() is None:
        not_checked.append("lines of memory accesses (no addr2line or llvm-symbolizer was found)")
    if runtime.library().sim_counters_overflowed():
        not_checked.append("counters of very long loops (more than 65,536 rounds without a barrier)")
    found = _lines(counters, where, base)
    shown = {(x.file, x.line): _line_text(texts, x.file, x.line) for x in found}
    return Report(kernel.name, grid, block, issues, found, not_checked, sources=shown)


def _unique(issues: list[Issue]) -> list[Issue]:
    """One issue per kind and line (a line may be several instructions), one race per pair of lines."""
    kept: dict[tuple, Issue] = {}
    for issue in issues:
        place = (issue.kind, issue.file, issue.line)
        if issue.kind == "race":
            place = (issue.kind, issue.file, *sorted((issue.line, issue.other_line or issue.line)))
        kept.setdefault(place, issue)
    return list(kept.values())


def _stops() -> list[int]:
    """Where a launch that was stopped may have been: program counters, the innermost first."""
    lib = runtime.library()
    first = ctypes.POINTER(ctypes.c_void_p)()
    lib.sim_backtrace.argtypes = [ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))]
    return [first[i] for i in range(lib.sim_backtrace(ctypes.byref(first)))]


def _counters() -> list[_Counter]:
    lib = runtime.library()
    out = []
    for i in range(lib.sim_counter_count()):
        counter = _Counter()
        lib.sim_counter(i, ctypes.byref(counter))
        out.append(counter)
    return out


def _lines(counters: list[_Counter], where: dict, base: int) -> list[Line]:
    """Sum the instructions of each line, by space and by load or store."""
    groups: dict[tuple, list[_Counter]] = {}
    for counter in counters:
        file, line = where.get(counter.pc - 1 - base, ("?", 0))
        groups.setdefault((file, line, counter.space, counter.write), []).append(counter)
    result = []
    for (file, line, space, write), members in sorted(groups.items()):
        total = {f: sum(getattr(m, f) for m in members) for f in ("requests", "lanes", "sectors", "wavefronts")}
        requests = total["requests"]
        if not requests:
            continue
        moved = total["sectors"] * SECTOR_BYTES if space == GLOBAL else total["wavefronts"] * WAVEFRONT_BYTES
        result.append(
            Line(file, line, "global" if space == GLOBAL else "shared", "write" if write else "read", requests,
                 total["sectors"] / requests, total["wavefronts"] / requests, total["lanes"] / requests,
                 sum(m.lanes * m.bytes for m in members), moved)
        )  # fmt: skip
    return result


def _texts(kernel: Kernel) -> dict[str, list[str]]:
    texts = {path.name: path.read_text().splitlines() for path in kernel.source.includes}
    texts[kernel.source.name] = kernel.source.text.splitlines()
    return texts


def _line_text(texts: dict[str, list[str]], file: str, line: int) -> str:
    lines_ = texts.get(file, [])
    return lines_[line - 1].strip() if 0 < line <= len(lines_) else ""
