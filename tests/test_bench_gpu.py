"""`course bench gpu` on a machine without a card: each part runs at small sizes; what only a card can show is left open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest

from course_lib import devices
from course_lib.benchmarks import gpu
from course_lib.benchmarks.gpu import kernel_tests, memory_bound, on_card, products, timing, training_step
from course_lib.cuda import Kernel, asarray, zeros
from course_lib.devices.gpu import launching, reductions
from course_lib.paths import ROOT

pytestmark = pytest.mark.skipif(
    "simulator" not in devices.available_devices() or "cuda" in devices.available_devices(),
    reason="this is about a machine with a C++ compiler and without a GPU",
)


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.in_turn, "__defaults__", (1,))


@pytest.mark.slow
def test_every_memory_bound_kernel_is_measured_against_a_copy(tmp_path, capsys):
    report = gpu.run(tmp_path / "b.json", "b")
    assert json.loads((tmp_path / "b.json").read_text()) == report
    rows = report["b"]["rows"]
    assert len(rows) >= 25 and all(row["share"] > 0 and row["gb_per_s"] > 0 for row in rows)
    said = capsys.readouterr().out
    assert "no NVIDIA card here" in said and "layernorm backward" in said and "adamw step" in said


@pytest.mark.slow
def test_each_version_of_matmul_is_timed_and_checked(monkeypatch, capsys):
    found = products.measure("simulator")
    assert [row["name"][0] for row in found["matmul"]] == ["o", *"12345678"]
    assert {row["name"] for row in found["attention"]} >= {"ours forward bfloat16", "ours backward float32"}
    assert "of cublas" in capsys.readouterr().out
    monkeypatch.setattr(products, "_sample", lambda t, a, b: np.zeros((8, 8)) + 1e9)
    with pytest.raises(RuntimeError, match="away from NumPy"):
        products.measure("simulator")


def test_a_training_step_is_timed(capsys):
    (row,) = training_step.measure("simulator")["rows"]
    assert row["tokens_per_s"] > 0 and row["mfu"] is None
    assert "ours, float32" in capsys.readouterr().out


def test_tests_that_fail_are_named(monkeypatch, capsys, tmp_path):
    (tmp_path / "test_two.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    monkeypatch.setitem(kernel_tests.RUNS, "simulator", ([str(tmp_path)],))
    (run,) = kernel_tests.measure("simulator")
    assert run["counts"] == {"failed": 1, "passed": 1} and "test_b" in run["failed"][0]
    assert "test_b" in capsys.readouterr().out


HIDE = """
import sys
from importlib.machinery import PathFinder

MISSING = set("pooch requests wgpu matplotlib jupyterlab jupyter_client jupytext nbformat nbval ipykernel IPython".split())

class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in MISSING else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hidden
"""


@pytest.mark.slow
def test_a_part_runs_alone_where_much_of_the_course_is_missing(tmp_path):
    """A rented machine has a card and Python: no notebooks, no pictures, no downloads, and nothing compiled at first.

    Parts a to d do so in test_prove.py, on a stand-in for CuPy."""
    (tmp_path / "sitecustomize.py").write_text(HIDE)  # Python runs it as it starts, in children too
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COURSE_CACHE": str(tmp_path / "cache")}
    hidden = subprocess.run([sys.executable, "-c", "import nbformat"], env=environment, capture_output=True, text=True)
    assert "No module named 'nbformat'" in hidden.stderr
    command = [sys.executable, "-m", "course_lib.cli", "bench", "gpu", "--part", "e", "--json", tmp_path / "found.json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["command"] == "course bench gpu --part e" and set(found) == {"device", "command", "e"}
    assert found["e"]["tokens"] == 1024 and found["e"]["floor"] < found["e"]["bigram"]
    assert len(found["e"]["samples"]) == 3


def test_an_unknown_part_is_a_sentence():
    with pytest.raises(ValueError, match=r"no part 'x'.*a, b, c, d, e"):
        gpu.run(None, "x")


def test_the_bandwidth_is_that_of_a_copy(monkeypatch):
    """1 ms for 2^16 floats read and as many written: 0.524 GB/s."""
    monkeypatch.setattr(memory_bound, "in_turn", lambda timers: dict.fromkeys(timers, 1.0))
    assert memory_bound.copy_bandwidth("simulator", 1 << 16) == pytest.approx(0.524288)


class Moved:
    """A stand-in for a CuPy array."""

    def __init__(self, array: np.ndarray):
        self.there = array.copy()

    def get(self) -> np.ndarray:
        return self.there


Moved.__module__ = "cupy"


@pytest.fixture
def to_card(monkeypatch) -> list[tuple]:
    """The arguments of each launch that would go to a card, where a stand-in adds the first two into the third."""
    seen: list[tuple] = []
    simulate = on_card._simulate

    def launch(kernel, grid, block, args, *rest):
        if not any(isinstance(value, Moved) for value in args):
            return simulate(kernel, grid, block, args, *rest)
        seen.append(args)
        args[2].there[...] = args[0].there + args[1].there

    cupy = ModuleType("cupy")
    cupy.asarray = Moved
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(on_card, "_simulate", launch)
    monkeypatch.setattr(on_card, "counted", {"on the card": 0, "left on the simulator": 0})
    return seen


def test_launches_of_tests_are_carried_to_the_card_and_back(to_card):
    """With the plugin a launch on NumPy arrays runs on copies there, one for each array, and the results come back."""
    x, y = asarray(np.arange(5, dtype=np.float32)), zeros(5)
    kernel = Kernel("arithmetic.cu", "binary<Add, float, 1>")
    on_card._launch(kernel, (1,), (32,), (x, x, y, 5))
    np.testing.assert_array_equal(y, 2 * x)
    assert to_card[0][0] is to_card[0][1] is not to_card[0][2] and to_card[0][3] == 5
    assert on_card.counted == {"on the card": 1, "left on the simulator": 0}


def test_a_seed_is_the_simulators_and_bfloat16_travels_as_its_bits(to_card):
    x = np.arange(5, dtype=np.float32).astype(ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    on_card._launch(Kernel("arithmetic.cu", "binary<Add, float, 1>"), (1,), (32,), (x, x, y, 5), seed=3)
    assert to_card[0][0].there.dtype == np.uint16
    np.testing.assert_array_equal(y.view(np.uint16), 2 * x.view(np.uint16))  # the stand-in adds what it is given
    assert on_card.counted == {"on the card": 1, "left on the simulator": 0}


@pytest.mark.usefixtures("to_card")
def test_addresses_inside_a_struct_stay_on_the_simulator():
    x, partial = asarray(np.arange(5, dtype=np.float32)), zeros(1)
    gradients = np.zeros((), reductions.GRADIENTS)
    gradients["array"][0], gradients["size"][0] = launching.address(x), 5
    gradients["end"][0] = gradients["count"] = 1
    on_card._launch(Kernel("global_norm.cu", "global_norm_squares<32>"), (1,), (32,), (gradients[()], partial, 0))
    np.testing.assert_allclose(partial, [30])
    assert on_card.counted == {"on the card": 0, "left on the simulator": 1}
