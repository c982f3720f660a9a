"""The device `webgpu` where an adapter has too little, fails or goes away: each is a sentence, and what was saved is safe."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from course_lib import checkpoint, devices
from course_lib.cuda.source import KERNELS
from course_lib.devices.webgpu import adapter, attention, launching, memory, source
from course_lib.model import GPTConfig
from tests.tiny_runs import MODELS, make_run
from tests.webgpu_here import on_an_adapter

# What WebGPU promises of every adapter. (WebGPU, section 3.6.2)
DEFAULTS = {
    "max-buffer-size": 256 << 20,
    "max-storage-buffer-binding-size": 128 << 20,
    "max-compute-workgroups-per-dimension": 65535,
    "max-compute-workgroup-storage-size": 16384,
    "min-storage-buffer-offset-alignment": 256,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-storage-buffers-per-shader-stage": 8,
    "max-uniform-buffers-per-shader-stage": 12,
    "max-bindings-per-bind-group": 1000,
}


@pytest.fixture
def table():
    return devices.ops("webgpu")


def python(code: str, *words: str) -> subprocess.CompletedProcess:
    """Runs code in a process of its own, whose device is its own too."""
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=KERNELS.parent)


# Limits


SMALL = """
import sys
from course_lib.devices.webgpu import adapter
offered = adapter._adapter().limits
adapter.asked_limits = lambda: {name: offered[name] for name in adapter.WANTED} | {SMALLER}
from course_lib.devices import ops
t = ops("webgpu")
for what in sys.argv[1:]:
    try: print(t.to_numpy(eval(what)).shape)
    except ValueError as error: print(error)
"""


@on_an_adapter
def test_what_an_adapter_with_little_cannot_hold_names_its_limit():
    smaller = {"max-storage-buffer-binding-size": 4000, "max-buffer-size": 8000, "max-compute-workgroup-storage-size": 16384,
               "max-compute-workgroups-per-dimension": 40}  # fmt: skip
    large_head = "t.attention_forward(t.zeros((1, 2, 1, 160)), t.zeros((1, 2, 1, 160)), t.zeros((1, 2, 1, 160)))[0]"
    wide = "t.matmul(t.zeros((1, 1)), t.zeros((1, 900)))", "t.matmul(t.zeros((45, 1, 1)), t.zeros((1, 1)))"
    tried = "t.zeros((1000,))", "t.zeros((7, 143))", "t.zeros((45, 20))", *wide, large_head
    tall = "t.attention_forward(t.zeros((41, 1, 1, 8)), t.zeros((41, 1, 1, 8)), t.zeros((41, 1, 1, 8)))[0]"
    done = python(SMALL.replace("{SMALLER}", str(smaller)), *tried, tall)
    assert done.returncode == 0, done.stderr
    held, too_large, folded, product, batch, heads, groups = done.stdout.splitlines()
    assert (held, folded, product, batch) == ("(1000,)", "(45, 20)", "(1, 900)", "(45, 1, 1)")
    assert "(7, 143) takes 4,004 bytes" in too_large and "4,000 (max-storage-buffer-binding-size)" in too_large
    assert "heads of 160 numbers" in heads and "16,384 (max-compute-workgroup-storage-size)" in heads
    assert "40 (max-compute-workgroups-per-dimension)" in groups


@on_an_adapter
@pytest.mark.slow
def test_every_kernel_of_a_step_runs_with_the_least_that_an_adapter_may_have(text):
    code = (
        f"import sys; from course_lib.devices.webgpu import adapter; adapter.asked_limits = lambda: {DEFAULTS}\n"
        "from tests.tiny_runs import MODELS, make_run\n"
        "for model in MODELS.values(): print(make_run(sys.argv[1], 'webgpu', model).step()['loss'])\n"
        "print(adapter.limit('max-storage-buffers-per-shader-stage'), adapter.limit('max-compute-workgroup-storage-size'))"
    )
    done = python(code, text)
    assert done.returncode == 0, done.stderr
    *losses, limits = done.stdout.splitlines()
    assert limits == "8 16384"
    assert [float(loss) for loss in losses] == pytest.approx(
        [make_run(text, "cpu", model).step()["loss"] for model in MODELS.values()], abs=1e-4
    )


@on_an_adapter
@pytest.mark.parametrize("preset", ["12m", "modern-12m"])
def test_12m_with_its_optimiser_fits_what_every_adapter_has(text, monkeypatch, preset):
    """A whole step in which nothing is computed: each array and each launch is measured against the least."""
    largest = []
    monkeypatch.setattr(memory, "limit", lambda name: largest.append(name) or DEFAULTS[name])
    for module in (launching, attention):
        monkeypatch.setattr(module, "limit", DEFAULTS.__getitem__)
    memory._free.clear()
    before = memory.made_bytes
    with launching.rehearsing(), launching.counting() as launches:
        run = make_run(text, "webgpu", vars(GPTConfig.preset(preset)), batch=8)
        run.step()
    assert run.model.parameter_count() > 12e6
    assert launches["adamw.wgsl adamw_step"] == len(run.optimiser.rest.parameters)
    assert len(run.optimiser.parameters + run.optimiser.rest.parameters) == len(list(run.model.parameters()))
    assert largest and memory.made_bytes - before < 2e9


@on_an_adapter
def test_what_is_rehearsed_is_counted_and_not_computed(table):
    x = table.full((3,), 1.0)
    with launching.rehearsing(), launching.counting() as launches:
        table.add(x, x, out=x)
    assert launches == {"arithmetic.wgsl binary": 1}
    np.testing.assert_array_equal(table.to_numpy(x), 1)


@pytest.mark.parametrize("D", [1, 10, 32, 64, 96, 128])
def test_attention_fits_the_workgroup_memory_that_every_adapter_has(D: int):
    rows, own = attention.tile_rows(D), attention.OWN
    forward, backward = (own + rows) * (D + 1) + 2 * own * rows, 2 * rows * (D + 1) + 2 * own * rows
    assert 4 * max(forward, backward) <= adapter.NEEDED["max-compute-workgroup-storage-size"]


# Errors


@on_an_adapter
def test_a_shader_that_does_not_compile_names_its_line(table, monkeypatch, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "two.wgsl").write_text("fn two() -> f32 {\n    return 2;\n}\n")
    (tmp_path / "include" / "bad.wgsl").write_text("fn bad() -> f32 {\n    return tow();\n}\n")
    head = '// A test.\n\n// include "two.wgsl"\nstruct Args {\n    n: u32,\n}\n'
    head += "@group(0) @binding(0) var<uniform> args: Args;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    body = "@compute @workgroup_size(1)\nfn run() {\n    y[0] = two() * f32(args.n) * %s;\n}\n"
    for name, text in (("good", head + body % "1"), ("typo", head + body % "tow()")):
        (tmp_path / f"{name}.wgsl").write_text(text)
    (tmp_path / "within.wgsl").write_text(head.replace('"two', '"bad') + body.replace("two", "bad") % "1")
    monkeypatch.setattr(source, "KERNELS", tmp_path)
    y = table.zeros((1,))
    launching.Kernel("good.wgsl", "run", (("T", "f32"),))(1, y=y, n=3)
    assert table.to_numpy(y) == 6
    with pytest.raises(RuntimeError, match=r"run of kernels/typo\.wgsl does not compile\. typo\.wgsl, line 11: .*tow"):
        launching.Kernel("typo.wgsl", "run", ())(1, y=y, n=3)
    with pytest.raises(RuntimeError, match=r"within\.wgsl does not compile\. bad\.wgsl, line 2: .*tow"):
        launching.Kernel("within.wgsl", "run", ())(1, y=y, n=3)


@on_an_adapter
def test_a_lost_gpu_says_so_and_how_to_go_on():
    code = (
        "import numpy as np; from course_lib.devices import ops; from course_lib.devices.webgpu import adapter\n"
        "t = ops('webgpu'); x = t.from_numpy(np.ones(9, np.float32)); adapter.device().destroy(); said = []\n"
        "for call in (lambda: t.to_numpy(x), lambda: t.add(x, x), lambda: t.gelu_forward(x), lambda: t.copy(x),\n"
        "             lambda: t.from_numpy(np.ones(9, np.float32)), t.synchronize):\n"
        "    try: call()\n"
        "    except RuntimeError as error: said.append(str(error))\n"
        "print(sum('was lost while' in text and '--resume' in text for text in said))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=KERNELS.parent)
    assert done.stdout.strip() == "6", done.stderr


@on_an_adapter
def test_no_memory_left_is_a_memory_error_with_a_way_out():
    import wgpu

    with pytest.raises(MemoryError, match=r"no memory left while making.*smaller batch.*--resume"):
        with adapter.explained("making an array"):
            raise wgpu.GPUOutOfMemoryError("Not enough memory left.")


# A run that cannot go on

TRAIN = """
import sys
from course_lib import cli, run, run_folder
from course_lib.devices.webgpu import adapter, memory
run_folder.RunFolder.save_due = lambda folder: True
step = run.Run.step

def failing(self):
    if self.done == 3:
        FAILS
    return step(self)

run.Run.step = failing
sys.argv[0] = "course"
cli.main()
"""
FAILURES = {
    "the GPU goes away": ("adapter.device().destroy()", "was lost while", "Start Python again"),
    "the memory is full": (
        "import unittest.mock, wgpu; memory._free.clear(); full = wgpu.GPUOutOfMemoryError('Not enough memory left.');"
        "memory.device = unittest.mock.Mock(**{'return_value.create_buffer.side_effect': full})",
        "has no memory left while making an array", "smaller batch",
    ),
}  # fmt: skip


@on_an_adapter
@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
def test_the_last_checkpoint_outlives_the_adapter(text, tmp_path, failure):
    """What was saved before is whole, and a run that goes on from it ends with the bits of one that was never stopped."""
    fails, *said = FAILURES[failure]
    words = ("train", "--device", "webgpu", "--preset", "micro", "--text", text, "--steps", "6", "--batch", "1")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    ended = python(TRAIN.replace("FAILS", fails), *words, "--out", str(broken))
    assert ended.returncode == 1 and "Traceback" not in ended.stderr, ended.stderr
    assert all(words in ended.stderr for words in (*said, "--resume"))
    assert checkpoint.load(broken / "last.safetensors").facts["step"] == 3
    for out, *more in ((broken, "--resume"), (whole,)):
        done = python(TRAIN.replace("FAILS", "pass"), *words, "--out", str(out), *more)
        assert done.returncode == 0, done.stderr
    ends = [checkpoint.load(out / "last.safetensors") for out in (broken, whole)]
    assert ends[0].facts["step"] == ends[1].facts["step"] == 6
    assert all(ends[0].weights[name].tobytes() == values.tobytes() for name, values in ends[1].weights.items())
