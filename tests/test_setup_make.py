"""The Makefile on machines that lack something: each case is a PATH of its own with fakes on it. Installs nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not on PATH")

# What the recipes themselves call, apart from Python.
TOOLS = ("sh", "sed", "uname", "id", "env", "rm", "find", "dirname", "cat", "echo")


@pytest.fixture
def machine(tmp_path):
    """A copy of what the set-up needs, in a folder with a space in its name, and an empty PATH to put fakes on."""
    clone, path = tmp_path / "my course", tmp_path / "bin"
    clone.mkdir()
    path.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, clone)
    shutil.copytree(ROOT / "course_lib", clone / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    for tool in TOOLS:
        (path / tool).symlink_to(shutil.which(tool))
    return Machine(clone, path)


class Machine:
    def __init__(self, clone: Path, path: Path):
        self.clone, self.path = clone, path

    def fake(self, name: str, script: str) -> None:
        (self.path / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.path / name).chmod(0o755)

    def make(self, *words: str, **environment: str) -> tuple[int, str]:
        run = subprocess.run(
            [MAKE, *words], cwd=self.clone, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120,
            env={"PATH": str(self.path), "HOME": str(self.path), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
            | environment,
        )  # fmt: skip
        return run.returncode, run.stdout

    def installed(self, *extras: str) -> None:
        """Stand in for an installation that make has finished: a .venv with a Python and a current stamp."""
        (self.clone / ".venv/bin").mkdir(parents=True)
        (self.clone / ".venv/bin/python").symlink_to(sys.executable)
        key = subprocess.run(
            [sys.executable, "-c", "from course_lib import environment; print(environment.key())"],
            cwd=self.clone, capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        stamp = {"key": key, "extras": ["course", *extras]}
        (self.clone / ".venv/course-installed.json").write_text(json.dumps(stamp))


@pytest.mark.parametrize("system, command", [
    ("apt-get", "apt-get update && {sudo}apt-get install -y python3 python3-venv"),
    ("dnf", "dnf install -y python3"),
    ("Darwin", "brew install python@3.13"),
])  # fmt: skip
def test_no_python_gets_the_one_command(machine, system, command):
    if system == "Darwin":
        (machine.path / "uname").unlink()
        machine.fake("uname", "echo Darwin")
    else:
        machine.fake(system, "exit 1")
    machine.fake("python3", "exit 1")  # too old
    status, said = machine.make("lab")
    assert status != 0
    assert "Python 3.11 or newer" in said
    assert command.format(sudo="" if os.geteuid() == 0 else "sudo ") in said


def test_no_python_names_the_version_that_debian_has(machine):
    machine.fake("apt-get", "exit 1")
    machine.fake("apt-cache", 'test "$2" = python3.12-venv')
    assert "install -y python3.12 python3.12-venv" in machine.make("test")[1]


def test_a_python_without_venv_is_told_how_to_get_it(machine, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/ensurepip.py").write_text("raise ImportError('shipped apart')")
    machine.fake("python3", f'PYTHONPATH="{tmp_path}/broken" exec "{sys.executable}" "$@"')
    machine.fake("apt-get", "exit 1")
    status, said = machine.make("lab")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert status != 0
    assert "no venv module" in said
    assert f"apt-get install -y python{version}-venv" in said


def test_shims_and_pythons_without_venv_are_passed_over(machine, tmp_path):
    """A pyenv shim exists and fails; another Python lacks venv; the third one is right and is taken."""
    machine.fake("python3.11", "echo 'command not found' >&2; exit 127")
    machine.fake("python3.12", 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac')
    machine.fake("python3.13", 'case "$1" in -c) exit 0;; *) echo chosen 3.13 "$@";; esac')
    machine.fake("python3.14", 'case "$1" in -c) exit 0;; *) echo chosen 3.14;; esac')
    status, said = machine.make("install")
    assert (status, said.strip()) == (0, "chosen 3.13 -m course_lib.environment")


def test_a_chosen_python_is_the_only_one_tried(machine):
    machine.fake("python3.11", "exit 0")
    status, said = machine.make("install", "PYTHON=python9")
    assert status != 0
    assert "looked for: python9" in said


def test_extras_reach_the_set_up(machine):
    machine.fake("python3.11", 'case "$1" in -c) exit 0;; *) echo "$@";; esac')
    assert "environment zig" in machine.make("install", "COMPILER=zig")[1]
    assert "environment test peers browser webgpu zig many serve site" in machine.make("test", "PEERS=1")[1]


def test_a_second_run_asks_nobody(machine):
    """Everything in place: no Python is looked for, no pip runs. A changed pyproject.toml calls for a new installation."""
    machine.installed("test")
    assert machine.make("install") == (0, "")
    with (machine.clone / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    status, said = machine.make("install")
    assert status != 0
    assert "found none" in said


def test_an_extra_that_is_not_installed_yet_calls_for_an_installation(machine):
    machine.installed()
    assert machine.make("install")[0] == 0
    assert "found none" in machine.make("test-fast")[1]


@pytest.mark.slow
def test_without_a_network_the_failure_is_a_sentence(machine):
    """A new .venv, and an index that does not answer."""
    machine.fake("python3", f'exec "{sys.executable}" "$@"')
    status, said = machine.make("install", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0", PIP_NO_INDEX="0")
    assert status != 0
    assert "needs a network this once" in said
    assert "Traceback" not in said


def test_clean_keeps_runs_and_answers(machine):
    for name in (".venv/lib", ".cache/native", "runs/small", "exercises/mine"):
        (machine.clone / name).mkdir(parents=True)
    status, said = machine.make("clean")
    assert status == 0, said
    left = {path.name for path in machine.clone.iterdir()}
    assert {"runs", "exercises"} <= left
    assert not {".venv", ".cache"} & left


def test_the_makefile_keeps_to_gnu_make_3_81():
    """macOS has 3.81: no shell assignment, .ONESHELL, $(file), immediate double-colon assignment or undefine."""
    text = (ROOT / "Makefile").read_text()
    assert not re.search(
        r"^\s*\w+\s*(!=|:::?=)|\.ONESHELL|\$\(file |^undefine|^define \w+ *[:?+]?=", text, re.MULTILINE
    )


def test_every_target_is_phony_and_explained(machine):
    said = machine.make()[1]
    for target in ("lab", "test", "test-fast", "train", "bench", "prove", "clean"):
        assert f"make {target}" in said
        assert re.search(rf"^\.PHONY:.*\b{target}\b", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_chapters_on_kernels_run_under_clang_too_or_a_sentence_says_why_not(machine):
    """What they print must not depend on the compiler; learners on macOS have clang only."""
    folder = machine.clone / ".venv/bin"
    folder.mkdir(parents=True)
    for program, script in (
        ("ruff", "exit 0"),
        ("python", 'case "$*" in *environment*) ;; *) echo "$COURSE_COMPILER: $*";; esac'),
    ):
        (folder / program).write_text(f"#!/bin/sh\n{script}\n")
        (folder / program).chmod(0o755)
    (machine.clone / "notebooks").mkdir()
    for chapter in ("03_a", "04_b", "08c_c", "12_d", "13_e"):
        (machine.clone / f"notebooks/{chapter}.ipynb").touch()
    status, said = machine.make("test", "PEERS=1")
    assert status == 0 and "not run under clang: there is no clang++ here" in said and "\nclang: " not in said
    machine.fake("clang++", "exit 0")
    status, said = machine.make("test", "PEERS=1")
    (run,) = [line for line in said.splitlines() if line.startswith("clang: ")]
    assert status == 0 and re.findall(r"notebooks/(\w+)", run) == ["04_b", "08c_c", "12_d"]
    assert "under clang" not in machine.make("test")[1]
