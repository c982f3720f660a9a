"""Launch configuration of the products: the tiles of gemm.cu and gemm_bf16.cu, and where a long sum is split over blocks."""

from __future__ import annotations

from typing import NamedTuple

from .launching import blocks

# "ours": kernels/gemm.cu, on every device. "cublas": CuPy's product, for comparison, on CuPy arrays only.
matmul = "ours"


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
SMALL_BF16 = TensorTile(64, 64, 64, 32, 32, 3)
# The simulator's copies take as long whether one slice or two are on their way.
SIMULATED_BF16 = TensorTile(64, 64, 64, 32, 32, 2)

ENOUGH_BLOCKS = 128  # about one for each multiprocessor of a large GPU
SIMULATED_BLOCKS = 4  # two for each core of a small machine
LEAST_SPLIT = 256  # terms of a sum that are worth a block of their own


def gemm_tile(host: bool, bf16: bool, M: int, N: int, count: int = 1) -> Tile | TensorTile:
    """The tile for `count` products of (M, N), on the simulator (host) or a GPU, in float32 or bfloat16."""
    if host:
        return SIMULATED_BF16 if bf16 else SIMULATED if N > SIMULATED_NARROW.BN else SIMULATED_NARROW
    large, small = (LARGE_BF16, SMALL_BF16) if bf16 else (LARGE, SMALL)
    return large if blocks(M, large.BM) * blocks(N, large.BN) * count >= ENOUGH_BLOCKS else small


def gemm_split(host: bool, tile: Tile | TensorTile, M: int, N: int, K: int) -> int:
    """How many of the K terms each block sums, a multiple of BK; K or more means that the sum is not split."""
    wanted = (SIMULATED_BLOCKS if host else ENOUGH_BLOCKS) // max(1, blocks(M, tile.BM) * blocks(N, tile.BN))
    splits = max(1, min(wanted, K // LEAST_SPLIT))
    return tile.BK * blocks(blocks(K, splits), tile.BK)
