"""Launch configuration of flash attention: the tiles by head size, on CUDA cores and on tensor cores, and their shared memory."""

from __future__ import annotations

from typing import NamedTuple

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
    def block_rows(self) -> int:
        """Rows of a block of the backward, queries or keys: the columns of its products."""
        return self.columns

    # Bytes of shared memory. A row of up to 32 numbers has 4 of padding, a longer one 16, and 20 if it is transposed.

    @property
    def forward_bytes(self) -> int:
        resident = self.rows * _padded(self.D)
        streamed = self.D * _transposed(self.columns) + self.columns * _padded(self.D)
        return 4 * (resident + streamed + self.rows * _padded(self.columns))

    @property
    def backward_q_bytes(self) -> int:
        resident, streamed = self.D * _transposed(self.columns), self.rows * _padded(self.D)
        return 4 * (2 * resident + 2 * streamed + self.rows * _padded(self.columns))

    @property
    def backward_kv_bytes(self) -> int:
        return self.backward_q_bytes + 4 * self.rows * _padded(self.columns)


def _padded(n: int) -> int:
    return n + (16 if n > 32 else 4)


def _transposed(n: int) -> int:
    return n + (20 if n > 32 else 4)


# As large as 64 KB of shared memory (Turing) and the registers of a thread allow: the sums of R rows are R (C + D / 4) numbers.
FLASH_FORWARD = {32: FlashTile(32, 4, 16), 64: FlashTile(64, 4, 8), 128: FlashTile(128, 2, 4)}
FLASH_BACKWARD = {32: FlashTile(32, 2, 16), 64: FlashTile(64, 2, 8), 128: FlashTile(128, 1, 4)}


class TensorFlashTile(NamedTuple):
    """On tensor cores: heads are filled up to D numbers; tiles of the other side have `streamed` rows."""

    D: int
    streamed: int

    @property
    def rows(self) -> int:
        return 64  # of the block's own side, 16 for each of its 4 warps

    @property
    def block_rows(self) -> int:
        return self.rows

    @property
    def threads(self) -> int:
        return 128

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))

    @property
    def forward_bytes(self) -> int:
        return 2 * self.D * (self.rows + 4 * self.streamed)  # keys and values, two tiles of each

    @property
    def backward_q_bytes(self) -> int:
        return 2 * self.D * (2 * self.rows + 2 * self.streamed)

    @property
    def backward_kv_bytes(self) -> int:
        return self.backward_q_bytes + 8 * self.streamed  # logsumexp and delta


# With 64 streamed rows a product takes 32 registers of a thread; the backward has two at once, and dk and dv are two sums.
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
