"""Our GPT in PyTorch's own operations, for comparison: its weights are taken from ours, name by name."""

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.model import GPTConfig


class TorchModel(torch.nn.Module):
    """idx, targets (B, T) -> the mean loss, a number; with reduction "none" that of each (B T). Targets of -1 do not count."""

    def __init__(self, config: GPTConfig, state: Mapping[str, np.ndarray], dtype: torch.dtype = torch.float32):
        super().__init__()
        self.config = config
        self.weights = torch.nn.ParameterDict(
            {
                name.replace(".", "/"): torch.nn.Parameter(torch.tensor(values, dtype=dtype))
                for name, values in state.items()
            }
        )
        half = config.head_size // 2
        frequency = config.rope_base ** (-np.arange(half) / half)
        angle = torch.tensor(np.arange(config.context)[:, None] * frequency)  # (T, D/2)
        self.register_buffer("cos", angle.cos().to(dtype))
        self.register_buffer("sin", angle.sin().to(dtype))

    def gradients(self) -> dict[str, np.ndarray]:
        """Of the last backward pass, by our names."""
        return {name.replace("/", "."): p.grad.numpy() for name, p in self.weights.items()}

    def optimiser(self, learning_rate: float) -> torch.optim.AdamW:
        groups = [
            {"params": [p for p in self.parameters() if (p.ndim >= 2) == matrix], "weight_decay": decay}
            for matrix, decay in ((True, 0.1), (False, 0.0))
        ]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.95), eps=1e-8, fused=True)

    def linear(self, x, name: str):
        return F.linear(x, self.weights[name + "/weight"], self.weights.get(name + "/bias"))

    def norm(self, x, name: str):
        weight, eps = self.weights[name + "/weight"], self.config.eps
        if self.config.norm == "rmsnorm":
            return F.rms_norm(x, weight.shape, weight, eps)
        return F.layer_norm(x, weight.shape, weight, self.weights.get(name + "/bias"), eps)

    def rotate(self, x):  # (B, H, T, D)
        first, second = x.chunk(2, -1)
        cos, sin = self.cos[: x.shape[2]], self.sin[: x.shape[2]]
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def activation(self, x):  # (B, T, hidden), or twice that
        if self.config.activation != "swiglu":
            return F.gelu(x, approximate="tanh")
        gate, up = x.chunk(2, -1)
        return F.silu(gate) * up

    def forward(self, idx, targets, reduction: str = "mean"):
        config = self.config
        B, T = idx.shape
        heads = [config.heads, config.kv_heads, config.kv_heads]
        x = F.embedding(idx, self.weights["tokens/weight"])  # (B, T, C)
        if config.positions == "learned":
            x = x + self.weights["positions/weight"][:T]
        for i in range(config.layers):
            block = f"blocks/{i}/"
            qkv = self.linear(self.norm(x, block + "norm1"), block + "attention/qkv")  # (B, T, (H + 2 G) D)
            parts = qkv.split([count * config.head_size for count in heads], -1)
            q, k, v = (part.view(B, T, count, -1).transpose(1, 2) for part, count in zip(parts, heads, strict=True))
            if config.positions == "rope":
                q, k = self.rotate(q), self.rotate(k)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads[0] != heads[1])  # (B, H, T, D)
            x = x + self.linear(y.transpose(1, 2).reshape(B, T, -1), block + "attention/out")
            up = self.linear(self.norm(x, block + "norm2"), block + "mlp/up")
            x = x + self.linear(self.activation(up), block + "mlp/down")
        logits = F.linear(self.norm(x, "norm"), self.weights["tokens/weight"], self.weights.get("head_bias"))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1, reduction=reduction)
