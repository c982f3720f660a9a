"""The picture of a matrix product counts what its alt text says."""

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
