"""Part a: the tests of all kernels and ops, on the card: values, gradients, ragged sizes, the same bits twice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Any

from course_lib.paths import ROOT, require

MOST_WORKERS = 8  # each with memory of its own on the card
PLUGIN = ["-p", "course_lib.benchmarks.gpu.on_card"]
RUNS = {
    # without what launches nothing: tests that only compile (what is launched here is compiled for this card), and of words
    "cuda": (["tests/kernels", "--ignore=tests/kernels/test_words.py", "-k", "not nvidia_compiles", *PLUGIN],
             ["tests/test_ops.py", "-k", "cuda"]),
    "simulator": (["tests/kernels/test_helpers.py"], ["tests/test_ops.py", "-k", "simulator and gelu"]),
}  # fmt: skip


def measure(device: str) -> list[dict[str, Any]]:
    return [_pytest(words) for words in RUNS[device]]


def kernels(device: str) -> dict[str, Any]:
    """The tests of the kernels alone."""
    return _pytest(RUNS[device][0])


def ops(device: str) -> dict[str, Any]:
    """Those of the ops."""
    return _pytest(RUNS[device][1])


def _pytest(words: list[str]) -> dict[str, Any]:
    """One run. Raises RuntimeError with what to do where the packages of the tests are not installed.

    The result: how many passed, failed and were skipped, which failed, and how many launches were on the card."""
    require("test", ("pytest", "hypothesis"), "Running the tests")
    began = time.monotonic()
    many = ["-p", "xdist.plugin", "-n", str(min(MOST_WORKERS, os.cpu_count() or 1))] if find_spec("xdist") else []
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", *many, *words]
    # Without other plugins that happen to be here: they belong to notebooks and browsers, and may miss what they need.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines() or ["pytest said nothing"]
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", lines[-1])}
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    launches = next((line for line in lines if line.startswith("launches:")), "")
    shown = lines[-80:] if failed or not counts else [launches, lines[-1]]  # why it failed may not come a second time
    print("\n".join(f"  {line}" for line in [" ".join(words), *shown] if line), flush=True)
    return {"run": " ".join(words), "counts": counts, "failed": failed, "launches": launches,
            "seconds": time.monotonic() - began}  # fmt: skip
