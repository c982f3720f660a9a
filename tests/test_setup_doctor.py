"""The doctor and its selftest: on this machine, without a compiler, and with parts broken on purpose."""

import os
import subprocess
import sys

import pytest

from course_lib import clock, devices, doctor, environment, nvidia, selftest
from course_lib.paths import ROOT

ONE_STEP = "from course_lib import cli, clock; clock.ENOUGH, clock.FEWEST = 0.0, 1; cli.main()"


def course(*words: str, timed: bool = True, **changes: str) -> subprocess.CompletedProcess:
    """timed: whether the lengths of runs are told as they are told to a learner, else from one step each: one of 12m without a
    compiler is work enough."""
    return subprocess.run(
        [sys.executable, *(("-m", "course_lib.cli") if timed else ("-c", ONE_STEP)), *words],
        cwd=ROOT, env=os.environ | changes, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_the_doctor_looks_at_everything():
    said = course("doctor", timed=False)
    assert said.returncode == 0, said.stderr
    for name in (
        "Python",
        "cores",
        "memory",
        "C++ compiler",
        "NumPy",
        "NVIDIA GPU",
        "CuPy",
        "WebGPU",
        "judging",
        "Devices: ",
    ):
        assert name in said.stdout
    assert "could not be checked" not in said.stdout


def test_without_a_compiler_the_doctor_says_what_to_do():
    said = course("doctor", timed=False, COURSE_COMPILER="none").stdout
    assert "plain NumPy loops" in said
    assert environment.install_command("compiler") in said
    assert "COMPILER=zig" in said


def test_a_misspelt_compiler_is_a_sentence():
    said = course("doctor", timed=False, COURSE_COMPILER="gpp")
    assert said.returncode == 0
    assert "COURSE_COMPILER is 'gpp'" in said.stdout


def test_a_look_that_fails_does_not_stop_the_others(monkeypatch, capsys):
    def broken():
        raise OSError("the disk is on fire")

    monkeypatch.setattr(doctor, "LOOKS", (broken, doctor.memory))
    monkeypatch.setattr(clock, "ENOUGH", 0.0)
    monkeypatch.setattr(clock, "FEWEST", 1)
    assert doctor.report() == 0
    said = capsys.readouterr().out
    assert "the disk is on fire" in said
    assert "GB" in said


def test_a_driver_that_crashes_cannot_take_the_doctor_with_it():
    answered, said = doctor.ask("numpy", "import os; os.abort()")
    assert not answered
    assert "exit status" in said


def test_little_memory_is_said(monkeypatch):
    monkeypatch.setattr(doctor, "memory_bytes", lambda: 2e9)
    assert "one at a time" in doctor.memory().missing


@pytest.mark.parametrize("cuda, capability, extra", [
    ((13, 0), (9, 0), "cuda"), ((13, 1), (7, 5), "cuda"), ((13, 0), (7, 0), "cuda12"), ((12, 4), (8, 6), "cuda12"),
    ((11, 8), (8, 6), None),
])  # fmt: skip
def test_the_cupy_that_fits_the_driver(monkeypatch, cuda, capability, extra):
    monkeypatch.setattr(nvidia, "gpu", lambda: nvidia.Gpu("a GPU", capability, cuda))
    assert nvidia.cupy_extra() == extra


def test_no_driver_no_cupy(monkeypatch):
    monkeypatch.setattr(nvidia.ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    assert nvidia.gpu() is None
    assert nvidia.cupy_extra() is None


@pytest.mark.parametrize(
    "cupy, platform, extra", [("cuda", "linux", "cuda"), (None, "linux", None), (None, "darwin", "webgpu")]
)
def test_what_reaches_the_gpu_comes_with_the_course(cupy, platform, extra, monkeypatch):
    monkeypatch.setattr(nvidia, "cupy_extra", lambda: cupy)
    monkeypatch.setattr(environment.sys, "platform", platform)
    assert environment.gpu_extra() == extra


@pytest.mark.parametrize("answer, found, missing", [
    ((False, "not installed"), "not installed", ".[webgpu]"), ((True, "No driver.|"), "no adapter", "No driver."),
    ((False, "exit status -11"), "no adapter", "exit status -11"), ((True, "Test pipe|True"), "Test pipe", "only software"),
    ((True, "Test M2|False"), "Test M2", ""),
])  # fmt: skip
def test_what_webgpu_computes_on_is_named(monkeypatch, answer, found, missing):
    monkeypatch.setattr(doctor, "ask", lambda package, question: answer)
    fact = doctor.webgpu()
    assert fact.found == found and missing in fact.missing and bool(fact.missing) == bool(missing)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["none", ""])
def test_the_selftest_passes(compiler, tmp_path):
    said = course("doctor", "--selftest", timed=not compiler, COURSE_COMPILER=compiler)
    assert said.returncode == 0, said.stdout + said.stderr
    assert said.stdout.count(" passed ") == len(selftest.PARTS)


def test_a_failed_part_is_a_sentence_and_the_others_still_run(monkeypatch, capsys):
    def wrong():
        raise selftest.Failed("two and two are five")

    def missing():
        raise ImportError("no such thing")

    monkeypatch.setattr(selftest, "PARTS", (wrong, missing, selftest.gradients))
    assert selftest.run() == 1
    said = capsys.readouterr().out
    assert "FAILED  two and two are five" in said
    assert "FAILED  ImportError: no such thing" in said
    assert "gradients  passed" in said
    assert "2 of 3 parts failed" in said


def test_the_table_of_ops_says_in_words_who_has_what(monkeypatch, capsys):
    table = devices.ops("cpu")
    monkeypatch.delattr(table, "gelu_forward")
    assert doctor.ops_table() == 1
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    columns = lines["op"].split()
    assert columns == ["op", "reference", "cpu", "simulator", "cuda", "webgpu"]
    assert lines["gelu_forward"].split()[1:5] == ["✓", "yes", "–", "no"]
    assert lines["add"].split()[1:] == ["✓", "yes"] * 5


def test_every_device_has_every_op():
    said = course("doctor", "--ops")
    assert said.returncode == 0 and "– no" not in said.stdout.partition("on this machine")[0]


@pytest.mark.parametrize("answer, missing", [((True, "Open MPI v5 with mpiexec"), ""),
                                             ((False, "not installed"), "-e '.[many]'")])  # fmt: skip
def test_what_carries_many_processes_is_named(monkeypatch, answer, missing):
    monkeypatch.setattr(doctor, "ask", lambda *question: answer)
    fact = doctor.many()
    assert answer[1] in fact.found and missing in fact.missing and bool(fact.missing) == bool(missing)
