"""What `sanitize` found: issues and access counters by source line; as text, as HTML, and on a roofline. WGSL's is one, too.

A request is one load or store instruction of one warp, whatever its lanes' addresses are: a float4 that is read whole is one, and
so is what the text reads twice in a row. The host compiler orders them: sectors and wavefronts per request carry over to a GPU,
totals may differ where nvcc keeps a value in a register.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from course_lib.cuda import cards, html

SECTOR_BYTES, WAVEFRONT_BYTES = 32, 128


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong. `thread`, `block`: (x, y, z). `other_line`: the second place, where two are involved.

    count: how often it was seen, over all threads. unit: "block", or "group" where a block is a workgroup of WGSL.
    """

    kind: str
    file: str
    line: int
    other_line: int | None
    block: tuple[int, int, int]
    thread: tuple[int, int, int] | None
    message: str
    count: int = 1
    source: str = ""
    other_source: str = ""
    unit: str = "block"

    @property
    def who(self) -> str:
        """The block and the thread in words; nothing for a variable without a value, which each thread has for itself."""
        if self.thread is None and self.kind == "uninitialised-read":
            return ""
        return f"{self.unit} {self.block}" + (f", thread {self.thread}" if self.thread else "")

    def __str__(self) -> str:
        text = f"{self.kind}: {self.file}, line {self.line}: {self.message}"
        if self.who:
            text += f" ({self.who}; {self.count} times in all)" if self.count > 1 else f" ({self.who})"
        if self.source:
            text += f"\n    {self.line:4} | {self.source}"
        if self.other_line is not None and self.other_line != self.line and self.other_source:
            text += f"\n    {self.other_line:4} | {self.other_source}"
        return text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html.issue(self)


@dataclass(frozen=True)
class Line:
    """How the warps access memory in one line.

    requests: instructions issued by warps. sectors_per_request (global): 32-byte pieces that one moves; 4 is ideal for 32
    floats. wavefronts_per_request: for shared memory how often the banks must be asked (1 is ideal for 4-byte accesses),
    for global memory the number of 128-byte lines. active_lanes: of 32, on average.
    """

    COLUMNS: ClassVar = ("requests", "sectors per request", "wavefronts per request", "active lanes", "bytes moved")

    file: str
    line: int
    space: str
    op: str
    requests: int
    sectors_per_request: float
    wavefronts_per_request: float
    active_lanes: float
    bytes_requested: int
    bytes_moved: int

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in each of COLUMNS."""
        sectors = f"{self.sectors_per_request:.4g}" if self.space == "global" else "-"
        lanes = f"{self.active_lanes:.3g}"
        return f"{self.requests:,}", sectors, f"{self.wavefronts_per_request:.4g}", lanes, f"{self.bytes_moved:,}"

    @property
    def remark(self) -> str:
        """A word about the access pattern, or nothing if it is as good as can be."""
        if self.space == "shared":
            lane_bytes = self.bytes_requested / max(1.0, self.requests * self.active_lanes)
            ideal = max(1.0, lane_bytes / 4)
            ways = self.wavefronts_per_request / ideal
            return f"{ways:.2g}-way bank conflict" if ways > 1.05 else ""
        needed = self.bytes_requested / SECTOR_BYTES / max(1, self.requests)
        # one more than needed is no fault: what a warp touches may begin within a sector
        if self.sectors_per_request > max(1.5 * needed, math.ceil(needed) + 1):
            return f"uncoalesced: moves {self.bytes_moved / max(1, self.bytes_requested):.2g} times what is used"
        return ""


@dataclass(frozen=True)
class Roofline:
    """Where a kernel stands: its operations per byte against the machine's."""

    flops: float
    bytes_moved: int
    intensity: float
    ridge: float
    bound: str
    attainable: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.flops:,.0f} floating-point operations, {self.bytes_moved:,} bytes of global memory: "
            f"{self.intensity:.3g} operations per byte; the ridge is at {self.ridge:.3g}. {self.bound.capitalize()}-bound: "
            f"at most {self.attainable:.3g} operations per second, at least {self.seconds:.3g} s."
        )


def under_the_roof(flops: float, moved: int, peak_bandwidth: float, peak_flops: float) -> Roofline:
    """Place `flops` operations and `moved` bytes of global memory under the roof of a machine."""
    intensity = flops / moved if moved else float("inf")
    ridge = peak_flops / peak_bandwidth
    attainable = min(peak_flops, intensity * peak_bandwidth)
    seconds = max(moved / peak_bandwidth, flops / peak_flops)
    return Roofline(flops, moved, intensity, ridge, "memory" if intensity < ridge else "compute", attainable, seconds)


@dataclass
class Findings:
    """What a sanitizer found in one launch. `not_checked`: what this compiler, machine or text keeps from being seen.

    lines: each has a file, a line, a space, an op, bytes_moved, a remark, and cells for its COLUMNS. sources: their text.
    """

    MEMORY: ClassVar = "global"  # the space whose bytes are moved
    EXTENTS: ClassVar = ("grid", "block")  # their words

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    issues: list[Issue]
    lines: list[Any]
    not_checked: list[str] = field(default_factory=list)
    sources: dict[tuple[str, int], str] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.issues

    @property
    def bytes_moved(self) -> int:
        """Bytes of global memory that the launch moves, on CUDA by whole sectors, caches ignored."""
        return sum(line.bytes_moved for line in self.lines if line.space == self.MEMORY)

    def __str__(self) -> str:
        many = f"{len(self.issues)} issues" if len(self.issues) > 1 else "1 issue"
        extents = zip(self.EXTENTS, (self.grid, self.block), strict=True)
        head = f"{self.kernel} ({', '.join(f'{word} {_size(extent)}' for word, extent in extents)})"
        rows = [(f"{x.file}:{x.line}", x.space, x.op, *x.cells, x.remark) for x in self.lines]
        if rows:
            rows = [("line", "space", "op", *self.lines[0].COLUMNS, ""), *rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(f"{c:<{n}}" for c, n in zip(row, widths, strict=True)).rstrip() for row in rows]
        first = f"{head}: {'nothing wrong was found' if self.ok else many}."
        return "\n".join(
            [first, *map(str, self.issues), *table, *(f"Not checked: {what}" for what in self.not_checked)]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html.render(self)


def _size(extent: tuple[int, int, int]) -> str:
    used = list(extent)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return " x ".join(map(str, used))


@dataclass(repr=False)
class Report(Findings):
    """Of a CUDA kernel. shared: bytes of shared memory of a block, in arrays of fixed size and dynamic."""

    lines: list[Line]
    count_flops: Callable[[], int] | None = field(default=None, repr=False, compare=False)
    shared: tuple[int, int] = (0, 0)
    resources: Callable[[str], Any] | None = field(
        default=None, repr=False, compare=False
    )  # registers.resources, of sm_NN

    def __getstate__(self) -> dict:
        """A report that is sent to another process leaves the compiled kernel behind."""
        return {**self.__dict__, "count_flops": None, "resources": None}

    @cached_property
    def flops(self) -> int:
        """Floating-point operations of the launch, an fma as 2 and a function such as expf as 1: flops.py says what counts.

        The first look runs the launch once more, on copies of its inputs. Raises ValueError where that cannot be done.
        """
        if not self.ok:
            raise ValueError(f"{self.kernel} has issues: fix them first, then its operations can be counted.")
        if self.count_flops is None:
            raise ValueError(
                "The inputs of this launch were not kept (too large, addresses, or a report from elsewhere), so its operations "
                "cannot be counted. Pass flops=, those of the whole launch (2 * M * N * K for a matrix product)."
            )
        return self.count_flops()

    def profile(self, gpu: str = "a100") -> Any:
        """The counters under the names of Nsight Compute's metrics, and the occupancy on a card of cards.py (profile.py).

        Raises ValueError for an unknown card, and for a block that it cannot run.
        """
        from course_lib.cuda import profile

        return profile.profile(self, gpu, self.resources)

    def roofline(
        self,
        peak_bandwidth: float | None = None,
        peak_flops: float | None = None,
        flops: float | None = None,
        gpu: str = "",
    ) -> Roofline:
        """Place the kernel under the roof of a machine with `peak_bandwidth` bytes/s and `peak_flops` operations/s.

        gpu: a card of cards.py, whose published peaks (float32, no tensor cores) are taken where none is given.
        flops: operations of the whole launch, an fma as 2; counted if left out (`Report.flops`).
        """
        if gpu:
            card = cards.find(gpu)
            peak_bandwidth = card.bandwidth if peak_bandwidth is None else peak_bandwidth
            peak_flops = card.float32 if peak_flops is None else peak_flops
        if not peak_bandwidth or not peak_flops or peak_bandwidth <= 0 or peak_flops <= 0:
            raise ValueError(
                "The peaks are positive numbers: bytes per second and floating-point operations per second. "
                f"Or name a card, gpu={next(iter(cards.CARDS))!r}."
            )
        flops = self.flops if flops is None else flops
        return under_the_roof(flops, self.bytes_moved, peak_bandwidth, peak_flops)
