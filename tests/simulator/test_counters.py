"""Counters against the textbook, under both compilers: each pattern with the reasoning behind its number.

A sector is 32 bytes, a request is one instruction of one warp. Shared memory has 32 banks of 4 bytes; a wavefront serves
each bank one word (a word that several lanes want is one word).
"""

from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, sanitize

HERE = Path(__file__).parent
F = np.float32


def one(report, space, op, file_line=None):
    """The counters of the only line (or the line marked with a comment) with this space and direction."""
    assert report.ok, str(report)
    found = [x for x in report.lines if (x.space, x.op) == (space, op)]
    if file_line:
        found = [x for x in found if x.line == file_line]
    assert len(found) == 1, str(report)
    return found[0]


def marked(kernel, mark):
    """The line after `kernel`'s name that carries the comment."""
    inside = False
    for number, line in enumerate((HERE / "counters.cu").read_text().splitlines(), 1):
        inside |= f" {kernel}(" in line
        if inside and line.endswith(f"// {mark}"):
            return number
    raise AssertionError(mark)


def run(name, *args, block=(32,), grid=(1,)):
    return sanitize(Kernel(HERE / "counters.cu", name), grid, block, args)


# name: (dtype, elements of x, of y, sectors per read request, per write request)
GLOBAL = {
    "stride_1": (F, 32, 32, 4, 4),  # 32 floats are 128 bytes: 4 sectors, nothing wasted
    "stride_2": (F, 64, 32, 8, 4),  # 256 bytes are touched, every other float used
    "stride_8": (F, 256, 32, 32, 4),  # 8 floats are a sector: each lane has one of its own
    "stride_32": (F, 32, 1024, 4, 32),  # farther apart costs no more than a sector a lane
    "misaligned": (F, 33, 32, 5, 4),  # bytes 4 to 132 lie in sectors 0 to 4
    "broadcast": (F, 8, 32, 1, 4),  # one address, one sector
    "reversed": (F, 32, 32, 4, 4),  # the order of the lanes does not matter
    "half_a_warp": (F, 16, 16, 2, 2),  # 16 floats are 64 bytes
    "vector_4": (F, 128, 128, 16, 16),  # 32 float4 are 512 bytes, in one request
    "vector_2": (F, 64, 64, 8, 8),  # 32 float2 are 256 bytes
    "pack_4": (F, 128, 128, 16, 16),  # a struct of four floats, copied whole, is like a float4
    "doubles": (np.float64, 32, 32, 8, 8),  # 32 doubles are 256 bytes
    "bytes": (np.int8, 32, 32, 1, 1),  # 32 bytes are one sector
    "structs": (F, 96, 32, 12, 4),  # a field of 12-byte structs: all 384 bytes are moved
    "four_scalars": (F, 128, 32, 16, 4),  # each of 4 requests picks one float of 16 bytes: all 512 bytes, 4 times
    "rows_by_thread": (F, 1024, 32, 32, 4),  # lanes are 128 bytes apart
    "columns_by_thread": (F, 1024, 32, 4, 4),  # lanes are neighbours
}


@pytest.mark.parametrize("name", GLOBAL)
def test_sectors(name, compiler):
    dtype, nx, ny, read, write = GLOBAL[name]
    x, y = np.ones(nx, dtype), np.zeros(ny, dtype)
    report = run(name, x, y)
    loads, stores = one(report, "global", "read"), one(report, "global", "write")
    lanes = 16 if name == "half_a_warp" else 32
    rounds = {"four_scalars": 4, "rows_by_thread": 32, "columns_by_thread": 32}.get(name, 1)
    assert (loads.sectors_per_request, stores.sectors_per_request) == (read, write)
    assert (loads.requests, stores.requests) == (rounds, 1)
    assert loads.active_lanes == stores.active_lanes == lanes
    size = {"vector_4": 16, "vector_2": 8, "pack_4": 16}.get(name, np.dtype(dtype).itemsize)
    assert loads.bytes_requested == lanes * rounds * size
    assert loads.bytes_moved == 32 * read * rounds


def test_sectors_do_not_depend_on_where_an_array_ends(compiler):
    """The simulator lays arrays against the end of a page; a GPU aligns their beginning to 256 bytes, and so we count."""
    for n in (32, 33, 35, 47, 101):
        assert one(run("stride_1", np.ones(n, F), np.zeros(n, F)), "global", "read").sectors_per_request == 4


def test_atomics_on_one_place(compiler):
    line = one(run("atomic_one_place", np.ones(32, F), np.zeros(1, F)), "global", "write")
    assert (line.requests, line.sectors_per_request, line.active_lanes) == (1, 1, 32)


@pytest.mark.parametrize(
    ("stride", "wavefronts"),
    [
        (1, 1),  # every lane a bank of its own
        (2, 2),  # 32 lanes share the 16 even banks
        (3, 1),  # an odd stride meets every bank once
        (4, 4),
        (8, 8),
        (16, 16),
        (32, 32),  # all in bank 0
        (33, 1),  # one more than 32 is like 1: why tiles are padded
        (0, 1),  # one word for all: a broadcast
    ],
)
def test_bank_conflicts_by_stride(stride, wavefronts, compiler):
    report = run("shared_stride", np.zeros(32, F), stride)
    line = one(report, "shared", "read", marked("shared_stride", "read"))
    assert (line.requests, line.wavefronts_per_request) == (1, wavefronts)


def test_other_shared_patterns(compiler):
    # 512 bytes cannot pass 32 banks of 4 bytes in fewer than 4 wavefronts: a quarter-warp each, no conflict.
    report = run("shared_vector", np.zeros(128, F))
    assert one(report, "shared", "write").wavefronts_per_request == 4
    assert one(report, "shared", "read").wavefronts_per_request == 4
    # 256 bytes: 2 wavefronts, a half-warp each.
    assert one(run("shared_double", np.zeros(32)), "shared", "write").wavefronts_per_request == 2
    report = run("shared_broadcast", np.zeros(32, F))
    assert one(report, "shared", "read").wavefronts_per_request == 1
    # lanes 0, 2, 4 ... want words 0, 2, 4 ..., lanes 1, 3, ... want 32, 34, ...: two words in each even bank.
    report = run("shared_two_words_a_bank", np.zeros(32, F))
    assert one(report, "shared", "read").wavefronts_per_request == 2


@pytest.mark.parametrize(("step", "wavefronts"), [(1, 4), (2, 2), (4, 2), (16, 2), (32, 2), (3, 4)])
def test_lanes_in_pairs_are_served_by_half_warps(step, wavefronts, compiler):
    """Loads of 16 bytes by `step` lanes from one address: an H100 counted 2 in place of 4 where 16 did."""
    report = run("shared_pairs", np.zeros(128, F), step)
    assert one(report, "shared", "read", marked("shared_pairs", "read")).wavefronts_per_request == wavefronts
    assert one(report, "shared", "write").wavefronts_per_request == 4


def test_transposes(compiler):
    n = 32
    x = np.arange(n * n, dtype=F).reshape(n, n)
    y = np.zeros_like(x)
    report = run("transpose_naive", x, y, n, block=(32, 8), grid=(1, 4))
    # reads run along a row; writes run down a column, 128 bytes apart: a sector for each lane
    assert one(report, "global", "read").sectors_per_request == 4
    assert one(report, "global", "write").sectors_per_request == 32
    np.testing.assert_array_equal(y, x.T)
    # through a tile both run along rows; but its columns are 32 words apart, all in one bank
    report = run("transpose_tiled", x, y, n, block=(32, 8))
    line = marked("transpose_tiled", "read")
    assert one(report, "global", "write", line).sectors_per_request == 4
    assert one(report, "shared", "read", line).wavefronts_per_request == 32
    # a column more spreads them over all banks
    report = run("transpose_padded", x, y, n, block=(32, 8))
    line = marked("transpose_padded", "read")
    assert one(report, "shared", "read", line).wavefronts_per_request == 1
    assert one(report, "shared", "read", line).requests == 32
    np.testing.assert_array_equal(y, x.T)


def test_roofline():
    report = run("stride_1", np.ones(32, F), np.zeros(32, F))
    place = report.roofline(peak_bandwidth=1e12, peak_flops=1e13, flops=512)
    assert report.bytes_moved == 256
    assert (place.intensity, place.ridge, place.bound, place.attainable) == (2, 10, "memory", 2e12)
    assert report.roofline(1e12, 1e13, flops=256 * 20).bound == "compute"
    with pytest.raises(ValueError, match=r"positive"):
        report.roofline(0, 1)
    assert report.roofline(1e12, 1e13).flops == 0, "a copy computes nothing"
