"""The versions of a kernel, naive to fast, as the simulator counts them: what each one gains is visible without a GPU.

Every version computes the same on the same data, once, with each access watched. Requests are instructions of a warp; sectors are
32 bytes of global memory; wavefronts are passes over the banks of shared memory. FLOPs are the formula's (an fma counts 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from course_lib.cuda import Kernel, asarray, empty, sanitize, zeros
from course_lib.cuda.profile import bank_conflicts
from course_lib.devices.gpu.storage import to_bfloat16

MATRIX = 128, 128, 64  # M, N, K of the products that are counted
ELEMENTS = 1 << 14
ROWS = 32, 512  # of the softmax


@dataclass(frozen=True)
class Matmul:
    """A version of matmul: a block of `threads` computes BM x BN of C (M, N) = A (M, K) B (K, N)."""

    file: str
    kernel: str
    BM: int
    BN: int
    threads: tuple[int, ...]
    shared_mem: int = 0
    bfloat16: bool = False
    multiple: int = 1  # of which N and K must be
    down: bool = False  # x runs down the rows

    def inputs(self, M: int, N: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (M, K), B (K, N) of random numbers (bfloat16 as its bits), and C (M, N), not written yet, in device memory."""
        rng = np.random.default_rng(seed)
        a, b = (asarray(rng.standard_normal(shape, np.float32)) for shape in ((M, K), (K, N)))
        return *((to_bfloat16(a), to_bfloat16(b)) if self.bfloat16 else (a, b)), empty((M, N))

    def launch(self, a, b, c) -> tuple:
        """kernel, grid, block, arguments and shared memory of c = a b."""
        (M, K), N = a.shape, b.shape[1]
        rows, columns = -(-M // self.BM), -(-N // self.BN)
        grid = (rows, columns) if self.down else (columns, rows)
        return Kernel(self.file, self.kernel), grid, self.threads, (a, b, c, M, N, K), self.shared_mem


def tensor_mem(BM: int, BN: int, BK: int, stages: int) -> int:
    """Bytes of shared memory of matmul_8_mma.cu."""
    return 2 * stages * (BM + BN) * BK


MATMUL = {
    "1 naive": Matmul("matmul_1_naive.cu", "matmul_naive", 32, 8, (32, 8), down=True),
    "2 coalesced": Matmul("matmul_2_coalesced.cu", "matmul_coalesced", 8, 32, (32, 8)),
    "3 shared tiles": Matmul("matmul_3_shared_tiles.cu", "matmul_shared_tiles<32>", 32, 32, (32, 32)),
    "4 register tiles, 1D": Matmul(
        "matmul_4_register_tiles_1d.cu", "matmul_register_tiles_1d<64, 64, 8, 8>", 64, 64, (512,)
    ),
    "5 register tiles, 2D": Matmul(
        "matmul_5_register_tiles_2d.cu", "matmul_register_tiles_2d<128, 128, 8, 8, 8>", 128, 128, (256,)
    ),
    "6 vectorised": Matmul(
        "matmul_6_vectorised.cu", "matmul_vectorised<128, 128, 8, 8, 8>", 128, 128, (256,), multiple=4
    ),
    "7 wmma, bfloat16": Matmul(
        "matmul_7_wmma.cu", "matmul_wmma<64, 64, 32>", 64, 64, (128,), bfloat16=True
    ),
    "8 mma, bfloat16": Matmul(
        "matmul_8_mma.cu", "matmul_mma<128, 128, 64, 64, 64, 2>", 128, 128, (128,), tensor_mem(128, 128, 64, 2),
        bfloat16=True, multiple=8,
    ),
}  # fmt: skip


def _matmul() -> Iterator[tuple[str, float, list[tuple]]]:
    M, N, K = MATRIX
    for name, version in MATMUL.items():
        yield name, 2.0 * M * N * K, [version.launch(*version.inputs(M, N, K))]


def _sum() -> Iterator[tuple[str, float, list[tuple]]]:
    """Each version sums what it can in its first launch; a second launch of one block adds up the blocks' sums."""
    n, threads = ELEMENTS, 256
    x, one = asarray(np.ones(n, np.float32)), zeros(1)
    yield "1 atomics", n, [(Kernel("sum.cu", "sum_1_atomics"), (n // threads,), (threads,), (x, one, n), 0)]
    for name, kernel, blocks in (
        ("2 tree", "sum_2_tree", n // threads),
        ("3 warps", "sum_3_warps", n // threads),
        ("4 vectors", "sum_4_vectors", 4),
    ):
        run, partial = Kernel("sum.cu", f"{kernel}<{threads}>"), zeros(blocks)
        last = (run, (1,), (threads,), (partial, one, blocks), 0)
        yield name, n, [(run, (blocks,), (threads,), (x, partial, n), 0), last]


def _softmax() -> Iterator[tuple[str, float, list[tuple]]]:
    rows, S = ROWS
    x, y = asarray(np.random.default_rng(0).standard_normal(ROWS).astype(np.float32)), empty(ROWS)
    flops = 15.0 * x.size
    for name in ("1_three_pass", "2_online"):
        yield (
            name.replace("_", " "),
            flops,
            [(Kernel("softmax.cu", f"softmax_{name}<128>"), (rows,), (128,), (x, y, S, 0), 0)],
        )
    kernel = Kernel("softmax.cu", f"softmax_forward<32, 4, {S // 128}>")
    yield "3 registers", flops, [(kernel, (rows,), (32,), (x, y, rows, S, 0), 0)]


OPERATIONS: dict[str, Callable[[], Iterator[tuple[str, float, list[tuple]]]]] = {
    f"matmul, {MATRIX[0]} x {MATRIX[1]} x {MATRIX[2]}": _matmul,
    f"sum of {ELEMENTS:,}": _sum,
    f"softmax, {ROWS[0]} x {ROWS[1]}": _softmax,
}


@dataclass(frozen=True)
class Counts:
    """What a version requests of memory. `wavefronts`: of shared memory; `conflicts`: those above what its bytes need."""

    version: str
    requests: int
    sectors_per_request: float
    bytes_moved: int
    shared_requests: int
    wavefronts: int
    conflicts: int
    flops: float


def count(version: str, flops: float, launches: list[tuple]) -> Counts:
    """Run the launches with every access watched and add up their counters. Raises RuntimeError if anything is wrong."""
    lines, moved = [], 0
    for kernel, grid, block, args, shared_mem in launches:
        report = sanitize(kernel, grid, block, args, shared_mem)
        if not report.ok:
            raise RuntimeError(f"{version} cannot be measured: {report}")
        lines += report.lines
        moved += report.bytes_moved
    shared, memory = ([x for x in lines if x.space == space] for space in ("shared", "global"))
    requests = sum(x.requests for x in memory)
    wavefronts = sum(x.wavefronts_per_request * x.requests for x in shared)
    sectors = sum(x.sectors_per_request * x.requests for x in memory)
    return Counts(
        version, requests, sectors / requests, moved, sum(x.requests for x in shared), round(wavefronts),
        round(sum(map(bank_conflicts, shared))), flops,
    )  # fmt: skip


COLUMNS = {  # title: how a row fills it
    "requests": lambda c: f"{c.requests:,}",
    "sectors each": lambda c: f"{c.sectors_per_request:.1f}",
    "global bytes": lambda c: f"{c.bytes_moved:,}",
    "FLOPs": lambda c: f"{c.flops:,.0f}",
    "FLOPs/byte": lambda c: f"{c.flops / c.bytes_moved:.2f}",
    "shared requests": lambda c: f"{c.shared_requests:,}",
    "wavefronts": lambda c: f"{c.wavefronts:,}",
    "conflicts": lambda c: f"{c.conflicts:,}",
}

WIDTH = max(map(len, COLUMNS)) + 1


def run() -> list[dict[str, Any]]:
    """Count all versions of each operation and print a table; returns the rows, each with the name of its operation."""
    rows = []
    for operation, versions in OPERATIONS.items():
        print(f"\n{operation}: what the simulator counts")
        print(f"{'version':22}" + "".join(f"{title:>{WIDTH}}" for title in COLUMNS))
        for version in versions():
            counts = count(*version)
            rows.append({"operation": operation, **asdict(counts)})
            print(f"{counts.version:22}" + "".join(f"{show(counts):>{WIDTH}}" for show in COLUMNS.values()))
    print(
        "\nFLOPs are the formula's (an fma counts 2). Which lane holds what of a wmma fragment is not specified, so version 7's "
        "wavefronts\nare those of the simulator's layout; a GPU's may differ."
    )
    return rows
