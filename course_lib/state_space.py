"""What stands in a block where another has attention: the state space of Mamba-3, a state that decays and rotates.

Mamba-3 (Lahoti et al. 2026): the trapezoidal rule (section 3.1, equation 5), and a complex state, which is a real one whose
pairs of numbers rotate by angles from the input (section 3.2, proposition 2). Its rotation is that of keys and queries by the
sum of all angles so far (proposition 4, equation 11). Queries and keys are normalised, then biased (section 3.4); there is no
convolution.

Changed: each head has its own queries and keys, as in the other layers here, where the paper's heads share them; what is read
is normalised before the gate, which the paper keeps for hybrids. Left out: steps that write several pairs at once (section
3.3), and a kernel of its own, for the rotation is done with other ops.
"""

from __future__ import annotations

import numpy as np

from course_lib import functional, nn
from course_lib.recurrent import by_head, filled, gated, sigmoid, slow, softplus
from course_lib.tensor import Tensor


class StateSpace(nn.Module):
    """(B, T, C) -> (B, T, C), C / H even. kind: "state_space", the one there is; Recurrent has several.

    A cache is a list, empty at first, then [state (B, H, D, D), the last key and value (B, H, 1, 2 D), tokens read]. The state is
    the paper's h, rotated to the last step, so that each call begins with angle 0.
    """

    def __init__(self, kind: str, config, std: float, rng: np.random.Generator | None = None, **made):
        rng = rng or np.random.default_rng()
        c, h, d = config.channels, config.heads, config.head_size
        self.heads, self.head_size = h, d
        self.qkvz = nn.Linear(c, 4 * h * d, False, rng=rng, **made)  # the last is the gate
        self.rates = nn.Linear(c, 3 * h + d // 2, True, rng=rng, **made)  # dt, decay and lambda of each head; angles
        self.rates.bias = nn.parameter(np.concatenate([slow(h, rng), np.zeros(2 * h + d // 2)]), **made)
        self.stacks = {"qkvz.weight": (h * d,) * 4, "rates.weight": (h, h, h, d // 2)}
        self.q_norm, self.k_norm = nn.RMSNorm(d, config.eps, **made), nn.RMSNorm(d, config.eps, **made)
        self.q_bias, self.k_bias = (nn.parameter(np.ones((h, 1, d)), **made) for _ in range(2))
        self.norm = nn.RMSNorm(d, config.eps, **made)
        self.out = nn.Linear(h * d, c, config.bias, rng=rng, **{**made, "std": std})

    @staticmethod
    def weights_of(kind: str, c: int, heads: int) -> int:
        """Weights that are multiplied with every token."""
        return 5 * c * c + c * (3 * heads + c // heads // 2)

    @staticmethod
    def parameter_count_of(kind: str, c: int, heads: int, bias: bool) -> int:
        """All parameters."""
        d = c // heads
        return StateSpace.weights_of(kind, c, heads) + 3 * heads + d // 2 + 2 * c + 3 * d + bias * c

    def forward(self, x: Tensor, rotation, cache: list | None) -> Tensor:
        b, t, _ = x.shape
        h, d = self.heads, self.head_size
        q, k, v, gate = functional.split(self.qkvz(x), (h * d,) * 4)  # (B, T, C) each
        q, k, v = (by_head(part, h) for part in (q, k, v))  # (B, H, T, D)
        q, k = self.q_norm(q) + self.q_bias, self.k_norm(k) + self.k_bias
        dt, decay, lam, angles = functional.split(self.rates(x), (h, h, h, d // 2))
        dt, decay, lam = (
            part.transpose(0, 2, 1) for part in (softplus(dt), softplus(decay), sigmoid(lam))
        )  # (B, H, T)
        before = dt * (1.0 - lam)  # what a step weighs the pair of the step before it by
        gamma = dt * lam
        weight = gamma + functional.concatenate([before[:, :, 1:], filled(x, (b, h, 1), 0.0)], axis=2)

        # (B, H, T, 1) (B, 1, T, D/2): how far each step rotates each pair, and the sums of that
        phase = summed(dt.reshape(b, h, t, 1) * angles.reshape(b, 1, t, d // 2))  # (B, H, T, D/2)
        cos, sin = phase.cos(), phase.sin()
        state, last, length = cache or (None, None, 0)
        if state is not None:  # the pair of the step before, which this call's first step writes once more
            key, value = functional.split(last, (d, d))  # (B, H, 1, D)
            state = state + (before[:, :, :1].reshape(b, h, 1, 1) * key.transpose(0, 1, 3, 2)) * value
        y, state = functional.state_space(
            rotated(q, cos, -sin), rotated(k, cos, -sin), v, -(dt * decay), gamma, weight, state
        )
        if cache is not None:
            columns = rotated(state.transpose(0, 1, 3, 2), cos[:, :, t - 1 :], sin[:, :, t - 1 :])  # (B, H, E, D)
            last = functional.concatenate([k[:, :, t - 1 :], v[:, :, t - 1 :]], axis=-1)  # (B, H, 1, 2 D)
            cache[:] = [columns.transpose(0, 1, 3, 2).contiguous(), last, length + t]
        return self.out(gated(self.norm, y, gate))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x (..., T, D), number i rotated with i + D/2 as a pair, by the angles of cos and sin (..., T, D/2)."""
    half = x.shape[-1] // 2
    first, second = functional.split(x, (half, half))
    return functional.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def summed(x: Tensor) -> Tensor:
    """Prefix sums along T of x (B, H, T, N): a recurrence without decay, with one key that is always 1."""
    one = filled(x, (*x.shape[:3], 1), 1.0)
    return functional.gated_linear_attention(one, one, x, one * 0.0)[0]
