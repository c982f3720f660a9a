"""How arrays lie in memory, and how a launch is cut up: the same for kernels in CUDA C++ and in WGSL."""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST_ELEMENTS = 2**31 - 1  # so that an index fits an int
THREADS = 256  # of a block in which each thread minds its own elements


def blocks(n: int, each: int = THREADS) -> int:
    """How many blocks of `each` elements hold n."""
    return -(-n // each)


def collapse(shape: Sequence[int], *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """The same elements in the same order with fewer axes: those of length 1 go, and two that follow each other without a gap in
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


def collapse_within(
    op: str, most: int, shape: Sequence[int], *strides: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """`collapse`, for kernels that loop over `most` axes. Raises ValueError if there are more."""
    sizes, steps = collapse(shape, *strides)
    if len(sizes) > most:
        raise ValueError(
            f"{op} loops over up to {most} axes on this device, but the shape {tuple(shape)} has more that cannot be "
            "joined: make the array contiguous first."
        )
    return sizes, steps


def axis_index(op: str, axis: int, count: int) -> int:
    """A negative axis counted from the end. Raises ValueError outside the range."""
    if not -count <= axis < count:
        raise ValueError(f"{op}: axis {axis} does not exist: the axes are numbered {-count} to {count - 1}.")
    return axis % count


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of two shapes: aligned at the right, equal lengths or 1. Raises ValueError naming both."""
    if a == b:
        return a
    short, long = sorted((a, b), key=len)
    padded = (1,) * (len(long) - len(short)) + short
    for x, y in zip(padded, long, strict=True):
        if x != y and 1 not in (x, y):
            raise ValueError(
                f"The shapes {a} and {b} do not fit together: aligned at the right, the lengths {x} and {y} differ and "
                "neither is 1."
            )
    return tuple(y if x == 1 else x for x, y in zip(padded, long, strict=True))


def broadcast_strides(shape: Sequence[int], wide: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous array of `shape`, shown as the shape `wide`: 0 along the axes that are repeated."""
    missing = len(wide) - len(shape)
    own = [math.prod(shape[axis + 1 :]) if size != 1 else 0 for axis, size in enumerate(shape)]
    return (0,) * missing + tuple(own)
