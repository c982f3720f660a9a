"""Embedding: kernels/embedding.cu. The backward sorts the positions by row and sums without atomics."""

from __future__ import annotations

from .launching import THREADS, TYPES, blocks, empty, kernel, zeros

__all__ = "embedding_forward embedding_backward".split()

FILE = "embedding.cu"
CHUNK = 256  # positions that a block sorts among themselves, as in embedding.cu


def embedding_forward(table, indices):
    V, C = table.shape
    y = empty(table, (*indices.shape, C))  # (*n, C)
    if y.size:
        run = kernel(FILE, f"embedding_forward<{TYPES[indices.dtype.name]}>")
        run((blocks(y.size),), (THREADS,), (table, indices, y, indices.size, V, C))
    return y


def embedding_backward(dy, indices, rows):
    C = dy.shape[-1]
    dtable = empty(dy, (rows, C))
    if dtable.size:
        positions, starts = sort_by_row(indices, rows)
        kernel(FILE, "embedding_backward")(
            (rows,), (min(THREADS, 32 * blocks(C, 32)),), (dy, positions, starts, dtable, C)
        )
    return dtable


def sort_by_row(indices, rows):
    """(positions (n), starts (rows + 1)), int32: positions[starts[r]:starts[r + 1]] are those i with indices[i] = r, in order."""
    n, chunks, kind = indices.size, max(1, blocks(indices.size, CHUNK)), TYPES[indices.dtype.name]
    ranks, positions, starts = (empty(indices, (size,), "int32") for size in (n, n, rows + 1))
    counts, totals = zeros(indices, (rows, chunks), "int32"), empty(indices, (rows,), "int32")
    if n:
        kernel(FILE, f"embedding_ranks<{kind}>")((chunks,), (CHUNK,), (indices, ranks, counts, n, rows))
    kernel(FILE, "embedding_totals")((blocks(rows),), (THREADS,), (counts, totals, rows, chunks))
    kernel(FILE, "embedding_starts")((1,), (CHUNK,), (totals, starts, rows))
    if n:
        run = kernel(FILE, f"embedding_sort<{kind}>")
        run((blocks(n),), (THREADS,), (indices, ranks, counts, starts, positions, n, rows, chunks))
    return positions, starts
