"""Views as a kernel takes them: the struct View of kernels/include/view.cuh, with as few axes as will do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

MOST_AXES = 6
VIEW = np.dtype([("axes", np.int32), ("sizes", np.int32, MOST_AXES), ("strides", np.int64, MOST_AXES)], align=True)


def collapse(shape: Sequence[int], *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """The same walk through memory with fewer axes: those of length 1 go, and two that follow each other without a gap in
    every one of the given strides become one. (2, 3, 4) contiguous is one axis of 24."""
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        own = [stride[axis] for stride in strides]
        if sizes and all(kept[-1] == step * size for kept, step in zip(steps, own, strict=True)):
            sizes[-1] *= size
            for kept, step in zip(steps, own, strict=True):
                kept[-1] = step
        else:
            sizes.append(size)
            for kept, step in zip(steps, own, strict=True):
                kept.append(step)
    return sizes, steps


def views(op: str, shape: Sequence[int], *strides: Sequence[int]) -> list[np.void]:
    """One struct View for each of the given strides, all of one shape. Raises ValueError if the shape has too many axes."""
    sizes, steps = collapse(shape, *strides)
    if len(sizes) > MOST_AXES:
        raise ValueError(
            f"{op} walks over up to {MOST_AXES} axes on this device, but the shape {tuple(shape)} has more that cannot be "
            "joined: make the array contiguous first."
        )
    made = []
    for own in steps:
        view = np.zeros((), VIEW)
        view["axes"] = len(sizes)
        view["sizes"][: len(sizes)] = sizes
        view["strides"][: len(sizes)] = own
        made.append(view[()])
    return made


def broadcast_strides(shape: Sequence[int], wide: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous array of `shape`, shown as the shape `wide`: 0 along the axes that are repeated."""
    missing = len(wide) - len(shape)
    own = [math.prod(shape[axis + 1 :]) if size != 1 else 0 for axis, size in enumerate(shape)]
    return (0,) * missing + tuple(own)
