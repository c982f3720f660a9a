"""AdamW: kernels/adamw.cu, dozens of arrays to a launch; the norm that it clips by is kernels/global_norm.cu."""

from __future__ import annotations

import numpy as np

from .launching import address, blocks, kernel

__all__ = "adamw_step".split()

MOST, EACH, THREADS = 72, 16, 256  # arrays to a launch and elements to a thread, as in adamw.cu

# struct Arrays of adamw.cu.
ARRAYS = np.dtype(
    [(name, np.uint64, MOST) for name in ("parameter", "gradient", "first", "second", "copy")]
    + [("size", np.int32, MOST), ("end", np.int32, MOST), ("decay", np.float32, MOST), ("count", np.int32)],
    align=True,
)


def adamw_step(
    parameters, gradients, first_moments, second_moments, settings, norm, *,
    beta1, beta2, eps, weight_decay, max_norm, copies=None,
):  # fmt: skip
    """The op; copies: of each parameter its bfloat16 copy, which the same launch makes anew, or None."""
    copies = copies or [None] * len(parameters)
    lists = list(zip(parameters, gradients, first_moments, second_moments, copies, weight_decay, strict=True))
    lists = [entry for entry in lists if entry[0].size]
    for start in range(0, len(lists), MOST):
        arrays = _arrays(lists[start : start + MOST])
        kernel("adamw.cu", "adamw_step")(
            (int(arrays["end"][arrays["count"] - 1]),), (THREADS,),
            (arrays, settings, norm, beta1, 1 - beta1, beta2, 1 - beta2, eps, float(max_norm or 0)),
        )  # fmt: skip


def _arrays(lists):
    """The arrays of one launch as the struct that the kernel gets by value."""
    arrays, end = np.zeros((), ARRAYS), 0
    for i, (p, g, m, v, copy, decay) in enumerate(lists):
        for name, array in zip(("parameter", "gradient", "first", "second"), (p, g, m, v), strict=True):
            arrays[name][i] = address(array)
        arrays["copy"][i] = 0 if copy is None else address(copy)
        end += blocks(p.size, THREADS * EACH)
        arrays["size"][i], arrays["end"][i], arrays["decay"][i] = p.size, end, decay
    arrays["count"] = len(lists)
    return arrays[()]
