"""Quantised codes in words of 32 bits, which every device can hold: eight codes of 4 bits to a word, or four of 8 bits.

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
