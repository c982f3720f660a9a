"""The layer of Mamba-3: the complex recurrence of its paper, written down; gradients; every device."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import Tensor, gradcheck, no_grad
from course_lib.devices import available_devices
from course_lib.model import GPTConfig
from course_lib.state_space import StateSpace, rotated, summed

TINY = {
    "layers": 1,
    "heads": 2,
    "channels": 16,
    "context": 64,
    "vocab_size": 50,
    "positions": "none",
    "mixers": "state_space",
}
D = 8


def layer(dtype="float64", device="cpu", seed=0) -> StateSpace:
    """One whose weights are large enough that every part of it matters: decays, lambdas and angles of many sizes."""
    random = np.random.default_rng(seed)
    made = StateSpace("state_space", GPTConfig(**TINY), 0.3, rng=random, dtype=dtype, device=device)
    state = {name: random.normal(0, 0.5, values.shape) for name, values in made.state().items()}
    made.load_state({name: (values + name.endswith("norm.weight")).astype(dtype) for name, values in state.items()})
    return made


def written_down(made: StateSpace, x: np.ndarray) -> np.ndarray:
    """The complex state space (equation 8) by the trapezoidal rule (equation 5), step after step: x (T, C) -> (T, C)."""
    weight = {name: parameter.numpy() for name, parameter in made.named_parameters()}
    T, H = len(x), made.heads

    def normal(part, scale):
        return part / np.sqrt((part * part).mean(-1, keepdims=True) + made.norm.eps) * scale

    q, k, v, z = np.split(x @ weight["qkvz.weight"].T, 4, axis=1)
    q, k, v = (part.reshape(T, H, D).transpose(1, 0, 2) for part in (q, k, v))  # (H, T, D)
    q = normal(q, weight["q_norm.weight"]) + weight["q_bias"]
    k = normal(k, weight["k_norm.weight"]) + weight["k_bias"]
    rates = x @ weight["rates.weight"].T + weight["rates.bias"]
    dt, A = np.logaddexp(0, rates[:, :H]), -np.logaddexp(0, rates[:, H : 2 * H])  # (T, H)
    lam, theta = 1 / (1 + np.exp(-rates[:, 2 * H : 3 * H])), rates[:, 3 * H :]  # (T, H), (T, D/2)
    C = q[..., : D // 2] - 1j * q[..., D // 2 :]  # (H, T, D/2): C and B of equation 8; y is the real part of C h
    B = k[..., : D // 2] + 1j * k[..., D // 2 :]
    y = np.zeros((T, H, D))
    for head in range(H):
        h = np.zeros((D // 2, D), complex)
        for t in range(T):
            alpha = np.exp(dt[t, head] * (A[t, head] + 1j * theta[t]))[:, None]  # (D/2, 1)
            before = np.outer(B[head, t - 1], v[head, t - 1]) if t else 0.0
            l, step = lam[t, head], dt[t, head]
            h = alpha * h + (1 - l) * step * alpha * before + l * step * np.outer(B[head, t], v[head, t])
            y[t, head] = (C[head, t] @ h).real
    y = normal(y, weight["norm.weight"]).reshape(T, -1)
    return (y * z / (1 + np.exp(-z))) @ weight["out.weight"].T + weight["out.bias"]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])
@pytest.mark.parametrize("T", [1, 2, 70])
def test_it_is_the_papers_complex_recurrence(dtype, tolerance, T):
    """With decays and rotations in the state, number by number; ours rotates keys and queries, in chunks or compiled loops."""
    made, x = layer(dtype), np.random.default_rng(T).normal(size=(2, T, 16))
    wide = layer()
    got = made(Tensor(x, dtype), None, None).numpy()
    want = np.stack([written_down(wide, text) for text in x])
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


def test_gradients_agree_with_finite_differences():
    made = layer()

    def run(x, weight, bias, k_bias):
        made.rates.weight, made.rates.bias, made.k_bias = weight, bias, k_bias
        return made(x, None, None)

    given = [made.rates.weight, made.rates.bias, made.k_bias]
    x = np.random.default_rng(0).normal(size=(1, 5, 16))
    gradcheck(run, [x, *(parameter.numpy() for parameter in given)], device="cpu", tolerance=1e-5)


DEVICES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name == "simulator"))  # it compiles a dozen kernels
    for name in available_devices()
    if name not in ("reference", "cuda")
]


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same_values_and_gradients(device):
    x, upstream = np.random.default_rng(0).normal(size=(2, 1, 18, 16))  # the second chunk of a kernel has two steps
    results = []
    for name, dtype in (("reference", "float64"), (device, "float32")):
        made, given = layer(dtype, name), Tensor(x, dtype, name, requires_grad=True)
        y = made(given, None, None)
        (y * Tensor(upstream, dtype, name)).sum().backward()
        results.append([y.numpy(), given.grad.numpy(), *(parameter.grad.numpy() for parameter in made.parameters())])
    for got, want in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * np.abs(want).max())


@no_grad()
def test_a_rotation_keeps_lengths_and_sums_are_numpys():
    random = np.random.default_rng(0)
    x, angle = random.normal(size=(1, 2, 9, 8)), random.normal(size=(1, 2, 9, 4))
    cos, sin = Tensor(np.cos(angle), "float64"), Tensor(np.sin(angle), "float64")
    turned = rotated(Tensor(x, "float64"), cos, sin).numpy()
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), atol=1e-12)
    back = rotated(Tensor(turned, "float64"), cos, -sin).numpy()
    np.testing.assert_allclose(back, x, atol=1e-12)
    np.testing.assert_allclose(summed(Tensor(angle, "float64")).numpy(), angle.cumsum(axis=2), atol=1e-12)


@no_grad()
def test_it_tells_odd_from_even():
    """Parity, which no state that only decays can hold: half a turn for each 1, and the sign is the answer (section 3.2)."""
    made, bits = layer(), np.random.default_rng(0).integers(0, 2, 200)
    bits[0] = 0
    for name, weight in made.named_parameters():
        weight.storage.array[:] = 1.0 if name.endswith(("norm.weight", "q_bias", "k_bias")) else 0.0
    qkvz, rates, out = (getattr(made, name).weight.storage.array.reshape(-1, 16) for name in ("qkvz", "rates", "out"))
    qkvz[32, 1] = qkvz[48, 2] = out[0, 0] = 1.0  # channel 1 is written, channel 2 opens the gate
    made.rates.bias.storage.array[:6] = *[np.log(np.e - 1)] * 2, *[-50.0] * 2, *[50.0] * 2  # dt 1, no decay, lambda 1
    rates[6:, 0] = np.pi  # channel 0, the bit, is half a turn
    x = np.stack([bits, np.arange(200) == 0, np.ones(200), *np.zeros((13, 200))], axis=1)[None]  # (1, T, C)
    signs = made(Tensor(x, "float64"), None, None).numpy()[0, :, 0]
    np.testing.assert_array_equal(signs > 0, bits.cumsum() % 2 == 0)
