"""A report as Nsight Compute would put it: the same counters under its metrics' names, and occupancy on a named card.

    report = sanitize(kernel, grid, block, args)
    print(report.profile("a100"))

Names: Nsight Compute CLI, "Nvprof Transition Guide", table of metrics, and its "Metrics Reference", launch metrics. What is not
quite the same number says so beside it. Counts are of the text as the host's compiler orders it, and nothing here has a clock: no
caches, no stalls, no throughput.

No time is estimated. The counters of matmul's versions 1 to 6 were held against the speeds of the same steps on an A6000 in
SGEMM_CUDA's README. One wavefront, or one 128-byte line, and 128 multiply-adds in a clock cycle of each multiprocessor, one after
the other, make 479, 32, 34, 21, 17 and 8 ms for 4096 cubed; its speeds make 445, 69, 46, 16, 9 and 8. Versions 2 and 3 come out
in the wrong order: what decides between them is how long a load takes, which is not counted here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course_lib.cuda import cards, nvrtc, registers
from course_lib.cuda.occupancy import Occupancy, occupancy

SECTOR_BYTES = 32
OPS = {"read": "ld", "write": "st"}
UNKNOWN = "registers are not known, so the occupancy may be lower: "
MISSING = (
    "pip install cupy-cuda13x nvidia-cuda-nvrtc nvidia-cuda-runtime, and NVIDIA's compiler says how many there are"
)
REFUSED = "NVIDIA's compiler for kernels, NVRTC, does not take this text (host code?)"


@dataclass(frozen=True)
class Metric:
    """name: Nsight Compute's. words: ours. note: what differs from the GPU's number; empty where nothing does."""

    name: str
    value: float
    words: str
    note: str = ""

    @property
    def shown(self) -> str:
        """The value with as many digits as say something."""
        return f"{self.value:,.0f}" if float(self.value).is_integer() else f"{self.value:,.2f}"


@dataclass
class Profile:
    """Metrics by Nsight Compute's names, `profile["launch__grid_size"]`; `occupancy` and `card` they were computed for."""

    kernel: str
    card: cards.Card
    occupancy: Occupancy
    metrics: list[Metric]
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> float:
        """The value of a metric. Raises KeyError with the names there are."""
        known = {metric.name: metric.value for metric in self.metrics}
        if name not in known:
            raise KeyError(f"There is no metric {name!r} here. There are: {', '.join(known)}.")
        return known[name]

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(m.name, m.shown, f"{m.words} ({m.note})" if m.note else m.words) for m in self.metrics]

    def __str__(self) -> str:
        rows = self._rows()
        wide, value = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines = [f"{name:{wide}}  {number:>{value}}  {words}" for name, number, words in rows]
        limits = " and ".join(self.occupancy.limited_by)
        head = f"{self.kernel} on {self.card.name}: occupancy at most {self.occupancy.theoretical:.0%}, limited by {limits}"
        return "\n".join([head, *lines, *(f"Note: {note}." for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *_ = str(self).split("\n", 1)
        body = "".join(
            f"<tr><td style='text-align:left'><code>{escape(name)}</code></td><td>{number}</td>"
            f"<td style='text-align:left'>{escape(words)}</td></tr>"
            for name, number, words in self._rows()
        )
        notes = "".join(f"<p>Note: {escape(note)}.</p>" for note in self.notes)
        return f"<p>{escape(head)}</p><table><tr><th>metric of Nsight Compute</th><th></th><th></th></tr>{body}</table>{notes}"


def profile(report: Any, gpu: str, find: Callable[[str], registers.Resources | None] | None) -> Profile:
    """Profile of a Report on the card `gpu`. find: architecture -> Resources, from the compiled kernel.

    Raises ValueError for an unknown card, and for a block that it cannot run.
    """
    card = cards.find(gpu)
    found = find("sm_{}{}".format(*card.capability)) if find else None
    static, dynamic = report.shared
    threads = report.block[0] * report.block[1] * report.block[2]
    blocks = report.grid[0] * report.grid[1] * report.grid[2]
    limits = occupancy(card, threads, found.registers if found else None, static + dynamic)
    metrics = [
        *_launch(report, card, limits, found, threads, blocks),
        *_global(report.lines),
        *_shared(report.lines),
        *_lanes(report.lines),
    ]
    notes = [] if found else [UNKNOWN + (REFUSED if nvrtc.available() else MISSING)]
    if found and found.stack:
        why = "an array whose index the compiler does not know, or registers that did not fit"
        notes.append(f"{found.stack} bytes of local memory for each thread: {why}")
    return Profile(report.kernel, card, limits, metrics, notes)


def _launch(report, card, limits: Occupancy, found, threads: int, blocks: int) -> list[Metric]:
    static, dynamic = report.shared
    metrics = [
        Metric("launch__grid_size", blocks, "blocks"),
        Metric("launch__block_size", threads, "threads of a block"),
        Metric("launch__shared_mem_per_block_static", static, "bytes"),
        Metric("launch__shared_mem_per_block_dynamic", dynamic, "bytes"),
        Metric("launch__occupancy_limit_blocks", limits.block_limit, "blocks that a multiprocessor holds"),
        Metric("launch__occupancy_limit_warps", limits.warp_limit, "of them, by their warps"),
        Metric("launch__occupancy_limit_shared_mem", limits.shared_limit, "by shared memory"),
    ]
    if limits.register_limit:
        metrics.append(Metric("launch__occupancy_limit_registers", limits.register_limit, "by registers"))
        metrics.append(Metric("launch__registers_per_thread", found.registers, "as NVIDIA's compiler gives them"))
    waves = blocks / (limits.blocks * card.multiprocessors)
    achieved = limits.achieved_at_most(blocks, card.multiprocessors)
    return [
        *metrics,
        Metric("launch__waves_per_multiprocessor", waves, "rounds that the grid takes"),
        Metric("sm__maximum_warps_per_active_cycle_pct", 100 * limits.theoretical, "theoretical occupancy, %"),
        Metric("sm__warps_active.avg.pct_of_peak_sustained_active", 100 * achieved, "achieved occupancy, %",
               "as if all blocks took equally long"),
    ]  # fmt: skip


def _of(lines: Sequence[Any], space: str, op: str) -> list[Any]:
    return [line for line in lines if (line.space, line.op) == (space, op)]


def _global(lines: Sequence[Any]) -> list[Metric]:
    metrics = []
    for op, short in OPS.items():
        if not (own := _of(lines, "global", op)):
            continue
        requests = sum(line.requests for line in own)
        moved, asked = (sum(getattr(line, name) for line in own) for name in ("bytes_moved", "bytes_requested"))
        sectors, end = moved // SECTOR_BYTES, f"mem_global_op_{short}"
        metrics += [
            Metric(f"l1tex__t_requests_pipe_lsu_{end}.sum", requests, f"requests, global {op}"),
            Metric(f"l1tex__t_sectors_pipe_lsu_{end}.sum", sectors, "sectors of 32 bytes"),
            Metric(f"l1tex__average_t_sectors_per_request_pipe_lsu_{end}.ratio", sectors / requests, "sectors per request"),
            Metric(f"smsp__sass_average_data_bytes_per_sector_{end}.pct", 100 * asked / moved,
                   "of the bytes moved, those that the threads requested, %"),
        ]  # fmt: skip
    return metrics


def _shared(lines: Sequence[Any]) -> list[Metric]:
    metrics = []
    for op, short in OPS.items():
        if not (own := _of(lines, "shared", op)):
            continue
        requests, end = sum(line.requests for line in own), f"mem_shared_op_{short}.sum"
        wavefronts = sum(line.wavefronts_per_request * line.requests for line in own)
        metrics += [
            Metric(f"smsp__inst_executed_op_shared_{short}.sum", requests, f"requests, shared {op}"),
            Metric(f"l1tex__data_pipe_lsu_wavefronts_{end}", round(wavefronts), "wavefronts"),
            Metric(f"l1tex__data_bank_conflicts_pipe_lsu_{end}", round(sum(map(bank_conflicts, own))), "of them bank conflicts",
                   "a GPU also counts here what waits for other reasons"),
        ]  # fmt: skip
    return metrics


def bank_conflicts(line: Any) -> float:
    """Wavefronts of a line of shared memory above one for each 4 bytes of a lane, which it needs without conflicts at most."""
    needed = max(1.0, line.bytes_requested / max(1.0, line.requests * line.active_lanes) / 4)
    return line.requests * max(0.0, line.wavefronts_per_request - needed)


def _lanes(lines: Sequence[Any]) -> list[Metric]:
    requests = sum(line.requests for line in lines)
    if not requests:
        return []
    lanes = sum(line.requests * line.active_lanes for line in lines)
    return [Metric("smsp__thread_inst_executed_per_inst_executed.ratio", lanes / requests, "threads of each instruction",
                   "of loads and stores alone")]  # fmt: skip
