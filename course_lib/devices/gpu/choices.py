"""Which tiles and splits the kernels are launched with: one visible place for each op, a reason beside each number."""

from __future__ import annotations

from typing import NamedTuple

from .launching import blocks

# Products. "ours": kernels/gemm.cu, on every device. "cublas": CuPy's product, for comparison, on CuPy arrays only.
matmul = "ours"


class Tile(NamedTuple):
    """A block's tile BM x BN, the slice BK that it keeps in shared memory, and a thread's part TM x TN."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int

    @property
    def threads(self) -> int:
        return self.BM * self.BN // (self.TM * self.TN)

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))


# 64 multiply-adds for 16 numbers read from shared memory, 33 KB of it: two blocks of 256 threads fit a multiprocessor.
LARGE = Tile(128, 128, 16, 8, 8)
# Where 128 x 128 would leave multiprocessors idle: a quarter of the tile, half of the work per thread.
SMALL = Tile(64, 64, 16, 8, 4)
# A CPU core holds 8 x 8 sums in its vector registers and pays for each thread at each barrier: few threads, large parts.
SIMULATED = Tile(64, 64, 16, 8, 8)

ENOUGH_BLOCKS = 128  # about one for each multiprocessor of a large GPU
SIMULATED_BLOCKS = 4  # two for each core of a small machine
LEAST_SPLIT = 256  # terms of a sum that are worth a block of their own


def gemm_tile(host: bool, M: int, N: int, count: int = 1) -> Tile:
    """The tile for `count` products of (M, N), on the simulator (host) or a GPU."""
    if host:
        return SIMULATED
    return LARGE if blocks(M, LARGE.BM) * blocks(N, LARGE.BN) * count >= ENOUGH_BLOCKS else SMALL


def gemm_split(host: bool, tile: Tile, M: int, N: int, K: int) -> int:
    """How many of the K terms each block sums, a multiple of BK; K or more means that the sum is not split."""
    wanted = (SIMULATED_BLOCKS if host else ENOUGH_BLOCKS) // max(1, blocks(M, tile.BM) * blocks(N, tile.BN))
    splits = min(wanted, K // LEAST_SPLIT)
    return tile.BK * blocks(blocks(K, max(1, splits)), tile.BK)
