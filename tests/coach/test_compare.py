"""When are two results the same, and what is said of two that are not."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib import Tensor
from course_lib.coach import compare, heuristics, messages, plain
from course_lib.coach.outcome import Outcome

arrays = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
                    elements=st.floats(-1e6, 1e6))  # fmt: skip


@given(arrays)
def test_an_array_equals_its_copy_and_no_array_with_one_element_changed(x):
    assert compare.difference(x.copy(), x, 1e-6) is None
    index = np.unravel_index(x.size - 1, x.shape)
    y = x.copy()
    y[index] += 1 + abs(y[index])
    found = compare.difference(y, x, 1e-6)
    assert found.index == tuple(int(i) for i in index)


@pytest.mark.parametrize(
    "got, expected",
    [
        ((1, 2), [1, 2]), (np.float32(3), 3.0), (Tensor([1.0, 2.0]), np.array([1.0, 2.0])), ([1.0, 2.0], np.array([1.0, 2.0])),
        ({"a": (np.nan, 1)}, {"a": (float("nan"), 1)}), ("text", "text"), (True, True), (np.array(5), 5),
        (np.inf, np.inf), ([], ()), (1.0 + 1e-9, 1.0),
    ],
)  # fmt: skip
def test_equal_in_spirit(got, expected):
    assert compare.difference(got, expected, 1e-6) is None


@pytest.mark.parametrize(
    "got, expected, says",
    [
        (None, np.zeros(3), "The result is None, expected an array of shape (3,)"),
        ((1, 2), (1, 3), "result[1] is 2, expected 3"),
        ({"a": 1}, {"a": 1, "b": 2}, "lacks 'b'"),
        (np.zeros((2, 3)), np.zeros((3, 2)), "has the shape (2, 3), expected (3, 2)"),
        ("abc", "abd", "is 'abc', expected 'abd'"),
        (np.nan, 1.0, "is nan, expected 1"),
        (-np.inf, np.inf, "is -inf"),
        (5.0, np.inf, "is 5, expected inf"),
        (False, True, "is False, expected True"),
        ([1, 2, 3], (1, 2), "has 3 entries, expected 2"),
        ("5", 5, "is a text, expected a number"),
        (2**70 + 1, 2**70, "expected 1180591620717411303424"),
    ],
)
def test_different_and_said_so(got, expected, says):
    assert says in compare.difference(got, expected, 1e-6).says


def test_a_whole_number_larger_than_any_float_is_another_number():
    assert "expected 3" in compare.difference(10**400, 3, 1e-6).says
    assert "thousands of digits" in compare.difference(10**5000, 3, 1e-6).says
    assert compare.difference(10**400, 2.5, 1e-6) and compare.difference(10**400, 10**400, 1e-6) is None


def test_one_wrong_element_is_spoken_of_as_one():
    x = np.arange(4.0)
    y = x + (x == 2)
    assert compare.difference(y, x, 1e-6).says == "1 of 4 elements of the result is wrong: element 2: 3, expected 2"
    assert (
        "2 of 4 elements of the result are wrong; the first is element 2"
        in compare.difference(y + (x > 2), x, 1e-6).says
    )


def fact(got, expected):
    return heuristics.about(Outcome("", (), expected, got, difference=compare.difference(got, expected, 1e-6)), 1e-6)


x = np.arange(1.0, 7).reshape(2, 3)
square = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    "got, expected, says",
    [
        (None, x, "return"), (x.T, x, "transposed"), (square.T, square, "transposed"), (2.5 * x, x, "2.5 times"),
        (-x, x, "sign"), (x + 3, x, "3 too large"), (x.reshape(3, 2), x, "another shape"), (0 * x, x, "zero"),
        (x * np.nan, x, "in every element: the result of"),
        (np.array([1.0, np.nan, 3.0]), np.arange(1.0, 4.0), "There is nan (not a number) in element 1:"),
        (np.array([[1.0, 2.0], [np.nan, np.nan]]), np.ones((2, 2)), "in row 1:"),
        (x * np.inf, x, "infinite"),
        (np.array([3.0, 1, 2]), np.array([1.0, 2, 3]), "indices"), (np.array([3.0, 2, 1]), np.array([1.0, 2, 3]), "reverse"),
        (np.array([[0.2689414, 0.7310586]]), np.array([[0.0, 1.0]]), "softmax was applied twice"),
        (np.array([7.0, 1, 9, 4]), np.array([1.0, 9, 4, 2]), "one index too late"),
        (np.array([9.0, 4, 2, 5]), np.array([1.0, 9, 4, 2]), "one index too early"),
        (np.array([[0, 1, 1, 1]]) > 0, np.array([[1, 1, 1, 0]]) > 0, "one index too late"),
        (np.array([1, 0, 0, 0]) > 0, np.array([1, 0, 1, 0]) > 0, ""),
        (-4.0, 4.0, "sign is wrong"), (np.trunc(1.3 * x), 1.3 * x, "without their fractional parts"),
    ],
)  # fmt: skip
def test_a_fact_that_holds_is_said(got, expected, says):
    assert says in fact(got, expected)


def test_an_order_or_a_factor_that_fits_by_chance_is_not_claimed():
    def tried(got, expected):
        return Outcome("", (), expected, got, difference=compare.difference(got, expected, 1e-6))

    first, other = tried(x.T, x), tried(x + x * x, x)
    assert "transposed" in heuristics.of_all(first, [first], 1e-6)
    assert "transposed" in heuristics.of_all(first, [first, tried(square.T, square), tried(x, x)], 1e-6)
    assert heuristics.of_all(first, [first, other], 1e-6) == ""
    zero = tried(0 * x, x)
    assert heuristics.of_all(zero, [zero, other], 1e-6) == "Every element is zero.", "that is seen, and no explanation"


def test_no_element_is_called_1_times_what_it_should_be():
    assert "times" not in fact(1.00002 * x, x)
    assert "1.001 times" in fact(1.001 * x, x)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind, says", [(np.matrix, "np.matrix"), (np.ma.masked_invalid, "np.ma.MaskedArray")])
def test_an_array_that_computes_in_another_way_is_named(kind, says):
    """Its numbers are right, and what the next operation makes of them is not."""
    got = plain.as_plain(kind(x))
    found = compare.difference(got, x, 1e-6)
    assert re.match(
        f"The result is of type {says}, expected an array of shape .*: np.asarray makes a plain one", found.says
    )
    assert heuristics.about(Outcome("", (), x, got, difference=found), 1e-6) == ""


@given(arrays, st.integers(0, 10**6))
def test_no_false_fact_about_random_numbers(x, seed):
    """Where neither a factor, a shift, an order nor a transpose explains a result, nothing is claimed of it."""
    noise = np.random.default_rng(seed).normal(size=x.shape) * (1 + np.abs(x))
    got = x + noise
    said = fact(got, x) if compare.difference(got, x, 1e-6) else ""
    if x.size >= 4 and len(np.unique(x)) > 3:
        assert said == ""


def test_a_part_of_a_result_is_called_by_its_name():
    right = (np.ones(3), {"a": np.arange(4.0)})
    wrong = compare.named(compare.difference((np.ones(3), {"a": np.arange(4.0) * 2}), right, 1e-5), ("dx", "dweight"))
    assert wrong.part == "dweight['a']" and "3 of 4 elements of dweight['a'] are wrong" in wrong.says
    assert heuristics.about(
        Outcome("", (), right, (np.ones(3), {"a": np.arange(4.0) * 2}), difference=wrong), 1e-5
    ) == ("dweight['a']: every element is 2 times what it should be.")
    whole = compare.named(compare.difference(1, 2, 1e-5), ("dx",))
    assert whole.says == "The result is 1, expected 2" and whole.part == "result"
    assert compare.named(None, ("dx",)) is None


def test_an_array_will_do_for_a_list_of_floats():
    assert compare.difference(np.array([1.0, 2.0]), [1.0, 2.0], 1e-6) is None
    assert compare.difference(np.array([1.0, 2.5]), [1.0, 2.0], 1e-6).where == "[1]"
    assert compare.difference(np.array([]), [], 1e-6) is None
    for expected in ([1, 2], (1.0, 2.0), ["a", 1.0]):
        assert compare.difference(np.array([1.0, 2.0]), expected, 1e-6) is not None


def test_short_words_are_said():
    assert compare.difference("sick", "healthy", 0).says == "The result is 'sick', expected 'healthy'"
    assert compare.difference(["a", None], ["a", "b"], 0).says == "result[1] is None, expected 'b'"
    assert compare.difference("a" * 99, "b", 0).says == "The result is not the expected one"


def test_a_wrong_sign_is_a_fact_of_one_number_too():
    for got, says in (
        ([3.0], "The magnitude is right, and the sign is wrong."),
        ([3.0, -1.0], "The sign of every element is wrong."),
    ):
        expected = -np.array(got)
        found = compare.difference(np.array(got), expected, 1e-5)
        assert heuristics.about(Outcome("", (), expected, np.array(got), difference=found), 1e-5) == says


def test_whole_numbers_are_compared_exactly():
    large = np.array([2**24 + 1, 3], np.int32)
    assert compare.difference(large.copy(), large, 1e-5) is None
    found = compare.difference(large.astype(np.float32).astype(np.int32), large, 1e-5)
    assert found and "16777216, expected 16777217" in found.says


def test_a_nan_that_stayed_where_it_was_is_no_difference():
    x = np.array([1.0, np.nan])
    assert compare.difference(x.copy(), x, 0.0) is None
    assert compare.difference(np.array([1.0, 2.0]), x, 0.0) is not None
    assert compare.difference(x, np.array([1.0, 2.0]), 0.0) is not None


def _raised_by(function) -> str:
    """The message of a ValueError of NumPy's, as the installed version words it, in our words."""
    with pytest.raises(ValueError) as raised:
        function()
    return messages._of_numpy(str(raised.value))


def test_errors_of_numpy_are_put_into_words():
    x, y = np.ones((2, 3)), np.ones(2)
    said = _raised_by(lambda: x - x.max(axis=-1))
    assert "the shapes (2, 3) and (2,) do not fit together" in said and "`keepdims=True` keeps it" in said
    assert "keepdims" not in _raised_by(lambda: x + np.ones((4, 3)))
    said = _raised_by(lambda: x @ x)
    assert "3 columns on the left, 2 rows on the right" in said
    assert "3 columns on the left, 2 rows on the right" in _raised_by(lambda: x @ y)
    assert "`np.where`" in _raised_by(lambda: 1 if x > 0 else 2)
    assert _raised_by(lambda: x.reshape(4)) == "", "this one is plain"


def test_an_entry_of_a_part_whose_name_is_several_words_is_told_in_words():
    found = compare.difference(([1, 2], 0), ([1, 3], 0), 0.0)
    assert compare.named(found, ("the list", "held")).says == "entry 1 of the list is 2, expected 3"
    assert compare.named(found, ("codes", "held")).says == "codes[1] is 2, expected 3"
