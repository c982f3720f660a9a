"""The device `webgpu`: what stands under its ops. tests/test_ops.py looks at the ops themselves."""

from __future__ import annotations

import gc
import re
from typing import ClassVar

import numpy as np
import pytest

from course_lib import devices, progress
from course_lib.cuda.source import KERNELS
from course_lib.devices import replacing
from course_lib.devices.webgpu import adapter, commands, launching, memory
from course_lib.generation import generate
from course_lib.model import GPT
from course_lib.training import train
from tests.tiny_runs import MODELS, TINY, make_run
from tests.webgpu_here import on_an_adapter


@pytest.fixture
def table():
    return devices.ops("webgpu")


# Training


@on_an_adapter
@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_ten_steps_give_the_losses_of_the_cpu(text, name: str):
    runs = [make_run(text, device, MODELS[name]) for device in ("webgpu", "cpu")]
    for _ in range(10):
        ours, cpu = (run.step() for run in runs)
        assert abs(ours["loss"] - cpu["loss"]) < 1e-4
        assert ours["grad_norm"] == pytest.approx(cpu["grad_norm"], rel=1e-3)
    assert runs[0].validate() == pytest.approx(runs[1].validate(), abs=1e-4)


@on_an_adapter
def test_a_training_step_makes_nothing_new_after_the_first(text, monkeypatch):
    run = make_run(text, "webgpu", TINY)
    run.step()
    run.step()
    kept = memory.made, len(launching._uniforms), len(launching._bindings)
    monkeypatch.setattr(launching.Kernel, "pipeline_for", lambda *_: pytest.fail("a kernel was compiled again"))
    for _ in range(3):
        run.step()
    assert (memory.made, len(launching._uniforms), len(launching._bindings)) == kept


@on_an_adapter
@pytest.mark.slow
def test_course_train_knows_webgpu(text, tmp_path):
    said = []
    display = progress.Quiet()
    display.say = said.append
    options = {"device": "webgpu", "out": tmp_path / "run", "display": display}
    trained = train("micro", text=text, model=TINY, steps=20, **options)
    losses = [record["loss"] for record in trained.records]
    assert trained.model.device == "webgpu" and "device: webgpu (as asked)" in said
    assert len(losses) == 20 and losses[-1] < losses[0] - 1
    assert trained.records[-1]["val_loss"] < losses[0] - 1
    assert train(resume=True, **options).step == 20


@on_an_adapter
@pytest.mark.slow
def test_the_likeliest_tokens_are_those_of_the_cpu_and_a_token_waits_once(text, monkeypatch):
    run = make_run(text, "webgpu", TINY)
    for _ in range(10):
        run.step()
    copy, waits, read_back = GPT(run.model.config, device="cpu"), [], commands.read_back
    copy.load_state(run.model.state())
    monkeypatch.setattr(commands, "read_back", lambda array: waits.append(array.shape) or read_back(array))
    tokenizer = run.corpus.tokenizer
    written = ["".join(generate(model, tokenizer, "the cat", 12, 0.0, None, None, 0)) for model in (run.model, copy)]
    assert written[0] == written[1] and len(waits) == 12


# Launches


@on_an_adapter
def test_many_launches_are_handed_in_together(table, monkeypatch):
    x = table.full((100,), 1.0)
    table.synchronize()
    submitted = []
    flush = commands.flush
    monkeypatch.setattr(commands, "flush", lambda: submitted.append(commands._pending) or flush())
    for _ in range(commands.TOGETHER + 10):
        table.add(x, x, out=table.empty((100,)))
    assert submitted == [commands.TOGETHER]
    table.synchronize()
    assert submitted[1:] == [10]
    with commands.held_back():
        for _ in range(commands.TOGETHER + 10):
            table.add(x, x, out=table.empty((100,)))
    assert submitted[2:] == [] and commands.finished() is not None and commands.finished() is None


@on_an_adapter
def test_what_a_launch_reads_may_lie_in_the_memory_that_it_writes(table):
    """WebGPU refuses a buffer on both sides of a launch; two parts of one buffer are one buffer."""
    values = np.arange(256, dtype=np.float32)
    whole = table.from_numpy(values)
    lower, upper = table.view(whole, (128,)), table.view(whole, (128,), 128)
    assert lower.memory is upper.memory is whole.memory
    table.add(lower, upper, out=upper)
    np.testing.assert_array_equal(table.to_numpy(whole), [*values[:128], *(values[:128] + values[128:])])


@on_an_adapter
def test_a_view_that_the_adapter_cannot_bind_is_a_copy_with_the_right_elements(table):
    x = table.from_numpy(np.arange(1000, dtype=np.int32))
    for offset in (0, 1, 63, 64, 65, 993):
        np.testing.assert_array_equal(table.to_numpy(table.view(x, (7,), offset)), np.arange(offset, offset + 7))


@on_an_adapter
def test_a_launch_wider_than_a_dimension_is_folded(table, monkeypatch):
    monkeypatch.setattr(launching, "limit", lambda name: 3)
    assert launching._grid(2) == (2,) and launching._grid(47) == (3, 16)
    x = np.random.default_rng(0).normal(size=(40, 300)).astype(np.float32)  # 47 groups in rows of 3
    there = table.from_numpy(x)
    np.testing.assert_array_equal(table.to_numpy(table.add(there, 1)), x + 1)
    np.testing.assert_allclose(table.to_numpy(table.sum(there, axis=1)), x.sum(axis=1), atol=1e-4)
    np.testing.assert_allclose(table.to_numpy(table.softmax_forward(there)).sum(axis=1), np.ones(40), atol=1e-5)
    with pytest.raises(ValueError, match="max-compute-workgroups-per-dimension"):
        table.matmul(table.zeros((1, 1)), table.zeros((1, 300)))


# Memory


@on_an_adapter
def test_memory_that_nobody_uses_is_handed_out_again(table):
    first = table.zeros((1_234_500,))
    buffer, made = first.memory.buffer, memory.made
    view = table.view(first, (5, 246_900))
    del first
    assert table.empty((1_234_500,)).memory.buffer is not buffer, "a view still uses it"
    del view
    made = memory.made
    again = table.empty((1_234_000,))
    assert again.memory.buffer is buffer and memory.made == made


@on_an_adapter
def test_memory_that_a_cycle_of_garbage_held_can_be_used_again(table):
    """An exception and its frames are such a cycle: what is found in one is finalised in any order, buffers too."""
    buffer = id((x := table.from_numpy(np.ones(321_123, np.float32))).memory.buffer)
    cycle: list = [x]
    cycle.append(cycle)
    del x, cycle
    gc.collect()
    again = table.empty((321_123,))
    assert id(again.memory.buffer) == buffer
    np.testing.assert_array_equal(table.to_numpy(table.add(again, 1, out=again)), 2)


@on_an_adapter
def test_what_the_pool_keeps_is_given_up_before_memory_is_called_short(table, monkeypatch):
    import wgpu

    for size in (5_555_555, 6_666_666):  # what another test left in the pool would be taken, and nobody asked for more
        memory._free.pop(memory.size_class(4 * size), None)
    table.zeros((777_777,))  # gone at once, but for the pool and for what was bound together
    kept = [buffer for free in memory._free.values() for _, buffer in free]
    assert kept and launching._bindings
    asked = []

    class Full:
        def __init__(self, times: int):
            self.times = times

        def create_buffer(self, **options):
            asked.append((len(memory._free), len(launching._bindings)))
            if len(asked) <= self.times:
                raise wgpu.GPUOutOfMemoryError("Not enough memory left.")
            return adapter.device().create_buffer(**options)

    monkeypatch.setattr(memory, "device", lambda: Full(1))
    table.empty((5_555_555,))
    assert asked[0] > (0, 0) and asked[1] == (0, 0)
    monkeypatch.setattr(memory, "device", lambda: Full(99))
    with pytest.raises(MemoryError, match="no memory left"):
        table.empty((6_666_666,))
    monkeypatch.undo()
    np.testing.assert_array_equal(table.to_numpy(table.strided_copy(table.full((9,), 7), (3,), (1,))), 7)


@pytest.mark.parametrize("size", [1, 256, 257, 1000, 4096, 4097, 1_000_003, 2**27])
def test_a_size_class_wastes_less_than_a_quarter(size: int):
    given = memory.size_class(size)
    assert size <= given <= max(256, 1.25 * size) and given % 4 == 0
    assert memory.size_class(given) == given


@on_an_adapter
def test_an_upload_does_not_reach_launches_that_came_before_it(table):
    """The memory of an array that is gone is used again while a launch that reads it is only written down."""
    x = table.from_numpy(np.full(100, 1, np.float32))
    buffer = x.memory.buffer
    y = table.add(x, x)
    del x
    other = table.from_numpy(np.full(100, 7, np.float32))
    assert other.memory.buffer is buffer
    np.testing.assert_array_equal(table.to_numpy(y), 2)


@on_an_adapter
def test_indices_from_the_host_are_checked_without_a_look_at_the_gpu(table, monkeypatch):
    x = table.zeros((5, 2))
    indices = table.from_numpy(np.array([0, 4]))
    with monkeypatch.context() as patch:
        patch.setattr(commands, "read_back", lambda array: pytest.fail("the indices were read back"))
        table.gather(x, indices)
        table.gather(x, table.strided_copy(indices, (2, 2), (0, 1)))
    table.strided_write(indices, table.from_numpy(np.array([9])), (1,))
    with pytest.raises(IndexError, match="9"):
        table.gather(x, indices)


@on_an_adapter
def test_numbers_that_do_not_fit_are_refused(table):
    with pytest.raises(ValueError, match="32 bits"):
        table.from_numpy(np.array([2**31]))
    with pytest.raises(ValueError, match="32 bits"):
        table.from_numpy(np.array([-(2**31) - 1]))
    ends = np.array([-(2**31), 2**31 - 1])
    np.testing.assert_array_equal(table.to_numpy(table.from_numpy(ends)), ends)
    with pytest.raises(ValueError, match="float64"):
        table.zeros((2,), "float64")


@on_an_adapter
def test_a_token_asks_the_gpu_for_no_length(table, monkeypatch):
    """The length of a cache came from the host: each layer of each token would wait for the GPU to say it again."""
    monkeypatch.setattr(commands, "read_back", lambda array: pytest.fail("the length was read back"))
    new, cache = table.full((1, 1, 2, 8), 1.0), [table.zeros((1, 5, 2, 8)) for _ in range(2)]
    length = table.from_numpy(np.array([3], np.int32))
    table.cache_append(new, new, *cache, length)
    y = table.cache_attention(new, *cache, length)
    monkeypatch.undo()
    assert table.to_numpy(cache[0])[0, :, 0, 0].tolist() == [0, 0, 0, 1, 0] and table.to_numpy(y).shape == (1, 1, 2, 8)
    table.strided_write(length, table.from_numpy(np.array([7], np.int32)), (1,))
    assert table.to_numpy(length) == 7
    assert (
        table.to_numpy(table.cast(table.from_numpy(np.array([-1, -1], np.int32)), np.uint32)).tolist()
        == [2**32 - 1] * 2
    )


# A file in the place of ours


TWICE = """// include "group.wgsl"
struct Count {
    n: u32,
}
@group(0) @binding(7) var<uniform> count: Count;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<storage, read> x: array<f32>;

@compute @workgroup_size(THREADS)
fn gelu_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < count.n) {
        y[i] = 2.0 * x[i];
    }
}
"""


def keeping(told: list):
    """Keeps what is told of each launch, without its seconds: an error, or None."""
    return lambda error, seconds: told.append(error)


@pytest.fixture
def in_its_place(tmp_path):
    """Puts a text in the place of gelu_forward; gives what was told of its launches."""
    undo = []

    def put(text: str) -> list:
        told: list = []
        (tmp_path / "mine.wgsl").write_text(text)
        undo.append(replacing.replace("gelu.wgsl", "gelu_forward", tmp_path / "mine.wgsl", keeping(told)))
        return told

    yield put
    for one in undo:
        one()


@on_an_adapter
def test_a_file_of_the_learner_runs_in_the_place_of_ours(table, in_its_place):
    x = table.from_numpy(np.array([1, -3], np.float32))
    ours = table.to_numpy(table.gelu_forward(x))
    told = in_its_place(TWICE)  # other bindings, the same names
    assert replacing.replaced("gelu.wgsl", "gelu_backward", "gelu_forward")
    with launching.counting() as launches:
        np.testing.assert_array_equal(table.to_numpy(table.gelu_forward(x)), [2, -6])
        table.gelu_backward(x, x)
    assert told == [None] and launches == {f"{replacing._replaced['gelu.wgsl', 'gelu_forward'][0]} gelu_forward": 1,
                                           "gelu.wgsl gelu_backward": 1}  # fmt: skip
    told = in_its_place(
        TWICE.replace("2.0 * x[i]", "7.0")
    )  # a file of the same name that was written anew; x is not used
    np.testing.assert_array_equal(table.to_numpy(table.gelu_forward(x)), [7, 7])
    replacing.replace("gelu.wgsl", "gelu_forward", "away.wgsl", keeping(told))()
    assert not replacing.replaced("gelu.wgsl", "gelu_forward")
    np.testing.assert_array_equal(table.to_numpy(table.gelu_forward(x)), ours)


@on_an_adapter
@pytest.mark.parametrize("part", ["cross_entropy_forward", "cross_entropy_backward"])
def test_the_slope_of_the_loss_is_written_over_the_logits_unless_a_part_is_theirs(table, tmp_path, part):
    random = np.random.default_rng(0)
    x, weight = (table.from_numpy(random.normal(size=(n, 8)).astype(np.float32)) for n in (5, 300))
    targets = table.from_numpy(np.array([0, 299, -1, 7, 299], np.int32))
    with launching.counting() as launches:
        ours = table.linear_cross_entropy(x, weight, None, targets)
    assert (
        launches["cross_entropy.wgsl cross_entropy_fused"] == 1
        and not launches["cross_entropy.wgsl cross_entropy_forward"]
    )
    file = "cross_entropy_backward.wgsl" if part == "cross_entropy_backward" else "cross_entropy.wgsl"
    path, told = tmp_path / "mine.wgsl", []
    path.write_text((KERNELS / file).read_text(encoding="utf-8"))
    undo = replacing.replace(file, part, path, keeping(told))
    theirs = table.linear_cross_entropy(x, weight, None, targets)
    undo()
    assert told == [None]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(table.to_numpy(one), table.to_numpy(other), atol=1e-6)


@on_an_adapter
@pytest.mark.parametrize("old, new, error, said", [
    ("2.0 * x[i];", "2.0 * x[i]", launching.ShaderError, r"gelu_forward of mine\.wgsl does not compile\. mine\.wgsl, line 1[45]"),
    ("= 2.0", "= tow", launching.ShaderError, r"mine\.wgsl, line 14: .*tow"),
    (" x:", " z:", ValueError, r"mine\.wgsl is given the array x, but .* of that name; it declares y, z\."),
    ("    n: u32,", "    n: u32,\n    m: u32,", ValueError, r"given the numbers n, but .* just these fields; it has \(n, m\)"),
    ("fn gelu_forward", "fn forward", RuntimeError, "gelu_forward"),
])  # fmt: skip
def test_where_the_learners_file_fails_ours_runs_and_the_reason_is_told(table, in_its_place, old, new, error, said):
    x = table.from_numpy(np.array([1, -3], np.float32))
    ours = table.to_numpy(table.gelu_forward(x))
    told = in_its_place(TWICE.replace(old, new))
    for _ in range(2):
        np.testing.assert_array_equal(table.to_numpy(table.gelu_forward(x)), ours)
    assert len(told) == 1 and type(told[0]) is error and re.search(said, str(told[0])), told


# Which GPU it is


def test_a_machine_without_the_package_is_told_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(adapter.importlib.util, "find_spec", lambda name: None)
    assert "wgpu is not installed" in adapter.problem.__wrapped__() and ".[webgpu]" in adapter.problem.__wrapped__()
    monkeypatch.setattr(adapter.sys, "platform", "linux")
    monkeypatch.setattr(adapter, "DRM", tmp_path)
    for number, driver in enumerate(["vgem", "amdgpu"]):
        assert adapter.problem_as_gpu() == "No other GPU shows itself."
        (tmp_path / "drivers" / driver).mkdir(parents=True)
        (tmp_path / f"renderD{128 + number}/device").mkdir(parents=True)
        (tmp_path / f"renderD{128 + number}/device/driver").symlink_to(tmp_path / "drivers" / driver)
    assert adapter.graphics_driver() == "amdgpu" and "the GPU here" in adapter.problem_as_gpu()
    (tmp_path / "renderD129/device/driver").unlink()
    assert not adapter.graphics_driver()
    monkeypatch.setattr(adapter.sys, "platform", "darwin")
    assert "pip install -e '.[webgpu]'" in adapter.problem_as_gpu()


@on_an_adapter
def test_an_adapter_in_software_is_called_so(monkeypatch):
    kind = adapter._adapter().info["adapter_type"]
    assert adapter.in_software() == (kind == "CPU") == ("software" in adapter.adapter_name())

    class Software:
        info: ClassVar = adapter._adapter().info | {"device": "Test pipe"}

    for kind, said in (("CPU", "WebGPU finds no GPU, only Test pipe"), ("IntegratedGPU", "")):
        Software.info["adapter_type"] = kind
        with monkeypatch.context() as patch:
            patch.setattr(adapter, "_adapter", Software)
            why = adapter.problem_as_gpu()
        assert why.startswith(said) and bool(why) == bool(said)


# The kernels


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.wgsl")), ids=lambda path: path.name)
def test_a_kernel_names_its_twin(path):
    header = re.match(r"(?://.*\n)+", path.read_text(encoding="utf-8"))[0]
    twins = re.findall(r"(\w+\.cu)\b", header)
    assert twins and all((KERNELS / twin).exists() for twin in twins)
    assert not re.search(
        r"\batomic", path.read_text(encoding="utf-8").replace("no atomics", "").replace("No atomics", "")
    )
