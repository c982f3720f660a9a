"""Figures that the tasks of exercises state are those that the library gives."""

from course_lib import bpe
from course_lib.coach import catalogue


def test_what_the_merges_need_in_the_challenge_of_fewest_tokens():
    goal = catalogue.load("fewest_tokens").goals[0]
    inside = goal.counts.__globals__  # of the exercise's own file
    pieces, _ = inside["trial"]()
    merges = bpe.learn_merges(pieces, inside["MERGES"])
    vocabulary = bpe.Vocabulary()
    ranks = {pair: (rank, vocabulary.add(pair)) for rank, pair in enumerate(merges)}
    spelled = goal.counts(lambda piece, tokens: bpe.apply_merges(piece, ranks))
    assert f"the merges themselves need {spelled:,}." in catalogue.source("13").read_text(encoding="utf-8")
