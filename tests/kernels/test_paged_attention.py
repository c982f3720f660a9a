"""kernels/paged_attention.cu: rows to their slots, rows of a text in order, one query of each text."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, sanitize
from course_lib.devices import ops
from course_lib.devices.packing import pack_rows, row_words, unpack_rows
from tests.kernels.checking import assert_close, assert_op_repeats, normal, reports_of

REFERENCE, SIMULATOR = ops("reference"), ops("simulator")


def texts_in_pages(lengths, G, D, N, seed=0):
    """k_pages, v_pages (P, N, G, D), tables (R, M) and the rows of each text: no page is held twice, and all others hold nan."""
    random, M = np.random.default_rng(seed), -(-max(lengths) // N)
    P = len(lengths) * M + 2
    k_pages, v_pages = (np.full((P, N, G, D), np.nan, np.float32) for _ in range(2))
    tables = random.permutation(P)[: len(lengths) * M].reshape(-1, M).astype(np.int32)
    rows = []
    for table, length in zip(tables, lengths, strict=True):
        keys, values = random.normal(size=(2, length, G, D)).astype(np.float32)
        for j in range(length):
            k_pages[table[j // N], j % N], v_pages[table[j // N], j % N] = keys[j], values[j]
        rows.append((keys, values))
    return k_pages, v_pages, tables, rows


@pytest.mark.parametrize(("H", "G", "D", "N"), [(1, 1, 1, 1), (4, 2, 10, 8), (3, 3, 64, 5), (4, 1, 128, 16)])
@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_each_text_sees_its_own_rows(H, G, D, N, kind):
    lengths = (1, 15, 16, 37)
    k_pages, v_pages, tables, rows = texts_in_pages(lengths, G, D, N)
    q = normal(len(lengths), H, D).astype(kind)
    given = [
        asarray(x) for x in (q, k_pages.astype(kind), v_pages.astype(kind), tables, np.array(lengths, np.int32) - 1)
    ]
    got = SIMULATOR.paged_attention_forward(*given).astype(np.float32)
    for r, (keys, values) in enumerate(rows):
        whole = [x.astype(kind).astype(np.float64)[None] for x in (keys, values)]
        wanted, _ = REFERENCE.attention_forward(q[r][None, None].astype(np.float64), *whole)
        assert_close(got[r], wanted[0, 0], 1e-5 if kind is np.float32 else 2**-8, f"text {r}")
        np.testing.assert_array_equal(
            SIMULATOR.paged_gather(given[1], asarray(tables[r]), lengths[r]), whole[0][0].astype(kind)
        )


def test_reading_pages_is_clean_and_repeats_itself_and_a_text_does_not_depend_on_others():
    k_pages, v_pages, tables, _ = texts_in_pages((9, 20), 2, 24, 8)
    q, positions = normal(2, 4, 24), np.array([8, 19], np.int32)
    reports_of(lambda: SIMULATOR.paged_attention_forward(q, k_pages, v_pages, tables, positions))
    reports_of(lambda: SIMULATOR.paged_gather(k_pages, tables[1], 20))
    slots = asarray(np.array([3, 50], np.int32))
    reports_of(lambda: SIMULATOR.paged_append(normal(2, 2, 24), normal(2, 2, 24), k_pages, v_pages, slots))
    assert_op_repeats(lambda: SIMULATOR.paged_attention_forward(q, k_pages, v_pages, tables, positions))
    both = SIMULATOR.paged_attention_forward(q, k_pages, v_pages, tables, positions)
    alone = SIMULATOR.paged_attention_forward(q[1:].copy(), k_pages, v_pages, tables[1:].copy(), positions[1:].copy())
    np.testing.assert_array_equal(both[1], alone[0])


def test_a_page_that_does_not_exist_is_found_by_the_sanitizer():
    pages, y = normal(3, 4, 1, 2), np.zeros((5, 1, 2), np.float32)
    table = asarray(np.array([0, 3], np.int32))
    report = sanitize(Kernel("paged_attention.cu", "paged_gather<float>"), (1,), (32,), (pages, table, y, 5, 4, 2))
    assert {issue.kind for issue in report.issues} == {"out-of-bounds"}


@pytest.mark.parametrize("D", [3, 24, 128])
def test_rows_in_words_are_clean_and_those_of_numpy(D):
    k, v = normal(5, 2, D), normal(5, 2, D, seed=1)
    k[0, 0] = 0.0
    pages = [np.full((3, 4, 2, row_words(D)), 7, np.uint32) for _ in range(2)]
    slots = asarray(np.array([3, 0, 11, 4, 5], np.int32))
    reports_of(lambda: SIMULATOR.paged_append_int8(k, v, *pages, slots))
    for rows, held in zip((k, v), pages, strict=True):
        flat = held.reshape(12, 2, -1)
        np.testing.assert_array_equal(flat[slots], pack_rows(rows))
        assert (np.delete(flat, slots, 0) == 7).all()
        step = np.abs(rows).max(-1, keepdims=True) / 127
        assert (np.abs(unpack_rows(flat[slots], D) - rows) <= 0.501 * step).all()
    tables, positions = asarray(np.array([[0, 2], [1, 2]], np.int32)), asarray(np.array([0, 1], np.int32))
    reports_of(lambda: SIMULATOR.paged_attention_int8_forward(normal(2, 4, D), *pages, tables, positions))
