"""Our counters beside those of the card: the same launches under `sanitize`, and under Nsight Compute where it is installed.

`python -m course_lib.prove.counters` launches on the card once what is compared; `ncu` runs that, and writes a table. What the
compiler keeps in a register, orders otherwise or joins to a wider load differs in requests; sectors and wavefronts for each
request should agree. On an H100 31 of 34 are equal (kernels/H100.md).
"""

import csv
import io
import os
import shutil
import subprocess
import sys
from typing import Any

import numpy as np

from course_lib.benchmarks.versions import MATMUL
from course_lib.cuda import sanitize
from course_lib.paths import ROOT

SHAPE = 256, 256, 64  # M, N, K
VERSIONS = ("1 naive", "2 coalesced", "3 shared tiles", "5 register tiles, 2D", "6 vectorised")
METRICS = (
    "launch__registers_per_thread",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
)
NEAR = 0.1  # a number that agrees


def measure(device: str) -> dict[str, Any]:
    """Rows of version, metric, ours, and the card's where ncu is; `missing` says why there are none."""
    ours = {name: _ours(name) for name in VERSIONS}
    theirs, missing = _theirs() if device == "cuda" else ({}, "there is no card here")
    rows = []
    for name in VERSIONS:
        for metric, value in ours[name].items():
            card = theirs.get(MATMUL[name].kernel.partition("<")[0], {}).get(metric)
            near = None if card is None else abs(value - card) <= NEAR * max(1.0, abs(card))
            rows.append({"name": name, "metric": metric, "ours": value, "card": card, "agrees": near})
    print(f"  {len(rows)} counters of ours" + (f"; {missing}" if missing else ""))
    for row in rows:
        if row["agrees"] is False:
            print(f"  {row['name']}, {row['metric']}: {row['ours']:,.6g} here, {row['card']:,.6g} on the card")
    return {"rows": rows, "missing": missing}


def _ours(name: str) -> dict[str, float]:
    kernel, *launch = MATMUL[name].launch(*MATMUL[name].inputs(*SHAPE))
    report = sanitize(kernel, *launch)
    if not report.ok:
        raise RuntimeError(f"{name} has issues: {report}")
    found = {metric.name: metric.value for metric in report.profile(_card()).metrics}
    return {metric: found[metric] for metric in METRICS if metric in found}


def _card() -> str:
    """The card of the table with the capability of the one that is here: the registers are compiled for it."""
    from course_lib import nvidia
    from course_lib.cuda import cards

    gpu = nvidia.gpu()
    return next((name for name, card in cards.CARDS.items() if gpu and card.capability == gpu.capability), "a100")


def _theirs() -> tuple[dict[str, dict[str, float]], str]:
    """kernel -> metric -> value, as ncu counts; and why there are none."""
    tool = shutil.which("ncu") or shutil.which("nv-nsight-cu-cli")
    if not tool:
        return {}, "Nsight Compute (ncu) is not installed: nothing to compare with"
    command = [tool, "--csv", "--print-units", "base", "--metrics", ",".join(METRICS), sys.executable, "-m", __name__]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "COURSE_TRACEBACK": "1"}
    )
    found = read(done.stdout)
    if found:
        return found, ""
    said = (done.stdout + done.stderr).strip().splitlines() or ["nothing"]
    reason = next((line for line in said if "ERR_" in line or "rror" in line), said[-1])
    return {}, f"ncu counted nothing; it said: {reason.strip()}"


def read(table: str) -> dict[str, dict[str, float]]:
    """What `ncu --csv` printed, kernel -> metric -> value; lines before the table are the program's own."""
    lines = table.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[first:]))) if first is not None else ():
        kernel = (row.get("Kernel Name") or "").partition("(")[0].partition("<")[0].split()[-1:]
        value = (row.get("Metric Value") or "").replace(",", "")
        if kernel and value.replace(".", "", 1).isdigit():
            found.setdefault(kernel[0], {})[row["Metric Name"]] = float(value)
    return found


def main() -> None:
    """What ncu watches: each version once, on the card."""
    import cupy

    for name in VERSIONS:
        version = MATMUL[name]
        a, b, c = (cupy.asarray(np.asarray(array)) for array in version.inputs(*SHAPE))
        kernel, *launch = version.launch(a, b, c)
        kernel(*launch)
    cupy.cuda.get_current_stream().synchronize()


if __name__ == "__main__":
    main()
