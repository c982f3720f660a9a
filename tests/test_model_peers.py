"""The whole model against the same model in PyTorch: gradients, and ten AdamW steps with clipping."""

import numpy as np
import pytest

from course_lib import optim
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
