"""A whole transformer as a chain of products and what they do on their way out, against the model in float64."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import no_grad
from course_lib.cuda import asarray
from course_lib.devices import ops
from course_lib.devices.gpu import launching, products
from course_lib.model import GPT, GPTConfig
from tests.kernels.checking import assert_close

pytestmark = pytest.mark.slow

table = ops("simulator")
SHAPE = {"layers": 2, "heads": 4, "kv_heads": 2, "channels": 40, "hidden": 70, "context": 40, "vocab_size": 133}
CONFIGS = {
    "GPT-2": GPTConfig(**SHAPE | {"kv_heads": 4}),
    "modern": GPTConfig(**SHAPE, norm="rmsnorm", activation="swiglu", positions="rope", bias=False),
}


def on_device(x):
    return asarray(np.asarray(x, np.float32))


class Chain:
    """The forward pass of a model with the parameters of `model`, by products with epilogues alone."""

    def __init__(self, model: GPT):
        self.config, self.rotation = model.config, model.rotation
        self.of = {name: on_device(p.numpy()) for name, p in model.named_parameters()}

    def logits(self, idx):
        """logits (B, T, V) and their logsumexp (B, T)."""
        of, start = self.of, self.of["tokens.weight"][idx]  # (B, T, C)
        stream = asarray(start if self.rotation is not None else start + of["positions.weight"][: idx.shape[1]])
        for number in range(self.config.layers):
            at = f"blocks.{number}."
            mixed = self.attended(self.normed_product(stream, f"{at}norm1", f"{at}attention.qkv"))  # (B, T, H D)
            stream = self.added(stream, mixed, f"{at}attention.out")
            stream = self.added(stream, self.activated(stream, at), f"{at}mlp.down")
        return products.linear_logsumexp(self.normed(stream, "norm"), of["tokens.weight"], of.get("head_bias"))

    def added(self, stream, x, layer: str):
        return products.linear_residual(x, self.of[f"{layer}.weight"], self.of.get(f"{layer}.bias"), stream)

    def normed(self, x, norm: str):
        weight, eps = self.of[f"{norm}.weight"], self.config.eps
        if self.config.norm == "rmsnorm":
            return table.rmsnorm_forward(x, weight, eps)[0]
        return table.layernorm_forward(x, weight, self.of[f"{norm}.bias"], eps)[0]

    def normed_product(self, x, norm: str, layer: str):
        """A linear layer of the normalised x. RMSNorm waits until after the product: its gain goes into the weights."""
        weight = self.of[f"{layer}.weight"]
        if self.config.norm != "rmsnorm":
            return table.linear_forward(self.normed(x, norm), weight, self.of[f"{layer}.bias"])
        _, rstd = table.rmsnorm_forward(x, self.of[f"{norm}.weight"], self.config.eps)
        return products.linear_row_scale(x, asarray(weight * self.of[f"{norm}.weight"]), rstd)

    def activated(self, x, at: str):
        """What the MLP hands to its second matrix: (B, T, F)."""
        if self.config.activation == "swiglu":
            return table.swiglu_forward(self.normed_product(x, f"{at}norm2", f"{at}mlp.up"))
        x = self.normed(x, f"{at}norm2")
        return products.linear_gelu(x, self.of[f"{at}mlp.up.weight"], self.of[f"{at}mlp.up.bias"])[0]

    def attended(self, qkv):
        (b, t, _), h, g, d = qkv.shape, self.config.heads, self.config.kv_heads, self.config.head_size
        q, k, v = (asarray(part).reshape(b, t, -1, d) for part in np.split(qkv, [h * d, (h + g) * d], axis=-1))
        if self.rotation is not None:
            cos, sin = (on_device(turn.numpy()[:t]) for turn in self.rotation)
            q, k = table.rope_forward(q, cos, sin), table.rope_forward(k, cos, sin)
        return table.attention_forward(q, k, v, True)[0].reshape(b, t, h * d)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_model_is_a_chain_of_products_and_their_epilogues(name):
    config, idx = CONFIGS[name], np.random.default_rng(3).integers(0, 133, (2, 37))
    model = GPT(config, device="reference", seed=1, dtype="float64")
    with no_grad():
        for number, parameter in enumerate(model.parameters()):  # biases and gains that are not 0 and 1
            noise = 0.2 * np.random.default_rng(number).normal(size=parameter.shape)
            parameter.storage.array += noise.reshape(parameter.storage.array.shape)
        want = model(idx).numpy()  # (B, T, V)
    with launching.counting() as launches:
        logits, logsumexp = Chain(model).logits(idx)
    assert_close(logits, want, 1e-5)
    top = want.max(-1, keepdims=True)
    assert_close(logsumexp, (top + np.log(np.exp(want - top).sum(-1, keepdims=True)))[..., 0], 1e-5)
    used = {kernel.split()[1] for kernel in launches if kernel.startswith("gemm.cu")}
    scaled = {"gemm_row_scale"} if config.norm == "rmsnorm" else {"gemm_bias", "gemm_gelu"}
    assert (
        used == {"gemm_residual", "gemm_logsumexp", *scaled} and launches["gemm.cu gemm_residual"] == 2 * config.layers
    )
    assert not any(
        kernel.startswith(("residual_add.cu", "gelu.cu", "bias_gelu.cu", "arithmetic.cu")) for kernel in launches
    )
