"""`course bench many`: what several processes on this machine gain, and what they pay for it.

    all_reduce      seconds by size and ranks, the alpha-beta model fitted to them (parallel/cost.py), and how far it is off
    weak, strong    training steps where each rank has a whole batch, or a part of one: speed against one process with one thread
    waiting         the fraction of a step in which a rank only waits for others, and how much of it overlap hides

Last comes how the 12M model and one of 1.3B parameters would scale to many GPUs: computed from published figures, not measured.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from course_lib import native
from course_lib.model import GPTConfig
from course_lib.parallel import cost, launch
from course_lib.paths import pip_command

PRESET = "small"
GPUS = (1, 8, 64, 1024)


def run(json_path: str | os.PathLike | None = None, preset: str = PRESET, steps: int = 12) -> dict[str, Any]:
    """Measure, print, write as JSON if asked; returns the figures."""
    launcher = launch.mpiexec()
    if launcher is None:
        raise RuntimeError(f"This measures processes on MPI, which is not here: {pip_command('many')}")
    cores = native.threads()
    counts = [n for n in (1, 2, 4, 8, 16) if n <= max(2, cores)]
    busy = f"; the machine is busy, load {os.getloadavg()[0]:.1f}" if os.getloadavg()[0] > 0.5 * cores else ""
    print(f"{cores} cores, one thread for each rank, {preset}, medians of {steps} steps{busy}")
    found = {n: _measure(launcher, n, preset, steps) for n in counts}

    samples = [(size, n, seconds) for n in counts[1:] for size, seconds in found[n]["all_reduce"]]
    link = cost.fit(samples)
    print(f"\nall_reduce: alpha {link.alpha * 1e6:.1f} µs a message, {1e-9 / link.beta:.2f} GB/s fitted")
    print(f"{'ranks':>6}{'bytes':>14}{'measured':>12}{'model':>12}")
    for size, n, seconds in samples:
        print(f"{n:6}{size:14,}{seconds * 1e3:9.3f} ms{link.ring(size, n) * 1e3:9.3f} ms")

    print(f"\n{'ranks':>6}{'':>8}{'step':>12}{'speed-up':>10}{'waiting':>9}{'without overlap':>17}{'hidden':>8}")
    rows = []
    for n in counts:
        for kind in ("weak", "strong") if n > 1 else ("weak",):
            step, waited, together, waited_together = found[n][kind]
            alone = found[1]["weak"][0]
            gain = (n if kind == "weak" else 1) * alone / step
            hidden = 1 - waited / waited_together if waited_together else 0.0
            rows.append({"ranks": n, "kind": kind, "step": step, "speed_up": gain, "waiting": waited / step,
                         "step_without_overlap": together, "hidden": hidden})  # fmt: skip
            print(
                f"{n:6}{kind:>8}{step * 1e3:9.1f} ms{gain:10.2f}{waited / step:9.1%}{together * 1e3:14.1f} ms{hidden:8.0%}"
            )

    print(
        "\nComputed, not measured: data parallel on machines of eight H100, 16,384 tokens on each GPU for 12m, 8,192 for 1.3B"
    )
    print(f"{'':8}{'GPUs':>6}{'compute':>12}{'all_reduce':>12}{'efficiency':>12}{'with overlap':>14}")
    models = {"12m": (GPTConfig.preset("12m"), 16_384), "1.3B": (cost.GPT_1_3B, 8_192)}
    computed = []
    for name, (config, tokens) in models.items():
        for gpus in GPUS:
            one = cost.scaling(config, gpus, tokens)
            computed.append({"model": name, "gpus": gpus, "compute": one.compute, "communication": one.communication,
                             "efficiency": one.efficiency, "hidden": one.hidden})  # fmt: skip
            print(f"{name:8}{gpus:6,}{one.compute * 1e3:9.2f} ms{one.communication * 1e3:9.2f} ms{one.efficiency:12.0%}"
                  f"{one.hidden:14.0%}")  # fmt: skip
    report = {"cores": cores, "preset": preset, "alpha": link.alpha, "beta": link.beta, "all_reduce": samples,
              "training": rows, "computed": computed}  # fmt: skip
    if json_path is not None:
        Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    return report


def _measure(launcher: str, ranks: int, preset: str, steps: int) -> dict[str, Any]:
    """What rank.py measures on so many ranks."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        program = [sys.executable, "-m", "course_lib.benchmarks.many.rank", preset, str(steps), str(out)]
        command = launch.command(ranks, program, launcher)
        done = subprocess.run(
            command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=1800
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
        return json.loads(out.read_text())
