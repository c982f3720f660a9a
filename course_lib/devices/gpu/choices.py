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


# Flash attention. A block is 16 groups of 4 lanes (kernels/include/attention_tile.cuh).
GROUPS, LANES = 16, 4
LARGEST_HEAD = 128


class FlashTile(NamedTuple):
    """A block's product is 16 R rows by 4 C columns, a thread's part of it R x C; heads are filled up to D numbers."""

    D: int
    R: int
    C: int

    @property
    def threads(self) -> int:
        return GROUPS * LANES

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))

    @property
    def rows(self) -> int:
        return GROUPS * self.R

    @property
    def columns(self) -> int:
        return LANES * self.C

    # Bytes of shared memory: rows of D numbers have 16 of padding, those of a turned tile 20, those of a product 4.

    @property
    def forward_bytes(self) -> int:
        kept, passing = self.rows * (self.D + 16), self.D * (self.columns + 20) + self.columns * (self.D + 16)
        return 4 * (kept + passing + self.rows * (self.columns + 4))

    @property
    def backward_q_bytes(self) -> int:
        kept, passing = self.D * (self.columns + 20), self.rows * (self.D + 16)
        return 4 * (2 * kept + 2 * passing + self.rows * (self.columns + 4))

    @property
    def backward_kv_bytes(self) -> int:
        return self.backward_q_bytes + 4 * self.rows * (self.columns + 4)


# As large as 64 KB of shared memory (Turing) and the registers of a thread allow: the sums of R rows are R (C + D / 4) numbers.
FLASH_FORWARD = {32: FlashTile(32, 4, 16), 64: FlashTile(64, 4, 8), 128: FlashTile(128, 2, 4)}
FLASH_BACKWARD = {32: FlashTile(32, 2, 16), 64: FlashTile(64, 2, 8), 128: FlashTile(128, 1, 4)}
DELTA_ROWS = 32  # rows of y of a block, 8 lanes each
DECODE_THREADS = 128  # 16 groups of 8 lanes, as in decode.cu


def head(D: int) -> int:
    """The head size that the kernels are compiled for: 32, 64 or 128. The rest of a smaller one counts as zeros."""
    return next(size for size in FLASH_FORWARD if size >= D)


def flash_forward(D: int) -> FlashTile:
    return FLASH_FORWARD[head(D)]


def flash_backward(D: int) -> FlashTile:
    return FLASH_BACKWARD[head(D)]


def cross_entropy_lanes(host: bool) -> int:
    """Lanes that share a row of logits: a warp on a GPU; a CPU pays for each lane at each exchange."""
    return 8 if host else 32
