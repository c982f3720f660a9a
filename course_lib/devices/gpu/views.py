"""Views as a kernel takes them: the struct View of kernels/include/view.cuh, with as few axes as will do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..layout import collapse_within

MOST_AXES = 6
VIEW = np.dtype([("axes", np.int32), ("sizes", np.int32, MOST_AXES), ("strides", np.int64, MOST_AXES)], align=True)


def views(op: str, shape: Sequence[int], *strides: Sequence[int]) -> list[np.void]:
    """One struct View for each of the given strides, all of one shape. Raises ValueError if the shape has too many axes."""
    sizes, steps = collapse_within(op, MOST_AXES, shape, *strides)
    made = []
    for own in steps:
        view = np.zeros((), VIEW)
        view["axes"] = len(sizes)
        view["sizes"][: len(sizes)] = sizes
        view["strides"][: len(sizes)] = own
        made.append(view[()])
    return made
