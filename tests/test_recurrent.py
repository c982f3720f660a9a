"""Blocks with a linear recurrence: gradients, a cache of one size, presets, texts beyond the context, runs that go on."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import Tensor, functional, gradcheck, no_grad, plots, progress, recurrent
from course_lib.devices.agreement import NAMES, inputs
from course_lib.generation import generate
from course_lib.model import GPT, GPTConfig
from course_lib.tokenizer import Tokenizer
from course_lib.training import train
from tests.tiny_runs import StopAt

pytestmark = pytest.mark.slow

TINY = {"layers": 4, "heads": 2, "channels": 16, "context": 32, "vocab_size": 300, "positions": "none"}
MIXERS = "linear", "delta", "delta delta delta attention", "state_space", "state_space attention"


def model(mixers: str, **changes) -> GPT:
    return GPT(GPTConfig(**{**TINY, "mixers": mixers, **changes}), dtype="float64")


def tokens(B: int, T: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 300, (B, T))


# The functions and the layer


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("carried", [True, False])
def test_gradients_of_output_and_state_agree_with_finite_differences(name, carried):
    given = inputs(name, H=1, T=5, D=3, E=2, carried=carried)
    gradcheck(getattr(functional, name), [x for x in given if x is not None], device="cpu", tolerance=1e-5)


def test_the_gradient_of_the_state_alone_is_enough():
    q, k, v, g, state = (Tensor(x, requires_grad=True) for x in inputs("gated_linear_attention"))
    _, last = functional.gated_linear_attention(q, k, v, g, state)
    last.sum().backward()
    assert not q.grad.numpy().any() and state.grad.numpy().any() and k.grad.numpy().any()


def test_the_layer_s_gradients_agree_with_finite_differences():
    layer = recurrent.Recurrent("delta", GPTConfig(**TINY), 0.02, rng=np.random.default_rng(0), dtype="float64")

    def run(x, taps):
        layer.taps = taps
        return layer(x, None, None)

    random = np.random.default_rng(0)
    gradcheck(run, [random.normal(size=(1, 4, 16)), random.normal(size=(4, 1, 48))], device="cpu", tolerance=1e-4)


def test_the_convolution_is_numpys_and_sees_no_later_row():
    random = np.random.default_rng(0)
    x, taps = random.normal(size=(2, 9, 3)), random.normal(size=(4, 1, 3))
    y, rows = recurrent.convolved(Tensor(x, "float64"), Tensor(taps, "float64"), None)
    for b in range(2):
        for c in range(3):
            want = np.convolve(x[b, :, c], taps[::-1, 0, c])[:9]  # the last tap is of the step itself
            np.testing.assert_allclose(y.numpy()[b, :, c], want, atol=1e-12)
    np.testing.assert_array_equal(rows.numpy(), x[:, -3:])


def test_softplus_does_not_overflow():
    x = np.array([-800.0, -1.0, 0.0, 1.0, 800.0])
    np.testing.assert_allclose(recurrent.softplus(Tensor(x, "float64")).numpy(), np.logaddexp(0, x), rtol=1e-14)


# The cache


@no_grad()
@pytest.mark.parametrize("mixers", MIXERS)
@pytest.mark.parametrize("lengths", [(1,) * 7, (5, 1, 1), (2, 17, 1, 3)])
def test_pieces_with_a_cache_give_the_logits_of_the_whole(mixers, lengths):
    gpt, idx = model(mixers), tokens(2, sum(lengths))
    cache, parts, at = gpt.new_cache(), [], 0
    for length in lengths:
        parts.append(gpt(idx[:, at : at + length], cache=cache).numpy())
        at += length
    np.testing.assert_allclose(np.concatenate(parts, 1), gpt(idx).numpy(), atol=1e-12)


@no_grad()
@pytest.mark.parametrize(("mixers", "rows"), [("delta", 3 * 48), ("state_space", 2 * 16)])
def test_the_cache_of_a_recurrence_does_not_grow(mixers, rows):
    gpt, sizes = model(mixers), set()
    cache = gpt.new_cache()
    for number in range(40):  # beyond the context
        gpt(tokens(1, 40)[:, number : number + 1], cache=cache)
        sizes.add(sum(tensor.storage.array.size for state, rows, _ in cache for tensor in (state, rows)))
    assert sizes == {4 * (2 * 8 * 8 + rows)}  # layers, heads D D; three rows of q, k and v, or one key and value
    assert cache[0][2] == 40


@pytest.mark.parametrize("mixers", MIXERS)
def test_generation_with_the_cache_gives_the_tokens_without_it(mixers):
    gpt, tokenizer = model(mixers), Tokenizer([])
    for seed in range(3):
        texts = ["".join(generate(gpt, tokenizer, "ab", tokens=25, seed=seed, use_cache=use)) for use in (True, False)]
        assert texts[0] == texts[1]


def test_a_model_of_recurrences_alone_remembers_beyond_its_context():
    """The tokens after 3 contexts are those that the whole text gives, read at once; attention has forgotten its beginning."""
    gpt = model("delta")
    assert gpt.config.unbounded and not model("delta delta delta attention").config.unbounded
    assert not model("delta", positions="learned").config.unbounded
    idx, cache = tokens(1, 96), gpt.new_cache()
    with no_grad():
        whole = gpt(idx).numpy()[:, -1]
        for at in range(0, 96, 24):
            last = gpt(idx[:, at : at + 24], cache=cache).numpy()[:, -1]
    np.testing.assert_allclose(last, whole, atol=1e-12)
    text = "".join(generate(gpt, Tokenizer([]), "ab", tokens=100, stop_at_end=False, temperature=1.0))
    assert text


def test_a_hybrid_is_refused_more_than_its_context():
    with pytest.raises(ValueError, match="33 tokens, but this model's context is 32"):
        model("delta delta delta attention")(tokens(1, 33))


# Presets and settings


@pytest.mark.parametrize("name", ["linear-12m", "hybrid-12m"])
def test_a_preset_has_the_size_of_12m(name):
    count = sum(count for _, count in GPTConfig.preset(name).parameter_table())  # test_model.py: it is the model's
    assert abs(count / 12_322_816 - 1) < 0.02


def test_the_hybrid_has_three_recurrent_blocks_for_each_with_attention():
    mixers = GPTConfig.preset("hybrid-12m").mixer_list
    assert mixers == ["delta", "delta", "delta", "attention"] * 2


@pytest.mark.parametrize("mixers", ["", "delta lstm"])
def test_an_unknown_mixer_is_refused(mixers):
    with pytest.raises(ValueError, match="words of attention, linear, delta"):
        GPTConfig(**{**TINY, "mixers": mixers})


def test_what_knows_attention_alone_says_so():
    with pytest.raises(ValueError, match=r"shape_map knows models whose blocks all have attention.*'delta'"):
        plots.shape_map(model("delta").config, batch=1)


def test_what_it_wrote_before_changes_what_it_reads():
    """A model that learns to repeat a token from far before must carry it in its state: the gradient reaches the first token."""
    gpt = model("delta")
    x = gpt.tokens(tokens(1, 30))
    stream = Tensor(x.numpy(), "float64", requires_grad=True)
    layer = gpt.blocks[0].attention
    layer(stream, None, None)[:, -1].sum().backward()
    assert np.abs(stream.grad.numpy()[0, 0]).max() > 0


@pytest.mark.parametrize("mixers", ["linear", "delta delta delta attention", "state_space"])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(text, tmp_path, mixers):
    given = {"preset": "micro", "text": text, "model": {**TINY, "mixers": mixers}, "steps": 24, "batch": 2}
    whole = train(**given, out=tmp_path / "whole", display=progress.Quiet())
    assert train(**given, out=tmp_path / "run", display=StopAt(9)).step < 24
    resumed = train(out=tmp_path / "run", resume=True, display=progress.Quiet())
    assert whole.records[-1]["loss"] < whole.records[0]["loss"] - 0.5
    a, b = whole.model.state(), resumed.model.state()
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)
