"""Multi-head latent attention: keys and values are two products of one short vector, and only that vector is cached.

DeepSeek-V2 (2024, arXiv 2405.04434, sections 2.1.2 and 2.1.3). From the normed stream of a token come the latent c (equation 9,
with a norm of its own as in section 3.1.2) and one rotated key k_R for all heads (15). A head's query is [q_C; q_R] (16), its
key [W_UK c; k_R] (10 and 17), its value W_UV c (11). Rotation stands beside the latent, since one between W_UK and the query
would keep the two from being multiplied into each other (section 2.1.3).

Training writes keys and values out and calls attention as ever. With a cache the weights are absorbed:

    q_C . (W_UK c) = (W_UK^T q_C) . c        sum over s of p_s W_UV c_s = W_UV (sum over s of p_s c_s)

so all heads attend to the same rows [c; k_R], as if there were one key-value head, and the rows of c are the values too. The two
ways differ by rounding only. W_UK^T W_Q and W_O W_UV are not made as matrices: they would hold more numbers than their factors.

Changed: queries are not compressed (12, 13), which saves memory while training, and nothing in the cache; rotated numbers are
half of a head and not as many again by half (R = D / 2), so that keys are as wide as values.

Limit: cuda and the simulator attend to rows of at most 128 numbers, K + R.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from course_lib import functional, key_values, nn
from course_lib.tensor import Tensor


class LatentAttention(nn.Module):
    """Causal self-attention: (B, T, C) -> (B, T, C). K is the rank of keys and values, R the rotated numbers of a head."""

    def __init__(self, config, std: float, rng: np.random.Generator | None = None, **made):
        rng = rng or np.random.default_rng()
        h, d = config.heads, config.head_size
        self.heads, self.head_size, self.context = h, d, config.context
        self.latent, self.rotated = config.latent, config.rotated
        self.qkv = nn.Linear(config.channels, h * d + self.latent + self.rotated, config.bias, rng=rng, **made)
        self.stacks = {"qkv.weight": (h * d, self.latent, self.rotated), "up": (h * (d - self.rotated), h * d)}
        self.norm = nn.RMSNorm(self.latent, config.eps, **made)
        # rows: W_UK of each head, then W_UV of each. No Linear: absorbed, it is read head by head
        self.up = nn.parameter(rng.normal(0.0, 0.02, (h * (2 * d - self.rotated), self.latent)), **made)
        self.out = nn.Linear(h * d, config.channels, config.bias, rng=rng, **{**made, "std": std})

    @staticmethod
    def weights_of(config) -> int:
        """Weights that are multiplied with every token, keys and values written out."""
        c, h, d, k, r = config.channels, config.heads, config.head_size, config.latent, config.rotated
        return c * (h * d + k + r) + h * (2 * d - r) * k + h * d * c

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], cache) -> Tensor:
        b, t, _ = x.shape
        h, d, r = self.heads, self.head_size, self.rotated
        q, c, k_r = functional.split(self.qkv(x), (h * d, self.latent, r))  # (B, T, H D), (B, T, K), (B, T, R)
        q_c, q_r = functional.split(q.reshape(b, t, h, d), (d - r, r))  # (B, T, H, D - R), (B, T, H, R)
        q_r = functional.rope(q_r, *rotation)
        k_r = functional.rope(k_r.reshape(b, t, 1, r), *rotation)  # (B, T, 1, R)
        attend = self._written_out if cache is None else partial(self._absorbed, cache)
        y = attend(q_c, q_r, self.norm(c), k_r)  # (B, T, H, D)
        return self.out(y.reshape(b, t, h * d))

    def _written_out(self, q_c: Tensor, q_r: Tensor, c: Tensor, k_r: Tensor) -> Tensor:
        (b, t, h, own), d = q_c.shape, self.head_size
        k_c, v = functional.split(functional.linear(c, self.up), (h * own, h * d))  # (B, T, H (D - R)), (B, T, H D)
        k = functional.concatenate([k_c.reshape(b, t, h, own), k_r.broadcast_to((b, t, h, d - own))], axis=-1)
        return functional.attention(functional.concatenate([q_c, q_r], axis=-1), k, v.reshape(b, t, h, d))

    # region absorbed
    def _absorbed(self, cache, q_c: Tensor, q_r: Tensor, c: Tensor, k_r: Tensor) -> Tensor:
        (b, t, h, own), d, k = q_c.shape, self.head_size, self.latent
        key_up = self.up[: h * own].reshape(h, own, k)  # (H, D - R, K)
        value_up = self.up[h * own :].reshape(h, d, k)  # (H, D, K)
        q = by_head(q_c) @ key_up  # (H, B T, D - R) @ (H, D - R, K) -> (H, B T, K)
        q = functional.concatenate([q.reshape(h, b, t, k).transpose(1, 2, 0, 3), q_r], axis=-1)  # (B, T, H, K + R)
        row = functional.concatenate([c.reshape(b, t, 1, k), k_r], axis=-1)  # (B, T, 1, K + R)
        # attention divides by the root of the width that it sees; the scores are those of heads of D numbers
        found = key_values.attend(cache, self.context, q * (q.shape[-1] / d) ** 0.5, row, row)  # (B, T, H, K + R)
        y = by_head(found[..., :k]) @ value_up.transpose(0, 2, 1)  # (H, B T, K) @ (H, K, D) -> (H, B T, D)
        return y.reshape(h, b, t, d).transpose(1, 2, 0, 3)  # (B, T, H, D)

    # endregion


def by_head(x: Tensor) -> Tensor:
    """(B, T, H, n) -> (H, B T, n): a matrix for each head."""
    b, t, h, n = x.shape
    return x.transpose(2, 0, 1, 3).reshape(h, b * t, n)
