"""A GPT whose matrices are quantised: it reads and writes text, and cannot be trained.

    held = quantised.weights(model.state(), "int4")          name -> Int8, Int4 or an array
    quantised.save(path, held, facts)
    model, tokenizer, facts = quantised.load(path)           a quantised file, or any run

The matrices of the blocks and the token embedding, which is the head too, are quantised; norms, biases and positions, less than
two in a hundred of the parameters of `12m`, are rounded to float16. Sums are in float32 on every device.

Limit: rows of the embedding are looked up by the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from course_lib import checkpoint, devices, functional, nn, run
from course_lib.devices.checking import check_indices
from course_lib.model import GPT, GPTConfig
from course_lib.run_folder import LAST
from course_lib.tensor import Tensor, tensor_from_array
from course_lib.tokenizer import Tokenizer

from .quantise import MOST, Int4, Int8, from_arrays, quantise_int4, quantise_int8

FORMATS = ("int8", "int4")
Held = dict[str, "Int8 | Int4 | np.ndarray"]


def weights(
    state: Mapping[str, np.ndarray], to: str, rule: str = "mse", symmetric: bool = True, show: Callable = iter
) -> Held:
    """The weights of `model.state()` in "int8" or "int4"; what is no matrix of a product in float16. show: draws a bar."""
    if to not in FORMATS:
        raise ValueError(f"Weights are quantised to {' or '.join(FORMATS)}, and not to {to!r}.")
    held: Held = {}
    for name in show(list(state)):
        values = state[name]
        if not is_product(name, values):
            held[name] = _rounded(name, values)
        elif to == "int8":
            held[name] = quantise_int8(values, rule)
        else:
            held[name] = quantise_int4(values, rule, symmetric)
    return held


def is_product(name: str, values: np.ndarray) -> bool:
    """Whether a parameter is a matrix that something is multiplied by as a whole: latent attention reads its own by heads."""
    return values.ndim == 2 and name != "positions.weight" and not name.endswith("attention.up")


def _rounded(name: str, values: np.ndarray) -> np.ndarray:
    if not (np.abs(values) <= MOST).all():
        raise ValueError(f"The weights {name} are not finite, or reach beyond {MOST:,.0f}, where float16 ends.")
    return values.astype(np.float16)


def arrays(held: Held) -> dict[str, np.ndarray]:
    """As a file holds them: "NAME.int4", "NAME.scales" and perhaps "NAME.zeros" for NAME."""
    found = {}
    for name, values in held.items():
        if isinstance(values, np.ndarray):
            found[name] = values
        else:
            found |= {f"{name}.{ending}": array for ending, array in values.arrays().items()}
    return found


def bits_per_weight(held: Held) -> float:
    """Bits of all that a file holds, for each parameter."""
    count = sum(values.size if isinstance(values, np.ndarray) else values.codes.size for values in held.values())
    return 8 * sum(array.nbytes for array in arrays(held).values()) / count


def save(path: Path, held: Held, facts: dict) -> None:
    """Write the file of a quantised model. facts: those of the run. Raises CheckpointError."""
    checkpoint.save(path, arrays(held), {}, facts, checkpoint.QUANTISED)


def make_run(source: str | Path, out: str | Path, to: str, show: Callable = iter) -> Path:
    """Write the model of a run, quantised, as the only file of a new folder that `load` reads; returns the file.

    Raises ValueError for a format that is not known, CheckpointError for a run without a model and a folder with something in it.
    """
    out = Path(out)
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise checkpoint.CheckpointError(
            f"{out} holds something already, and nothing of it was touched: give a new folder."
        )
    model, _, facts = run.load(source)
    held = weights(model.state(), to, show=show)
    out.mkdir(parents=True, exist_ok=True)
    save(out / LAST, held, facts)
    return out / LAST


def load(source: str | Path, device: str = "cpu") -> tuple[GPT, Tokenizer, dict]:
    """Like `run.load`, for a quantised file or its folder too. Raises CheckpointError."""
    path = run.checkpoint_in(source)
    saved = checkpoint.load(path, optimiser=False, kinds=(checkpoint.FORMAT, checkpoint.QUANTISED))
    if not any(name.endswith(".scales") for name in saved.weights):
        return run.load(path, device)
    config = GPTConfig(**saved.facts["config"])
    model = QuantisedGPT(config, _held(saved.weights, config, path), device)
    return model, Tokenizer.from_json(saved.facts["tokenizer"], path), saved.facts


def _held(found: dict[str, np.ndarray], config: GPTConfig, path: Path) -> Held:
    held: Held = {}
    for name, values in found.items():
        base, _, ending = name.rpartition(".")
        if ending in FORMATS:
            K = config.hidden if base.endswith("down.weight") else config.channels
            parts = {end: found[f"{base}.{end}"] for end in (ending, "scales", "zeros") if f"{base}.{end}" in found}
            try:
                held[base] = from_arrays(parts, K)
            except (ValueError, KeyError) as error:
                raise checkpoint.CheckpointError(
                    f"The weights {base} in {path} do not fit the model: {error}"
                ) from None
        elif ending not in ("scales", "zeros"):
            held[name] = values
    return held


class QuantisedLinear(nn.Module):
    """A linear layer with quantised weights: (*n, inputs) -> (*n, outputs). Nothing of it is trained."""

    bias = None  # the layers around may fuse a bias of ours with what follows: this one is added here

    def __init__(self, held: Int8 | Int4, bias: np.ndarray | None, device: str):
        ops = self.ops = devices.ops(device)
        self.words, self.scales = ops.from_numpy(held.words()), ops.from_numpy(held.scales)
        self.own_bias = None if bias is None else ops.from_numpy(bias.astype(np.float32))
        self.is_int8 = isinstance(held, Int8)
        zeros = None if self.is_int8 else held.zeros
        self.zeros = None if zeros is None else ops.from_numpy(zeros.astype(np.float32))

    def forward(self, x: Tensor) -> Tensor:
        if self.is_int8:
            y = self.ops.linear_int8_forward(x.array(), self.words, self.scales, self.own_bias)
        else:
            y = self.ops.linear_int4_forward(x.array(), self.words, self.scales, self.zeros, self.own_bias)
        return tensor_from_array(y, self.ops)


class QuantisedEmbedding(nn.Module):
    """Rows of a quantised table, written out by the host: indices (*n) -> (*n, channels)."""

    def __init__(self, held: Int8 | Int4, device: str):
        self.held, self.device = held, device

    def forward(self, indices) -> Tensor:
        picks = indices.numpy() if isinstance(indices, Tensor) else np.asarray(indices)
        check_indices("embedding", "index", picks, len(self.held.codes))
        return Tensor(self.held.rows(picks), "float32", self.device)


class QuantisedGPT(GPT):
    """A GPT of quantised weights (`weights`, above)."""

    def __init__(self, config: GPTConfig, held: Held, device: str = "cpu"):
        super().__init__(config, device=device)
        self.load_state(
            {name: values if isinstance(values, np.ndarray) else values.rows() for name, values in held.items()}
        )
        for path, module in list(self.named_modules()):
            for name, child in list(vars(module).items()):
                if isinstance(child, nn.Linear):
                    bias = None if child.bias is None else child.bias.numpy()
                    setattr(module, name, QuantisedLinear(held[f"{path}{name}.weight"], bias, device))
                elif isinstance(child, Tensor) and child.requires_grad:
                    setattr(module, name, child.detach())
        bias = None if self.head_bias is None else self.head_bias.numpy()
        self.head = QuantisedLinear(held["tokens.weight"], bias, device)
        self.tokens = QuantisedEmbedding(held["tokens.weight"], device)

    def loss(self, idx, targets) -> Tensor:
        targets = targets.numpy() if isinstance(targets, Tensor) else np.asarray(targets)
        logits = self(idx).reshape(-1, self.config.vocab_size)  # (B T, V)
        return functional.cross_entropy(logits, targets.reshape(-1))
