"""A recorded launch put in the order in which a GPU's warps would take it: one step for each request of a warp.

The simulator runs the threads of a block one after the other up to the next barrier. Here the k-th time that a lane comes to an
instruction is one request together with the k-th time of its warp's other lanes, and the warps of a block take turns.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.cuda.trace import ACCESSES, Event, Recording

SECTOR, BANKS, WORD, WARP = 32, 32, 4, 32


@dataclass
class Step:
    """What one warp does at once, or a barrier of its block.

    interval:  how many barriers of the block lie before
    threads:   linear numbers in the block; with an array: of each element that is touched
    elements:  indices into the array;  values: what is there afterwards, None where nothing tells
    sources:   of a shuffle, the thread that each value comes from
    requests:  sectors that are moved (global memory) or wavefronts (shared memory); 0 elsewhere
    ideal:     the fewest sectors or wavefronts that so many bytes could do with
    """

    block: int
    interval: int
    warp: int
    op: str
    line: int
    array: str = ""
    space: str = ""
    threads: list[int] = field(default_factory=list)
    elements: list[int] = field(default_factory=list)
    values: list[float | int | None] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    requests: int = 0
    ideal: int = 0
    mark: str = ""
    partner: int | None = None  # the other line of a race

    @property
    def conflict(self) -> int:
        """How many times as many wavefronts a request to shared memory takes as its bytes would need."""
        return self.requests // self.ideal if self.space == "shared" and self.ideal else 1


def steps(recording: Recording, threads: int, kinds: dict[str, np.dtype], final: dict[str, np.ndarray]) -> list[Step]:
    """The steps of a launch in blocks of `threads` threads.

    kinds: the dtype of each array's elements.  final: what arrays of global memory hold after the launch, flat.
    """
    written = _written_values(recording.events, kinds, final)
    found: list[Step] = []
    for block in sorted({event.block for event in recording.events}):
        interval, waiting = 0, []
        for number, event in enumerate(recording.events):
            if event.block != block:
                continue
            if event.op != "barrier":
                waiting.append((number, event))
                continue
            found += _interval(waiting, block, interval, kinds, written)
            found.append(Step(block, interval, 0, "barrier", event.line, threads=list(range(threads))))
            interval, waiting = interval + 1, []
        found += _interval(waiting, block, interval, kinds, written)
    _mark(found, recording)
    return found


def _interval(events: list[tuple[int, Event]], block: int, interval: int, kinds: dict, written: dict) -> list[Step]:
    """The steps between two barriers; the warps take turns."""
    by_warp: dict[int, list[tuple[int, Event]]] = defaultdict(list)
    for number, event in events:
        by_warp[event.warp].append((number, event))
    turns = []
    for warp, own in by_warp.items():
        for turn, together in enumerate(_requests(own)):
            turns.append((turn, warp, _step(block, interval, warp, together, kinds, written)))
    return [step for _, _, step in sorted(turns, key=lambda one: one[:2])]


def _requests(events: list[tuple[int, Event]]) -> list[list[tuple[int, Event]]]:
    """The events of a warp, gathered to requests, in an order that no lane contradicts as far as there is one."""
    lanes: dict[int, list[tuple]] = defaultdict(list)
    gathered: dict[tuple, list[tuple[int, Event]]] = defaultdict(list)
    times: Counter[tuple] = Counter()
    for number, event in events:
        mask = event.other if event.op == "warp sync" else 1 << event.lane
        for lane in (lane for lane in range(WARP) if mask >> lane & 1):
            again = (lane, event.op, event.instruction, event.line)
            times[again] += 1
            key = (*again[1:], times[again])
            lanes[lane].append(key)
            if lane == event.lane or not gathered[key]:
                gathered[key].append((number, event))
    order: list[tuple] = []
    for sequence in sorted(lanes.values(), key=len, reverse=True):
        at = 0
        for key in sequence:
            if key in order:
                at = order.index(key) + 1
            else:
                order.insert(at, key)
                at += 1
    return [gathered[key] for key in order]


def _step(block: int, interval: int, warp: int, together: list[tuple[int, Event]], kinds: dict, written: dict) -> Step:
    first = together[0][1]
    step = Step(block, interval, warp, first.op, first.line, first.array, first.space if first.op in ACCESSES else "")
    if first.op == "warp sync":
        step.threads = [warp * WARP + lane for lane in range(WARP) if first.other >> lane & 1]
        return step
    if first.op == "shuffle":
        together.sort(key=lambda one: one[1].thread)
        step.threads = [event.thread for _, event in together]
        step.sources = [warp * WARP + event.other for _, event in together]
        return step
    kind = kinds[first.array]
    for number, event in together:
        whole = len(event.value) and len(event.value) % kind.itemsize == 0
        values = np.frombuffer(event.value, kind).tolist() if whole else None
        for k, index in enumerate(touched(event, kind)):
            step.threads.append(event.thread)
            step.elements.append(index)
            step.values.append(values[k] if values else written.get((number, k)))
    accesses = [event for _, event in together]
    measure = wavefronts if first.space == "shared" else sectors
    step.requests, step.ideal = measure(accesses), _ideal(accesses)
    return step


def sectors(request: Sequence[Event]) -> int:
    """How many 32-byte sectors of global memory a request moves."""
    return len({at for a in request for at in range(a.offset // SECTOR, (a.offset + a.bytes - 1) // SECTOR + 1)})


def wavefronts(request: Sequence[Event]) -> int:
    """How many times the banks of shared memory must be asked: as often as the busiest has different words."""
    together = _served_together(request)
    groups: dict[int, set[int]] = defaultdict(set)
    for a in request:
        groups[a.lane // together].update(range(a.offset // WORD, (a.offset + a.bytes - 1) // WORD + 1))
    return sum(max(Counter(word % BANKS for word in words).values()) for words in groups.values())


def _served_together(request: Sequence[Event]) -> int:
    """How many lanes: of 8 bytes half a warp, of 16 bytes a quarter; twice as many where all pairs, n and n ^ 1 or n and n ^ 2,
    load from the same address (as cuda/runtime/counters.cpp has it)."""
    together = WARP * WORD // max(WORD, min(16, request[0].bytes))
    at = {a.lane: a.offset for a in request}
    paired = any(all(at.get(lane ^ bit, offset) == offset for lane, offset in at.items()) for bit in (1, 2))
    return 2 * together if together < WARP and request[0].op == "read" and paired else together


def _ideal(request: Sequence[Event]) -> int:
    if request[0].space == "shared":
        together = _served_together(request)
        return len({a.lane // together for a in request})
    return -(-len({byte for a in request for byte in range(a.offset, a.offset + a.bytes)}) // SECTOR)


def _written_values(events: list[Event], kinds: dict, final: dict) -> dict[tuple[int, int], float | int]:
    """What each write left behind, by the event's number and the element's: as the next reader saw it, or the end shows it.

    The hook of the simulator comes before the store, so the store's own value is not known to it.
    """
    found: dict[tuple[int, int], float | int] = {}
    later: dict[tuple, float | int | None] = {}  # what a write to this element would leave; None if nothing tells
    for number in range(len(events) - 1, -1, -1):
        event = events[number]
        if event.op not in ACCESSES:
            continue
        kind, block = kinds[event.array], event.block if event.space == "shared" else None
        values = np.frombuffer(event.value[: len(event.value) // kind.itemsize * kind.itemsize], kind).tolist()
        for k, index in enumerate(touched(event, kind)):
            element = (event.array, block, index)
            if event.op == "read":
                later[element] = values[k] if k < len(values) else None
                continue
            at_the_end = final[event.array][index].item() if event.array in final else None
            left = later.get(element, at_the_end)
            if left is not None:
                found[number, k] = left
            later[element] = None
    return found


def touched(event: Event, kind: np.dtype) -> range:
    """The indices of the elements that an access touches."""
    first = event.offset // kind.itemsize
    return range(first, first + max(1, event.bytes // kind.itemsize))


def _mark(found: list[Step], recording: Recording) -> None:
    """Bank conflicts and the sanitizer's issues, each where it happens first."""
    for step in found:
        if step.conflict > 1:
            step.mark = f"{step.conflict}-way bank conflict"
    grid, size = recording.report.grid, recording.report.block
    for issue in recording.report.issues:
        block = _linear(issue.block, grid)
        there = [s for s in found if s.block == block and s.array and f"'{s.array}'" in issue.message]
        thread = None if issue.thread is None else _linear(issue.thread, size)
        element = re.search(r"element (\d+) of", issue.message)
        for step in _touching([s for s in there if s.line == issue.line], element, thread, own=True)[:1]:
            step.mark, step.partner = f"{issue.kind}: {issue.message}", issue.other_line
        other = [s for s in there if s.line == issue.other_line and not s.mark]
        for step in _touching(other, element, thread, own=False)[:1]:
            step.mark, step.partner = f"{issue.kind}, the other side, of line {issue.line}", issue.line


def _touching(steps: list[Step], element: re.Match | None, thread: int | None, own: bool) -> list[Step]:
    """The steps in which this thread, or any other, touches the element of an issue; all where the recording has none."""
    number = element and int(element[1])
    return [
        step
        for step in steps
        for by, one in zip(step.threads, step.elements, strict=True)
        if (by == thread) == own and number in (None, one)
    ] or steps


def _linear(index: tuple[int, int, int], extent: tuple[int, int, int]) -> int:
    return index[0] + extent[0] * (index[1] + extent[1] * index[2])
