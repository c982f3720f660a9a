"""Launch configuration of the other ops: threads, lanes and blocks, one visible place for each, a reason beside each number."""

from __future__ import annotations

from typing import NamedTuple

from .launching import blocks

# scatter_add: up to so many indices, each row of the result scans them all, in one launch; sorting more takes five.
SCANNED = 256


def cross_entropy_lanes(host: bool) -> int:
    """Lanes for each row of logits: a warp on a GPU; a CPU pays for each lane at each exchange."""
    return 8 if host else 32


# Rows that a block keeps in registers: softmax and the norms (kernels/include/row.cuh).
# Elements of a row that a thread keeps: three rows and two sums of them fit 255 registers with room.
MOST_PER_THREAD = 16
NORM_BLOCKS = 2048  # 16 warps for each of 132 multiprocessors; their partial sums are small beside 16,384 rows
SIMULATED_THREADS = 4  # a CPU pays for each thread at each exchange, and holds longer rows
SIMULATED_MOST_PER_THREAD = 128
SIMULATED_ROW_BLOCKS = 8  # four for each core of a small machine


class RowLayout(NamedTuple):
    """How a block keeps a row in registers: ITEMS vectors of N elements in each of its THREADS (kernels/include/row.cuh)."""

    THREADS: int
    N: int
    ITEMS: int

    @property
    def template(self) -> str:
        return ", ".join(map(str, self))


def row_layout(host: bool, C: int, N: int) -> RowLayout | None:
    """The layout of a row of C elements, read N at a time; None if it is too long for registers."""
    if host and N > 1 and C <= SIMULATED_THREADS * SIMULATED_MOST_PER_THREAD:
        return RowLayout(SIMULATED_THREADS, N, max(1, blocks(C, SIMULATED_THREADS * N)))
    for threads in (32, 64, 128, 256, 512, 1024):  # a warp if it can: no shared memory, no barrier
        if C <= threads * MOST_PER_THREAD:
            items = max(1, blocks(C, threads * N))
            return RowLayout(threads, N, items if N > 1 else 1 << (items - 1).bit_length())
    return None


def row_blocks(host: bool, rows: int) -> int:
    """Blocks of a norm, each with several rows: each keeps weight and bias, and backward leaves one row of partial sums."""
    return max(1, min(rows, SIMULATED_ROW_BLOCKS if host else NORM_BLOCKS))


# Sums and maxima along an axis (reduce_rows.cu, reduce_columns.cu).
PART = 4096  # elements of a row that a group of lanes reduces: 32 float4 for each lane of a warp
COLUMN_PART = 512  # elements of a column that one thread adds: float32 adds as many without losing a digit that counts
COLUMN_THREADS = 1 << 17  # a large GPU holds twice as many
SIMULATED_COLUMN_THREADS = 256


def reduce_lanes(host: bool, K: int) -> int:
    """Lanes for each row of K elements: idle lanes are lost, and on a CPU each lane costs something at each exchange."""
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
