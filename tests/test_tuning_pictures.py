"""The pictures of chapters 20 and 21 say in words what is in their data."""

import pytest

from course_lib import plots
from course_lib.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer([], ("<|endoftext|>", "<|user|>"))


def test_a_row_says_from_where_to_where_its_targets_are_scored(tokenizer):
    end, user = tokenizer.end_id, tokenizer.special_id("<|user|>")
    drawn = plots.prompt_mask(tokenizer, [user, 65, 66, 67, end], [-1, -1, 67, end, -1])
    assert "A row of 5 tokens, 2 of whose targets are scored: from 'C'" in drawn.alt and "after 'B'" in drawn.alt
    assert "to '<|endoftext|>'. The 2 targets before" in drawn.alt and "the 1 behind them" in drawn.alt
    assert "nothing would be learned" in plots.prompt_mask(tokenizer, [65], [-1]).alt


@pytest.mark.parametrize("idx, targets", [([65] * 61, [65] * 61), ([65], [65, 66]), ([], [])])
def test_a_row_too_long_or_without_as_many_targets_is_refused(tokenizer, idx, targets):
    with pytest.raises(ValueError, match="one row of at most 60 tokens"):
        plots.prompt_mask(tokenizer, idx, targets)


def test_a_change_of_low_rank_counts_what_is_trained():
    alt = plots.low_rank(192, 64, 8).alt
    assert "2,048 numbers are trained, 16.7% of the 12,288" in alt
    with pytest.raises(ValueError, match="at rank 0"):
        plots.low_rank(4, 4, 0)


def test_estimators_are_told_by_their_noise_and_their_bias():
    alt = plots.estimators({"plain": (2.5, 0.01), "blame": (1.25, 0.2)}).alt
    assert "blame has the least noise, 1.25" in alt and "plain the most, 2.50" in alt
    assert "The mean of blame is farthest off" in alt


def test_plots_told_too_often_or_too_rarely_are_counted():
    true = {"lost": 0.5, "race": 0.25, "seed": 0.25}
    alt = plots.plot_frequencies(
        {"even": {"lost": 50, "race": 26, "seed": 24}, "one": {"lost": 0, "race": 98, "seed": 2}}, true
    ).alt
    assert "a factor of 3: even 0, one 3." in alt
