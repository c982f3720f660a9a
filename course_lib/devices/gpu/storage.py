"""Copies and views: kernels/strided_copy.cu and kernels/cast.cu."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..layout import broadcast_strides, collapse
from ..reference.storage import view as view
from . import launching
from .launching import OF_SIZE, THREADS, TYPES, WORDS, blocks, check_size, empty, instances, kernel, vector_width
from .views import views

__all__ = "copy cast view strided_copy strided_write".split()

FILE = "strided_copy.cu"
MOST_BLOCKS = 1024  # along y; each then takes more than one row


def makers(memory) -> dict[str, Callable]:
    """The ops of the contract that make an array out of nothing, for the memory of one device (guarded.py, card.py)."""

    def empty(shape, dtype="float32"):
        return launching.allocate(memory, shape, np.dtype(dtype))

    def zeros(shape, dtype="float32"):
        array = empty(shape, dtype)
        launching.clear(array)
        return array

    def full(shape, value, dtype="float32"):
        return fill(empty(shape, dtype), value)

    return {"empty": empty, "zeros": zeros, "full": full, "synchronize": memory.synchronize}


def _words(x):
    """The same memory as unsigned integers: what is only copied needs no type."""
    return x if x.dtype == WORDS[x.dtype.itemsize] else x.view(WORDS[x.dtype.itemsize])


def copy(x):
    result = empty(x, x.shape)
    _copy(x, result)
    return result


def _copy(x, result):
    """Contiguous to contiguous, of one size and dtype."""
    if not x.size:
        return
    width = vector_width(x, result)
    run = kernel(FILE, f"copy<{OF_SIZE[x.dtype.itemsize]}, {width}>")
    run((blocks(x.size, THREADS * width),), (THREADS,), (_words(x), _words(result), x.size))


def fill(y, value):
    """Set every element; returns y."""
    check_size("full", y.size)
    if y.size:
        name = TYPES.get(y.dtype.name)
        run = kernel(FILE, f"fill<{name}>")
        run((blocks(y.size),), (THREADS,), (y, y.dtype.type(value), y.size))
    return y


def cast(x, dtype):
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return copy(x)
    result = empty(x, x.shape, dtype)
    _cast(x, result, TYPES[x.dtype.name], TYPES[dtype.name])
    return result


def to_bfloat16(x, persistent=False):
    """float32 rounded to bfloat16, as an array of uint16 that holds its bits. persistent: kept beyond the training step."""
    result = empty(x, x.shape, np.uint16, persistent)
    _cast(x, result, "float", "__nv_bfloat16", packs=True)
    return result


def from_bfloat16(x):
    """From bfloat16 to float32, which is exact."""
    result = empty(x, x.shape, np.float32)
    _cast(x, result, "__nv_bfloat16", "float", packs=True)
    return result


def _cast(x, result, before: str, after: str, packs: bool = False):
    """packs: four elements to a thread where the arrays begin at a multiple of 16 bytes, for the types of training."""
    check_size("cast", x.size)
    if not x.size:
        return
    width = 4 if packs and vector_width(x, result) > 1 else 1
    name = f"cast_packs<{before}, {after}, 4>" if width > 1 else f"cast<{before}, {after}>"
    kernel("cast.cu", name)((blocks(x.size, THREADS * width),), (THREADS,), (x, result, x.size))


def strided_copy(x, shape, strides, offset=0, out=None):
    if out is None:
        out = empty(x, shape)
    if out.size and not _copy_rows(x, out, shape, strides, broadcast_strides(shape, shape), offset, 0):
        run = _instance("strided_copy", OF_SIZE[x.dtype.itemsize])
        (layout,) = views("strided_copy", shape, strides)
        run((blocks(out.size),), (THREADS,), (_words(x), _words(out), layout, offset, out.size))
    return out


def _copy_rows(x, y, shape, x_strides, y_strides, x_offset: int, y_offset: int) -> bool:
    """Copy one view to the other if both are rows of contiguous elements; False if they are not."""
    sizes, steps = collapse(shape, x_strides, y_strides)
    if len(sizes) == 1:
        sizes, steps = [1, *sizes], [[0, step] for (step,) in steps]
    if len(sizes) != 2 or any(step != 1 for _, step in steps):
        return False
    (rows, columns), ((x_row, _), (y_row, _)) = sizes, steps
    wide = min(THREADS, 32 * blocks(columns, 32))  # threads along a row, at least a warp
    tall = THREADS // wide
    grid = blocks(columns, wide), min(blocks(rows, tall), MOST_BLOCKS)
    args = _words(x).reshape(-1)[x_offset:], _words(y).reshape(-1)[y_offset:], x_row, y_row, rows, columns
    _instance("copy_rows", OF_SIZE[x.dtype.itemsize])(grid, (wide, tall), args)
    return True


def strided_write(x, values, strides, offset=0, add=False):
    if not values.size:
        return
    if not add and _copy_rows(
        values, x, values.shape, broadcast_strides(values.shape, values.shape), strides, 0, offset
    ):
        return
    (layout,) = views("strided_write", values.shape, strides)
    if add:
        run = _instance("strided_add", TYPES[x.dtype.name])
    else:
        run = _instance("strided_write", OF_SIZE[x.dtype.itemsize])
        x, values = _words(x), _words(values)
    run((blocks(values.size),), (THREADS,), (x, values, layout, offset, values.size))


COMMON = """
    strided_copy<unsigned int> strided_write<unsigned int> strided_add<float> copy_rows<unsigned int> fill<float>
    copy<unsigned int, 4> copy<unsigned int, 1>
"""


def _instance(name: str, type_name: str):
    instances(FILE, *re.findall(r"\w+<[^>]*>", COMMON))
    return kernel(FILE, f"{name}<{type_name}>")
