"""Training with every operation on our own kernels: the same losses as the other devices, each kernel really launched."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from course_lib import checkpoint, data, devices, no_grad, nvidia, progress, recipes
from course_lib.cuda.source import KERNELS
from course_lib.devices import replacing
from course_lib.devices.gpu import guarded, launching
from course_lib.devices.gpu.capture import CapturedStep
from course_lib.model import GPT, GPTConfig
from course_lib.run import Run
from course_lib.training import train
from tests.test_capture import StandInStream
from tests.tiny_runs import MODELS, TINY, make_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("simulator" not in devices.available_devices(), reason="the simulator needs a C++ compiler"),
]


@pytest.mark.parametrize("name", MODELS)
def test_ten_steps_give_the_losses_of_the_other_devices(text, name):
    runs = {device: make_run(text, device, MODELS[name]) for device in ("simulator", "cpu", "reference")}
    for _ in range(10):
        records = {device: run.step() for device, run in runs.items()}
        for device in ("cpu", "reference"):
            assert abs(records["simulator"]["loss"] - records[device]["loss"]) < 1e-4, device
            assert records["simulator"]["grad_norm"] == pytest.approx(records[device]["grad_norm"], rel=1e-3)
    assert runs["simulator"].validate() == pytest.approx(runs["cpu"].validate(), abs=1e-4)


@pytest.mark.slow
def test_ten_steps_of_micro_give_the_losses_of_the_other_devices():
    settings = recipes.settings("micro", stories=500)
    config = GPTConfig.preset("micro")
    corpus = data.prepare("stories", None, config.vocab_size, config.context, settings.seed, settings.stories)
    devices_ = ("simulator", "cpu", "reference")
    runs = [Run(settings, corpus, GPT(config, device=device, seed=0)) for device in devices_]
    for _ in range(10):
        ours, *others = (run.step()["loss"] for run in runs)
        assert [abs(ours - other) < 1e-4 for other in others] == [True, True]


def test_every_op_of_a_step_runs_on_kernels_of_ours(text):
    """Whatever op a step calls, it launches at least one kernel, unless it only makes, views or moves arrays."""
    run = make_run(text, "simulator", MODELS["dropout"])
    without = {"empty", "view", "from_numpy", "to_numpy", "synchronize"}
    called: dict[str, int] = {}
    table = devices.ops("simulator")
    covers = []

    def watched(name, op):
        def call(*inputs, **options):
            with launching.counting() as launches:
                result = op(*inputs, **options)
            called[name] = min(called.get(name, 1 << 30), launches.total())
            return result

        return call

    for name, op in list(vars(table).items()):
        if callable(op):
            covers.append(devices.overlay(name, watched(name, op), "simulator"))
    try:
        with launching.counting() as launches:
            run.step()
    finally:
        for cover in reversed(covers):
            cover.remove()
    assert {
        "linear_forward",
        "linear_gelu_forward",
        "attention_backward",
        "linear_cross_entropy",
        "adamw_step",
    } <= called.keys()
    assert [name for name, count in called.items() if not count and name not in without] == []
    assert {name.split()[0] for name in launches} >= {
        "gemm.cu", "flash_attention_forward.cu", "flash_attention_backward.cu", "layernorm.cu", "residual_layernorm.cu",
        "bias_gelu.cu", "rope.cu", "embedding.cu", "cross_entropy.cu", "global_norm.cu", "adamw.cu", "dropout.cu",
    }  # fmt: skip
    assert launches["gemm.cu gemm_gelu"] == run.model.config.layers, "GELU is an epilogue"
    assert launches["cross_entropy.cu cross_entropy_fused"] == 1, "loss and gradient in one pass"


def test_a_loss_that_nobody_learns_from_is_found_by_the_epilogue_of_the_head(text):
    run = make_run(text, "simulator", TINY)
    with launching.counting() as launches:
        run.validate()
    batches = -(-len(run.validation.idx) // 16)
    assert launches["gemm.cu gemm_logsumexp"] == launches["cross_entropy.cu cross_entropy_losses"] == batches
    assert (
        not launches["cross_entropy.cu cross_entropy_forward"] and not launches["cross_entropy.cu cross_entropy_fused"]
    )


@pytest.mark.parametrize(
    ("file", "name"),
    [("bias_gelu.cu", "bias_gelu_forward"), ("bias_gelu.cu", "bias_gelu_backward"),
     ("cross_entropy.cu", "cross_entropy_forward"), ("cross_entropy_backward.cu", "cross_entropy_backward"),
     ("cross_entropy.cu", "cross_entropy_fused"), ("gemm.cu", "gemm_gelu")],
)  # fmt: skip
def test_a_kernel_of_a_learner_runs_in_training_though_ours_does_without(text, tmp_path, file, name):
    """Whichever of several kernels that do the same thing is replaced: it is the one that is launched."""
    theirs, told = tmp_path / file, []
    theirs.write_text((KERNELS / file).read_text() + "// theirs")
    plain = make_run(text, "simulator", TINY).step()
    undo = replacing.replace(file, name, theirs, lambda error, seconds: told.append(error))
    try:
        assert make_run(text, "simulator", TINY).step()["loss"] == pytest.approx(plain["loss"], abs=1e-6)
    finally:
        undo()
    assert told and not any(told)


def test_generation_appends_to_its_cache_and_copies_nothing(text):
    run = make_run(text, "simulator", MODELS["modern"])
    model, layers = run.model.eval(), run.model.config.layers
    cache = model.new_cache()
    with no_grad():
        model(np.array([[1, 2, 3]]), cache=cache)
        buffers = [launching.address(tensor.storage.array) for layer in cache for tensor in layer]
        with launching.counting() as launches:
            model(np.array([[4]]), cache=cache)
    assert launches["decode.cu cache_append"] == launches["decode.cu decode_attention"] == layers
    assert buffers == [launching.address(tensor.storage.array) for layer in cache for tensor in layer]


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize(
    ("name", "compute"), [("micro, smaller", "float32"), ("modern", "float32"), ("dropout", "float32"),
                          ("learned positions", "bfloat16"), ("modern", "bfloat16")],
)  # fmt: skip
def test_a_captured_step_trains_as_a_step_launched_one_by_one(text, monkeypatch, name, compute, accumulate):
    """The whole step, forward, backward and optimiser, as a graph; the stand-in's arrays lie in the arena."""
    plain = make_run(text, "simulator", MODELS[name], accumulate=accumulate, compute=compute)
    captured = make_run(text, "simulator", MODELS[name], accumulate=accumulate, compute=compute)
    stream = StandInStream(monkeypatch)
    captured.captured = CapturedStep(captured._device_step, guarded, stream)
    for number in range(8):
        ours, theirs = captured.step(), plain.step()
        if accumulate == 1:
            assert ours == theirs, f"step {number}"
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-5)
        assert ours["grad_norm"] == pytest.approx(theirs["grad_norm"], rel=1e-4)
    assert captured.captured.captured == len(stream.graphs) == 1, "captured once, then replayed"
    (plan,) = captured.captured.plans
    assert plan.least <= plan.bytes < 1.25 * plan.least and plan.bytes < plan.apart
    for one, other in zip(captured.model.parameters(), plain.model.parameters(), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-6)


def test_a_captured_step_counts_targets_as_a_step_launched_one_by_one_does(text, monkeypatch):
    plain, captured = (make_run(text, "simulator", MODELS["modern"], accumulate=2) for _ in range(2))
    captured.captured = CapturedStep(captured._device_step, guarded, StandInStream(monkeypatch))
    for run in (plain, captured):

        def weighed(step, size, done, train=run.corpus.train):
            idx, targets = train.batch(step, size)
            return idx, targets, (1 + targets % 3 * (1 - done)).astype(np.float32)

        run.lookups = SimpleNamespace(batch=weighed)
    for _ in range(6):
        ours, theirs = captured.step(), plain.step()
        assert ours["grad_norm"] == pytest.approx(theirs["grad_norm"], rel=1e-4)
    for one, other in zip(captured.model.parameters(), plain.model.parameters(), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-6)


def test_two_runs_on_the_simulator_give_the_same_bits(text):
    weights = []
    for _ in range(2):
        run = make_run(text, "simulator", MODELS["modern"])
        for _ in range(3):
            run.step()
        weights.append(run.model.state())
    assert all(weights[0][name].tobytes() == weights[1][name].tobytes() for name in weights[0])


def test_course_train_knows_the_simulator(text, tmp_path):
    trained = train("micro", device="simulator", text=text, steps=3, model=TINY, out=tmp_path / "run",
                    display=progress.Quiet())  # fmt: skip
    assert trained.model.device == "simulator" and trained.step == 3
    resumed = train(out=tmp_path / "run", device="simulator", resume=True, display=progress.Quiet())
    assert resumed.step == 3


def test_a_run_on_the_simulator_has_fewer_steps():
    assert recipes.settings("micro", "simulator").steps < recipes.settings("micro").steps
    assert recipes.settings("micro", "simulator", steps=7).steps == 7


@pytest.mark.parametrize("name", ["micro, smaller", "modern"])
def test_bfloat16_products_train_almost_as_float32(text, name):
    """Master weights are float32: what is rounded is what a product reads. bfloat16 keeps 8 bits of a number."""
    runs = {kind: make_run(text, "simulator", MODELS[name], compute=kind) for kind in ("float32", "bfloat16")}
    for _ in range(10):
        with launching.counting() as launches:
            exact, rounded = (run.step()["loss"] for run in runs.values())
        assert exact != rounded and abs(exact - rounded) < 0.01
    counts = {name: launches[f"gemm_bf16.cu gemm_bf16_{name}"] for name in ("bias", "gelu")}
    assert counts == {name: launches[f"gemm.cu gemm_{name}"] for name in counts}
    assert counts == ({"bias": 7, "gelu": 2} if name == "micro, smaller" else {"bias": 9, "gelu": 0})
    assert {p.dtype.name for p in runs["bfloat16"].model.parameters()} == {"float32"}
    assert rounded < 5.5, "it has learned something"
    assert abs(runs["float32"].validate() - runs["bfloat16"].validate()) < 0.01


@pytest.mark.parametrize("recipe", ["reference", "best"])
@pytest.mark.parametrize("name", ["micro, smaller", "modern"])
def test_what_is_rounded_once_spares_roundings_and_changes_no_bit(text, name, recipe):
    """AdamW writes the copy of a weight with its master, and a backward pass finds the inputs of its forward rounded. Muon
    writes no copies: its matrices are rounded when they are used."""
    kept, plain = (make_run(text, "simulator", MODELS[name], compute="bfloat16", recipe=recipe) for _ in range(2))
    plain.copies = None
    for number in range(4):
        roundings = []
        for run in (kept, plain):
            with launching.counting() as launches:
                run.step()
            roundings.append(launches["cast.cu cast"] + launches["cast.cu cast_packs"])
        if number:  # each weight twice; in the backward the input of each, and q, k, v, y of attention
            layers = kept.model.config.layers
            weights = 4 * layers + 1
            copied = weights if recipe == "reference" else 1
            assert roundings[1] - roundings[0] == 2 * copied + weights + 4 * layers
        assert not kept.copies._inputs, "all that was kept was used"
    assert kept.validate() == plain.validate() and not kept.copies._inputs
    for one, other in zip(kept.model.parameters(), plain.model.parameters(), strict=True):
        assert one.numpy().tobytes() == other.numpy().tobytes()
        copy = kept.copies.made(one.storage.array)
        assert copy is None or copy.tobytes() == one.numpy().astype(ml_dtypes.bfloat16).tobytes()


def test_a_run_in_bfloat16_goes_on_to_the_same_bits(text, tmp_path):
    """The copies are no state: a run that is resumed makes them anew from the masters."""
    whole, first, second = (make_run(text, "simulator", TINY, compute="bfloat16", recipe="reference") for _ in range(3))
    losses = [whole.step()["loss"] for _ in range(4)]
    second.step()  # it has copies of its own weights by now, which must go
    for _ in range(2):
        first.step()
    first.save(tmp_path / "half.safetensors")
    second.restore(checkpoint.load(tmp_path / "half.safetensors"))
    assert [second.step()["loss"] for _ in range(2)] == losses[2:]
    kept = [[run.copies.made(p.storage.array) is not None for p in run.model.parameters()] for run in (whole, second)]
    assert kept[0] == kept[1] and sum(kept[0]) == 4 * whole.model.config.layers + 1


def test_bfloat16_is_for_kernels_and_cards_that_have_it(monkeypatch):
    with pytest.raises(ValueError, match="webgpu computes in float32"):
        recipes.settings("micro", "webgpu", compute="bfloat16")
    with pytest.raises(ValueError, match="float32, bfloat16"):
        recipes.settings("micro", "simulator", compute="float16")
    assert recipes.settings("12m", "webgpu").compute == recipes.settings("12m", "simulator").compute == "float32"
    for capability, wanted in (((7, 5), "float32"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")):
        monkeypatch.setattr(nvidia, "gpu", lambda c=capability: nvidia.Gpu("Test card", c, (13, 0)))
        assert recipes.settings("12m", "cuda").compute == wanted
        assert recipes.settings("12m", "cuda", compute="float32").compute == "float32"
    monkeypatch.setattr(nvidia, "gpu", lambda: nvidia.Gpu("Test 2080", (7, 5), (13, 0)))
    with pytest.raises(ValueError, match=r"Test 2080 computes in float32 .* 8\.0"):
        recipes.settings("12m", "cuda", compute="bfloat16")
