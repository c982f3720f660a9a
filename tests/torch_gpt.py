"""The same model in PyTorch, for comparison: its weights are taken from ours, name by name."""

import math

import torch
import torch.nn.functional as F

torch.set_num_threads(1)  # spinning threads of two test workers would fight for two cores


class TorchGPT(torch.nn.Module):
    """Forward of a `GPTConfig` with weights from `GPT.state()`, in PyTorch's own operations."""

    def __init__(self, config, state, dtype=torch.float32):
        super().__init__()
        self.config = config
        self.names = list(state)
        self.weights = torch.nn.ParameterList(torch.nn.Parameter(torch.tensor(state[n]).to(dtype)) for n in self.names)

    def named(self):
        return dict(zip(self.names, self.weights, strict=True))

    def norm(self, x, name):
        w, c = self.named(), self.config
        if c.norm == "rmsnorm":
            return F.rms_norm(x, (c.channels,), w[name + ".weight"], c.eps)
        return F.layer_norm(x, (c.channels,), w[name + ".weight"], w.get(name + ".bias"), c.eps)

    def turn(self, x):
        """RoPE on (B, H, T, D)."""
        half = x.shape[-1] // 2
        angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * self.config.rope_base ** (
            -torch.arange(half, dtype=torch.float64) / half
        )
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    def forward(self, idx):
        w, c = self.named(), self.config
        b, t = idx.shape
        h, g, d = c.heads, c.kv_heads, c.head_size
        x = w["tokens.weight"][idx]
        if c.positions == "learned":
            x = x + w["positions.weight"][:t]
        for i in range(c.layers):
            p = f"blocks.{i}."
            y = self.norm(x, p + "norm1")
            q, k, v = F.linear(y, w[p + "attention.qkv.weight"], w.get(p + "attention.qkv.bias")).split(
                (h * d, g * d, g * d), -1
            )
            q, k, v = (z.view(b, t, -1, d).transpose(1, 2) for z in (q, k, v))
            if c.positions == "rope":
                q, k = self.turn(q), self.turn(k)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=g != h, scale=1 / math.sqrt(d))
            y = y.transpose(1, 2).reshape(b, t, h * d)
            x = x + F.linear(y, w[p + "attention.out.weight"], w.get(p + "attention.out.bias"))
            y = F.linear(self.norm(x, p + "norm2"), w[p + "mlp.up.weight"], w.get(p + "mlp.up.bias"))
            if c.activation == "swiglu":
                gate, up = y.chunk(2, -1)
                y = F.silu(gate) * up
            else:
                y = F.gelu(y, approximate="tanh")
            x = x + F.linear(y, w[p + "mlp.down.weight"], w.get(p + "mlp.down.bias"))
        return F.linear(self.norm(x, "norm"), w["tokens.weight"], w.get("head_bias"))

    def loss(self, idx, targets):
        return F.cross_entropy(self(idx).flatten(0, 1), targets.flatten(), ignore_index=-1)

    def optimiser(self, learning_rate, weight_decay=0.1):
        groups = [
            {"params": [p for p in self.weights if p.ndim >= 2], "weight_decay": weight_decay},
            {"params": [p for p in self.weights if p.ndim < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.95), eps=1e-8)
