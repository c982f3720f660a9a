"""LoRA: frozen weights, and a change of low rank beside each that is trained. (Hu et al. 2021, section 4.1)

    y = x W^T + bias + (scale / rank) (x A^T) B^T        A (rank, inputs) random, B (outputs, rank) zero at first

So a model begins as what it was, and what is trained, kept and sent is small: for a matrix of (384, 384) at rank 8, 6,144
numbers in place of 147,456. `merged` adds the product B A to W: then it costs nothing at all.
"""

from __future__ import annotations

import numpy as np

from course_lib import functional, nn
from course_lib.model import GPT
from course_lib.tensor import Tensor

SCALE = 16.0  # alpha of the paper, whatever the rank
LAYERS = ("attention.qkv", "attention.out", "mlp.up", "mlp.down")  # of each block


class LoRALinear(nn.Module):
    """A linear layer that is frozen, plus its change: (*n, inputs) -> (*n, outputs)."""

    bias = None  # the layers around may fuse a bias of ours with what follows: this one is added here

    def __init__(self, frozen: nn.Linear, rank: int, rng: np.random.Generator):
        outputs, inputs = frozen.weight.shape
        made = {"device": frozen.weight.device, "dtype": str(frozen.weight.dtype)}
        self.weight, self.own_bias = frozen.weight.detach(), None if frozen.bias is None else frozen.bias.detach()
        self.a = nn.parameter(rng.normal(0.0, inputs**-0.5, (rank, inputs)), **made)
        self.b = nn.parameter(np.zeros((outputs, rank)), **made)
        self.factor = SCALE / rank

    def forward(self, x: Tensor) -> Tensor:
        change = functional.linear(functional.linear(x, self.a, None), self.b, None)  # (*n, K) -> (*n, R) -> (*n, N)
        return functional.linear(x, self.weight, self.own_bias) + change * self.factor

    def merged(self) -> np.ndarray:
        """The weight with its change added, (outputs, inputs)."""
        return self.weight.numpy() + self.factor * (self.b.numpy() @ self.a.numpy())


def add(model: GPT, rank: int, seed: int = 0) -> GPT:
    """Freeze a model, in place, and give the linear layers of its blocks changes of a rank that are trained."""
    if rank < 1:
        raise ValueError(f"The rank of LoRA is {rank}; it must be at least 1 (usual: 4 to 64).")
    rng = np.random.default_rng(seed)
    for block in model.blocks:
        for layer in LAYERS:
            part, name = layer.split(".")
            inside = getattr(block, part)
            setattr(inside, name, LoRALinear(getattr(inside, name), rank, rng))
    for _, module in model.named_modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, Tensor) and value.requires_grad and not isinstance(module, LoRALinear):
                setattr(module, name, value.detach())
    return model


def merged_state(model: GPT) -> dict[str, np.ndarray]:
    """All weights under the names that they have in a plain GPT, with the changes added."""
    state = {}
    for path, module in model.named_modules():
        if isinstance(module, LoRALinear):
            state[f"{path}weight"] = module.merged()
            if module.own_bias is not None:
                state[f"{path}bias"] = module.own_bias.numpy()
        else:
            state |= {
                f"{path}{name}": value.numpy() for name, value in vars(module).items() if isinstance(value, Tensor)
            }
    return state
