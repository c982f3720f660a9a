"""Keys and values in pages: kernels/paged_attention.cu."""

from __future__ import annotations

import math

from . import attention_tiles
from .decoding import element
from .launching import THREADS, blocks, check_size, empty, kernel

__all__ = "paged_append paged_gather paged_attention_forward paged_append_int8 paged_attention_int8_forward".split()

FILE = "paged_attention.cu"


def paged_append(k, v, k_pages, v_pages, slots) -> None:
    kind = element(k)
    if k.size:
        arguments = (k, v, k_pages, v_pages, slots, slots.size, k.shape[1] * k.shape[2])
        kernel(FILE, f"paged_append<{kind}>")((blocks(k.size),), (THREADS,), arguments)


def paged_gather(pages, table, count):
    kind, (_, N, G, D) = element(pages), pages.shape
    check_size("paged_gather", count * G * D)
    y = empty(pages, (count, G, D))
    if y.size:
        kernel(FILE, f"paged_gather<{kind}>")((blocks(y.size),), (THREADS,), (pages, table, y, count, N, G * D))
    return y


def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    kind = element(q)
    return _attend(
        f"paged_attention<{kind}, {attention_tiles.head(q.shape[2])}>", q, k_pages, v_pages, tables, positions
    )


def paged_append_int8(k, v, k_pages, v_pages, slots) -> None:
    n, G, D = k.shape
    if k.size:
        arguments = (k, v, k_pages, v_pages, slots, n * G, G, D)
        kernel(FILE, "paged_append_int8")((blocks(32 * n * G),), (THREADS,), arguments)


def paged_attention_int8_forward(q, k_pages, v_pages, tables, positions):
    return _attend(f"paged_attention_int8<{attention_tiles.head(q.shape[2])}>", q, k_pages, v_pages, tables, positions)


def _attend(name: str, q, k_pages, v_pages, tables, positions):
    (R, H, D), (_, N, G, _) = q.shape, k_pages.shape
    y = empty(q, q.shape)
    if y.size:
        sizes = (tables.shape[1], N, H, G, D, 1 / math.sqrt(D))
        arguments = (q, k_pages, v_pages, tables, positions, y, *sizes)
        kernel(FILE, name)((H, R), (attention_tiles.DECODE_THREADS,), arguments)
    return y
