"""Launch configuration of the products: the tiles of gemm.cu and gemm_bf16.cu, and where a long sum is split over blocks."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from .launching import blocks


class Tile(NamedTuple):
    """gemm.cu: a block's tile BM x BN, the slice BK that it keeps in shared memory, and a thread's part TM x TN."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int

    @property
    def threads(self) -> int:
        return self.BM * self.BN // (self.TM * self.TN)

    @property
    def warp_columns(self) -> int:
        return 8 * self.TN  # a warp is 4 x 8 threads

    shared_mem = 0  # its slices have fixed sizes


class TensorTile(NamedTuple):
    """gemm_bf16.cu: a block's tile BM x BN, slices of BK, STAGES of them on their way, and a warp's part WM x WN."""

    BM: int
    BN: int
    BK: int
    WM: int
    WN: int
    STAGES: int

    @property
    def threads(self) -> int:
        return 32 * (self.BM // self.WM) * (self.BN // self.WN)

    @property
    def warp_columns(self) -> int:
        return self.WN

    @property
    def shared_mem(self) -> int:
        return 2 * self.STAGES * (self.BM + self.BN) * self.BK


# 64 multiply-adds for 16 numbers read from shared memory, 33 KB of it: two blocks of 256 threads fit a multiprocessor.
LARGE = Tile(128, 128, 16, 8, 8)
# Where 128 x 128 would leave multiprocessors idle: a quarter of the tile, half of the work per thread.
SMALL = Tile(64, 64, 16, 8, 4)
# A CPU core holds 8 x 16 sums in its vector registers and pays for each thread at each barrier: few threads, large parts.
SIMULATED = Tile(64, 128, 16, 8, 16)
SIMULATED_NARROW = Tile(64, 64, 16, 8, 8)  # where half of a tile of 128 columns would be empty

# 32 mma for 8 ldmatrix, and 96 KB: the most that every architecture from sm_80 on grants a block.
LARGE_BF16 = TensorTile(128, 128, 64, 64, 64, 3)
MIDDLE_BF16 = TensorTile(128, 64, 64, 64, 32, 3)
SMALL_BF16 = TensorTile(64, 64, 64, 32, 32, 3)
# The simulator's copies take as long whether one slice or two are on their way.
SIMULATED_BF16 = TensorTile(64, 64, 64, 32, 32, 2)

MULTIPROCESSORS = 132  # of a large GPU; on a smaller one the last wave of blocks matters less
# Blocks of a tile that a multiprocessor holds at once, and what it then multiplies in comparison with LARGE: measured on an H100.
ON_CARD: dict[Tile | TensorTile, tuple[int, float]] = {
    LARGE: (2, 1.0), SMALL: (4, 0.7), LARGE_BF16: (2, 1.0), MIDDLE_BF16: (3, 0.85), SMALL_BF16: (4, 0.7),
}  # fmt: skip
SIMULATED_BLOCKS = 4  # two for each core of a small machine
LEAST_SPLIT = 256  # terms of a sum that are worth a block of their own
BEGIN_AND_END = 256  # terms that a block on a card could sum in the time that it takes for these
# The parts of a sum are added in a launch of their own: where multiprocessors would idle, and it saves a third of the time.
LEAST_ON_CARD, WORTH = 1024, 1.5


@cache
def gemm_tile(host: bool, bf16: bool, M: int, N: int, K: int, count: int = 1, split: bool = False) -> tuple[Any, int]:
    """(the tile, how many of the K terms each block sums) for `count` products (M, K) (K, N), on the simulator (host) or a GPU.

    The terms are a multiple of BK; K or more means that the sum is not split, as it never is unless `split` allows it.
    """
    if host:
        tile = SIMULATED_BF16 if bf16 else SIMULATED if N > SIMULATED_NARROW.BN else SIMULATED_NARROW
        most = K // LEAST_SPLIT if split else 1
        splits = min(SIMULATED_BLOCKS // max(1, blocks(M, tile.BM) * blocks(N, tile.BN)), most)
    else:
        times = {}
        for tile in (tile for tile in ON_CARD if isinstance(tile, TensorTile) == bf16):
            idle = split and blocks(M, tile.BM) * blocks(N, tile.BN) < MULTIPROCESSORS
            for splits in range(1, max(1, K // LEAST_ON_CARD if idle else 1) + 1):
                times[tile, splits] = _time(tile, splits, M, N, K, count) * (WORTH if splits > 1 else 1.0)
        tile, splits = min(times, key=times.get)
    return tile, tile.BK * blocks(blocks(K, max(1, splits)), tile.BK)


def _time(tile: Tile | TensorTile, splits: int, M: int, N: int, K: int, count: int) -> float:
    """How long a GPU takes, in multiply-adds of one multiprocessor: in waves of blocks, the last as long as any."""
    resident, rate = ON_CARD[tile]
    waves = blocks(blocks(M, tile.BM) * blocks(N, tile.BN) * count * splits, resident * MULTIPROCESSORS)
    return waves * (K / splits + BEGIN_AND_END) * resident * tile.BM * tile.BN / rate
