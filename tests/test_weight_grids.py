"""The picture of a row of weights and the grids that it was rounded to."""

import numpy as np
import pytest

from course_lib import plots


def test_it_says_what_each_way_to_round_leaves():
    """By a scale of 1 every weight moves by half a step; by scales of 0.5 none does."""
    weights = np.array([0.5, 1.5, -2.5, 3.5])
    alt = plots.weight_grids(weights, {"one": ([1.0], 4), "two": ([0.5, 0.5], 2)}).alt
    assert "4 weights" in alt and alt.endswith("one 0.500; two 0.000.")


def test_groups_that_are_no_row_are_refused():
    with pytest.raises(ValueError, match="add up to the 4 weights"):
        plots.weight_grids(np.zeros(4), {"three": ([1.0], 3)})
