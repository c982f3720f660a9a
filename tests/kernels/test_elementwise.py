"""Broadcasting arithmetic, comparisons, copies, casts and picks by index: clean, coalesced, and the same bits in any order.

Values on many shapes are compared in tests/test_ops.py; here stands what only the kernels know.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import Kernel, asarray, empty, zeros
from course_lib.devices import ops
from course_lib.devices.gpu import configuration, launching, storage
from course_lib.devices.gpu.views import views
from course_lib.devices.layout import broadcast_strides, collapse
from tests.kernels.checking import (
    RAGGED,
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    normal,
    reports_of,
)

F = np.float32


@pytest.mark.parametrize("n", RAGGED)
def test_add_in_packs_of_four_writes_every_element_and_none_beyond(n):
    a, b, y = normal(n), normal(n, seed=1), empty(n)
    assert_clean(Kernel("arithmetic.cu", "binary<Add, float, 4>"), (-(-n // 256),), (64,), (a, b, y, n))
    np.testing.assert_array_equal(y, a + b)


@pytest.mark.parametrize("n", RAGGED)
def test_casts_in_packs_of_four_write_every_element_and_none_beyond(n):
    x, half, back = normal(n), empty(n, np.uint16), empty(n)
    x[0] = np.nan
    grid = (-(-n // 256),)
    assert_clean(Kernel("cast.cu", "cast_packs<float, __nv_bfloat16, 4>"), grid, (64,), (x, half, n))
    assert_clean(Kernel("cast.cu", "cast_packs<__nv_bfloat16, float, 4>"), grid, (64,), (half, back, n))
    np.testing.assert_array_equal(back, x.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_bytes_of_the_memory_bound_kernels():
    n = 4096
    a, b, y, flags = normal(n), normal(n, seed=1), empty(n), zeros(n, bool)
    along = views("test", (n,), (1,))
    for file, name, args, bytes_ in (
        ("arithmetic.cu", "binary<Multiply, float, 4>", (a, b, y, n), 12 * n),
        ("arithmetic.cu", "binary<Multiply, float, 1>", (a, b, y, n), 12 * n),
        ("arithmetic.cu", "with_number<Power, float, false, 4>", (a, 2.0, y, n), 8 * n),
        ("arithmetic.cu", "broadcast<Add, float>", (a, b, y, *along, *along, n), 12 * n),
        ("unary.cu", "unary<Negative, float, 4>", (a, y, n), 8 * n),
        ("compare.cu", "compare<Less, float>", (a, b, flags, *along, *along, n), 9 * n),
        ("strided_copy.cu", "copy<unsigned int, 4>", (a.view(np.uint32), y.view(np.uint32), n), 8 * n),
        ("strided_copy.cu", "strided_copy<unsigned int>", (a.view(np.uint32), y.view(np.uint32), *along, 0, n), 8 * n),
        ("strided_copy.cu", "fill<float>", (y, 1.5, n), 4 * n),
        ("cast.cu", "cast<float, __nv_bfloat16>", (a, empty(n, np.uint16), n), 6 * n),
        ("cast.cu", "cast_packs<float, __nv_bfloat16, 4>", (a, empty(n, np.uint16), n), 6 * n),
    ):
        threads = n // 4 if name.endswith("4>") else n
        report = assert_clean(Kernel(file, name), (threads // 256,), (256,), args)
        assert_bytes(report, bytes_, 1.0)
        assert_coalesced(report)


def test_a_transposed_view_is_read_a_sector_for_each_element():
    """What the header of strided_copy.cu says of its price, and chapter 05 shows."""
    x, y = normal(64, 64), empty((64, 64))
    (transposed,) = views("test", (64, 64), (1, 64))
    kernel = Kernel("strided_copy.cu", "strided_copy<unsigned int>")
    report = assert_clean(kernel, (16,), (256,), (x.view(np.uint32), y.view(np.uint32), transposed, 0, 4096))
    np.testing.assert_array_equal(y, x.T)
    read = next(line for line in report.lines if line.op == "read")
    assert read.sectors_per_request == 32


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (37, 33), (70, 300)])
def test_rows_that_lie_apart_are_copied_row_by_row(rows, columns):
    """More rows than the grid holds at once, too: each block takes several."""
    x, y = normal(rows, columns + 7), empty((rows, columns))
    words = [array.view(np.uint32) for array in (x, y)]
    kernel = Kernel("strided_copy.cu", "copy_rows<unsigned int>")
    report = assert_clean(kernel, (-(-columns // 32), 3), (32, 8), (*words, columns + 7, columns, rows, columns))
    np.testing.assert_array_equal(y, x[:, :columns])
    if columns == 300:
        assert_bytes(report, 8 * rows * columns, 1.2)


@given(shape=st.lists(st.integers(1, 5), max_size=6), data=st.data())
def test_fewer_axes_give_the_same_offsets(shape, data):
    strides = [data.draw(st.lists(st.integers(-9, 9), min_size=len(shape), max_size=len(shape))) for _ in range(2)]
    if data.draw(st.booleans()):
        strides[0] = list(broadcast_strides(shape, shape))
    sizes, steps = collapse(shape, *strides)
    assert 1 not in sizes and np.prod(sizes) == np.prod(shape)
    for before, after in zip(strides, steps, strict=True):
        wanted = [np.dot(index, before) for index in np.ndindex(*shape)]
        assert [np.dot(index, after) for index in np.ndindex(*sizes)] == wanted


def test_contiguous_arrays_of_any_shape_need_one_axis():
    assert collapse((2, 3, 1, 4), (12, 4, 4, 1)) == ([24], [[1]])
    assert collapse((2, 3, 4), (12, 4, 1), (0, 0, 1)) == ([6, 4], [[4, 1], [0, 1]])


def test_seven_axes_that_cannot_be_joined_are_refused_in_a_sentence():
    table = ops("simulator")
    x = table.zeros((2, 1) * 7)
    with pytest.raises(ValueError, match="up to 6 axes"):
        table.add(x, table.zeros((1, 2) * 7))


@pytest.mark.parametrize("op", ["add", "exp", "less", "where", "scatter_add", "argmax"])
def test_float64_is_refused_in_a_sentence(op):
    table = ops("simulator")
    x = table.zeros((3,), "float64")
    rest = {"add": (x,), "less": (x,), "scatter_add": (table.zeros((3,), "int64"), 4), "where": ()}
    arguments = (table.zeros((3,), "bool"), x, x) if op == "where" else (x, *rest.get(op, ()))
    with pytest.raises(ValueError, match=r"float32 .*float64"):
        getattr(table, op)(*arguments)


def test_two_dtypes_and_a_fraction_for_whole_numbers_are_refused():
    table = ops("simulator")
    x, whole = table.zeros((3,)), table.zeros((3,), "int32")
    with pytest.raises(ValueError, match="float32 and int32"):
        table.add(x, whole)
    with pytest.raises(ValueError, match=r"0\.5.*int32"):
        table.multiply(whole, 0.5)
    np.testing.assert_array_equal(table.add(whole, 2), [2, 2, 2])


def test_nan_counts_as_the_larger_and_as_the_largest():
    table = ops("simulator")
    a, b = table.from_numpy(np.array([np.nan, 1, 3], F)), table.from_numpy(np.array([2, np.nan, 2], F))
    np.testing.assert_array_equal(table.maximum(a, b), np.maximum(a, b))
    x = np.array([[1, np.nan, 3, np.nan], [1, 2, 2, 0]], F)
    np.testing.assert_array_equal(table.argmax(table.from_numpy(x)), np.argmax(x, -1))


def test_bfloat16_rounds_as_its_definition_says():
    bits = np.random.default_rng(0).integers(0, 2**32, 5000, np.uint32)
    x = np.concatenate([bits.view(F), np.array([0, -0.0, 1, 1.00390625, 1.01171875, np.inf, -np.inf, 3e38, 1e-40], F)])
    x = asarray(x[~np.isnan(x)])
    got = storage.to_bfloat16(x)
    want = x.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(got, want.view(np.uint16))
    np.testing.assert_array_equal(storage.from_bfloat16(got), want.astype(F))
    assert np.isnan(storage.from_bfloat16(storage.to_bfloat16(asarray(np.array([np.nan], F))))).all()


@pytest.mark.parametrize(("before", "after"), [
    ("float32", "int32"), ("float32", "int64"), ("int64", "float32"), ("bool", "float32"), ("float32", "bool"),
    ("int32", "int64"), ("uint32", "int64"), ("float64", "float32"), ("float32", "float64"),
])  # fmt: skip
def test_cast_is_numpys(before, after):
    table = ops("simulator")
    x = (np.random.default_rng(0).normal(size=1000) * 3).astype("int64" if before[0] == "u" else before)
    x = np.abs(x).astype(before)
    got = table.cast(table.from_numpy(x), after)
    np.testing.assert_array_equal(got, x.astype(after), strict=True)


@pytest.mark.parametrize("C", [1, 31, 64, 130])
def test_scatter_add_is_clean_and_the_same_in_any_order(C):
    n, rows = 77, 9
    updates, indices = normal(n, C), asarray(np.random.default_rng(1).integers(0, rows, n))
    kernel, grid = Kernel("scatter_add.cu", "scatter_add<float, long long>"), (rows, -(-C // 32))
    bits = []
    for seed in range(3):
        y = empty((rows, C))
        report = assert_clean(kernel, grid, (32,), (updates, indices, y, n, C), seed=seed)
        bits.append(y.tobytes())
    assert len(set(bits)) == 1
    want = np.zeros((rows, C))
    np.add.at(want, indices, updates.astype(np.float64))
    assert_close(y, want)
    if C == 64:
        assert_coalesced(report)


@pytest.mark.parametrize("kind", ["float32", "int64"])
@pytest.mark.parametrize(("rows", "C"), [(9, 1), (40, 33), (1, 130)])
def test_rows_are_added_up_to_the_same_bits_scanned_and_sorted(rows, C, kind, monkeypatch):
    n, table, random = 300, ops("simulator"), np.random.default_rng(rows)
    updates = asarray((1e4 * normal(n, C)).astype(kind))
    indices, found = asarray(random.integers(0, rows, n)), []
    for most, launched in ((n, "scatter_add"), (n - 1, "scatter_add_sorted")):
        monkeypatch.setattr(configuration, "SCANNED", most)
        with launching.counting() as launches:
            found.append(table.scatter_add(updates, indices, rows))
        assert launches[f"scatter_add.cu {launched}"] == 1
    assert found[0].dtype == found[1].dtype == kind and found[0].tobytes() == found[1].tobytes()


def test_many_indices_are_looked_at_once_and_not_by_every_row():
    """The kernel that sums reads each update once, in order; a scan would read n indices for each of the rows."""
    n, rows, C, table = 1024, 128, 64, ops("simulator")
    updates, indices = normal(n, C), asarray(np.random.default_rng(0).integers(0, rows, n))
    reports = reports_of(lambda: table.scatter_add(updates, indices, rows))
    assert_coalesced(reports[-1])
    per_warp = 32 * 2 * (n + 2 * rows)  # a sector for each place and for the two ends of each row, by both its warps
    assert_bytes(reports[-1], 4 * C * (n + rows) + per_warp, most=1.2)
    scanned = rows * 8 * n
    moved = sum(line.bytes_moved for report in reports for line in report.lines if line.space == "global")
    assert moved < scanned, "the sorting included"


def test_launches_are_counted_by_kernel():
    table = ops("simulator")
    x = table.zeros((5,))
    with launching.counting() as launches:
        table.add(x, x)
        with launching.counting() as inner:
            table.add(x, table.exp(x))
    assert inner == {"arithmetic.cu binary": 1, "unary.cu unary": 1}
    assert launches == {"arithmetic.cu binary": 2, "unary.cu unary": 1}
    table.add(x, x)
    assert launches["arithmetic.cu binary"] == 2
