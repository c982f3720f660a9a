"""Quantised codes in words of 32 bits, which every device can hold: eight codes of 4 bits to a word, or four of 8 bits.

A row of a quantised cache is such words, and one more: the bits of the float32 by which its codes are multiplied.

The first code of a word is in its lowest bits. So the words are, byte for byte, an array of bytes: two codes of 4 bits in each,
the even one below. (On a machine whose bytes go the other way, the shifts here still tell the truth.)
"""

from __future__ import annotations

import numpy as np

GROUP = 32  # codes of 4 bits that have a scale in common
ZERO = 8  # the code of 4 bits that stands for 0 where a group has no zero point of its own
WORDS = GROUP // 8  # words of a group


def pack_int4(codes: np.ndarray) -> np.ndarray:
    """Codes (N, 32J), 0 .. 15 -> uint32 (N, 4J)."""
    eights = codes.astype(np.uint32).reshape(len(codes), -1, 8)  # (N, 4J, 8)
    return (eights << np.arange(0, 32, 4, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)


def unpack_int4(words: np.ndarray) -> np.ndarray:
    """uint32 (N, 4J) -> codes (N, 32J), uint8."""
    eights = words[:, :, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15  # (N, 4J, 8)
    return eights.astype(np.uint8).reshape(len(words), -1)


def pack_int8(codes: np.ndarray) -> np.ndarray:
    """int8 (N, 4W) -> uint32 (N, W)."""
    fours = codes.view(np.uint8).astype(np.uint32).reshape(len(codes), -1, 4)  # (N, W, 4)
    return (fours << np.arange(0, 32, 8, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)


def unpack_int8(words: np.ndarray) -> np.ndarray:
    """uint32 (N, W) -> int8 (N, 4W)."""
    fours = words[:, :, None] >> np.arange(0, 32, 8, dtype=np.uint32) & 255  # (N, W, 4)
    return fours.astype(np.uint8).reshape(len(words), -1).view(np.int8)


def row_words(D: int) -> int:
    """W: words of a row of D numbers, with its scale."""
    return -(-D // 4) + 1


def pack_rows(x: np.ndarray) -> np.ndarray:
    """x (*n, D) -> uint32 (*n, W): codes -127 .. 127 of each row, and its scale, the largest absolute value / 127.

    In float32, as the kernels compute it: the same words on every device.
    """
    rows = x.astype(np.float32).reshape(-1, x.shape[-1])  # (n, D)
    scales = np.abs(rows).max(axis=1, keepdims=True, initial=0) / np.float32(127)  # (n, 1)
    with np.errstate(invalid="ignore"):  # a row that is not finite stays so: its scale is not
        codes = np.rint(rows / np.where(scales == 0, np.float32(1), scales)).astype(np.int8)  # (n, D)
    codes = np.pad(codes, ((0, 0), (0, -rows.shape[1] % 4)))
    return np.concatenate([pack_int8(codes), scales.view(np.uint32)], axis=1).reshape(*x.shape[:-1], -1)


def unpack_rows(words: np.ndarray, D: int) -> np.ndarray:
    """uint32 (*n, W) -> x (*n, D), float32."""
    flat = words.reshape(-1, words.shape[-1])
    x = unpack_int8(flat[:, :-1])[:, :D] * np.ascontiguousarray(flat[:, -1:]).view(np.float32)  # (n, D) * (n, 1)
    return x.reshape(*words.shape[:-1], D)
