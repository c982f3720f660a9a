"""A model cut over ranks gives the logits, the loss and the gradients of the whole one."""

import numpy as np
import pytest

from course_lib import no_grad, parallel
from course_lib.model import GPT, GPTConfig
from course_lib.parallel.tensor import split

MODELS = {
    "micro": {"layers": 2, "heads": 4, "channels": 32, "context": 16, "vocab_size": 50, "positions": "rope"},
    "learned positions": {"layers": 1, "heads": 4, "channels": 64, "context": 16, "vocab_size": 50},
    "modern": {"layers": 2, "heads": 4, "kv_heads": 2, "channels": 32, "hidden": 88, "context": 16, "vocab_size": 50,
               "norm": "rmsnorm", "activation": "swiglu", "positions": "rope", "bias": False},
    "plain gelu": {"layers": 1, "heads": 4, "channels": 32, "context": 16, "vocab_size": 50, "bias": False},
}  # fmt: skip


def whole(settings):
    model = GPT(GPTConfig(**settings), seed=1)
    random = np.random.default_rng(2)
    for p in model.parameters():  # biases and norms that matter
        p.storage.array[...] += random.normal(0, 0.1, p.shape).astype(np.float32)
    return model


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", MODELS)
def test_logits_loss_and_gradients_are_those_of_the_whole_model(name, size):
    tokens = np.random.default_rng(0).integers(0, 50, (2, 11))
    model = whole(MODELS[name])
    logits, loss = model(tokens[:, :-1]).numpy(), model.loss(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    expected = {n: p.grad.numpy() for n, p in model.named_parameters() if "attention" not in n and "mlp" not in n}

    def work(c):
        part = split(whole(MODELS[name]), c)
        with no_grad():
            found = part(tokens[:, :-1]).numpy()
        before = c.traffic.messages
        own = part.loss(tokens[:, :-1], tokens[:, 1:])
        forward = c.traffic.messages - before
        own.backward()
        gradients = {n: p.grad.numpy() for n, p in part.named_parameters() if n in expected}
        return found, own.item(), gradients, forward / (2 * (c.size - 1)), part.parameter_count()

    for found, own, gradients, all_reduces, count in parallel.virtual(size, work):
        assert np.abs(found - logits).max() < 1e-5 and abs(own - loss.item()) < 1e-5
        assert all(np.allclose(gradients[n], expected[n], rtol=1e-4, atol=1e-6) for n in expected)
        assert all_reduces == 2 * MODELS[name]["layers"]
        assert count < model.parameter_count()


def test_a_cut_model_generates_with_its_cache():
    tokens = np.random.default_rng(0).integers(0, 50, (1, 5))
    model = whole(MODELS["modern"])

    def steps(model):
        cache, found = model.new_cache(), []
        with no_grad():
            for t in range(5):
                found.append(model(tokens[:, t : t + 1], cache).numpy())
        return np.concatenate(found, 1)

    for found in parallel.virtual(2, lambda c: steps(split(model, c))):
        assert np.abs(found - steps(model)).max() < 1e-5


def test_ranks_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(parallel.RankFailed, match="3 ranks cannot share a model of 4 heads"):
        parallel.virtual(3, lambda c: split(whole(MODELS["micro"]), c))
