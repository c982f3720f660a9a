"""A run that is really killed, or whose disk is really full, goes on to the same bits."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course_lib import checkpoint, metrics
from course_lib.devices.cpu import bfloat16

pytestmark = pytest.mark.slow

STEPS = 250
# A run of some seconds that writes a checkpoint after nearly every step, so that many kills fall into the writing of one.
SCRIPT = f"""
import os, sys
from course_lib import progress, run_folder
from course_lib.training import train
run_folder.SOONEST, run_folder.SHARE = 0.0, 1e9
text, out, compute = sys.argv[1:]
started = os.path.exists(os.path.join(out, "last.safetensors"))
model = {{"layers": 1, "heads": 2, "channels": 16, "context": 32, "vocab_size": 300, "dropout": 0.1}}
new = {{}} if started else dict(preset="micro", text=text, model=model, steps={STEPS}, batch=2, accumulate=2, compute=compute)
train(out=out, resume=started, display=progress.Quiet(), **new)
"""

needs_instruction = pytest.mark.skipif(
    not bfloat16.instruction(), reason="this processor has no instruction that multiplies bfloat16"
)


def start(text, out, compute) -> subprocess.Popen:
    arguments = [text, str(out), compute]
    return subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stderr=subprocess.PIPE, text=True)


def log(out: Path) -> list[dict]:
    return [{k: v for k, v in record.items() if k != "tokens_per_s"} for record in metrics.read(out)]


def logged(out: Path) -> int:
    """The last step in a log that another process is writing."""
    try:
        return max((record["step"] for record in metrics.read(out)), default=0)
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("compute", ["float32", pytest.param("bfloat16", marks=needs_instruction)])
def test_killed_at_random_times_a_run_ends_with_the_same_bits(text, tmp_path, compute):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(text, whole, compute).wait() == 0

    chance, kills, steps = random.Random(0), 0, set()
    while True:
        process = start(text, killed, compute)
        if kills % 4 == 3:
            time.sleep(chance.uniform(0.0, 1.0))  # while it starts, or just after
        else:
            more = logged(killed) + chance.randrange(1, 30)
            while process.poll() is None and logged(killed) < more:
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, 0.02))  # anywhere in a step or in a checkpoint
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            break
        kills += 1
        if (killed / "last.safetensors").exists():
            steps.add(checkpoint.load(killed / "last.safetensors").facts["step"])  # whole, whenever it was
    assert process.returncode == 0, process.stderr.read()
    assert kills >= 5 and len(steps) >= 4

    assert log(killed) == log(whole) and len(log(whole)) == STEPS
    for name in ("last.safetensors", "best.safetensors"):
        a, b = (checkpoint.load(out / name) for out in (killed, whole))
        assert a.facts == b.facts
        for part in ("weights", "optimiser"):
            one, other = getattr(a, part), getattr(b, part)
            assert one.keys() == other.keys()
            assert all(one[key].tobytes() == other[key].tobytes() for key in one), part
    assert sorted(os.listdir(killed)) == ["best.safetensors", "last.safetensors", "metrics.jsonl"]


def course(*arguments: str, largest: int | None = None, env: dict | None = None) -> subprocess.CompletedProcess:
    """The command in a process of its own; `largest`: no file may grow beyond so many bytes, as on a full disk."""

    def limit():
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return subprocess.run([sys.executable, "-m", "course_lib.cli", *arguments], capture_output=True, text=True,
                          preexec_fn=limit, env={**os.environ, **(env or {})})  # fmt: skip


@pytest.fixture
def begun(text, tmp_path):
    """A run that was interrupted by Ctrl-C, by the command."""
    out = tmp_path / "run"
    command = [sys.executable, "-m", "course_lib.cli", "train", "--preset", "micro", "--text", text, "--steps", "100000",
               "--batch", "1", "--out", str(out)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while not (out / "metrics.jsonl").exists() or not metrics.read(out):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = process.communicate()[0]
    assert process.returncode == 128 + signal.SIGINT
    assert f"To go on: course train --out {out} --resume" in said
    assert checkpoint.load(out / "last.safetensors").facts["step"] > 0
    return out


def test_a_run_whose_bits_depend_on_the_number_of_threads_tells_when_another_number_goes_on(text, tmp_path):
    """What NumPy's BLAS adds up depends on it, and where there is no compiler it multiplies for the device cpu."""
    out = tmp_path / "run"

    def ended(*arguments: str, threads: str) -> str:
        done = course("train", "--out", str(out), *arguments,
                      env={"COURSE_COMPILER": "none", "OPENBLAS_NUM_THREADS": threads})  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    ended("--preset", "micro", "--text", text, "--steps", "2", "--batch", "1", threads="2")
    assert checkpoint.load(out / "last.safetensors").facts["products"] == "NumPy with OPENBLAS_NUM_THREADS=2"
    assert "products:" not in ended("--resume", threads="2")
    told = (
        "products: by NumPy with OPENBLAS_NUM_THREADS=2 until here, by NumPy with OPENBLAS_NUM_THREADS=1 from here on"
    )
    assert told in ended("--resume", threads="1")


def test_a_full_disk_ends_a_run_with_a_sentence_and_the_checkpoint_stays(begun):
    before = (begun / "last.safetensors").read_bytes()
    ended = course("train", "--out", str(begun), "--resume", largest=200_000)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    assert "could not be written: File too large" in ended.stderr and "untouched" in ended.stderr
    assert f"course train --out {begun} --resume" in ended.stderr
    assert (begun / "last.safetensors").read_bytes() == before


def test_a_full_disk_shows_itself_before_the_training_does(text, tmp_path):
    out = tmp_path / "run"
    ended = course("train", "--preset", "micro", "--text", text, "--steps", "5", "--out", str(out), largest=400_000)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr and "could not be written" in ended.stderr
    assert os.listdir(out) in ([], ["metrics.jsonl"])
    assert course("train", "--preset", "micro", "--text", text, "--steps", "2", "--out", str(out)).returncode == 0


def test_a_log_that_cannot_grow_is_a_sentence_too(begun):
    """The log reaches the limit before a checkpoint is due."""
    size = (begun / "last.safetensors").stat().st_size
    with open(begun / "metrics.jsonl", "r+b") as file:
        record = json.loads(file.readline())
        file.seek(0)
        file.write((json.dumps({**record, "note": "x" * size}) + "\n").encode())
        file.truncate()
    ended = course("train", "--out", str(begun), "--resume", largest=size + 400)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    assert "metrics.jsonl could not be written" in ended.stderr and "--resume" in ended.stderr
