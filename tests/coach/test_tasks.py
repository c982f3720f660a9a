"""Figures that the tasks of exercises state are those that the library gives."""

import numpy as np

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


def test_the_fewest_bytes_that_two_challenges_name():
    """What must move at least: dy, x and dx; the scores and the probabilities."""
    for chapter, name, arrays in (("05", "bias_gelu_backward", 3), ("06", "softmax_forward", 2)):
        exercise = catalogue.load(name)
        case = next(c for c in exercise.cases(np.random.default_rng(0)) if c.label == exercise.measured)
        assert f"{4 * arrays * case.inputs[0].size:,} must move" in catalogue.source(chapter).read_text(
            encoding="utf-8"
        )


def test_how_many_characters_the_challenge_of_counting_names():
    inside = catalogue.load("ngram_model").goals[0].counts.__globals__
    characters = len(set("".join(inside["texts"]())))
    task = " ".join(catalogue.source("16").read_text(encoding="utf-8").replace("\n# ", "\n").split())
    assert f"among the {characters} characters would be log {characters}, {np.log(characters):.2f} nats" in task
