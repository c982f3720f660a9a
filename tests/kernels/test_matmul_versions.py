"""The versions of matmul: each computes the same, and gains over the one before it what its header says."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.benchmarks.versions import MATMUL, Matmul
from course_lib.cuda import nvrtc, sanitize, source
from course_lib.devices.gpu.storage import from_bfloat16
from tests.kernels.checking import assert_clean, assert_close, assert_coalesced, assert_conflict_free, assert_same_bits
from tests.nvrtc_here import needs_nvrtc

SIZES = [(1, 1, 1), (7, 31, 33), (33, 65, 127), (65, 127, 130), (130, 33, 7), (127, 130, 65), (64, 64, 64)]
M, N, K = 128, 128, 64  # of the products whose counters are compared
every_version = pytest.mark.parametrize("version", MATMUL.values(), ids=list(MATMUL))


def product64(a, b):
    a, b = (from_bfloat16(x) if x.dtype == np.uint16 else x for x in (a, b))
    return a.astype(np.float64) @ b


def launch(version: Matmul, M, N, K, seed=0, order=0):
    a, b, c = version.inputs(M, N, K, seed)
    kernel, grid, block, args, shared_mem = version.launch(a, b, c)
    kernel(grid, block, args, shared_mem, seed=order)
    return a, b, c


def up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


@every_version
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_values(version, size):
    m, n, k = size[0], up(size[1], version.multiple), up(size[2], version.multiple)
    for seed in (0, 1):
        a, b, c = launch(version, m, n, k, seed)
        assert_close(c, product64(a, b), 2e-6)


@every_version
def test_same_bits_in_any_order(version):
    assert_same_bits(lambda order: [launch(version, 65, 72, 40, order=order)[2]])


@every_version
def test_clean_on_ragged_sizes(version):
    """Not an element outside the matrices is touched, and none of the result is left out."""
    a, b, c = version.inputs(33, up(70, version.multiple), up(37, version.multiple))
    assert_clean(*version.launch(a, b, c))
    assert_close(c, product64(a, b), 2e-6)


def report_of(name: str):
    a, b, c = MATMUL[name].inputs(M, N, K)
    return assert_clean(*MATMUL[name].launch(a, b, c))


def line_of(report, text: str, space: str, op: str):
    """The counters of the one line of the source that contains `text`."""
    found = [x for x in report.lines if (x.space, x.op) == (space, op) and text in report.sources[x.file, x.line]]
    assert len(found) == 1, f"{text}: {report}"
    return found[0]


def tiles_bytes(BM: int, BN: int, size: int) -> int:
    """A is read once for each column of tiles, B once for each row of them, C is written once."""
    return size * (M * K * N // BN + K * N * M // BM) + 4 * M * N


def shared_reads(report) -> int:
    return sum(x.requests for x in report.lines if (x.space, x.op) == ("shared", "read"))


def test_version_1_moves_a_sector_for_each_lane():
    report = report_of("1 naive")
    assert line_of(report, "A[", "global", "read").sectors_per_request == 32
    assert line_of(report, "B[", "global", "read").sectors_per_request == 1
    assert line_of(report, "C[", "global", "write").sectors_per_request == 32
    assert report.bytes_moved == 32 * (33 * M * N * K // 32 + 32 * M * N // 32)


def test_version_2_is_coalesced():
    report = report_of("2 coalesced")
    assert line_of(report, "A[", "global", "read").sectors_per_request == 1
    assert line_of(report, "B[", "global", "read").sectors_per_request == 4
    assert line_of(report, "C[", "global", "write").sectors_per_request == 4
    assert report.bytes_moved == 32 * (5 * M * N * K // 32 + 4 * M * N // 32)
    assert_coalesced(report)


def test_version_3_fetches_once_for_a_tile():
    report = report_of("3 shared tiles")
    assert report.bytes_moved == tiles_bytes(32, 32, 4)
    assert shared_reads(report) * 32 == 2 * M * N * K  # two reads for each multiply-add
    assert_coalesced(report)
    assert_conflict_free(report)


def test_version_4_reads_shared_memory_half_as_often():
    report = report_of("4 register tiles, 1D")
    assert report.bytes_moved == tiles_bytes(64, 64, 4)
    assert shared_reads(report) * 32 == (8 + 1) * M * N * K // 8
    assert_coalesced(report)
    assert_conflict_free(report)


def test_version_5_reads_a_quarter_of_a_number_and_meets_in_the_banks():
    report = report_of("5 register tiles, 2D")
    assert shared_reads(report) * 32 == (8 + 8) * M * N * K // 64
    assert line_of(report, "right[c] = ", "shared", "read").wavefronts_per_request == 4
    assert line_of(report, "C[", "global", "write").sectors_per_request == 32
    reads = sum(x.bytes_moved for x in report.lines if (x.space, x.op) == ("global", "read"))
    assert reads == tiles_bytes(128, 128, 4) - 4 * M * N


def test_version_6_waits_for_no_bank_and_issues_a_quarter_of_the_instructions():
    report = report_of("6 vectorised")
    assert report.bytes_moved == tiles_bytes(128, 128, 4)
    assert shared_reads(report) * 32 * 4 == (8 + 8) * M * N * K // 64
    assert {x.sectors_per_request for x in report.lines if x.space == "global"} == {16}
    assert_coalesced(report)
    assert_conflict_free(report)


def test_version_7_moves_half_the_bytes():
    report = report_of("7 wmma, bfloat16")
    assert report.bytes_moved == tiles_bytes(64, 64, 2)
    assert_coalesced(report)


def test_version_8_copies_without_registers_and_waits_for_no_bank():
    report = report_of("8 mma, bfloat16")
    assert report.bytes_moved == tiles_bytes(128, 128, 2)
    assert line_of(report, "cp_async_16", "global", "read").sectors_per_request == 16
    shared = [x for x in report.lines if x.space == "shared"]
    assert {x.wavefronts_per_request for x in shared} == {4}
    assert shared_reads(report) == (M // 64) * (N // 64) * (K // 16) * 8  # 8 ldmatrix for a warp's 32 mma
    assert_coalesced(report)
    assert_conflict_free(report)


@needs_nvrtc
@every_version
def test_nvidia_compiles_the_instances(version):
    text = source.find(version.file)
    for architecture in nvrtc.architectures(text):
        cubin, _ = nvrtc.compile_text(text, (version.kernel,), architecture)
        assert cubin[:4] == b"\x7fELF"


def test_a_wrong_size_is_found_out():
    """What the header of version 6 asks of N and K is no ornament."""
    a, b, c = MATMUL["6 vectorised"].inputs(8, 5, 8)
    report = sanitize(*MATMUL["6 vectorised"].launch(a, b, c))
    assert not report.ok
