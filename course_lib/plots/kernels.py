"""Three pictures of a kernel's memory accesses, drawn from a run of the learner's own kernel on the simulator.

    plots.thread_map(kernel, grid, block, args, array="x")     which thread reads and writes which element
    plots.sectors(kernel, grid, block, args, array="x")        a warp's addresses on 32-byte sectors
    plots.banks(kernel, grid, block, args, array="tile")       a warp's words on the 32 banks of shared memory

Keep the launch small: 64 elements for the map; the other two show one request of one warp.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from matplotlib.patches import Rectangle

from course_lib.cuda import launch
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.trace import Event, trace
from course_lib.plots.picture import Picture, picture, ranges
from course_lib.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PAPER,
    SKY,
    SMALL,
    TEXT,
    VERMILLION,
    sheet,
    styled,
)
from course_lib.plots.warp_steps import BANKS, SECTOR, WORD

MOST_ELEMENTS, MOST_THREADS, MOST_SECTORS = 64, 64, 40
MOST_NUMBERED = 32  # boxes in a row that are wide enough for a number
TINTS = (SKY, PALE, "#F5D48A", "#A8DCC9")  # of blocks, in turn


@styled()
def thread_map(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], array: str | None = None, shared_mem: int = 0
) -> Picture:
    """Threads above, elements below, a line for each access: solid blue reads, dashed red writes.

    Threads of one block have one colour, and so has each element that a single thread touches; below it stands which one.
    A thread in an empty box touches nothing. array: the parameter whose elements are shown; by default the first that the
    kernel touches. Raises ValueError for a launch too large to be drawn, or an array that is not touched.
    """
    found = _of_array(trace(kernel, grid, block, args, shared_mem), array)
    array, size = found[0].array, found[0].bytes
    blocks, per_block = _count(kernel, "grid", grid), _count(kernel, "block", block)
    elements = max(access.offset // size for access in found) + 1
    busy = {(access.block, access.thread) for access in found}
    if elements > MOST_ELEMENTS or len(busy) > MOST_THREADS:
        raise ValueError(
            f"thread_map() draws at most {MOST_THREADS} threads and {MOST_ELEMENTS} elements; this launch has "
            f"{len(busy)} threads that touch {elements} elements of '{array}'. Launch it on less."
        )
    everybody = [(b, t) for b in range(blocks) for t in range(per_block)] if blocks * per_block <= MOST_THREADS else []
    threads = everybody or sorted(busy)
    columns = max(len(threads), elements)
    width = max(6.4, 0.3 * columns + 1.2)
    made, axes = sheet(width, 3.5)
    step, wide = (width - 1.2) / columns, 0.84 * (width - 1.2) / columns
    middle = {who: 0.95 + (i + 0.5) * step for i, who in enumerate(threads)}
    for who, x in middle.items():
        _box(axes, x - wide / 2, 2.25, wide, 0.34, TINTS[who[0] % len(TINTS)] if who in busy else PAPER)
        if len(threads) <= MOST_NUMBERED:
            axes.text(x, 2.42, str(who[1]), ha="center", va="center", fontsize=SMALL)
    for number in sorted({who[0] for who in threads}) if len(threads) <= MOST_NUMBERED else ():
        axes.text(min(x for who, x in middle.items() if who[0] == number) - wide / 2, 2.72, f"block {number}",
                  va="center", fontsize=SMALL)  # fmt: skip
    for element in range(elements):
        x = 0.95 + (element + 0.5) * step
        owners = {(a.block, a.thread) for a in found if a.offset // size == element}
        owner = min(owners) if len(owners) == 1 else None
        _box(axes, x - wide / 2, 0.85, wide, 0.34, TINTS[owner[0] % len(TINTS)] if owner else PAPER)
        if elements <= MOST_NUMBERED:
            axes.text(x, 1.02, str(element), ha="center", va="center", fontsize=SMALL)
            axes.text(x, 0.68, str(owner[1]) if owner else "", ha="center", va="center", fontsize=SMALL, color=GREY)
    for access in dict.fromkeys((a.block, a.thread, a.offset // size, a.op) for a in found):
        who, element, op = access[:2], access[2], access[3]
        axes.plot([middle[who], 0.95 + (element + 0.5) * step], [2.25, 1.19], color=BLUE if op == "read" else VERMILLION,
                  linewidth=1.2, linestyle="-" if op == "read" else (0, (3, 2)), alpha=0.8)  # fmt: skip
    axes.text(0.1, 2.42, "threads", va="center", fontsize=SMALL)
    axes.text(0.1, 1.02, array, va="center", fontsize=SMALL)
    axes.text(0.1, 0.68, "by thread", va="center", fontsize=SMALL, color=GREY)
    kinds = {"read": "solid line: reads", "write": "dashed line: writes"}
    idle = ["empty box: touches nothing"] if len(busy) < len(threads) else []
    legend = [words for op, words in kinds.items() if any(a.op == op for a in found)] + idle
    axes.text(0.1, 0.25, "     ".join(legend), va="center", fontsize=SMALL, color=INK)
    axes.text(0.1, 3.2, f"{kernel.name}: which thread touches which element of {array}", va="center", fontsize=TEXT)
    return picture(made, _map_alt(kernel.name, array, found, size, blocks * per_block, per_block))


@styled()
def sectors(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], array: str | None = None, line: int | None = None,
    shared_mem: int = 0,
) -> Picture:  # fmt: skip
    """The addresses of the first warp's first request to `array` (in `line`), on the 32-byte sectors that it moves."""
    request = _request([a for a in trace(kernel, grid, block, args, shared_mem) if a.space == "global"], array, line)
    size, first = request[0].bytes, min(a.offset for a in request) // SECTOR
    touched: dict[int, list[Event]] = defaultdict(list)
    for access in request:
        for sector in range(access.offset // SECTOR, (access.offset + size - 1) // SECTOR + 1):
            touched[sector].append(access)
    shown = sorted(touched)[:MOST_SECTORS]
    per_row, tall = 8, 0.82
    rows = (len(shown) + per_row - 1) // per_row
    made, axes = sheet(9.2, tall * rows + 1.0)
    used = {byte for a in request for byte in range(a.offset, a.offset + size)}
    for i, sector in enumerate(shown):
        x, y = 0.3 + i % per_row * 1.1, 0.75 + tall * (rows - 1 - i // per_row)
        for byte in range(0, SECTOR, WORD):
            on = any(sector * SECTOR + byte + k in used for k in range(WORD))
            _box(axes, x + byte * 1.02 / SECTOR, y, 1.02 / 8, 0.26, ORANGE if on else PALE)
        lanes = sorted({a.lane for a in touched[sector]})
        axes.text(x, y + 0.3, f"{'lane' if len(lanes) == 1 else 'lanes'} {ranges(lanes)}", va="bottom", fontsize=SMALL)
        axes.text(x, y - 0.05, f"byte {sector * SECTOR}", va="top", fontsize=SMALL, color=GREY)
        _frame(axes, x, y, 1.02, 0.26)
    count, needed = len(touched), len(used)
    name, op, where = request[0].array, request[0].op, request[0].line
    moved = count * SECTOR
    share = f"{100 * needed / moved:.3g} %"
    axes.text(0.3, tall * rows + 0.75, f"{kernel.name}, line {where}: one warp's {op} of {name}: {count} sectors, "
              f"{share} of {moved:,} bytes used", va="center", fontsize=TEXT)  # fmt: skip
    axes.text(0.3, 0.2, "frame: a sector of 32 bytes, moved as a whole     orange: bytes that a lane requested",
              va="center", fontsize=SMALL, color=GREY)  # fmt: skip
    best = (needed + SECTOR - 1) // SECTOR
    word = "coalesced" if count <= best + 1 else "not coalesced"
    more = f" The first {MOST_SECTORS} sectors are drawn." if count > MOST_SECTORS else ""
    return picture(
        made,
        f"One request of a warp in {kernel.name}, line {where}: {len(request)} lanes {op} {needed} bytes of {name}, which lie "
        f"in {count} sectors of 32 bytes, so {moved} bytes move and {share} of them are used: {word}. "
        f"The fewest sectors that could hold these bytes are {best}.{more} First sector: byte {first * SECTOR}.",
    )


@styled()
def banks(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], array: str | None = None, line: int | None = None,
    shared_mem: int = 0,
) -> Picture:  # fmt: skip
    """The words of the first warp's first request to a shared array, stacked on the 32 banks that they lie in."""
    request = _request([a for a in trace(kernel, grid, block, args, shared_mem) if a.space == "shared"], array, line)
    words: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for access in request:
        for word in range(access.offset // WORD, (access.offset + access.bytes - 1) // WORD + 1):
            words[word % BANKS][word].append(access.lane)
    tallest = max(len(stack) for stack in words.values())
    height = min(tallest, 32)
    made, axes = sheet(9.6, 1.35 + 0.2 * height)
    for bank in range(BANKS):
        x = 0.3 + bank * 0.28
        _box(axes, x, 0.5, 0.26, 0.22, PALE)
        axes.text(x + 0.13, 0.61, str(bank), ha="center", va="center", fontsize=SMALL - 1.5)
        for level, (_word, lanes) in enumerate(sorted(words[bank].items())[:32]):
            _box(axes, x, 0.76 + level * 0.2, 0.26, 0.18, GREEN if level == 0 else VERMILLION)
            if len(set(lanes)) > 1:
                axes.text(
                    x + 0.13, 0.85 + level * 0.2, f"x{len(set(lanes))}", ha="center", va="center", fontsize=SMALL - 2.5
                )
    name, op, where = request[0].array, request[0].op, request[0].line
    axes.text(0.3, 0.18, "banks; each box above is one word that lanes want, those above the first must wait",
              fontsize=SMALL, color=GREY)  # fmt: skip
    axes.text(0.3, 0.95 + 0.2 * height, f"{kernel.name}, line {where}: one warp's {op} of {name}: the busiest bank has "
              f"{tallest} {'word' if tallest == 1 else 'words'}", fontsize=SMALL + 1.5)  # fmt: skip
    used = sum(1 for stack in words.values() if stack)
    verdict = "no bank conflict" if tallest == 1 else f"a {tallest}-way bank conflict"
    return picture(
        made,
        f"One request of a warp in {kernel.name}, line {where}: {len(request)} lanes {op} words of the shared array {name} "
        f"that lie in {used} of the 32 banks; the busiest bank must serve {tallest} different words: {verdict}.",
    )


def _of_array(found: list[Event], array: str | None) -> list[Event]:
    """The accesses to one array of global memory."""
    found = [a for a in found if a.space == "global"]
    names = list(dict.fromkeys(a.array for a in found))
    chosen = [a for a in found if a.array == (array or (names[0] if names else None))]
    if not chosen:
        raise ValueError(
            f"The kernel does not touch {array or 'any array'}. It touches: {', '.join(names) or 'nothing'}."
        )
    return chosen


def _request(found: list[Event], array: str | None, line: int | None) -> list[Event]:
    """What the lanes of the first warp do when they first come to the first access that fits."""
    names = list(dict.fromkeys(a.array for a in found))
    fits = [a for a in found if (array is None or a.array == array) and (line is None or a.line == line)]
    if not fits:
        where = f" in line {line}" if line else ""
        raise ValueError(
            f"No access to {array or 'such memory'}{where} was seen. Arrays: {', '.join(names) or 'none'}."
        )
    first = fits[0]
    same = [a for a in fits if (a.array, a.line, a.op, a.block, a.warp, a.bytes) ==
            (first.array, first.line, first.op, first.block, first.warp, first.bytes)]  # fmt: skip
    lanes: dict[int, Event] = {}
    for access in same:
        lanes.setdefault(access.lane, access)
    return [lanes[lane] for lane in sorted(lanes)]


def _box(axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor=GREY, linewidth=0.5))


def _frame(axes, x: float, y: float, width: float, height: float) -> None:
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=1.2))


def _count(kernel: Kernel, what: str, extent: Any) -> int:
    """How many blocks a grid has, or threads a block."""
    limits = launch.GRID_LIMITS if what == "grid" else launch.BLOCK_LIMITS
    return prod(launch.extent(kernel.name, what, extent, limits))


def _map_alt(kernel: str, array: str, found: list[Event], size: int, launched: int, per_block: int) -> str:
    taken: dict[int, set[int]] = defaultdict(set)  # a thread's number in the grid, and the elements that it touches
    for a in found:
        taken[a.block * per_block + a.thread].add(a.offset // size)
    count = f"{len(taken)} threads" if len(taken) == launched else f"{len(taken)} of {launched} threads"
    said = f"{kernel}: {count} touch {len(set().union(*taken.values()))} elements of {array}"
    said += "." if len(taken) == launched else ", the others touch none."
    for word, op in (("read", "read"), ("written", "write")):
        accesses = {(a.block * per_block + a.thread, a.offset // size) for a in found if a.op == op}
        if not accesses:
            continue
        most = max(Counter(element for _, element in accesses).values())
        said += f" Each element is {word} by at most {most} {'thread' if most == 1 else 'threads'}"
        own = all(element == thread for thread, element in accesses)
        said += ", and thread i of the grid by itself takes element i." if own else "."
    lists = [sorted(elements) for elements in taken.values()]
    steps = {later - earlier for row in lists for earlier, later in pairwise(row)}
    if len(steps) == 1:
        fewest, most = min(map(len, lists)), max(map(len, lists))
        many = f"{most}" if fewest == most else f"{fewest} to {most}"
        said += f" Each thread touches {many} elements, {steps.pop()} apart."
    return said
