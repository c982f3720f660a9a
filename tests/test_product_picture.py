"""The pictures of a matrix product, and of the lanes that hold one, count what their alt texts say."""

import pytest

from course_lib import plots


def test_one_result_needs_two_numbers_for_each_multiplication():
    alt = plots.product(4, 4, 4, range(1, 2), range(2, 3), range(4)).alt
    assert "The 1 result in rows 1, columns 2 of C" in alt and "8 numbers read for 4 multiplications: 2 for each" in alt


def test_a_tile_shares_its_rows_and_columns():
    alt = plots.product(12, 16, 12, range(4, 8), range(8, 12), range(4, 8), parts=(2, 2)).alt
    assert "32 numbers read for 64 multiplications: 0.5 for each" in alt and "Parts of 2 x 2 results" in alt


def test_too_large_a_product_is_refused():
    with pytest.raises(ValueError, match="at most 32 rows"):
        plots.product(4, 33, 4, range(1), range(1), range(4))


def test_the_lanes_of_a_tensor_core_hold_four_sums_each():
    alt = plots.lane_map(16, 8, lambda i, j: i % 8 * 4 + j // 2).alt
    assert "16 x 8 elements dealt to 32 lanes, 4 for each" in alt
    assert "lane 5 holds the elements (row, column) (1, 2), (1, 3), (9, 2), (9, 3)" in alt
