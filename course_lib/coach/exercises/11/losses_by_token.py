"""Segments: each token owns the positions that stand side by side after sorting."""

import itertools

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LOSSES = "loss[positions[starts[token] : starts[token + 1]]]"  # what each wrong answer has another form of


def cases(random):
    yield of_text("the text of the lecture", np.array([2, 0, 2, 2, 3]), 4, random)
    yield of_text("the first and the last token do not occur", np.array([1, 2, 1]), 4, random)
    yield of_text("one token, one position", np.array([0]), 1, random)
    yield of_text("one token again and again", np.full(6, 1), 3, random)
    yield of_text("forty positions", random.integers(0, 9, 40), 9, random)


def of_text(label, ids, V, random):
    positions = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[positions], np.arange(V + 1))
    return Case(label, random.integers(1, 100, len(ids)) / 4, positions, starts)


def sums(loss, positions, starts):
    return np.array([loss[positions[a:b]].sum() for a, b in itertools.pairwise(starts)])


exercise = Exercise(
    title="The positions of a token",
    minutes=3,
    core=False,
    defines="losses_by_token",
    cases=cases,
    reference=sums,
    hints=("The token's positions are positions[starts[token] : starts[token + 1]]. The losses stand in `loss` at these "
           "positions.",),
    wrong=[
        Wrong(Changed((LOSSES, "loss[starts[token] : starts[token + 1]]")),
              "`loss` is in the order of the text, and `starts` counts in `positions`: look up each position there first."),
        Wrong(Changed((LOSSES, "loss[positions[starts[token] : starts[token + 1] + 1]]")),
              "The last position belongs to the next token: the segment ends before starts[token + 1]."),
        Wrong(Changed((LOSSES, "positions[starts[token] : starts[token + 1]]")),
              "These are the sums of the positions themselves. Their losses are wanted: loss[...] at these positions."),
        Wrong(Changed((LOSSES + ".sum()", "loss[positions[starts[token] % len(positions)]]")),
              "Only the loss at one position is taken. A token may own several, or none."),
    ],
)  # fmt: skip
