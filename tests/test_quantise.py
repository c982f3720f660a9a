"""Codes and scales: what they promise, against the weights themselves; a model of them against the same model in floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from web_page import CONFIGS, save, tokenizer

from course_lib import checkpoint, generation, run
from course_lib.cli import app
from course_lib.devices import ops, packing
from course_lib.model import GPT, GPTConfig
from course_lib.serving import quantised
from course_lib.serving.quantise import GROUP, Int4, from_arrays, quantise_int4, quantise_int8
from course_lib.tensor import no_grad

sizes = st.tuples(st.integers(1, 5), st.integers(1, 100))
KINDS = {
    "int8": quantise_int8,
    "int4": quantise_int4,
    "int4 with zero points": lambda weight, rule="mse": quantise_int4(weight, rule, symmetric=False),
}
of_each_kind = pytest.mark.parametrize("kind", KINDS)


def matrix(shape, seed=0):
    """Rows of very different sizes, as a model has them, and an outlier."""
    random = np.random.default_rng(seed)
    weight = random.normal(size=shape) * 10 ** random.uniform(-3, 1, (shape[0], 1))
    weight.flat[random.integers(weight.size)] *= 10
    return weight.astype(np.float32)


def groups_of(weight, kind):
    """Rows for int8, groups of 32 for int4, filled up with zeros: (R, 32 or K)."""
    if kind == "int8":
        return weight
    return np.pad(weight, ((0, 0), (0, -weight.shape[1] % GROUP))).reshape(-1, GROUP)


# Codes


@given(sizes, st.integers(0, 2**32 - 1))
def test_packing_keeps_every_code(shape, seed):
    random = np.random.default_rng(seed)
    four = random.integers(0, 16, (shape[0], GROUP * (1 + shape[1] // GROUP)), dtype=np.uint8)
    eight = random.integers(-128, 128, (shape[0], 4 * shape[1]), dtype=np.int8)
    np.testing.assert_array_equal(packing.unpack_int4(packing.pack_int4(four)), four)
    np.testing.assert_array_equal(packing.unpack_int8(packing.pack_int8(eight)), eight)


def test_a_byte_holds_an_even_code_below_an_odd_one():
    codes = np.full((1, 32), 8, np.uint8)
    codes[0, :4] = 1, 15, 0, 7
    packed = Int4(codes, np.ones((1, 1), np.float32)).arrays()["int4"]
    assert packed.shape == (1, 16) and packed[0, :3].tolist() == [0xF1, 0x70, 0x88]


@of_each_kind
@given(shape=sizes, seed=st.integers(0, 2**32 - 1))
def test_a_file_keeps_what_was_measured(kind, shape, seed):
    held = KINDS[kind](matrix(shape, seed))
    again = from_arrays(held.arrays(), shape[1])
    np.testing.assert_array_equal(again.rows(), held.rows())
    assert (again.words() == held.words()).all()


@of_each_kind
@pytest.mark.parametrize("shape", [(1, 1), (3, 31), (5, 33), (4, 130)])
def test_the_ops_multiply_by_what_rows_says(kind, shape):
    held, table = KINDS[kind](matrix(shape)), ops("reference")
    x = np.random.default_rng(1).normal(size=(2, shape[1]))
    scales = held.scales.astype(np.float64)
    if kind == "int8":
        y = table.linear_int8_forward(x, held.words(), scales, None)
    else:
        zeros = None if held.zeros is None else held.zeros.astype(np.float64)
        y = table.linear_int4_forward(x, held.words(), scales, zeros, None)
    np.testing.assert_allclose(y, x @ held.rows().astype(np.float64).T, rtol=1e-5, atol=1e-5 * np.abs(y).max())


# How near


@of_each_kind
@given(shape=sizes, seed=st.integers(0, 2**32 - 1))
def test_no_weight_moves_by_more_than_half_a_step(kind, shape, seed):
    """Of absmax, whose grid reaches every weight. A little more is allowed: the scale, and with it the grid's end, is rounded
    to float16 (below 6e-5 by as much as 2^-25), and a zero point to a code."""
    weight = matrix(shape, seed)
    held = KINDS[kind](weight, "absmax")
    step = np.abs(held.scales)[:, None] if kind == "int8" else np.repeat(np.abs(held.scales), GROUP, axis=1)
    moved = np.abs(held.rows() - weight)
    allowed = 1.001 if "zero" in kind else 0.57
    assert (moved <= allowed * step[:, : shape[1]] + 127 * 2.0**-25).all()


@of_each_kind
@given(shape=sizes, seed=st.integers(0, 2**32 - 1))
def test_the_search_is_never_worse(kind, shape, seed):
    weight = matrix(shape, seed)
    errors = [
        np.square(groups_of(KINDS[kind](weight, rule).rows() - weight, kind)).sum(axis=1) for rule in ("mse", "absmax")
    ]
    assert (errors[0] <= errors[1] * (1 + 1e-5)).all()


def test_the_search_pays_on_normal_weights():
    """The root mean square of the error, in standard deviations: 0.097 by absmax, 0.081 by mse."""
    weight = np.random.default_rng(0).normal(size=(64, 512)).astype(np.float32)
    absmax, mse = (np.sqrt(np.mean((quantise_int4(weight, rule).rows() - weight) ** 2)) for rule in ("absmax", "mse"))
    assert 0.094 < absmax < 0.100 and 0.078 < mse < 0.084


@of_each_kind
def test_zeros_stay_zeros(kind):
    weight = matrix((3, 70))
    weight[1] = 0
    weight[2, 32:64] = 0
    rows = KINDS[kind](weight).rows()
    assert not rows[1].any() and not (kind != "int8" and rows[2, 32:64].any())


def test_what_lies_on_a_grid_is_kept_exactly():
    codes = np.random.default_rng(0).integers(0, 16, (4, 64)).astype(np.float32)
    codes[:, ::32], codes[:, 1::32] = 0, 15
    np.testing.assert_array_equal(quantise_int4(0.25 * (codes - 8)).rows(), 0.25 * (codes - 8))
    np.testing.assert_array_equal(quantise_int4(0.25 * (codes - 3), symmetric=False).rows(), 0.25 * (codes - 3))


def test_an_outlier_ruins_its_group_and_no_other():
    weight = np.random.default_rng(0).normal(size=(1, 96)).astype(np.float32)
    before = quantise_int4(weight).rows()
    weight[0, 40] = 100
    after = quantise_int4(weight).rows()
    np.testing.assert_array_equal(np.delete(after, slice(32, 64), 1), np.delete(before, slice(32, 64), 1))
    assert np.square(np.delete(after - weight, 40, 1)[:, 32:63]).mean() > 0.5  # nothing is left of these weights


@pytest.mark.parametrize(
    ("weight", "rule", "sentence"),
    [
        (np.zeros(5), "mse", r"takes a matrix \(N, K\); it got the shape \(5,\)"),
        (np.full((2, 2), np.nan), "mse", "not finite, or beyond 65,504"),
        (np.full((2, 2), 1e6), "mse", "not finite, or beyond 65,504"),
        (np.zeros((2, 2)), "best", "The rule is 'best'; it must be one of absmax, mse"),
    ],
)
def test_what_cannot_be_quantised_is_refused(weight, rule, sentence):
    for quantise in KINDS.values():
        with pytest.raises(ValueError, match=sentence):
            quantise(weight, rule)


# Models


@pytest.fixture(scope="module", params=CONFIGS)
def trained(request, tmp_path_factory):
    return save(tmp_path_factory.mktemp("run"), GPTConfig(**CONFIGS[request.param]), tokenizer())


@pytest.mark.parametrize("to", quantised.FORMATS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_quantised_model_is_the_float_model_of_the_same_weights(trained, to, symmetric):
    """At once, by a cache, and in its loss."""
    model, _, _ = run.load(trained)
    held = quantised.weights(model.state(), to, symmetric=symmetric)
    small = quantised.QuantisedGPT(model.config, held)
    model.load_state({name: one if isinstance(one, np.ndarray) else one.rows() for name, one in held.items()})
    idx = np.random.default_rng(0).integers(0, 286, (2, 20))
    with no_grad():
        wanted, cache = model(idx).numpy(), small.new_cache()
        parts = [small(part, cache=cache).numpy() for part in np.split(idx, (9, 10, 11), axis=1)]
        for got in (small(idx).numpy(), np.concatenate(parts, axis=1)):
            np.testing.assert_allclose(got, wanted, atol=1e-4 * np.abs(wanted).max())
        loss = model.loss(idx[:, :-1], idx[:, 1:]).item()
        assert small.loss(idx[:, :-1], idx[:, 1:]).item() == pytest.approx(loss, rel=1e-4)
    assert not list(small.parameters())
    with pytest.raises(IndexError, match="300"):
        small(np.array([[300]]))


@pytest.fixture(scope="module")
def modern(tmp_path_factory):
    return save(tmp_path_factory.mktemp("run"), GPTConfig(**CONFIGS["modern"]), tokenizer())


@pytest.mark.parametrize("to", quantised.FORMATS)
def test_export_and_sample(modern, tmp_path, to):
    """The same text from the file as from the weights in memory; the folder is no run to train on, and is not written over."""
    out, runner = tmp_path / "small", CliRunner()
    said = runner.invoke(app, ["export", str(out), "--run", str(modern), "--quantise", to])
    assert said.exit_code == 0 and f"course sample --run {out}" in said.output
    model, tokens, _ = run.load(modern)
    small = quantised.QuantisedGPT(model.config, quantised.weights(model.state(), to))
    text = "the cat" + "".join(generation.generate(small, tokens, "the cat", 30, seed=3))
    said = runner.invoke(app, ["sample", "--run", str(out), "--prompt", "the cat", "--tokens", "30", "--temperature", "1",
                               "--seed", "3", "--device", "cpu"])  # fmt: skip
    assert said.stdout == text + "\n"
    with pytest.raises(
        checkpoint.CheckpointError, match=r"holds quantised weights.*give the run that they were made of"
    ):
        run.load(out)
    with pytest.raises(checkpoint.CheckpointError, match="holds something already"):
        quantised.make_run(modern, out, to)
    assert quantised.load(modern)[0].parameter_count() == model.parameter_count()  # a plain run is loaded as before


def test_options_that_contradict_each_other_are_refused(modern, tmp_path):
    for options, sentence in (
        (("--quantise", "int4", "--dtype", "float16"), "give --dtype or --quantise, and not both"),
        (("--to", "run"), "give --quantise int8 or int4"),
        (("--quantise", "int3"), "quantised to int8 or int4, and not to 'int3'"),
    ):
        said = CliRunner().invoke(app, ["export", str(tmp_path / "out"), "--run", str(modern), *options])
        assert isinstance(said.exception, ValueError) and sentence in str(said.exception)
    assert not (tmp_path / "out").exists()


def test_a_file_of_another_shape_is_refused(modern, tmp_path):
    model, _, facts = run.load(modern)
    held = quantised.weights(model.state(), "int4")
    quantised.save(tmp_path / "last.safetensors", held, facts | {"config": facts["config"] | {"hidden": 70}})
    with pytest.raises(checkpoint.CheckpointError, match=r"mlp.down.weight in .* do not fit the model"):
        quantised.load(tmp_path)


def test_the_size_of_12m():
    """4.62 bits for each weight, the embedding among them; 7.1 MB. The rule changes no size."""
    held = quantised.weights(GPT(GPTConfig.preset("12m")).state(), "int4", rule="absmax")
    assert 4.6 < quantised.bits_per_weight(held) <= 4.9
    assert sum(array.nbytes for array in quantised.arrays(held).values()) < 7.2e6
