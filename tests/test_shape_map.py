"""The picture of shapes has the shapes that the model makes."""

import numpy as np
import pytest

from course_lib import functional, plots
from course_lib.model import GPT, GPTConfig
from course_lib.plots.shape_map import steps

CONFIGS = {
    "plain": GPTConfig(layers=1, heads=3, channels=12, context=7, vocab_size=11),
    "modern": GPTConfig(layers=2, heads=4, kv_heads=2, channels=16, hidden=24, context=5, vocab_size=9, norm="rmsnorm",
                        activation="swiglu", positions="rope", bias=False),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_steps_have_the_shapes_of_a_live_model(name, monkeypatch):
    config, made = CONFIGS[name], {}
    attention, bend = functional.attention, functional.swiglu if name == "modern" else functional.linear_gelu

    def watch_attention(q, k, v):
        y = attention(q, k, v)
        made.update({"queries of all heads": q.shape, "keys and values, each": k.shape, "mixed values": y.shape})
        return y

    def watch_bend(x, *layer):
        y = bend(x, *layer)
        up = (*x.shape[:-1], len(layer[0])) if layer else x.shape  # a GELU comes with the layer before it
        made.update({"MLP up": up, "SwiGLU" if name == "modern" else "GELU": y.shape})
        return y

    monkeypatch.setattr(functional, "attention", watch_attention)
    monkeypatch.setattr(functional, bend.__name__, watch_bend)
    logits = GPT(config)(np.zeros((2, 4), int))
    made["head: logits"] = logits.shape
    before, block, after = steps(config, batch=2, time=4)
    drawn = {step[0]: step[2] for step in (*before, *block, *after)}
    assert {words: drawn[words] for words in made} == made


def test_every_step_has_its_numbers_per_token():
    for config in CONFIGS.values():
        for words, _, shape, width, _ in (step for part in steps(config, 2, 4) for step in part):
            assert np.prod(shape) == 2 * 4 * width, words


def test_shape_map_names_the_widest_step():
    drawn = plots.shape_map(GPTConfig.preset("12m"), batch=8)
    assert "Widest of all is head: logits with 4,096" in drawn.alt and "(shape 8 x 256 x 4096)" in drawn.alt
