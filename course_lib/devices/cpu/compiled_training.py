"""Cross-entropy, the optimiser, and copies of views by compiled loops."""

from __future__ import annotations

import math

import numpy as np

from ..checks import joined_shape
from . import arithmetic, plain_training, storage
from .compiled import WIDE, address, loops, pointers
from .memory import SMALL, empty, zeros

__all__ = """
    cross_entropy_forward cross_entropy_backward global_norm adamw_step scatter_add embedding_backward
    strided_copy strided_write concatenate
""".split()


def cross_entropy_forward(logits, targets, ignore_index=-1):
    kept = targets != ignore_index  # (n)
    if not logits.size:
        return plain_training.cross_entropy_forward(logits, targets, ignore_index)
    n, V = logits.shape
    losses, logsumexp = np.empty(n, logits.dtype), empty((n,), logits.dtype)
    targets = np.ascontiguousarray(targets, np.int64)
    x, losses_at, logsumexp_at = pointers(logits, losses, logsumexp)
    loops.cross_entropy_forward(WIDE[logits.dtype], x, address(targets), ignore_index, losses_at, logsumexp_at, n, V)
    count = np.count_nonzero(kept)
    return np.asarray(losses.sum(dtype=np.float64) / count if count else np.nan, logits.dtype), logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    kept = targets != ignore_index  # (n)
    dlogits = empty(logits.shape, logits.dtype)
    if not logits.size:
        return dlogits
    targets = np.ascontiguousarray(targets, np.int64)
    x, logsumexp_at, dx = pointers(logits, logsumexp, dlogits)
    loops.cross_entropy_backward(
        WIDE[logits.dtype], x, address(targets), ignore_index, logsumexp_at, dx,
        float(dloss) / max(1, np.count_nonzero(kept)), *logits.shape,
    )  # fmt: skip
    return dlogits


def global_norm(arrays):
    sizes = np.array([array.size for array in arrays])
    found = np.array(pointers(*arrays), np.uintp)
    total = loops.sum_of_squares(WIDE[arrays[0].dtype], address(found), address(sizes), len(arrays))
    return np.array([math.sqrt(total)], arrays[0].dtype)  # (1)


def adamw_step(
    parameters, gradients, first_moments, second_moments, settings, norm, *,
    beta1, beta2, eps, weight_decay, max_norm,
):  # fmt: skip
    learning_rate, correction1, correction2 = settings.tolist()
    scale = 1.0 if norm is None else min(1.0, max_norm / (float(norm[0]) + 1e-6))
    lists = (parameters, gradients, first_moments, second_moments)
    count = len(parameters)
    found = np.array(pointers(*(array for arrays in lists for array in arrays)), np.uintp)
    found = found.reshape(4, count)
    sizes = np.array([p.size for p in parameters])
    keeps = np.array([1 - learning_rate * decay for decay in weight_decay])
    loops.adamw_step(
        WIDE[parameters[0].dtype], *(address(row) for row in found), address(sizes), address(keeps), count,
        beta1, beta2, eps, learning_rate / correction1, correction2, scale,
    )  # fmt: skip


def scatter_add(updates, indices, rows):
    if updates.dtype not in WIDE or not updates.size:
        return arithmetic.scatter_add(updates, indices, rows)
    result = zeros((rows, *updates.shape[indices.ndim :]), updates.dtype)
    indices = np.ascontiguousarray(indices, np.int64)
    found, result_at = pointers(updates, result)
    loops.scatter_add(
        WIDE[updates.dtype], found, address(indices), result_at, indices.size, updates.size // indices.size
    )
    return result


def embedding_backward(dy, indices, rows):
    return scatter_add(dy, indices, rows)


def _copy_view(source, target):
    """Like np.copyto for two views of one shape and dtype, by rows where they have rows."""
    rows = _rows(source, target) if target.nbytes >= SMALL else None
    if rows is None:
        np.copyto(target, source)
    else:
        loops.copy_rows(source.ctypes.data, target.ctypes.data, *rows)


def strided_copy(x, shape, strides, offset=0, out=None):
    if out is None:
        out = empty(shape, x.dtype)
    _copy_view(storage.strided(x, shape, strides, offset), out)
    return out


def strided_write(x, values, strides, offset=0, add=False):
    if add:
        storage.strided_write(x, values, strides, offset, add)
    else:
        _copy_view(values, storage.strided(x, values.shape, strides, offset))


def concatenate(arrays, axis):
    axis, shape = joined_shape(arrays, axis)
    result, start = empty(shape, arrays[0].dtype), 0
    for array in arrays:
        stop = start + array.shape[axis]
        _copy_view(array, result[(slice(None),) * axis + (slice(start, stop),)])
        start = stop
    return result


def _rows(source, target):
    """(n0, n1, n2, strides of the source, strides of the target, bytes of a row), or None if the rows are short or many-axed.

    Neighbouring axes are made one where both sides step through them evenly.
    """
    shape, steps = [target.itemsize], [(1, 1)]
    for length, a, b in zip(reversed(target.shape), reversed(source.strides), reversed(target.strides), strict=True):
        if length == 1:
            continue
        if a == steps[-1][0] * shape[-1] and b == steps[-1][1] * shape[-1]:
            shape[-1] *= length
        else:
            shape.append(length)
            steps.append((a, b))
    if len(shape) > 4 or shape[0] < 64:
        return None
    shape += [1] * (4 - len(shape))
    steps += [(0, 0)] * (4 - len(steps))
    outer = (3, 2, 1)
    return (*(shape[i] for i in outer), *(steps[i][0] for i in outer), *(steps[i][1] for i in outer), shape[0])
