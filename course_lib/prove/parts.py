"""The parts of a proof: what measures each, how long it may take, and one sentence on what it found against its bar."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BARS = {
    "difference": 1e-3,  # of a loss, within ten steps
    "copy": 0.9,  # of the copy bandwidth, arrays of 256 MB
    "float32": 0.9,  # of cuBLAS, 4096 cubed
    "bfloat16": 0.6,
}


@dataclass(frozen=True)
class Part:
    """module: has `measure(device)`. seconds: the most that it may take. told: its result -> (sentence, whether the bar holds).

    None for the bar: there was nothing to compare with.
    """

    name: str
    title: str
    module: str
    seconds: float
    told: Callable[[Any], tuple[str, bool | None]]
    call: str = "measure"


def _tests(found: dict) -> tuple[str, bool | None]:
    counts = found["counts"]
    words = ", ".join(f"{number} {word}" for word, number in counts.items()) or "pytest counted nothing"
    launches = f"; {found['launches']}" if found["launches"] else ""
    return f"{words}{launches}", bool(counts.get("passed")) and not found["failed"] and "error" not in counts


def _trajectory(found: list) -> tuple[str, bool | None]:
    worst = max(row["difference"] for row in found)
    presets = " and ".join(row["preset"] for row in found)
    return f"ten steps of {presets}: losses at most {worst:.1e} from the CPU's", worst < BARS["difference"]


def _copy(found: dict) -> tuple[str, bool | None]:
    reach = [row for row in found["rows"] if row["share"] >= BARS["copy"]]
    worst = min(found["rows"], key=lambda row: row["share"])
    said = f"{len(reach)} of {len(found['rows'])} kernels reach {BARS['copy']:.0%} of a copy's {found['copy_gb_per_s']:,.0f} GB/s"
    return f"{said}; the slowest, {worst['name']}, {worst['share']:.0%}", len(reach) == len(found["rows"])


def _products(found: dict) -> tuple[str, bool | None]:
    largest = max(row["M"] * row["N"] * row["K"] for row in found["matmul"])
    said, holds = [], []
    for kind in ("float32", "bfloat16"):
        shares = [row["of_cublas"] for row in found["matmul"] if row["of_cublas"] and not row["name"].startswith("cuBLAS")
                  and row["name"].endswith("bfloat16") == (kind == "bfloat16")
                  and row["M"] * row["N"] * row["K"] == largest]  # fmt: skip
        if shares:
            said.append(f"{max(shares):.0%} of cuBLAS in {kind}")
            holds.append(max(shares) >= BARS[kind])
    return (
        (f"the best version reaches {' and '.join(said)}", all(holds))
        if said
        else ("PyTorch is not here: no cuBLAS", None)
    )


def _step(found: dict) -> tuple[str, bool | None]:
    rates = {row["name"]: row["tokens_per_s"] for row in found["rows"]}
    ours = max(rate for name, rate in rates.items() if name.startswith("ours"))
    said = f"{ours:,.0f} tokens/s of {found['preset']}"
    if "torch.compile, bfloat16" not in rates:
        return f"{said}; PyTorch is not here", None
    return f"{said}, {ours / rates['torch.compile, bfloat16']:.2f} of torch.compile", ours > rates[
        "torch.compile, bfloat16"
    ]


def _counters(found: dict) -> tuple[str, bool | None]:
    known = [row for row in found["rows"] if row["agrees"] is not None]
    if not known:
        return found["missing"], None
    agree = sum(row["agrees"] for row in known)
    return f"{agree} of {len(known)} counters agree with Nsight Compute's within 10 %", agree == len(known)


BENCH = "course_lib.benchmarks.gpu"
PARTS = (
    Part("trajectory", "Ten steps of training, beside the CPU", "course_lib.prove.trajectory", 90, _trajectory),
    Part("ops", "Every op, forward and backward, on ragged sizes", f"{BENCH}.kernel_tests", 150, _tests, "ops"),
    Part("kernels", "Every kernel's values", f"{BENCH}.kernel_tests", 280, _tests, "kernels"),
    Part("copy", "Memory-bound kernels, as a fraction of the copy bandwidth", f"{BENCH}.memory_bound", 80, _copy),
    Part("products", "Products against cuBLAS, attention against PyTorch's", f"{BENCH}.products", 130, _products),
    Part("step", "The training step of the 12m model, against torch.compile", f"{BENCH}.training_step", 400, _step),
    Part("counters", "Counters of the simulator, beside Nsight Compute's", "course_lib.prove.counters", 60, _counters),
)
