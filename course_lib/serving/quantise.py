"""Weights in 8 or 4 bits: codes, and what they are multiplied by.

    int8    scale[m] * code[m, k]                      codes -127 .. 127, a scale for each output (row)
    int4    scale[m, j] * (code[m, k] - zero[m, j])    codes 0 .. 15, a scale for each group of 32 along a row

Promises: a scale is exactly a float16, so that what is saved is what was measured. A row or group of zeros stays zeros.

Of int4 the symmetric form has no zero points: they are 8. Two rules choose a scale. `absmax` lets the grid reach the largest
weight (Dettmers et al. 2022). `mse` tries shorter grids too, and for symmetric int4 both signs of the scale, since one side of
that grid has a step more than the other; of all it takes the one with the least squared error.

Limit: each weight is rounded for itself. GPTQ (Frantar et al. 2022) lets later weights of a row make up for the rounding of
earlier ones. It needs text to calibrate with, and on a briefly trained `small` it saved a third of what `mse` in 4 bits loses,
0.003 of 0.009 nats per token: not worth the calibration here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.devices.packing import GROUP, ZERO, pack_int4, pack_int8, unpack_int4

RULES = ("absmax", "mse")
LARGEST_INT8, LARGEST_INT4 = 127, 15
MOST = 65504.0  # the largest float16
SHRINKS = np.linspace(1.0, 0.7, 13)  # of the grid's length, that `mse` tries
BLOCK = 1 << 16  # weights that are searched together: they stay in the cache


@dataclass(frozen=True)
class Int8:
    """codes (N, K) int8, scales (N) float32."""

    codes: np.ndarray
    scales: np.ndarray

    def rows(self, picks=slice(None)) -> np.ndarray:
        """The weights that they stand for, float32 (N, K), or the rows that are picked."""
        return self.codes[picks] * self.scales[picks][..., None]

    def words(self) -> np.ndarray:
        """As the ops take them, uint32 (N, W)."""
        return pack_int8(np.pad(self.codes, ((0, 0), (0, -self.codes.shape[1] % 4))))

    def arrays(self) -> dict[str, np.ndarray]:
        """As a file holds them, by the ending of their names."""
        return {"int8": self.codes, "scales": self.scales.astype(np.float16)}


@dataclass(frozen=True)
class Int4:
    """codes (N, K) uint8, scales (N, J) float32, zeros (N, J) uint8, or None where all are 8."""

    codes: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray | None = None

    def rows(self, picks=slice(None)) -> np.ndarray:
        """The weights that they stand for, float32 (N, K), or the rows that are picked."""
        codes = self.codes[picks].astype(np.float32)  # (*n, K)
        zeros = np.float32(ZERO) if self.zeros is None else self._spread(self.zeros[picks])
        return (codes - zeros) * self._spread(self.scales[picks])

    def _spread(self, of_groups: np.ndarray) -> np.ndarray:
        """(*n, J) -> (*n, K), float32"""
        return np.repeat(of_groups.astype(np.float32), GROUP, axis=-1)[..., : self.codes.shape[1]]

    def words(self) -> np.ndarray:
        """As the ops take them, uint32 (N, 4J)."""
        return pack_int4(np.pad(self.codes, ((0, 0), (0, -self.codes.shape[1] % GROUP)), constant_values=ZERO))

    def arrays(self) -> dict[str, np.ndarray]:
        """As a file holds them, by the ending of their names: two codes to a byte, the even one in the lower half."""
        packed = self.words().astype("<u4").view(np.uint8)  # (N, 16J)
        found = {"int4": packed, "scales": self.scales.astype(np.float16)}
        return found if self.zeros is None else found | {"zeros": self.zeros}


def from_arrays(arrays: dict[str, np.ndarray], K: int) -> Int8 | Int4:
    """What `arrays()` gave, of rows of K weights. Raises ValueError where their shapes do not fit."""
    scales = arrays["scales"].astype(np.float32)
    kind = "int8" if "int8" in arrays else "int4"
    codes, groups = arrays[kind], -(-K // GROUP)
    wanted = (
        ((len(codes), K), (len(codes),))
        if kind == "int8"
        else ((len(codes), groups * GROUP // 2), (len(codes), groups))
    )
    if (codes.shape, scales.shape) != wanted or arrays.get("zeros", scales).shape != scales.shape:
        raise ValueError(f"Codes of the shape {codes.shape} and scales {scales.shape} hold no rows of {K} weights.")
    if kind == "int8":
        return Int8(codes, scales)
    return Int4(unpack_int4(codes.view("<u4").astype(np.uint32))[:, :K], scales, arrays.get("zeros"))


def quantise_int8(weight: np.ndarray, rule: str = "mse") -> Int8:
    """A matrix (N, K) in 8 bits, a scale for each row. Raises ValueError for what is no matrix, or beyond float16."""
    weight, shrinks = _checked(weight, rule)

    def search(rows: np.ndarray):  # (R, K)
        reach, best = np.abs(rows).max(axis=1, initial=0) / LARGEST_INT8, _Best(rows)  # (R)
        for shrink in shrinks:
            scales = _as_float16(reach * shrink)
            codes = np.clip(np.rint(rows / _divisor(scales)[:, None]), -LARGEST_INT8, LARGEST_INT8)
            best.offer(codes * scales[:, None], codes, scales)
        return best.found

    codes, scales = _in_blocks(search, weight)
    return Int8(codes.astype(np.int8), scales)


def quantise_int4(weight: np.ndarray, rule: str = "mse", symmetric: bool = True) -> Int4:
    """A matrix (N, K) in 4 bits, in groups of 32 along K. Raises ValueError for what is no matrix, or beyond float16."""
    weight, shrinks = _checked(weight, rule)
    N, K = weight.shape
    groups = np.pad(weight, ((0, 0), (0, -K % GROUP))).reshape(-1, GROUP)  # (N J, 32)

    def search(rows: np.ndarray):  # (R, 32)
        best = _Best(rows)
        for scales, zeros in _grids(rows, shrinks, symmetric):  # (R) each
            codes = np.clip(np.rint(rows / _divisor(scales)[:, None]) + zeros[:, None], 0, LARGEST_INT4)
            best.offer((codes - zeros[:, None]) * scales[:, None], codes, scales, zeros)
        return best.found

    codes, scales, zeros = _in_blocks(search, groups)
    codes = codes.reshape(N, -1)[:, :K].astype(np.uint8)  # (N, K)
    return Int4(codes, scales.reshape(N, -1), None if symmetric else zeros.reshape(N, -1).astype(np.uint8))


def _in_blocks(search, rows: np.ndarray) -> list[np.ndarray]:
    """What `search` finds for a block of rows at a time, joined."""
    step = max(1, BLOCK // max(rows.shape[1], 1))
    found = [search(rows[start : start + step]) for start in range(0, max(len(rows), 1), step)]
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _grids(groups: np.ndarray, shrinks: np.ndarray, symmetric: bool):
    """Pairs of scales and zero points to try, one of each for every group."""
    if symmetric:
        reach = np.abs(groups).max(axis=1)  # (N J)
        for shrink in shrinks:
            # to 7 steps above the zero point and 8 below it; with the other sign 8 above
            for sign in (1, -1) if len(shrinks) > 1 else (1,):
                yield _as_float16(sign * shrink * reach / (LARGEST_INT4 - ZERO)), np.full(len(groups), ZERO, np.float32)
        return
    low, high = np.minimum(groups.min(axis=1), 0), np.maximum(groups.max(axis=1), 0)  # 0 is always on the grid
    for shrink in shrinks:
        scales = _as_float16(shrink * (high - low) / LARGEST_INT4)
        yield scales, np.clip(np.rint(-shrink * low / _divisor(scales)), 0, LARGEST_INT4)


class _Best:
    """For each row, what was offered with the least squared error."""

    def __init__(self, rows: np.ndarray):
        self.rows, self.errors, self.found = rows, np.full(len(rows), np.inf), ()

    def offer(self, values: np.ndarray, *found: np.ndarray) -> None:
        errors = np.square(values - self.rows).sum(axis=1)
        better = errors < self.errors
        self.errors = np.where(better, errors, self.errors)
        before = self.found or [np.zeros_like(one) for one in found]
        self.found = tuple(
            np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
            for new, old in zip(found, before, strict=True)
        )


def _checked(weight: np.ndarray, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """The matrix in float32, and the lengths of grid that the rule tries."""
    if rule not in RULES:
        raise ValueError(f"The rule is {rule!r}; it must be one of {', '.join(RULES)}.")
    weight = np.asarray(weight, np.float32)
    if weight.ndim != 2:
        raise ValueError(f"Quantising takes a matrix (N, K); it got the shape {weight.shape}.")
    if not (np.abs(weight) <= MOST).all():
        raise ValueError(
            f"The matrix holds numbers that are not finite, or beyond {MOST:,.0f}, where scales in float16 end."
        )
    return weight, SHRINKS if rule == "mse" else SHRINKS[:1]


def _as_float16(scales: np.ndarray) -> np.ndarray:
    return scales.astype(np.float16).astype(np.float32)


def _divisor(scales: np.ndarray) -> np.ndarray:
    """Scales, and 1 where one is 0: there all weights are 0, or so small that float16 has no scale for them."""
    return np.where(scales == 0, np.float32(1), scales)
