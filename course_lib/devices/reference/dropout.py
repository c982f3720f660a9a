"""Dropout (Srivastava et al. 2014) with the same bits on every device.

Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") is a function from a counter of four
words and a key of two to four random words. It keeps no state: seed, step, site and element say all, and the bits of
any element can be had at any time, in any order.
"""

from __future__ import annotations

import numpy as np

__all__ = "dropout_forward dropout_backward".split()

LOW = np.uint64(0xFFFFFFFF)  # the low half of 64 bits
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)  # section 4.3 of the paper
KEY_STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)  # golden ratio, sqrt(3) - 1


def philox(counter, key):
    """Philox4x32-10: counter words (4 arrays, broadcast), key words (2) -> uint32 array (..., 4)."""
    c0, c1, c2, c3 = (np.asarray(word, np.uint64) for word in counter)
    k0, k1 = (np.asarray(word, np.uint64) for word in key)
    for _ in range(10):
        product0, product1 = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]  # 32 x 32 -> 64 bits, exact
        high0, low0 = product0 >> np.uint64(32), product0 & LOW
        high1, low1 = product1 >> np.uint64(32), product1 & LOW
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + KEY_STEPS[0]) & LOW, (k1 + KEY_STEPS[1]) & LOW
    return np.stack(np.broadcast_arrays(c0, c1, c2, c3), axis=-1).astype(np.uint32)


def _kept(shape, probability, random, site):
    """Which elements of an array of this shape stay: bool, the same in forward and backward."""
    seed_low, seed_high, step = random
    size = int(np.prod(shape))
    fours = np.arange((size + 3) // 4)  # element i reads word i % 4 of counter i // 4
    words = philox((fours, 0, step, site), (seed_low, seed_high)).reshape(-1)[:size]
    return (words >= probability * 2.0**32).reshape(shape)


def dropout_forward(x, probability, random, site):
    return np.where(_kept(x.shape, probability, random, site), x / (1 - probability), x.dtype.type(0))


def dropout_backward(dy, probability, random, site):
    return dropout_forward(dy, probability, random, site)  # y is x times a constant, and dx is dy times the same
