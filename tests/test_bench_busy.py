"""`course bench busy`: its programs end in any case, and its table says what was measured."""

import json
import signal
import subprocess
import sys

import pytest

from course_lib import devices
from course_lib.benchmarks import busy
from course_lib.devices.cpu import compiled


def test_busy_programs_end_with_the_block_whatever_ends_it():
    with pytest.raises(KeyboardInterrupt), busy.busy_programs(2) as programs:
        assert all(program.poll() is None for program in programs)
        raise KeyboardInterrupt
    assert [program.returncode for program in programs] == [-signal.SIGKILL] * 2


def test_busy_programs_end_when_the_benchmark_is_killed():
    program = (
        "import os, signal; from course_lib.benchmarks import busy\n"
        "with busy.busy_programs(2): os.kill(os.getpid(), signal.SIGKILL)"
    )
    # They hold the pipe open for as long as they live, and `run` reads it to its end.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL


def test_the_table_is_written(tmp_path, monkeypatch, capsys):
    devices.ops("cpu")
    if not hasattr(compiled.loops, "set_threads"):
        pytest.skip("there are no compiled loops here")
    monkeypatch.setattr(busy, "CASES", {"micro": 1})
    monkeypatch.setattr(busy, "ROUNDS", 1)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    rows = busy.run(tmp_path / "busy.json")
    assert [row["busy"] for row in rows] == [0, busy.BUSY]
    written = json.loads((tmp_path / "busy.json").read_text())
    assert written["threads"] == 2 and written["rows"][1]["bar"] == busy.BAR
    assert "micro" in capsys.readouterr().out
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    with pytest.raises(RuntimeError, match="one core only"):
        busy.run()
