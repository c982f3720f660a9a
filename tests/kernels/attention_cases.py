"""The sizes that every attention kernel is tried on, their arrays, and what float64 says: for float32 and for bfloat16."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from course_lib.devices import ops
from tests.kernels.checking import normal

WHAT = ("y", "logsumexp", "dq", "dk", "dv")
REFERENCE, SIMULATOR = ops("reference"), ops("simulator")

# B, T, S, H, G, D, causal
SIZES = [
    (1, 2, 2, 1, 1, 32, True),
    (2, 37, 37, 6, 2, 32, True),  # three query heads to a key-value head
    (1, 65, 65, 2, 2, 64, True),  # one row more than a tile has
    (1, 129, 129, 1, 1, 64, True),
    (1, 33, 33, 2, 1, 128, True),
    (2, 17, 50, 4, 2, 64, True),  # continues a cache of 33
    (1, 5, 200, 2, 2, 128, True),
    (1, 19, 70, 4, 2, 64, False),
    (1, 70, 19, 2, 1, 32, False),  # more queries than keys
    (2, 31, 31, 3, 1, 7, True),  # a head that fills no vector
    (1, 20, 20, 2, 2, 100, True),
]
NAMES = ["-".join(map(str, sizes)) for sizes in SIZES]


def any_sizes(largest_head: int):
    """A strategy: B, T, keys before the first query, query heads to a key-value head, G, D."""
    bounds = ((1, 2), (1, 70), (0, 70), (1, 3), (1, 2), (1, largest_head))
    return st.tuples(*(st.integers(*pair) for pair in bounds))


def draw(B, T, S, H, G, D, seed=0, deviation=1.0):
    """q, k, v, dy in device memory."""
    return (
        normal(B, T, H, D, seed=seed, deviation=deviation),
        normal(B, S, G, D, seed=seed + 1),
        normal(B, S, G, D, seed=seed + 2),
        normal(B, T, H, D, seed=seed + 3),
    )


def expected(q, k, v, dy, causal):
    """y, logsumexp, dq, dk, dv in float64."""
    q, k, v, dy = (array.astype(np.float64) for array in (q, k, v, dy))
    y, logsumexp = REFERENCE.attention_forward(q, k, v, causal)
    return y, logsumexp, *REFERENCE.attention_backward(dy, q, k, v, y, logsumexp, causal)


def computed(q, k, v, dy, causal):
    """The same on the simulator."""
    y, logsumexp = SIMULATOR.attention_forward(q, k, v, causal)
    return y, logsumexp, *SIMULATOR.attention_backward(dy, q, k, v, y, logsumexp, causal)
