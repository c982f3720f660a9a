"""The whole model against the same model in PyTorch: gradients, ten AdamW steps with clipping, eight of the recipe's Muon."""

import numpy as np
import pytest

from course_lib import optim, recipes, run
from course_lib.model import GPT, GPTConfig

torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
pytestmark = pytest.mark.peers

from course_lib.benchmarks.torch_model import TorchModel  # noqa: E402

torch.set_num_threads(1)  # spinning threads of two test workers would fight for two cores


def both(preset, dtype, batch=2, time=37):
    """Our model and PyTorch's with equal weights (the real widths, fewer layers), and one batch with an ignored target."""
    config = GPTConfig.preset(preset, layers=2)
    ours = GPT(config, dtype=dtype, seed=3)
    generator = np.random.default_rng(0)
    state = {
        name: generator.normal(0, 0.05, p.shape) + (p.ndim == 1) * p.numpy() for name, p in ours.named_parameters()
    }
    ours.load_state(state)
    theirs = TorchModel(config, ours.state(), getattr(torch, dtype))
    tokens = generator.integers(0, config.vocab_size, (batch, time + 1))
    idx, targets = tokens[:, :-1], tokens[:, 1:].copy()
    targets[0, 5] = -1
    return ours, theirs, idx, targets


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("float64", 1e-9)])
@pytest.mark.parametrize("preset", ["12m", "modern-12m", "small"])
def test_gradients_agree_with_pytorch(preset, dtype, tolerance):
    ours, theirs, idx, targets = both(preset, dtype)
    loss = ours.loss(idx, targets)
    loss.backward()
    peer = theirs(torch.tensor(idx), torch.tensor(targets))
    peer.backward()
    assert loss.item() == pytest.approx(peer.item(), rel=tolerance)
    gradients = theirs.gradients()
    for name, p in ours.named_parameters():
        scale = np.abs(gradients[name]).max()
        assert np.abs(p.grad.numpy() - gradients[name]).max() <= tolerance * scale, name


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("float64", 1e-9)])
@pytest.mark.parametrize("preset", ["12m", "modern-12m"])
def test_ten_steps_of_adamw_give_pytorchs_losses(preset, dtype, tolerance):
    ours, theirs, idx, targets = both(preset, dtype)
    optimiser = optim.AdamW(ours.named_parameters(), betas=(0.9, 0.95), weight_decay=0.1, max_norm=1.0)
    peer = theirs.optimiser(1e-3)
    for step in range(10):
        loss = ours.loss(idx, targets)
        optimiser.zero_grad()
        loss.backward()
        norm = optimiser.step(1e-3)
        peer_loss = theirs(torch.tensor(idx), torch.tensor(targets))
        peer.zero_grad()
        peer_loss.backward()
        peer_norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0).item()
        peer.step()
        assert loss.item() == pytest.approx(peer_loss.item(), rel=tolerance), f"step {step}"
        if step == 0 or dtype == "float64":  # in float32 the norm of a batch half learned is mostly rounding
            assert norm == pytest.approx(peer_norm, rel=tolerance), f"step {step}"


THREE_POLAR_STEPS = (
    (8.287212, -23.595887, 17.300387),
    (4.107059, -2.947850, 0.544843),
    (3.948691, -2.908902, 0.551819),
)


def polar(matrix):
    """Three steps of the quintic Newton-Schulz iteration on the matrix itself, as Jordan et al. write it, with the coefficients
    of Amsel et al."""
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / x.norm()
    for a, b, c in THREE_POLAR_STEPS:
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


class PeerMuon:
    """Muon in PyTorch for parameters, each with the rows of the matrices that it is made of."""

    def __init__(self, matrices, momentum, decay):
        self.matrices, self.momentum, self.decay = matrices, momentum, decay
        self.sums = [torch.zeros_like(p) for p, _ in matrices]

    @torch.no_grad()
    def step(self, rate):
        for (p, rows), total in zip(self.matrices, self.sums, strict=True):
            total.mul_(self.momentum).add_(p.grad)
            ahead = p.grad + self.momentum * total  # Nesterov's
            moves = [max(1.0, len(part) / part.shape[1]) ** 0.5 * polar(part) for part in ahead.split(rows)]
            p.mul_(1 - rate * self.decay).sub_(rate * torch.cat(moves))


# Polar steps make small singular values some 100 times as large, with their rounding: 1e-5 of a step in float32.
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("float64", 1e-11)])
@pytest.mark.parametrize("preset", ["12m", "modern-12m"])
def test_eight_steps_of_the_recipe_give_pytorchs_losses_and_weights(preset, dtype, tolerance):
    """Sizes of no round number, queries beside fewer keys, some targets that count up to 30 times and one that does not."""
    settings, generator = recipes.settings(preset), np.random.default_rng(5)
    sizes = {"layers": 2, "heads": 3, "kv_heads": 1, "channels": 42, "hidden": 53, "context": 13, "vocab_size": 61}
    config = GPTConfig.preset(preset, **sizes)
    ours = GPT(config, dtype=dtype, seed=3)
    theirs, before = TorchModel(config, ours.state(), getattr(torch, dtype)), ours.state()
    named, stacked = list(ours.named_parameters()), ours.stacked()
    muon = run.make_optimiser(settings, named, stacked)
    peers = {name.replace("/", "."): p for name, p in theirs.weights.items()}
    matrices = {name for name, p in peers.items() if name.startswith("blocks.") and p.ndim == 2}
    peer = PeerMuon([(peers[name], list(stacked.get(name, peers[name].shape[:1]))) for name in matrices], 0.98, 0.1)
    rest = theirs.optimiser(settings.peak)
    for step in range(8):
        tokens = generator.integers(0, config.vocab_size, (3, config.context + 1))
        idx, targets = tokens[:, :-1], tokens[:, 1:].copy()  # (B, T) each
        counted = generator.choice([1.0, 9.5, 30.0], targets.shape)  # (B, T)
        targets[0, 5] = -1
        loss = ours.loss(idx, targets, counted)
        muon.zero_grad()
        loss.backward()
        norm = muon.step(settings.peak)
        theirs.zero_grad()
        losses = theirs(torch.tensor(idx), torch.tensor(targets), "none")  # (B T)
        of_one = losses / (targets != -1).sum()
        (of_one * torch.tensor(counted.ravel(), dtype=of_one.dtype)).sum().backward()
        peer.step(settings.matrix_peak)
        peer_norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0).item()
        for p, _ in peer.matrices:
            p.grad = None  # AdamW leaves these alone
        rest.step()
        assert loss.item() == pytest.approx(of_one.sum().item(), rel=tolerance), f"step {step}"
        assert norm == pytest.approx(peer_norm, rel=tolerance), f"step {step}"
    for name, p in named:
        expected = peers[name].detach().numpy()
        apart, moved = np.abs(p.numpy() - expected), np.abs(expected - before[name]).max()
        if name.endswith("qkv.bias"):
            apart[42:56] = 0.0  # softmax takes no notice of a bias of keys, whose gradient is rounding alone
        assert apart.max() <= tolerance * moved, name
