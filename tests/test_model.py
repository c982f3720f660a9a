"""The model, its modules and optimisers, without peers: counts, causality, cache, finite differences, learning."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from course_lib import functional, nn, no_grad, optim
from course_lib.model import GPT, GPTConfig
from course_lib.model_config import PRESETS
from course_lib.tensor import Tensor

TINY = {"layers": 2, "heads": 4, "channels": 16, "context": 12, "vocab_size": 29}
MODERN = dict(TINY, kv_heads=2, hidden=24, norm="rmsnorm", activation="swiglu", positions="rope", bias=False)
CONFIGS = {
    "plain": TINY,
    "modern": MODERN,
    "rope": dict(TINY, positions="rope"),
    "no bias": dict(TINY, bias=False),
    "latent": dict(TINY, latent=5, positions="rope"),
}


@pytest.fixture(params=CONFIGS)
def config(request):
    return GPTConfig(**CONFIGS[request.param])


def tokens(config, batch=2, time=None, seed=0):
    return np.random.default_rng(seed).integers(0, config.vocab_size, (batch, time or config.context))


def test_the_reference_has_12_322_816_parameters():
    assert GPT(GPTConfig.preset("12m")).parameter_count() == 12_322_816


def test_116m_has_the_size_of_its_model_and_its_shape():
    config = GPTConfig.preset("116m")
    assert sum(count for _, count in config.parameter_table()) == 115_630_848
    shape = config.channels, config.heads, config.kv_heads, config.layers, config.context, config.vocab_size
    assert shape == (768, 12, 4, 16, 512, 4096)


@pytest.mark.slow
def test_a_step_of_116m_is_rehearsed_in_the_memory_that_its_numbers_take():
    """AdamW keeps 16 bytes for each parameter: weight, gradient, two moments. One short window adds little to them."""
    # not ru_maxrss on Linux: a child inherits its parent's peak there, whatever earlier tests had needed
    lines = (
        "import resource",
        "from pathlib import Path",
        "from course_lib import clock, recipes",
        "given = dict(batch=1, validation_rows=1, compute='float32', model={'context': 32})",
        "run = clock.rehearsal(recipes.settings('116m', recipe='reference', **given), 'cpu')",
        "loss = run.step()['loss']",
        "status = Path('/proc/self/status')",
        "linux = status.exists() and int(status.read_text().split('VmHWM:')[1].split()[0]) * 1024",
        "print(loss, linux or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)",
    )
    done = subprocess.run([sys.executable, "-c", "; ".join(lines)], capture_output=True, text=True, check=True)
    loss, peak = map(float, done.stdout.split())  # peak in bytes: what macOS counts ru_maxrss in, too
    numbers = 16 * 115_630_848
    assert loss == pytest.approx(np.log(4096), abs=0.5)
    assert 0.95 * numbers < peak < 1.25 * numbers, peak


@pytest.mark.parametrize("name", PRESETS)
def test_the_parameter_table_adds_up_to_the_model(name):
    config = GPTConfig.preset(name)
    assert sum(count for _, count in config.parameter_table()) == GPT(config).parameter_count()
    assert 11e6 < GPTConfig.preset("modern-12m").flops_per_token() / 6 < 14e6


def test_flops_count_the_matmuls_of_a_step(monkeypatch):
    """Forward and backward multiply and add once each per weight and row; counted on the device, against the formula."""
    config = GPTConfig.preset("micro")
    model = GPT(config, device="reference")
    batch, time = 1, config.context
    idx = tokens(config, batch)
    counted = 0
    ops = model.tokens.weight.ops
    forward, backward = ops.linear_forward, ops.linear_backward

    def count_forward(x, weight, bias):
        nonlocal counted
        counted += 2 * (x.size // x.shape[-1]) * weight.size
        return forward(x, weight, bias)

    def count_backward(dy, x, weight, has_bias):
        nonlocal counted
        counted += 4 * (x.size // x.shape[-1]) * weight.size
        return backward(dy, x, weight, has_bias)

    monkeypatch.setattr(ops, "linear_forward", count_forward)
    monkeypatch.setattr(ops, "linear_backward", count_backward)
    model.loss(idx, idx).backward()
    attention = 12 * config.layers * config.channels * config.context // 2
    assert counted / (batch * time) + attention == config.flops_per_token()


def test_later_tokens_change_no_earlier_logits(config):
    model = GPT(config, dtype="float64")
    idx = tokens(config)
    before = model(idx).numpy()
    for t in (1, 5, config.context - 1):
        changed = idx.copy()
        changed[:, t:] = (changed[:, t:] + 1) % config.vocab_size
        after = model(changed).numpy()
        assert np.array_equal(before[:, :t], after[:, :t])
        assert not np.allclose(before[:, t], after[:, t])


def test_the_cache_gives_the_logits_of_the_whole_sequence(config):
    model = GPT(config, dtype="float64")
    idx = tokens(config)
    whole = model(idx).numpy()
    cache = model.new_cache()
    with no_grad():
        parts = [model(idx[:, a:b], cache).numpy() for a, b in ((0, 5), (5, 6), (6, 7), (7, config.context))]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=1e-10, atol=1e-12)


def test_gradients_agree_with_finite_differences(config):
    """Of some elements of every parameter: gradcheck of the whole would take minutes."""
    model = GPT(config, device="reference", dtype="float64")
    generator = np.random.default_rng(1)
    model.load_state({name: p.numpy() + generator.normal(0, 0.1, p.shape) for name, p in model.named_parameters()})
    idx, targets = tokens(config, time=7), tokens(config, time=7, seed=1)
    targets[0, 2] = -1
    model.loss(idx, targets).backward()
    for name, p in model.named_parameters():
        gradient, values = p.grad.numpy(), p.storage.array
        for _ in range(4):
            index = tuple(generator.integers(0, n) for n in p.shape)
            before, losses = values[index], []
            for moved in (before + 1e-5, before - 1e-5):
                values[index] = moved
                with no_grad():
                    losses.append(model.loss(idx, targets).item())
            values[index] = before
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-5, abs=1e-8), (name, index)


def test_the_same_seed_gives_the_same_weights_and_losses_on_every_device(config):
    idx = tokens(config)
    models = [GPT(config, device=device, seed=5) for device in ("reference", "cpu")]
    for (name, a), (_, b) in zip(models[0].named_parameters(), models[1].named_parameters(), strict=True):
        assert np.array_equal(a.numpy(), b.numpy()), name
    targets = tokens(config, seed=1)
    losses = [model.loss(idx, targets).item() for model in models]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0] == pytest.approx(np.log(config.vocab_size), rel=0.05)  # fresh weights know nothing


def test_it_learns_one_batch_by_heart(config):
    model = GPT(config, seed=1)
    optimiser = optim.AdamW(model.named_parameters())
    idx = tokens(config, time=config.context + 1 - 1)
    for _ in range(60):
        loss = model.loss(idx[:, :-1], idx[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step(1e-2)
    assert model.loss(idx[:, :-1], idx[:, 1:]).item() < 0.5


def test_accumulated_gradients_equal_those_of_the_whole_batch(config):
    model = GPT(config, dtype="float64")
    idx, targets = tokens(config, batch=4), tokens(config, batch=4, seed=1)
    model.loss(idx, targets).backward()
    whole = {name: p.grad.numpy() for name, p in model.named_parameters()}
    model.zero_grad()
    for half in (slice(0, 2), slice(2, 4)):
        (model.loss(idx[half], targets[half]) * 0.5).backward()
    for name, p in model.named_parameters():
        np.testing.assert_allclose(p.grad.numpy(), whole[name], rtol=1e-9, atol=1e-12, err_msg=name)


def test_state_goes_out_and_in_and_what_does_not_fit_is_refused(config):
    first, second = GPT(config, seed=1), GPT(config, seed=2)
    second.load_state(first.state())
    idx = tokens(config)
    assert np.array_equal(first(idx).numpy(), second(idx).numpy())
    state = first.state()
    name = next(iter(state))
    before = second.state()
    with pytest.raises(ValueError, match="shape"):
        second.load_state({**state, name: state[name][:-1]})
    with pytest.raises(ValueError, match="missing"):
        second.load_state({k: v for k, v in state.items() if k != name})
    assert all(np.array_equal(before[k], v) for k, v in second.state().items())


def test_dropout_depends_on_seed_and_step_alone_and_sleeps_in_evaluation():
    config = GPTConfig(**TINY, dropout=0.3)
    model, idx = GPT(config), tokens(GPTConfig(**TINY))
    model.random.set_step(1, 7)
    first = model(idx).numpy()
    assert np.array_equal(first, model(idx).numpy())
    model.random.set_step(1, 8)
    assert not np.array_equal(first, model(idx).numpy())
    model.eval()
    quiet = model(idx).numpy()
    model.random.set_step(1, 9)
    assert np.array_equal(quiet, model(idx).numpy())
    model.train()
    model.random.set_step(1, 7)
    assert np.array_equal(first, model(idx).numpy())


def test_a_tied_parameter_is_listed_once_and_gets_both_gradients():
    model = GPT(GPTConfig(**TINY))
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == len(set(names)) and not any("head.weight" in name for name in names)
    idx = np.zeros((1, 3), dtype=np.int64)
    model.loss(idx, idx).backward()
    gradient = model.tokens.weight.grad.numpy()
    assert np.abs(gradient[1:]).max() > 0, "rows that are never read still get gradient from the head"


WRONG = {
    "a longer sequence than the context": (lambda: GPT(GPTConfig(**TINY))(np.zeros((1, 13), int)), "13 tokens.*12"),
    "an unknown preset": (lambda: GPTConfig.preset("giant"), "giant"),
    "heads": (lambda: GPTConfig(**dict(TINY, heads=3)), "multiple"),
    "kv heads": (lambda: GPTConfig(**dict(TINY, kv_heads=3)), "multiple"),
    "odd head size": (lambda: GPTConfig(**dict(TINY, channels=20, positions="rope")), "even"),
    "latent with kv heads": (
        lambda: GPTConfig(**dict(TINY, latent=5, kv_heads=2, positions="rope")),
        "'rope' and 2, for 4",
    ),
    "latent without rotation": (lambda: GPTConfig(**dict(TINY, latent=5)), "Here they are 'learned'"),
    "latent and odd rotation": (lambda: GPTConfig(**dict(TINY, heads=8, latent=5, positions="rope")), "are 1 of 2"),
    "norm": (lambda: GPTConfig(**dict(TINY, norm="batchnorm")), "batchnorm"),
    "layers": (lambda: GPTConfig(**dict(TINY, layers=0)), "at least 1"),
    "dropout": (lambda: nn.Dropout(1.0), "up to, but not including, 1"),
    "no parameters": (lambda: optim.SGD([]), "no parameters"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_gets_a_sentence(name):
    act, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        act()


def test_a_token_outside_the_vocabulary_is_named():
    with pytest.raises(IndexError, match="29"):
        GPT(GPTConfig(**TINY))(np.array([[0, 29]]))


def test_sequential_and_sgd_fit_a_line():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(64, 3))
    y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.3
    model = nn.Sequential(nn.Linear(3, 8, rng=generator), functional.gelu, nn.Linear(8, 1, std=0.5, rng=generator))
    optimiser = optim.SGD(model.named_parameters(), momentum=0.9)
    for _ in range(300):
        error = model(Tensor(x)) - Tensor(y)
        loss = (error * error).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step(0.05)
    assert loss.item() < 0.01


def test_a_step_without_backward_names_the_parameter():
    model = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="'weight' has no gradient"):
        optim.AdamW(model.named_parameters()).step(1e-3)


def test_the_schedule_rises_peaks_and_ends_at_its_lowest():
    rates = [optim.warmup_cosine(step, 100, 3e-4, 6e-5, 10) for step in range(101)]
    assert rates[0] == pytest.approx(3e-5) and max(rates) == rates[9] == rates[10] == 3e-4
    assert rates[100] == pytest.approx(6e-5)
    assert all(a >= b for a, b in itertools.pairwise(rates[10:]))
    straight = [optim.warmup_linear(step, 100, 3e-4, 0.0, 10) for step in range(101)]
    assert straight[:10] == rates[:10] and straight[100] == 0
    assert np.allclose(np.diff(straight[10:]), -3e-4 / 90), "the same step down each time"


def muon(named_parameters):
    named = list(named_parameters)
    return optim.Muon(named, {name for name, p in named if p.ndim == 2})


STATE_SPACE = {"layers": 1, "heads": 2, "channels": 16, "positions": "none", "mixers": "state_space"}


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("12m", {}),
        ("modern-12m", {}),
        ("latent-12m", {}),
        ("linear-12m", {}),
        ("hybrid-12m", {}),
        ("micro", STATE_SPACE),
    ],
)
def test_the_parts_of_stacked_weights_are_all_their_rows(preset, changes):
    model = GPT(GPTConfig.preset(preset, **changes))
    rows = {name: p.shape[0] for name, p in model.named_parameters()}
    stacked = model.stacked()
    assert {name: sum(parts) for name, parts in stacked.items()}.items() <= rows.items()
    assert {name for name in rows if ".qkv" in name and name.endswith(".weight")} <= stacked.keys()


@pytest.mark.parametrize("make", [optim.AdamW, muon])
def test_optimiser_state_resumes_to_the_same_bits(make):
    def run(steps, state=None):
        model = GPT(GPTConfig(**TINY), seed=1)
        optimiser = make(model.named_parameters())
        if state:
            model.load_state(state[0])
            optimiser.load_state(state[1])
        for step in steps:
            idx = tokens(model.config, seed=step)
            optimiser.zero_grad()
            model.loss(idx, idx).backward()
            optimiser.step(1e-3)
        return model.state(), optimiser.state()

    whole, halves = run(range(6)), run(range(3, 6), run(range(3)))
    for a, b in zip(whole, halves, strict=True):
        assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def test_ids_of_another_shape_and_a_name_for_a_configuration_get_a_sentence():
    model = GPT(GPTConfig(layers=1, heads=1, channels=8, context=6, vocab_size=20))
    with pytest.raises(ValueError, match=r"have the shape \(3,\)\. For one text"):
        model(np.array([1, 2, 3]))
    assert model([[1, 2, 3]]).shape == (1, 3, 20)  # a list of lists will do
    with pytest.raises(TypeError, match="it got 'micro'"):
        GPT("micro")
