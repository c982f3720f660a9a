"""`plots.play(kernel, grid, block, args)`: a small launch to step through, on a slider, in the page itself."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib import lexer
from course_lib.cuda import symbols
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.trace import ACCESSES, PLAYED_THREADS, Recording, record
from course_lib.plots.picture import Picture, few, number, picture, ranges
from course_lib.plots.player import Player, page
from course_lib.plots.style import BLUE, GREEN, GREY, PAPER, PURPLE, SMALL, TEXT, VERMILLION, figure, styled
from course_lib.plots.warp_steps import BANKS, SECTOR, WARP, WORD, Step, steps

MOST_STEPS, MOST_CELLS = 1500, 2560
COLOURS = {"read": BLUE, "write": VERMILLION, "atomic": PURPLE, "shuffle": GREEN, "warp sync": GREY, "barrier": GREY}
SHARED_TYPES = {"half": np.float16, "__half": np.float16, "double": np.float64, "int": np.int32, "unsigned": np.uint32,
                "float": np.float32, "char": np.int8, "bool": np.bool_, "short": np.int16}  # fmt: skip


def play(kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0) -> Player:
    """Run one launch on the simulator and show it step by step: a step is one request of one warp, or a barrier.

    Shown are the threads, the arrays that they touch with their values, the banks of shared memory, the line of the source,
    and bank conflicts and races where they happen. At most 128 threads a block, 2,560 elements an array and 1,500 steps.
    Raises ValueError for a launch that is larger, and what `sanitize` raises.
    """
    named = {name: value for name, value in zip(kernel.parameter_names, args, strict=False) if np.ndim(value)}
    before = {name: np.asarray(value).flatten() for name, value in named.items()}
    recording = record(kernel, grid, block, args, shared_mem)
    threads, blocks = prod(recording.report.block), prod(recording.report.grid)
    if threads > PLAYED_THREADS:
        raise ValueError(
            f"play() shows blocks of at most {PLAYED_THREADS} threads; this launch has {threads} in a block."
        )
    if not recording.events:
        raise ValueError(f"{kernel.name} touches no memory in this launch: there is nothing to play.")
    after = {name: np.asarray(value).flatten() for name, value in named.items()}
    arrays = _arrays(kernel, recording, named, before, shared_mem)
    found = steps(recording, threads, {name: one["kind"] for name, one in arrays.items()}, after)
    if not recording.complete or len(found) > MOST_STEPS:
        raise ValueError(
            f"play() shows at most {MOST_STEPS:,} steps; this launch of {kernel.name} has "
            f"{len(found):,}{'' if recording.complete else ' and more'}. Launch it on less."
        )
    still = _still(kernel.name, found, threads, blocks)
    return Player(_page(kernel, found, arrays, threads, blocks, still), still, found)


def _arrays(kernel: Kernel, recording: Recording, named: dict, before: dict, shared_mem: int) -> dict[str, dict]:
    """Each array that is touched, in the order of the first touch: its space, dtype, columns and first values."""
    declared = {symbols.plain_name(s.name): s.size for s in symbols.shared_arrays(kernel.compiled(checked=True).path)}
    found: dict[str, dict] = {}
    for event in recording.events:
        if event.op not in ACCESSES or event.array in found:
            continue
        name, shared = event.array, event.space == "shared"
        kind = before[name].dtype if name in before else np.dtype(_shared_type(kernel, name, event.bytes))
        if name in before:
            start, shape = [_plain(value) for value in before[name].tolist()], np.shape(named[name])
        else:
            end = max(e.offset + e.bytes for e in recording.events if e.array == name and e.op in ACCESSES)
            size = max(end, declared.get(name, shared_mem) if shared else end)
            start, shape = [None] * (size // kind.itemsize), (size // kind.itemsize,)
        if len(start) > MOST_CELLS:
            raise ValueError(
                f"play() shows arrays of at most {MOST_CELLS:,} elements; '{name}' has {len(start):,}. Launch it on less."
            )
        columns = min(len(start), BANKS * WORD // kind.itemsize if shared else 32)
        if not shared and len(shape) > 1 and shape[-1] <= 32:
            columns = shape[-1]
        where = "shared memory; the numbers are banks" if shared else "global memory"
        found[name] = {
            "name": name, "space": event.space, "kind": kind, "columns": columns, "start": start,
            "label": f"{name}: {where}, {' x '.join(map(str, shape))} {kind.name}",
            "banks": [c * kind.itemsize // WORD for c in range(columns)] if shared else None,
        }  # fmt: skip
    return found


def _shared_type(kernel: Kernel, name: str, size: int) -> type:
    """The type that the text declares a shared array with; by the size of its accesses where that is not plain."""
    words = [word.text for word in lexer.read(kernel.source.everything).words]
    for start in (i for i, word in enumerate(words) if word == "__shared__"):
        declaration = words[start : words.index(";", start)] if ";" in words[start:] else []
        if name in declaration:
            known = [SHARED_TYPES[word] for word in declaration if word in SHARED_TYPES]
            return known[0] if known else np.float32
    return {1: np.int8, 2: np.int16, 8: np.float64}.get(size, np.float32) if size < 16 else np.float32


def _plain(value: Any) -> Any:
    """A number that JSON knows; a text for the others."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (int, str)) else str(value)


def _page(kernel: Kernel, found: list[Step], arrays: dict[str, dict], threads: int, blocks: int, still: Picture) -> str:
    order = list(arrays)
    told = [
        {
            "block": s.block, "interval": s.interval, "op": s.op, "line": s.line, "partner": s.partner, "threads": s.threads,
            "array": order.index(s.array) if s.array in arrays else None, "elements": s.elements,
            "values": [_plain(v) for v in s.values], "sources": s.sources, "said": sentence(s), "mark": s.mark,
        }
        for s in found
    ]  # fmt: skip
    first: dict[tuple, tuple[int, str]] = {}
    for i, s in enumerate(found):
        if s.mark:
            first.setdefault((s.line, s.mark.partition(":")[0]), (i, s.mark.partition(":")[0]))
    return page(
        f"{kernel.name}: {blocks} block{'s' * (blocks > 1)} of {threads} threads", told, "launch.js", still,
        threads=threads, blocks=blocks, marks=sorted(first.values())[:8],
        arrays=[{k: v for k, v in one.items() if k != "kind"} for one in arrays.values()],
        source=_listing(kernel, {s.line for s in found}),
    )  # fmt: skip


def _listing(kernel: Kernel, used: set[int]) -> list[tuple[int, str]]:
    """The lines of the text from a little before the first that acts to a little behind the last."""
    text = kernel.source.text.splitlines()
    first, last = max(1, min(used) - 4), min(len(text), max(used) + 2)
    return [(line, text[line - 1]) for line in range(first, last + 1)]


def sentence(step: Step) -> str:
    """A step in words, for the line below the slider and for screen readers."""
    if step.op == "barrier":
        return f"block {step.block}, line {step.line}: barrier. All threads of the block have come, and go on together."
    who = f"block {step.block}, warp {step.warp}, line {step.line}: {_count(step.threads)}"
    if step.op == "warp sync":
        return f"{who} wait for each other at __syncwarp()."
    if step.op == "shuffle":
        pairs = [f"{thread} from {source}" for thread, source in zip(step.threads, step.sources, strict=True)]
        return f"{who} take{'s' * (len(set(step.threads)) == 1)} a value from another lane: {few(pairs)}."
    verb = {"read": "read", "write": "write", "atomic": "change atomically"}[step.op]
    verb = verb.replace("change", "changes") if len(set(step.threads)) == 1 and step.op == "atomic" else verb
    verb += "s" * (len(set(step.threads)) == 1 and step.op != "atomic")
    values = [f"{_number(v)}" for v in step.values]
    words = f"{who} {verb} {step.array}[{ranges(step.elements)}]"
    if any(v is not None for v in step.values):
        words += f" = {few(values)}"
    unit = "sector" if step.space == "global" else "wavefront"
    return f"{words}; {step.requests} {unit}{'s' * (step.requests > 1)}."


def _count(threads: list[int]) -> str:
    several = sorted(set(threads))
    return f"thread {several[0]}" if len(several) == 1 else f"{len(several)} threads ({ranges(several)})"


def _number(value: Any) -> str:
    return "?" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


@styled()
def _still(name: str, found: list[Step], threads: int, blocks: int) -> Picture:
    """Threads of block 0 down, steps to the right: who does what when."""
    shown = [s for s in found if s.block == found[0].block][:200]
    made = figure(8.6, min(4.6, 1.5 + 0.06 * threads))
    axes = made.add_subplot()
    axes.set_facecolor(PAPER)
    for i, s in enumerate(shown):
        for thread in set(s.threads):
            axes.add_patch(Rectangle((i, thread), 1, 1, facecolor=COLOURS[s.op], edgecolor="none",
                                     alpha=0.35 if s.op == "barrier" else 1))  # fmt: skip
        if s.mark:
            axes.plot(i + 0.5, -1.2, marker="v", color=VERMILLION, markersize=5, clip_on=False)
    axes.set(xlim=(0, max(1, len(shown))), ylim=(threads, -2), xlabel="step", ylabel="thread")
    axes.set_yticks(range(0, threads + 1, WARP if threads > WARP else max(1, threads // 4)))  # where warps begin
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    kinds = [op for op in COLOURS if any(s.op == op for s in shown)]
    axes.legend(handles=[Patch(color=COLOURS[op], label=op) for op in kinds], ncols=len(kinds), loc="lower left",
                bbox_to_anchor=(0, 1.0), frameon=False, fontsize=SMALL)  # fmt: skip
    axes.set_title(f"{name}, block {shown[0].block}: step by step", fontsize=TEXT, pad=24)
    return picture(made, _alt(name, found, threads, blocks))


def _alt(name: str, found: list[Step], threads: int, blocks: int) -> str:
    counts = [(op, sum(s.op == op for s in found)) for op in COLOURS]
    said = ", ".join(f"{count} {op}{'s' * (count > 1)}" for op, count in counts if count)
    marks = list(dict.fromkeys(f"{s.mark.partition(':')[0]} in line {s.line}" for s in found if s.mark))
    wasted = sum(s.requests for s in found if s.space == "global") * SECTOR
    return (
        f"{name} on {blocks} block{'s' * (blocks > 1)} of {threads} threads, one step for each request of a warp of {WARP}: "
        f"{said}. Global memory moves {number(wasted, 0)} bytes. Marked: {few(marks) if marks else 'nothing'}."
    )
