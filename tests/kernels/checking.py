"""What the tests of all kernels ask: are the values right, does the sanitizer find nothing, how is memory used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from course_lib.cuda import Kernel, Report, asarray, empty, sanitize

F = np.float32

# Lengths around everything that a kernel cuts by: packs of 4, warps of 32, blocks of 256; and primes that nothing divides.
RAGGED = (1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 130, 255, 256, 257, 1025)


def normal(*shape: int, seed: int = 0, deviation: float = 1.0, mean: float = 0.0) -> np.ndarray:
    """Normal float32 values in device memory."""
    return asarray(np.random.default_rng(seed).normal(mean, deviation, shape).astype(F))


def assert_close(got: np.ndarray, want64: np.ndarray, tolerance: float = 1e-5, what: str = "") -> None:
    """`got` is what float64 says, up to `tolerance` of the largest element: float32 rounds to 6e-8, and long sums add up."""
    want64 = np.asarray(want64)
    assert want64.dtype != F, "compare with float64, not with float32"
    assert got.shape == want64.shape, f"{what} has shape {got.shape} instead of {want64.shape}"
    scale = np.abs(want64[np.isfinite(want64)]).max(initial=0) or 1.0
    np.testing.assert_allclose(got, want64, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def assert_clean(kernel: Kernel, grid, block, args: Sequence[Any], shared_mem: int = 0, seed: int = 0) -> Report:
    """The sanitizer finds no issue; returns its report, with counters by line. The results are in the arrays."""
    report = sanitize(kernel, grid, block, args, shared_mem, seed=seed)
    assert report.ok, str(report)
    return report


def assert_same_bits(launch: Callable[[int], Sequence[np.ndarray]], runs: int = 3) -> None:
    """`launch(seed)` gives the same bits again, and the same bits in every order of lanes, warps and blocks.

    Seed 0, the plain order, is compared with itself: there the first thread of a block runs a copy of the code of its own, in
    which the host's compiler may fuse a multiplication and an addition that it keeps apart in the other.
    """
    for seeds in ((0, 0), range(1, runs + 1)):
        bits = [[array.tobytes() for array in launch(seed)] for seed in seeds]
        assert all(again == bits[0] for again in bits), f"other bits with seeds {list(seeds)}"


def assert_bytes(report: Report, minimum: int, most: float = 1.2) -> None:
    """Global memory moves at most `most` times the bytes that it must, sectors counted whole and caches ignored."""
    assert minimum <= report.bytes_moved <= most * minimum, (
        f"{report.bytes_moved:,} bytes instead of {minimum:,}\n{report}"
    )


def assert_coalesced(report: Report) -> None:
    """No line moves sectors that it does not use: at most 4 per request for 4-byte words of a whole warp."""
    lines = [x for x in report.lines if x.space == "global"]
    assert lines and not [x for x in lines if x.remark], str(report)


def assert_conflict_free(report: Report) -> None:
    """No line of shared memory waits for a bank."""
    lines = [x for x in report.lines if x.space == "shared"]
    assert lines and not [x for x in lines if x.remark], str(report)


def reports_of(run: Callable[[], Any]) -> list[Report]:
    """What the sanitizer says of each launch of `run`, which calls ops of the simulator; it must find no issue."""
    reports = []

    def watched(kernel, grid, block, args, shared_mem=0):
        reports.append(assert_clean(kernel, grid, block, args, shared_mem))

    with patch.object(Kernel, "__call__", watched):
        run()
    assert reports, "nothing was launched"
    return reports


def assert_op_repeats(run: Callable[[], Sequence[np.ndarray]], runs: int = 3) -> None:
    """`run`, which calls ops of the simulator, gives the same bits in every order of lanes, warps and blocks."""
    plain = Kernel.__call__

    def in_order(seed: int) -> Sequence[np.ndarray]:
        with patch.object(Kernel, "__call__", lambda *launch, **options: plain(*launch, **options, seed=seed)):
            return run()

    assert_same_bits(in_order, runs)


def new(*shape: int) -> np.ndarray:
    """Float32 in device memory that has not been written: nan until it is."""
    return empty(shape, F)
