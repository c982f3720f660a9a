"""Segments: each word owns the positions that stand side by side after sorting."""

import itertools

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

WORDS = "loss[positions[starts[word] : starts[word + 1]]]"  # what each wrong answer has another form of


def cases(random):
    yield of_text("the text of the lecture", np.array([2, 0, 2, 2, 3]), 4, random)
    yield of_text("the first and the last word do not occur", np.array([1, 2, 1]), 4, random)
    yield of_text("one word, one position", np.array([0]), 1, random)
    yield of_text("one word again and again", np.full(6, 1), 3, random)
    yield of_text("forty positions", random.integers(0, 9, 40), 9, random)


def of_text(label, ids, V, random):
    positions = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[positions], np.arange(V + 1))
    return Case(label, random.integers(1, 100, len(ids)) / 4, positions, starts)


def sums(loss, positions, starts):
    return np.array([loss[positions[a:b]].sum() for a, b in itertools.pairwise(starts)])


exercise = Exercise(
    title="The positions of a word",
    minutes=3,
    core=False,
    defines="losses_by_word",
    cases=cases,
    reference=sums,
    hints=("The word's positions are positions[starts[word] : starts[word + 1]]. The losses stand in `loss` at these "
           "positions.",),
    wrong=[
        Wrong(Changed((WORDS, "loss[starts[word] : starts[word + 1]]")),
              "`loss` is in the order of the text, and `starts` counts in `positions`: look up each position there first."),
        Wrong(Changed((WORDS, "loss[positions[starts[word] : starts[word + 1] + 1]]")),
              "The last position belongs to the next word: the segment ends before starts[word + 1]."),
        Wrong(Changed((WORDS, "positions[starts[word] : starts[word + 1]]")),
              "These are the sums of the positions themselves. Their losses are wanted: loss[...] at these positions."),
        Wrong(Changed((WORDS + ".sum()", "loss[positions[starts[word] % len(positions)]]")),
              "Only the loss at one position is taken. A word may own several, or none."),
    ],
)  # fmt: skip
