"""Sums, maxima, logsumexp and the global norm: every version and kernel against float64, on ragged sizes."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, empty
from course_lib.devices import ops
from course_lib.devices.gpu import configuration, launching
from tests.kernels.checking import (
    RAGGED,
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_conflict_free,
    assert_op_repeats,
    assert_same_bits,
    new,
    normal,
)

F, D = np.float32, np.float64

# The versions of sum.cu


def sums(version: str, n: int, threads: int = 64, seed: int = 0):
    """The sum of n elements by one version: the partial sums of its first launch, and the result of the second."""
    kernel = Kernel("sum.cu", f"{version}<{threads}>")
    grid = 3 if version == "sum_4_vectors" else -(-n // threads)
    partial, total = new(grid), new(1)
    kernel((grid,), (threads,), (normal(n, mean=0.3), partial, n), seed=seed)
    while grid > threads and version != "sum_4_vectors":  # one block of these adds `threads` numbers at most
        grid, previous = -(-grid // threads), partial
        partial = new(grid)
        kernel((grid,), (threads,), (previous, partial, previous.size), seed=seed)
    kernel((1,), (threads,), (partial, total, grid), seed=seed)
    return partial, total


@pytest.mark.parametrize("n", [*RAGGED, 10007])
@pytest.mark.parametrize("version", ["sum_2_tree", "sum_3_warps", "sum_4_vectors"])
def test_a_version_adds_all(version, n):
    _, total = sums(version, n)
    assert_close(total, [normal(n, mean=0.3).astype(D).sum()])


@pytest.mark.parametrize("version", ["sum_2_tree", "sum_3_warps", "sum_4_vectors"])
def test_a_version_gives_the_same_bits_in_any_order(version):
    assert_same_bits(lambda seed: sums(version, 1025, seed=seed), runs=4)


def test_atomics_add_all_but_in_no_fixed_order():
    kernel = Kernel("sum.cu", "sum_1_atomics")
    x, bits = normal(1025, mean=0.3), set()
    for seed in range(8):
        y = asarray(np.zeros(1, F))
        kernel((17,), (64,), (x, y, 1025), seed=seed)
        assert_close(y, [x.astype(D).sum()], 1e-5)
        bits.add(y.tobytes())
    assert len(bits) > 1, "the order of the additions does not show"


def test_what_each_version_gained():
    """Requests to memory and barriers, version by version, as the comments and chapter 06 say."""
    n, threads = 4096, 256
    x = normal(n)
    reports = {}
    for version in ("sum_1_atomics", "sum_2_tree<256>", "sum_3_warps<256>", "sum_4_vectors<256>"):
        grid = 2 if "4" in version else n // threads
        y = asarray(np.zeros(grid, F))
        report = reports[version] = assert_clean(Kernel("sum.cu", version), (grid,), (threads,), (x, y, n))
        reads = [line for line in report.lines if (line.space, line.op) == ("global", "read")]
        assert (
            sum(line.bytes_moved for line in reads if "x[i]" in report.sources[line.file, line.line] or "4" in version)
            == 4 * n
        )
        if "1" not in version:
            assert_coalesced(report)
            assert_conflict_free(report)
            assert_bytes(report, 4 * n, 1.2)
    requests = {
        version: sum(line.requests for line in report.lines if line.space == "shared")
        for version, report in reports.items()
    }
    assert requests["sum_2_tree<256>"] > 2 * requests["sum_3_warps<256>"] > 8 * requests["sum_4_vectors<256>"] > 0
    loads = {
        version: sum(line.requests for line in report.lines if (line.space, line.op) == ("global", "read"))
        for version, report in reports.items()
    }
    assert loads["sum_4_vectors<256>"] * 4 == loads["sum_3_warps<256>"] == n // 32


# Along an axis

ROWS = [(1, 1), (5, 3), (3, 64), (7, 37), (33, 130), (2, 1028), (1, 4096), (70, 5)]
WAYS = {"Sum": np.sum, "Max": np.max}


@pytest.mark.parametrize("lanes", [1, 4, 8, 32])
@pytest.mark.parametrize("way", WAYS)
def test_reduce_rows(way, lanes):
    nothing = 0.0 if way == "Sum" else -np.inf
    for rows, K in ROWS:
        for width in [4, 1] if K % 4 == 0 else [1]:
            for each in {K, max(4, K // 3 // 4 * 4)}:  # a row in one part, or in several
                parts = -(-K // each)
                kernel = Kernel("reduce_rows.cu", f"reduce_rows<{way}, float, float, {width}, {lanes}>")
                x, y = normal(rows, K), new(rows, parts)
                grid = (-(-rows * parts * lanes // 64),)
                assert_clean(kernel, grid, (64,), (x, y, nothing, rows, K, parts, each))
                want = np.stack([WAYS[way](x[:, p * each : (p + 1) * each].astype(D), 1) for p in range(parts)], 1)
                assert_close(y, want)


@pytest.mark.parametrize("way", WAYS)
def test_reduce_columns(way):
    kernel = Kernel("reduce_columns.cu", f"reduce_columns<{way}, float, float>")
    for outer, K, inner in ((1, 1, 1), (1, 37, 5), (3, 64, 33), (2, 5, 130), (1, 100, 64), (65, 3, 2)):
        for each, down in ((K, 1), (16, 2), (7, 1)):
            parts = -(-K // each)
            x, y = normal(outer, K, inner), new(outer, parts, inner)
            grid = (-(-outer * inner // 32), min(down, parts))
            nothing = 0.0 if way == "Sum" else -np.inf
            assert_clean(kernel, grid, (32,), (x, y, nothing, outer, K, inner, parts, each))
            cut = [WAYS[way](x[:, p * each : (p + 1) * each].astype(D), 1) for p in range(parts)]
            assert_close(y, np.stack(cut, 1))


def test_reductions_move_no_byte_twice():
    x, n = normal(64, 128), 64 * 128
    rows = Kernel("reduce_rows.cu", "reduce_rows<Sum, float, float, 4, 32>")
    report = assert_clean(rows, (32,), (64,), (x, new(64), 0.0, 64, 128, 1, 128))
    assert_bytes(report, 4 * n, 1.2)
    assert max(line.sectors_per_request for line in report.lines) == 16  # 32 lanes of 16 bytes
    columns = Kernel("reduce_columns.cu", "reduce_columns<Sum, float, float>")
    report = assert_clean(columns, (2, 1), (64,), (x, new(128), 0.0, 1, 64, 128, 1, 64))
    assert_bytes(report, 4 * n, 1.2)
    assert all(line.sectors_per_request == 4 for line in report.lines)


@pytest.mark.slow
def test_whole_numbers_and_flags_are_counted_as_numpy_does():
    table, rng = ops("simulator"), np.random.default_rng(0)
    for dtype in (np.int32, bool):
        x = rng.integers(0, 2, (7, 4, 2)).astype(dtype)
        for axis in (None, 0):
            for op, function in (("sum", np.sum), ("max", np.max)):
                got, want = getattr(table, op)(asarray(x), axis), np.asarray(function(x, axis=axis))
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


def test_nothing_to_reduce():
    table = ops("simulator")
    np.testing.assert_array_equal(table.sum(new(0, 3), 0), np.zeros(3))
    assert table.sum(new(0, 3), 1).shape == (0,) and table.max(new(0, 3), 1).shape == (0,)
    with pytest.raises(ValueError, match=r"max of no elements.*\(0, 3\)"):
        table.max(new(0, 3), 0)
    with pytest.raises(ValueError, match="twice"):
        table.sum(new(2, 3), (0, -2))
    x = normal(3)
    same = table.sum(x, ())
    np.testing.assert_array_equal(same, x)
    assert not np.shares_memory(same, x)


@pytest.mark.parametrize("shape, axis", [((3, 5000), 1), ((5000, 3), 0), ((2, 2000, 3), (0, 1)), ((9000,), None)])
def test_long_sums_in_several_launches_give_the_same_bits(shape, axis):
    x = normal(*shape, mean=0.5)
    assert_close(ops("simulator").sum(x, axis), np.asarray(x.astype(D).sum(axis)), 1e-6)
    assert_op_repeats(lambda: [ops("simulator").sum(x, axis)])


def test_choices_of_a_gpu_are_within_what_the_kernels_take():
    for host in (True, False):
        for K in range(1, 5000):
            assert 1 <= configuration.reduce_lanes(host, K) <= 32 and 32 % configuration.reduce_lanes(host, K) == 0
            for columns in (1, 100, 10**6):
                assert 1 <= configuration.column_part(host, columns, K) <= configuration.COLUMN_PART
    assert configuration.PART % 4 == 0  # reduce_rows cuts rows of packs at packs


# Rows to one number


@pytest.mark.parametrize("threads", [4, 32, 128])
@pytest.mark.parametrize("name", ["row_max", "row_logsumexp"])
def test_a_row_becomes_one_number(name, threads):
    file = "row_max.cu" if name == "row_max" else "logsumexp.cu"
    for rows, C in ROWS:
        for width in [4, 1] if C % 4 == 0 else [1]:
            x, y = normal(rows, C, deviation=20), new(rows)
            assert_clean(Kernel(file, f"{name}<{threads}, {width}>"), (rows,), (threads,), (x, y, C))
            wide = x.astype(D)
            top = wide.max(1)
            sums = np.log(np.exp(wide - top[:, None]).sum(1))
            assert_close(y, top + (sums if name != "row_max" else 0))


@pytest.mark.parametrize("name, file", [("row_max", "row_max.cu"), ("row_logsumexp", "logsumexp.cu")])
def test_rows_are_read_once_and_in_order_of_the_lanes(name, file):
    x = normal(16, 512)
    report = assert_clean(Kernel(file, f"{name}<32, 4>"), (16,), (32,), (x, new(16), 512))
    assert_bytes(report, 4 * x.size, 1.2)
    assert_coalesced(report)

    def launch(seed):
        y = new(16)
        Kernel(file, f"{name}<128, 1>")((16,), (128,), (x, y, 512), seed=seed)
        return [y]

    assert_same_bits(launch)


@pytest.mark.parametrize("name, file", [("row_max", "row_max.cu"), ("row_logsumexp", "logsumexp.cu")])
def test_a_nan_in_a_row_stays(name, file):
    x, y = normal(3, 64), new(3)
    x[1, 40] = np.nan
    Kernel(file, f"{name}<32, 1>")((3,), (32,), (x, y, 64))
    np.testing.assert_array_equal(np.isnan(y), [False, True, False])


# The global norm

LENGTHS = [(1,), (8191, 3), (8192,), (8193, 1, 20000), (5, 0, 7), tuple(range(1, 300))]


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: f"{len(lengths)}-arrays-{lengths[0]}")
def test_global_norm(lengths):
    arrays = [normal(n, seed=i) for i, n in enumerate(lengths)]
    want = np.sqrt(sum((a.astype(D) ** 2).sum() for a in arrays))
    with launching.counting() as launches:
        assert_close(ops("simulator").global_norm(arrays), [want], 1e-6)
    assert launches["global_norm.cu global_norm_squares"] == -(-len([n for n in lengths if n]) // 240)
    assert launches["global_norm.cu global_norm_root"] == 1


def test_global_norm_of_a_gpus_blocks_is_clean_and_reads_each_byte_once():
    from course_lib.devices.gpu.reductions import GRADIENTS

    x, partial, y = normal(16384), new(2), new(1)
    gradients = np.zeros((), GRADIENTS)
    gradients["array"][0], gradients["size"][0], gradients["end"][0], gradients["count"] = (
        launching.address(x), 16384, 2, 1,
    )  # fmt: skip
    squares = Kernel("global_norm.cu", "global_norm_squares<256>")
    squares((2,), (256,), (gradients[()], partial, 0))
    assert_clean(Kernel("global_norm.cu", "global_norm_root<256>"), (1,), (256,), (partial, y, 2))
    assert_close(y, [np.sqrt((x.astype(D) ** 2).sum())], 1e-6)


def test_global_norm_gives_the_same_bits_in_any_order():
    arrays = [normal(n, seed=n) for n in (10000, 33, 257)]
    assert_op_repeats(lambda: [ops("simulator").global_norm(arrays)])


def test_global_norm_of_nothing_is_zero():
    assert ops("simulator").global_norm([empty(0, F)]) == [0]
