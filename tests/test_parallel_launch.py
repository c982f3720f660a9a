"""`course train --processes N`: the same bits as one process, one voice, and what happens when a rank is killed or is wrong."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from course_lib import checkpoint, metrics
from course_lib.coach import catalogue, state
from course_lib.coach.verdict import Verdict
from course_lib.parallel import launch
from course_lib.paths import ROOT

pytest.importorskip("mpi4py", reason="MPI comes with make test PEERS=1")

SMALL = ["--preset", "micro", "--batch", "1", "--accumulate", "4", "--device", "cpu"]


def course(*arguments, launcher=(), wait=True, **environment):
    """`course train` with these arguments, run to its end, or as a process that runs."""
    command = [*launcher, sys.executable, "-m", "course_lib.cli", "train", *map(str, arguments)]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
                           env=os.environ | environment)  # fmt: skip
    return (job, *job.communicate(timeout=300)) if wait else job


def ranks_of(job, rank):
    """The process of a rank that a job started."""
    psutil = pytest.importorskip("psutil")
    for process in psutil.Process(job.pid).children(recursive=True):
        try:
            if process.environ().get("OMPI_COMM_WORLD_RANK") == str(rank) and "course_lib.cli" in process.cmdline():
                return process
        except psutil.Error:
            continue
    raise AssertionError(f"rank {rank} does not run")


def wait_for_step(job, folder, step):
    """Until the log of a run reaches a step."""
    for _ in range(3000):
        log = folder / metrics.NAME
        if log.exists() and any(record["step"] >= step for record in metrics.read(log)):
            return
        assert job.poll() is None, job.communicate()
        time.sleep(0.1)
    raise AssertionError("the run does not begin")


def losses(folder):
    return [record["loss"] for record in metrics.read(folder)]


@pytest.mark.slow
def test_two_and_four_processes_give_the_bits_of_one(text, tmp_path):
    runs = {}
    for size in (1, 2, 4):
        out = tmp_path / str(size)
        job, said, complained = course(*SMALL, "--text", text, "--steps", 6, "--out", out, "--processes", size)
        assert job.returncode == 0, complained
        assert said.count("micro:") == 1 and (size == 1 or f"processes: {size}, each on" in said)
        runs[size] = checkpoint.load(out / "last.safetensors")
        assert losses(out) == losses(tmp_path / "1")
    for many in (runs[2], runs[4]):
        for name, values in runs[1].weights.items():
            assert many.weights[name].tobytes() == values.tobytes(), name
        for name, values in runs[1].optimiser.items():
            assert many.optimiser[name].tobytes() == values.tobytes(), name


@pytest.mark.slow
def test_answers_on_two_ranks_are_told_once_with_where_they_are_counted(text, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_MINE", str(tmp_path / "mine"))
    solution = catalogue.piece("warmup_linear").solution
    state.save("warmup_linear", solution, Verdict("warmup_linear", "", "python", True))
    settings = [*SMALL, "--text", text, "--steps", 3, "--out", tmp_path / "run"]
    job, said, complained = course(*settings, "--processes", 2, "--mine")
    assert job.returncode == 0, complained
    assert said.count("optim.warmup_linear  yours") == said.count("times of your answers will be those on rank 0") == 1
    assert "it was called 3 times" in said


@pytest.mark.slow
def test_a_killed_rank_ends_the_job_with_a_sentence_and_the_run_goes_on(text, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "run"
    settings = [*SMALL, "--text", text, "--steps", 40]
    assert course(*settings, "--out", whole)[0].returncode == 0
    job = course(*settings, "--out", out, "--processes", 2, wait=False)
    wait_for_step(job, out, 2)
    killed = random.Random(0).randrange(2)
    process = ranks_of(job, killed)
    process.send_signal(signal.SIGKILL)
    began = time.monotonic()
    _, complained = job.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert f"Rank {killed} (process {process.pid}" in complained and "was killed by SIGKILL" in complained, complained
    assert f"--out {out} --resume --processes 2" in complained and job.returncode not in (0, None)
    resumed = course("--out", out, "--resume", "--processes", 4)
    assert resumed[0].returncode == 0, resumed
    assert np.allclose(losses(out), losses(whole), rtol=1e-6)


@pytest.mark.slow
def test_ctrl_c_stops_all_ranks_after_the_step_saved(text, tmp_path):
    out = tmp_path / "run"
    job = course(*SMALL, "--text", text, "--out", out, "--processes", 2, wait=False)
    wait_for_step(job, out, 2)
    job.send_signal(signal.SIGINT)
    said, complained = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGINT, (said, complained)
    assert "Everything is saved. To go on:" in said
    assert checkpoint.load(out / "last.safetensors").facts["step"] == metrics.read(out)[-1]["step"]


@pytest.mark.slow
def test_several_hosts_and_an_error_that_all_ranks_share(text, tmp_path):
    """Names of this machine stand for machines; what every rank refuses is said once."""
    hosts = ["--host", "localhost:1,127.0.0.1:1", "--map-by", ":OVERSUBSCRIBE"]
    hosts += ["--allow-run-as-root"] if os.geteuid() == 0 else []
    mpiexec = [launch.mpiexec(), *hosts, "-n", "2"]
    settings = [*SMALL, "--text", text, "--steps", 3, "--out", tmp_path / "run"]
    job, said, complained = course(*settings, launcher=mpiexec)
    assert job.returncode == 0 and "processes: 2" in said, complained
    job, said, complained = course(*settings, launcher=mpiexec)
    assert job.returncode and complained.count("already holds a run") == 1 and "Rank 0:" in complained
    job, said, complained = course(*settings, "--processes", 3, launcher=mpiexec)
    assert "mpiexec started 2 processes, but --processes says 3" in complained


def test_a_launcher_is_known_by_the_environment(monkeypatch):
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)
    assert launch.launched() == 1
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
    assert launch.launched() == 1, "an allocation alone starts nothing"
    monkeypatch.setenv("PMIX_RANK", "0")
    assert launch.launched() == 4
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert launch.launched() == 2


def test_cores_are_shared_unless_somebody_said_how_many(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    launch.share_cores(8, 3)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"
    launch.share_cores(8, 1)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


def test_training_with_one_process_imports_no_mpi():
    code = "import sys, course_lib.cli; from course_lib import training, parallel; print('mpi4py' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"


def test_what_cannot_be_started_is_refused_in_a_sentence():
    for wrong, sentence in (
        (["--shard", "optimizer"], "nobody to shard with"),
        (["--processes", "0"], "must be 1 or more"),
    ):
        job, _, complained = course(*wrong)
        assert job.returncode == 1 and sentence in complained
