"""Multi-head latent attention: against NumPy, written out and absorbed; in pages, quantised; its cache; who refuses it.

Counts, gradients, causality and devices are test_model.py's, which has a model with a latent.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import devices, no_grad, plots
from course_lib.generation import generate
from course_lib.model import GPT, GPTConfig, rope_tables
from course_lib.parallel import tensor as parallel
from course_lib.serving import quantised
from course_lib.serving.paged_model import Addition, PagedModel
from course_lib.tensor import Tensor
from course_lib.tokenizer import Tokenizer
from course_lib.web.export import ExportError, export
from tests import web_page

TINY = {"layers": 2, "heads": 3, "channels": 24, "context": 33, "vocab_size": 300, "positions": "rope", "latent": 7}
LENGTHS = [(1,) * 9, (5, 1, 1, 2), (33,)]


def model(dtype: str = "float64", device: str = "cpu", **changes) -> GPT:
    gpt = GPT(GPTConfig(**{**TINY, **changes}), dtype=dtype, device=device)
    random = np.random.default_rng(3)
    gpt.load_state({name: random.normal(0, 0.3, values.shape) for name, values in gpt.state().items()})
    return gpt


def tokens(B: int, T: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 300, (B, T))


def in_numpy(config: GPTConfig, state: dict, x: np.ndarray) -> np.ndarray:
    """Equations 9 to 19 of the paper for x (T, C), a head and a position at a time."""
    H, D, K, R = config.heads, config.head_size, config.latent, config.head_size // 2
    T, own = len(x), D - R
    made = x @ state["qkv.weight"].T + state["qkv.bias"]
    c = made[:, H * D : H * D + K]
    c = c / np.sqrt((c**2).mean(-1, keepdims=True) + config.eps) * state["norm.weight"]
    frequency = config.rope_base ** (-2 * np.arange(R // 2) / R)

    def rotated(row, t):
        turned = (row[: R // 2] + 1j * row[R // 2 :]) * np.exp(1j * t * frequency)
        return np.concatenate([turned.real, turned.imag])

    heads = []
    for h in range(H):
        w_uk = state["up"][h * own : (h + 1) * own]
        w_uv = state["up"][H * own + h * D : H * own + (h + 1) * D]
        q = made[:, h * D : (h + 1) * D]
        q = np.stack([np.r_[q[t, :own], rotated(q[t, own:], t)] for t in range(T)])
        k = np.stack([np.r_[w_uk @ c[t], rotated(made[t, H * D + K :], t)] for t in range(T)])
        y = []
        for t in range(T):
            p = np.exp(k[: t + 1] @ q[t] / np.sqrt(D))
            y.append(p / p.sum() @ (c[: t + 1] @ w_uv.T))
        heads.append(y)
    return np.concatenate(heads, -1) @ state["out.weight"].T + state["out.bias"]


@no_grad()
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 2e-6)])
def test_written_out_and_absorbed_are_the_equations(dtype, tolerance, lengths):
    gpt, T = model(dtype), sum(lengths)
    layer, x = gpt.blocks[0].attention, np.random.default_rng(2).normal(size=(2, T, 24))
    state = {name: values.astype("float64") for name, values in layer.state().items()}
    exact = np.stack([in_numpy(gpt.config, state, row) for row in x])
    tables = rope_tables(gpt.config, "cpu", dtype)

    def run(start, end, cache):
        return layer(Tensor(x[:, start:end], dtype), [table[start:end] for table in tables], cache).numpy()

    cache, ends = [], np.cumsum(lengths)
    absorbed = [run(end - length, end, cache) for end, length in zip(ends, lengths, strict=True)]
    for found in (run(0, T, None), np.concatenate(absorbed, 1)):
        np.testing.assert_allclose(found, exact, atol=tolerance * np.abs(exact).max())


def test_the_gradient_through_the_cache_is_that_without_it():
    gpt, idx = model(), tokens(2, 6)
    gradients = []
    for cache in (None, gpt.new_cache()):
        gpt.zero_grad()
        parts = [gpt(idx, cache)] if cache is None else [gpt(idx[:, :4], cache), gpt(idx[:, 4:], cache)]
        sum((part * part).sum() for part in parts).backward()
        gradients.append({name: p.grad.numpy() for name, p in gpt.named_parameters()})
    for name, expected in gradients[0].items():
        np.testing.assert_allclose(gradients[1][name], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@no_grad()
def test_the_cache_holds_the_latent_and_one_rotated_key_for_each_token():
    gpt = model()
    cache = gpt.new_cache()
    gpt(tokens(2, 5), cache=cache)
    gpt(tokens(2, 1), cache=cache)
    assert [[tensor.shape for tensor in layer] for layer in cache] == [[(2, 6, 1, 7 + 4)]] * 2
    assert gpt.config.cached_shape == (1, 1, 11)


def test_generation_with_the_cache_gives_the_tokens_without_it():
    gpt, tokenizer = model(), Tokenizer([])
    for seed in range(3):  # beyond the context, too
        texts = ["".join(generate(gpt, tokenizer, "ab", tokens=40, seed=seed, use_cache=use)) for use in (True, False)]
        assert texts[0] == texts[1]


@pytest.mark.parametrize("device", sorted({"cpu", "simulator"} & set(devices.available_devices())))
def test_in_pages_the_logits_are_those_of_the_text_alone(device):
    """Two prompts and a text that adds a token, then one token each, in pages that lie anywhere."""
    gpt = model("float32", device)
    paged, texts = PagedModel(gpt, pages=16, rows=4), [tokens(1, T)[0].tolist() for T in (1, 6, 9)]
    tables = [[], [], []]
    for added in (3, 1):
        additions = []
        for table, ids in zip(tables, texts, strict=True):
            start = 0 if added == 3 else len(ids)
            ids += [5] * (added == 1)
            paged.make_room(table, start, len(ids) - start)
            additions.append(Addition(table, ids[start:], start))
        for ids, found in zip(texts, paged.logits(additions), strict=True):
            with no_grad():
                alone = gpt(np.array([ids])).numpy()[:, -1]
            np.testing.assert_allclose(found, alone, atol=2e-4 * np.abs(alone).max())
    keys, values = paged.layers[0]
    assert keys is values, "one array is allocated, and not two"


def test_quantised_it_reads_with_and_without_a_cache():
    """What is read head by head stays in float16: absorbed or not, the weights are the same, and so are the logits."""
    gpt = model("float32")
    held = quantised.weights(gpt.state(), "int8")
    assert held["blocks.0.attention.up"].dtype == np.float16
    small, idx = quantised.QuantisedGPT(gpt.config, held), tokens(1, 9)
    with no_grad():
        whole = small(idx).numpy()
        np.testing.assert_allclose(small(idx, cache=small.new_cache()).numpy(), whole, atol=1e-4 * np.abs(whole).max())
        error = np.abs(whole - gpt(idx).numpy()).max()
    assert 0 < error < 0.1 * np.abs(whole).max()


def test_the_preset_has_the_size_of_12m_and_half_the_cache_of_grouped_queries():
    count = sum(
        count for _, count in GPTConfig.preset("latent-12m").parameter_table()
    )  # test_model.py: it is the model's
    assert abs(count / 12_322_816 - 1) < 0.02
    numbers = {name: np.prod(GPTConfig.preset(name).cached_shape) for name in ("12m", "modern-12m", "latent-12m")}
    assert numbers == {"12m": 768, "modern-12m": 256, "latent-12m": 128}


@pytest.mark.parametrize("act, who", [
    (lambda gpt: plots.shape_map(gpt.config, batch=1), "shape_map"),
    (lambda gpt: parallel.split(gpt, SimpleNamespace(size=1)), "Tensor parallel"),
])  # fmt: skip
def test_what_knows_no_latent_says_so(act, who):
    with pytest.raises(ValueError, match=f"{who} knows no latent attention; the latent of this model is 7"):
        act(model())


def test_the_page_says_so_too(tmp_path):
    run = web_page.save(tmp_path / "run", GPTConfig(**TINY), web_page.tokenizer())
    with pytest.raises(ExportError, match=r"The page knows no latent attention.*course sample"):
        export(run, tmp_path / "page")
