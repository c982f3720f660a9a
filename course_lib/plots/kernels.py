"""Three pictures of a kernel's memory accesses, drawn from a run of the learner's own kernel on the simulator.

    plots.thread_map(kernel, grid, block, args, array="x")     which thread reads and writes which element
    plots.sectors(kernel, grid, block, args, array="x")        a warp's addresses on 32-byte sectors
    plots.banks(kernel, grid, block, args, array="tile")       a warp's words on the 32 banks of shared memory

Keep the launch small: 64 elements for the map; the other two show one request of one warp.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from matplotlib.patches import Rectangle

from course_lib.cuda.kernel import Kernel
from course_lib.cuda.trace import Access, trace
from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, SKY, SMALL, VERMILLION, sheet, styled

SECTOR, BANKS, WORD = 32, 32, 4
MOST_ELEMENTS, MOST_THREADS, MOST_SECTORS = 64, 64, 40


@styled()
def thread_map(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], array: str | None = None, shared_mem: int = 0
) -> Picture:
    """Threads above, elements below, a line for each access: blue reads, orange (dashed) writes.

    array: the parameter whose elements are shown; by default the first that the kernel touches.
    Raises ValueError for a launch too large to be drawn, or an array that is not touched.
    """
    found = _of_array(trace(kernel, grid, block, args, shared_mem), array)
    array, size = found[0].array, found[0].bytes
    per_block = max(access.thread for access in found) + 1
    threads = sorted({(access.block, access.thread) for access in found})
    elements = max(access.offset // size for access in found) + 1
    if elements > MOST_ELEMENTS or len(threads) > MOST_THREADS:
        raise ValueError(
            f"thread_map() draws at most {MOST_THREADS} threads and {MOST_ELEMENTS} elements; this launch has "
            f"{len(threads)} threads that touch {elements} elements of '{array}'. Launch it on less."
        )
    columns = max(len(threads), elements)
    made, axes = sheet(max(6.0, 0.3 * columns + 1.2), 3.0)
    step = (max(6.0, 0.3 * columns + 1.2) - 1.2) / columns
    place = {who: 0.9 + (i + 0.5) * step for i, who in enumerate(threads)}
    for who, x in place.items():
        _box(axes, x - step * 0.42, 2.2, step * 0.84, 0.34, SKY if who[0] % 2 == 0 else PALE)
        if len(threads) <= 32:
            axes.text(x, 2.37, str(who[1]), ha="center", va="center", fontsize=SMALL)
    for element in range(elements):
        x = 0.9 + (element + 0.5) * step
        _box(axes, x - step * 0.42, 0.55, step * 0.84, 0.34, PALE)
        if elements <= 32:
            axes.text(x, 0.72, str(element), ha="center", va="center", fontsize=SMALL)
    for access in dict.fromkeys((a.block, a.thread, a.offset // size, a.op) for a in found):
        who, element, op = access[:2], access[2], access[3]
        axes.plot([place[who], 0.9 + (element + 0.5) * step], [2.2, 0.89], color=BLUE if op == "read" else VERMILLION,
                  linewidth=1.2, linestyle="-" if op == "read" else (0, (3, 2)), alpha=0.8)  # fmt: skip
    axes.text(0.1, 2.37, "threads", va="center", fontsize=SMALL)
    axes.text(0.1, 0.72, array, va="center", fontsize=SMALL)
    axes.text(0.1, 0.2, "solid blue: reads    dashed red: writes", fontsize=SMALL, color=INK)
    axes.text(0.1, 2.78, f"{kernel.name}: which thread touches which element of {array}", fontsize=SMALL + 2)
    return picture(made, _map_alt(kernel.name, array, found, size, len(threads), per_block))


@styled()
def sectors(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], array: str | None = None, line: int | None = None,
    shared_mem: int = 0,
) -> Picture:  # fmt: skip
    """The addresses of the first warp's first request to `array` (in `line`), on the 32-byte sectors that it moves."""
    request = _request([a for a in trace(kernel, grid, block, args, shared_mem) if a.space == "global"], array, line)
    size, first = request[0].bytes, min(a.offset for a in request) // SECTOR
    touched: dict[int, list[Access]] = defaultdict(list)
    for access in request:
        for sector in range(access.offset // SECTOR, (access.offset + size - 1) // SECTOR + 1):
            touched[sector].append(access)
    shown = sorted(touched)[:MOST_SECTORS]
    per_row = 8
    rows = (len(shown) + per_row - 1) // per_row
    made, axes = sheet(9.2, 0.62 * rows + 1.25)
    top = 0.62 * rows + 0.35
    used = {byte for a in request for byte in range(a.offset, a.offset + size)}
    for i, sector in enumerate(shown):
        x, y = 0.3 + i % per_row * 1.1, top - (i // per_row + 1) * 0.62 + 0.2
        for byte in range(0, SECTOR, WORD):
            on = any(sector * SECTOR + byte + k in used for k in range(WORD))
            _box(axes, x + byte * 1.02 / SECTOR, y, 1.02 / 8, 0.26, ORANGE if on else PALE)
        lanes = sorted({a.lane for a in touched[sector]})
        axes.text(x, y + 0.3, f"lanes {_ranges(lanes)}", fontsize=SMALL - 1.5, color=GREY)
        _frame(axes, x, y, 1.02, 0.26)
    count, needed = len(touched), len(used)
    name, op, where = request[0].array, request[0].op, request[0].line
    moved = count * SECTOR
    axes.text(0.3, top + 0.55, f"{kernel.name}, line {where}: one warp's {op} of {name}: {count} sectors, "
              f"{100 * needed // moved} % of {moved} bytes used", fontsize=SMALL + 1.5)  # fmt: skip
    best = (needed + SECTOR - 1) // SECTOR
    word = "coalesced" if count <= best + 1 else "not coalesced"
    more = f" The first {MOST_SECTORS} sectors are drawn." if count > MOST_SECTORS else ""
    return picture(
        made,
        f"One request of a warp in {kernel.name}, line {where}: {len(request)} lanes {op} {needed} bytes of {name}, which lie "
        f"in {count} sectors of 32 bytes, so {moved} bytes move and {100 * needed // moved} % of them are used: {word}. "
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


def _of_array(found: list[Access], array: str | None) -> list[Access]:
    """The accesses to one array of global memory."""
    found = [a for a in found if a.space == "global"]
    names = list(dict.fromkeys(a.array for a in found))
    chosen = [a for a in found if a.array == (array or (names[0] if names else None))]
    if not chosen:
        raise ValueError(
            f"The kernel does not touch {array or 'any array'}. It touches: {', '.join(names) or 'nothing'}."
        )
    return chosen


def _request(found: list[Access], array: str | None, line: int | None) -> list[Access]:
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
    lanes: dict[int, Access] = {}
    for access in same:
        lanes.setdefault(access.lane, access)
    return [lanes[lane] for lane in sorted(lanes)]


def _box(axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor=GREY, linewidth=0.5))


def _frame(axes, x: float, y: float, width: float, height: float) -> None:
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=1.2))


def _ranges(numbers: list[int]) -> str:
    """0, 1, 2, 5 as "0-2, 5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = [f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts]
    return ", ".join(shown[:3]) + (" ..." if len(shown) > 3 else "")


def _map_alt(kernel: str, array: str, found: list[Access], size: int, threads: int, per_block: int) -> str:
    reads = {(a.block, a.thread, a.offset // size) for a in found if a.op == "read"}
    writes = {(a.block, a.thread, a.offset // size) for a in found if a.op == "write"}
    said = f"{kernel}: {threads} threads touch {len({a.offset // size for a in found})} elements of {array}."
    for word, accesses in (("read", reads), ("written", writes)):
        if not accesses:
            continue
        counts = defaultdict(int)
        for *_, element in accesses:
            counts[element] += 1
        own = all(element == b * per_block + t for b, t, element in accesses)
        most = max(counts.values())
        said += f" Each element is {word} by at most {most} {'thread' if most == 1 else 'threads'}"
        said += ", and thread i of the grid by itself takes element i." if own else "."
    return said
