"""What communication costs by the alpha-beta model: a message of n bytes takes alpha + n beta seconds. (Hockney 1994; Thakur,
Rabenseifner and Gropp 2005, "Optimization of collective communication operations in MPICH", section 3)

alpha: seconds for a message, however short. beta: seconds for a byte. Everything here is computed, nothing measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.model import GPTConfig


@dataclass(frozen=True)
class Link:
    """One direction of what joins two ranks."""

    alpha: float  # seconds
    beta: float  # seconds per byte

    def ring(self, size: int, ranks: int) -> float:
        """Seconds of an all_reduce of `size` bytes: 2 (N - 1) messages after each other, of size / N bytes."""
        return 2 * (ranks - 1) * (self.alpha + size / ranks * self.beta)


def fit(samples: Sequence[tuple[int, int, float]]) -> Link:
    """The link that explains all_reduces best: (bytes, ranks, seconds). Relative errors count, so that small ones do too."""
    rows = np.array([[2 * (n - 1), 2 * (n - 1) / n * size] for size, n, _ in samples])
    seconds = np.array([one[2] for one in samples])
    found = np.linalg.lstsq(rows / seconds[:, None], np.ones(len(seconds)), rcond=None)[0]
    if found.min() <= 0:  # one of the two does not show in these samples
        one = int(found.argmax())
        found = np.zeros(2)
        found[one] = 1 / np.mean(rows[:, one] / seconds)
    return Link(*found.tolist())


# Published figures of an NVIDIA H100 SXM and a DGX H100: dense bfloat16; NVLink 4 with 900 GB/s for both directions together;
# one InfiniBand NDR adapter of 400 Gb/s for each GPU. The latency and the part of the peak that is reached are assumptions,
# those of chapter 19.
PEAK, REACHED, LATENCY = 989e12, 0.4, 10e-6  # FLOP/s, its part, seconds
NVLINK, INFINIBAND = Link(LATENCY, 1 / 450e9), Link(LATENCY, 1 / 50e9)
IN_A_MACHINE = 8

GPT_1_3B = GPTConfig(layers=24, heads=16, channels=2048, context=2048, vocab_size=50304)  # as GPT-3 XL


@dataclass(frozen=True)
class Scaling:
    """A data parallel step on so many GPUs, computed: seconds; efficiency: of the speed of one GPU times their number."""

    gpus: int
    compute: float
    communication: float

    @property
    def efficiency(self) -> float:
        """If nothing of the communication is hidden behind the computation."""
        return self.compute / (self.compute + self.communication)

    @property
    def hidden(self) -> float:
        """If as much of it is hidden as the computation is long: the backward pass, two thirds of it."""
        return self.compute / (self.compute + max(0.0, self.communication - self.compute * 2 / 3))


def scaling(config: GPTConfig, gpus: int, tokens: int, weak: bool = True) -> Scaling:
    """Data parallel on machines of eight H100: float32 gradients, summed within a machine, then by eight rings between them.

    tokens: of a step on one GPU (weak), or of all together (strong).
    """
    parameters = sum(count for _, count in config.parameter_table())
    each = tokens if weak else tokens / gpus
    size, inside = 4 * parameters, min(gpus, IN_A_MACHINE)
    seconds = NVLINK.ring(size, inside)
    if gpus > inside:
        seconds += INFINIBAND.ring(size // inside, gpus // inside)
    return Scaling(gpus, config.flops_per_token() * each / (PEAK * REACHED), seconds)
