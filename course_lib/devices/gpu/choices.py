"""Which tiles and splits the kernels are launched with: one visible place for each op, a reason beside each number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .launching import blocks

# Products. "ours": kernels/gemm.cu, on every device. "cublas": CuPy's product, for comparison, on CuPy arrays only.
matmul = "ours"

# What linear layers and attention multiply in (mixed.py): "float32", or "bfloat16" with sums in float32 (sm_80 and newer).
compute = "float32"
copies: Any = None  # what is rounded to bfloat16 once for several uses, as mixed.Copies, where somebody keeps it
keeping = False  # whether inputs of products are kept rounded, since a backward pass will follow


@contextmanager
def computing(kind: str, rounded: Any = None, backward: bool = False) -> Iterator[None]:
    """Another `compute`, and other `copies`, inside the `with` block. backward: each forward pass in it has one."""
    global compute, copies, keeping
    before, (compute, copies, keeping) = (compute, copies, keeping), (kind, rounded, backward and rounded is not None)
    try:
        yield
    finally:
        compute, copies, keeping = before
        if rounded is not None:
            rounded.forget()


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

    @property
    def own(self) -> int:
        """Rows of its own side that a block of the backward has: the columns of its products."""
        return self.columns

    # Bytes of shared memory. A row of up to 32 numbers has 4 of padding, a longer one 16, and 20 if it stands turned.

    @property
    def forward_bytes(self) -> int:
        kept, passing = self.rows * _padded(self.D), self.D * _turned(self.columns) + self.columns * _padded(self.D)
        return 4 * (kept + passing + self.rows * _padded(self.columns))

    @property
    def backward_q_bytes(self) -> int:
        kept, passing = self.D * _turned(self.columns), self.rows * _padded(self.D)
        return 4 * (2 * kept + 2 * passing + self.rows * _padded(self.columns))

    @property
    def backward_kv_bytes(self) -> int:
        return self.backward_q_bytes + 4 * self.rows * _padded(self.columns)


def _padded(n: int) -> int:
    return n + (16 if n > 32 else 4)


def _turned(n: int) -> int:
    return n + (20 if n > 32 else 4)


# As large as 64 KB of shared memory (Turing) and the registers of a thread allow: the sums of R rows are R (C + D / 4) numbers.
FLASH_FORWARD = {32: FlashTile(32, 4, 16), 64: FlashTile(64, 4, 8), 128: FlashTile(128, 2, 4)}
FLASH_BACKWARD = {32: FlashTile(32, 2, 16), 64: FlashTile(64, 2, 8), 128: FlashTile(128, 1, 4)}


class TensorFlashTile(NamedTuple):
    """On tensor cores: heads are filled up to D numbers, `passing` rows of the other side are in use at once."""

    D: int
    passing: int

    @property
    def rows(self) -> int:
        return 64  # of the block's own side, 16 for each of its 4 warps

    @property
    def own(self) -> int:
        return self.rows

    @property
    def threads(self) -> int:
        return 128

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))

    @property
    def forward_bytes(self) -> int:
        return 2 * self.D * (self.rows + 4 * self.passing)  # keys and values, two tiles of each

    @property
    def backward_q_bytes(self) -> int:
        return 2 * self.D * (2 * self.rows + 2 * self.passing)

    @property
    def backward_kv_bytes(self) -> int:
        return self.backward_q_bytes + 8 * self.passing  # logsumexp and delta


# With 64 passing rows a product takes 32 registers of a thread; the backward has two at once, and dk and dv are two sums.
TENSOR_FLASH_FORWARD = {64: TensorFlashTile(64, 64), 128: TensorFlashTile(128, 64)}
TENSOR_FLASH_BACKWARD_Q = {64: TensorFlashTile(64, 64), 128: TensorFlashTile(128, 32)}
TENSOR_FLASH_BACKWARD_KV = {64: TensorFlashTile(64, 32), 128: TensorFlashTile(128, 32)}
DELTA_ROWS = 32  # rows of y of a block, 8 lanes each
DECODE_THREADS = 128  # 16 groups of 8 lanes, as in decode.cu


def head(D: int) -> int:
    """The head size that the kernels are compiled for: 32, 64 or 128. The rest of a smaller one counts as zeros."""
    return next(size for size in FLASH_FORWARD if size >= D)


def flash(bfloat16: bool, D: int):
    """The tiles of the forward, of the backward of q, and of that of k and v."""
    if bfloat16:
        size = 64 if D <= 64 else 128
        return TENSOR_FLASH_FORWARD[size], TENSOR_FLASH_BACKWARD_Q[size], TENSOR_FLASH_BACKWARD_KV[size]
    return FLASH_FORWARD[head(D)], FLASH_BACKWARD[head(D)], FLASH_BACKWARD[head(D)]


# scatter_add: so many indices are looked through by each row as they are, in one launch; to sort more takes five.
SCANNED = 256


def cross_entropy_lanes(host: bool) -> int:
    """Lanes that share a row of logits: a warp on a GPU; a CPU pays for each lane at each exchange."""
    return 8 if host else 32


# Rows that a block keeps in registers: softmax and the norms (kernels/include/row.cuh).
MOST_OWN = 16  # elements of a row that a thread keeps: three rows and two sums of them fit 255 registers with room
NORM_BLOCKS = 2048  # 16 warps for each of 132 multiprocessors; their partial sums are small beside 16,384 rows
SIMULATED_THREADS = 4  # a CPU pays for each thread at each exchange, and holds longer rows
SIMULATED_MOST_OWN = 128
SIMULATED_ROW_BLOCKS = 8  # four for each core of a small machine


class Team(NamedTuple):
    """Threads that share a row; each keeps ITEMS packs of N neighbours."""

    THREADS: int
    N: int
    ITEMS: int

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))


def team(host: bool, C: int, N: int) -> Team | None:
    """Who keeps a row of C elements, read N at a time; None if it is too long for registers."""
    if host and N > 1 and C <= SIMULATED_THREADS * SIMULATED_MOST_OWN:
        return Team(SIMULATED_THREADS, N, max(1, blocks(C, SIMULATED_THREADS * N)))
    for threads in (32, 64, 128, 256, 512, 1024):  # a warp if it can: no shared memory, no barrier
        if C <= threads * MOST_OWN:
            items = max(1, blocks(C, threads * N))
            return Team(threads, N, items if N > 1 else 1 << (items - 1).bit_length())
    return None


def row_blocks(host: bool, rows: int) -> int:
    """Blocks that share the rows of a norm; each keeps weight and bias, and backward leaves one row of partial sums."""
    return max(1, min(rows, SIMULATED_ROW_BLOCKS if host else NORM_BLOCKS))


# Sums and maxima along an axis (reduce_rows.cu, reduce_columns.cu).
PART = 4096  # elements of a row that a group of lanes reduces: 32 float4 for each lane of a warp
COLUMN_PART = 512  # elements of a column that one thread adds: float32 adds as many without losing a digit that counts
COLUMN_THREADS = 1 << 17  # a large GPU holds twice as many
SIMULATED_COLUMN_THREADS = 256


def reduce_lanes(host: bool, K: int) -> int:
    """Lanes that share a row of K elements: idle lanes are lost, and on a CPU each lane costs something at each exchange."""
    if host:
        return 1 if K <= 64 else 4
    return 1 if K <= 8 else 8 if K <= 64 else 32


def column_part(host: bool, columns: int, K: int) -> int:
    """How many of the K elements of a column one thread reduces: fewer if there would be too few threads, but 16 at least."""
    parts = blocks(SIMULATED_COLUMN_THREADS if host else COLUMN_THREADS, max(1, columns))
    return max(16, min(COLUMN_PART, blocks(K, parts)))


def bias_rows(host: bool, rows: int, column_blocks: int) -> int:
    """Blocks along the rows for bias + GELU: each reads the bias once and leaves one row of partial sums of its gradient."""
    return max(1, min(blocks(rows, 16), (SIMULATED_ROW_BLOCKS if host else NORM_BLOCKS) // column_blocks or 1, 65535))


NORM_THREADS = 256  # of a block that adds squares for the global norm; 8192 elements each
SIMULATED_NORM_THREADS = 8


def norm_threads(host: bool) -> int:
    return SIMULATED_NORM_THREADS if host else NORM_THREADS
