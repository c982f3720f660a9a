"""Keys and values in pages: kernels/pages.wgsl and paged_attention.wgsl. A cache in 8 bits is put together from other ops."""

from __future__ import annotations

import math

from ..layout import blocks
from .adapter import limit
from .launching import empty, kernel

__all__ = "paged_append paged_gather paged_attention_forward".split()


def paged_append(k, v, k_pages, v_pages, slots) -> None:
    if k.size:
        arrays = {"k": k, "v": v, "slots": slots, "k_pages": k_pages, "v_pages": v_pages}
        sizes = {"count": slots.size, "row": math.prod(k.shape[1:]), "N": k_pages.shape[1]}
        kernel("pages.wgsl", "paged_append")(blocks(k.size), **arrays, **sizes)


def paged_gather(pages, table, count):
    _, N, G, D = pages.shape
    y = empty(pages, (count, G, D))
    if y.size:
        sizes = {"count": count, "row": G * D, "N": N}
        kernel("pages.wgsl", "paged_gather")(blocks(y.size), pages=pages, table=table, y=y, **sizes)
    return y


def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    (R, H, D), (_, N, G, _) = q.shape, k_pages.shape
    y = empty(q, q.shape)
    if y.size:
        run, most = (
            kernel("paged_attention.wgsl", "paged_attention", D=D),
            limit("max-compute-workgroups-per-dimension"),
        )
        arrays = {"q": q, "k": k_pages, "v": v_pages, "tables": tables, "positions": positions, "y": y}
        sizes = {"M": tables.shape[1], "N": N, "H": H, "G": G, "scale": 1 / math.sqrt(D)}
        for first in range(0, R, most):
            run((H, min(most, R - first)), **arrays, **sizes, first=first)
    return y
