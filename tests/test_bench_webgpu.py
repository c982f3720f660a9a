"""`course bench webgpu`: every part runs at small sizes on the adapter of this machine, and says what it measured on."""

from __future__ import annotations

import json

import pytest

from course_lib import devices, recipes
from course_lib.benchmarks import webgpu
from course_lib.benchmarks.webgpu import memory_bound, products, timing, training_step
from course_lib.cli import house
from course_lib.devices.webgpu import adapter
from tests.webgpu_here import on_an_adapter


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LEAST_MS", 0.0)
    for module, sizes in ((memory_bound, (1 << 12, 64)), (products, (1, 8))):
        monkeypatch.setattr(module, "SIZES", dict.fromkeys((True, False), sizes))
        monkeypatch.setattr(module, "ROUNDS", 1)


@on_an_adapter
def test_kernels_are_measured_and_written_down(tmp_path, capsys):
    report = webgpu.run(tmp_path / "a.json", "a")
    assert json.loads((tmp_path / "a.json").read_text()) == report
    rows = report["a"]["rows"]
    assert len(rows) >= 24 and all(row["gb_per_s"] > 0 and row["share"] > 0 for row in rows)
    assert report["device"]["limits"]["max-storage-buffer-binding-size"] >= 1 << 27
    said = capsys.readouterr().out
    assert adapter.adapter_name() in said and "adamw step" in said
    assert ("software on the CPU" in said) == adapter.in_software()


@on_an_adapter
@pytest.mark.slow
def test_the_products_of_12m_are_measured(monkeypatch):
    """At 1 ms each, GFLOP/s are the operations in millions."""
    monkeypatch.setattr(products, "in_turn", lambda timers, rounds: dict.fromkeys(timers, 1.0))
    rows = {row["name"]: row["gflops"] for row in products.measure()["rows"]}
    assert len(rows) == 14
    assert rows["into the MLP: dweight"] == pytest.approx(2e-6 * 8 * 384 * 1536)
    assert rows["attention backward"] == pytest.approx(2.5e-6 * 2 * 2 * 6 * 8 * 8 * 64 / 2)


class Clock:
    """Stands in for the module time; goes on as it is told to."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def after(self, seconds: float) -> None:
        self.now += seconds


@on_an_adapter
def test_a_timer_counts_the_work_and_not_the_writing_down(monkeypatch):
    """Each call takes 1 s to write down; what is handed in takes 7 s, of which 3 s are waiting with no work."""
    clock, counted = Clock(), []
    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(timing, "idle_ms", lambda: 3000.0)
    synchronize = timing.storage.synchronize
    monkeypatch.setattr(timing.storage, "synchronize", lambda: synchronize() or clock.after(7.0))
    table = devices.ops("webgpu")
    x = table.zeros((100,))
    timer = timing.Timer(lambda: counted.append(table.exp(x)) or clock.after(1.0))
    timer._calls = 8
    before = len(counted)
    assert timer.ms() == pytest.approx(4000 / 8) and len(counted) - before == 8


def test_steps_are_timed_in_turn_and_the_faster_device_is_named(monkeypatch, capsys):
    clock, turns = Clock(), []

    def ours(device, preset, config, batch, kind):
        return lambda: turns.append(device) or clock.after({"webgpu": 0.01, "cpu": 0.04}[device])

    monkeypatch.setattr(training_step, "time", clock)
    monkeypatch.setattr(training_step, "ours", ours)
    monkeypatch.setattr(training_step, "available_devices", lambda: ["reference", "cpu", "webgpu"])
    monkeypatch.setattr(training_step.adapter, "in_software", lambda: False)
    found = training_step.measure()
    assert turns[2:8] == ["webgpu", "cpu"] * 3  # after one each to warm up
    of_12m = [row for row in found["rows"] if row["preset"] == "12m"]
    tokens = 256 * recipes.settings("12m").batch
    assert [row["tokens"] for row in of_12m] == [tokens, tokens]
    assert of_12m[0]["tokens_per_s"] == pytest.approx(100 * tokens)
    assert found["worth"] == (
        "Worth it on this machine: micro on webgpu (4.0 times as fast as on cpu), small on webgpu (4.0 times as fast as on "
        "cpu), 12m on webgpu (4.0 times as fast as on cpu)."
    )
    assert found["worth"] in capsys.readouterr().out


@on_an_adapter
@pytest.mark.slow
def test_a_step_of_micro_is_measured_on_every_device(monkeypatch):
    monkeypatch.setattr(training_step, "PRESETS", ("micro",))
    monkeypatch.setattr(training_step, "ROUNDS", 1)
    rows = training_step.measure()["rows"]
    assert {row["device"] for row in rows} >= {"webgpu", "cpu"} and all(row["tokens_per_s"] > 0 for row in rows)


def test_what_cannot_be_measured_is_a_sentence(monkeypatch):
    with pytest.raises(ValueError, match=r"no part 'x'.*a, b, c"):
        webgpu.run(None, "x")
    with pytest.raises(ValueError, match="bench cpu has no parts"):
        house.bench("cpu", part="a")
    monkeypatch.setattr(adapter, "problem", lambda: "No graphics driver of this machine offers a WebGPU adapter.")
    monkeypatch.setattr(adapter, "device", adapter.device.__wrapped__)
    with pytest.raises(RuntimeError, match="No graphics driver"):
        webgpu.run()
