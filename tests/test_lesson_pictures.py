"""The pictures of the first lectures say in words what is in their data."""

import sys

import numpy as np
import pytest

from course_lib import plots


def test_slope_names_the_slope_of_each_step():
    drawn = plots.slope(lambda x: x * x, 3.0, [1.0, 0.5])
    assert "7.000 with h = 1" in drawn.alt and "6.500 with h = 0.5" in drawn.alt


def test_chain_multiplies_its_slopes():
    drawn = plots.chain([("x", 2), ("u", 6), ("y", 36)], [("times 3", 3), ("square", 12)])
    assert "slope 36 of y" in drawn.alt


def test_chain_refuses_a_missing_step():
    with pytest.raises(ValueError, match="3 values has 2 steps"):
        plots.chain([("x", 1), ("u", 2), ("y", 3)], [("times", 2)])


def test_lines_says_where_each_line_goes():
    x = np.array([1.0, 2.0, 4.0])
    drawn = plots.lines(x, {"double": 2 * x, "square": x * x}, "The square overtakes the double at 2.")
    assert drawn.alt.startswith("The square") and "square goes from 1 to 16" in drawn.alt


def test_numbers_of_a_short_logarithmic_axis_are_plain(monkeypatch):
    """Over less than two decades matplotlib labels what lies between the powers of ten, too."""
    drawn, module = [], sys.modules["course_lib.plots.lines"]
    monkeypatch.setattr(module, "picture", lambda made, alt: drawn.append(made))
    plots.lines([1, 4, 16], {"p50": [2.0, 8.0, 38.0]}, "It grows.", logs="y")
    axis = drawn[0].axes[0].yaxis
    drawn[0].canvas.draw()
    labels = [tick.label1.get_text() for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]]
    assert "20" in labels and not any("$" in label for label in labels)


def test_valley_says_where_each_path_ends():
    drawn = plots.valley(lambda x, y: x * x + 4 * y * y, {"straight": [(2.0, 1.0), (1.0, 0.5)], "none": [(2.0, 1.0)]})
    assert "straight ends at loss 2.000 after 1 steps" in drawn.alt and "none ends at loss 8.000" in drawn.alt


def test_projection_cuts_a_gradient_in_two():
    drawn = plots.projection([3.0, 4.0], [1.0, 0.0])
    assert (
        "lands at (0.85, 1.13)" in drawn.alt
        and "the part (0.36, 0.48) along" in drawn.alt
        and "(0.64, -0.48)" in drawn.alt
    )


def test_a_row_meets_a_column():
    a, b = np.arange(6).reshape(2, 3), [[1, 0], [0, 1], [2, 2]]
    drawn = plots.row_times_column(a, b, 1, 0)
    assert "Row 1 of A and column 0 of B" in drawn.alt and "3 · 1 + 4 · 0 + 5 · 2 = 13" in drawn.alt
    with pytest.raises(ValueError, match=r"got \(2, 3\) and \(2, 3\)"):
        plots.row_times_column(a, a, 0, 0)
    with pytest.raises(ValueError, match="there is no C"):
        plots.row_times_column(a, b, 2, 0)


class Row:
    buffer, shape, strides, offset = [1, 2, 3], (3,), (1,), 1


def test_memory_says_where_a_view_leaves_its_buffer():
    with pytest.raises(ValueError, match="reads index 3, but the buffer has the indices 0 to 2"):
        plots.memory(Row())
    with pytest.raises(TypeError, match=r"without \.tolist"):
        plots.memory([1, 2, 3])


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(TypeError, match="a Row keeps no node"):
        plots.graph(Row())
    with pytest.raises(TypeError, match=r"`trained\.records`"):
        plots.loss_curve(Row())
