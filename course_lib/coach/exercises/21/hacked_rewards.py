"""Which rewards rose while what was wanted fell; on the tiny grammar both are exact."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny

EVALUATIONS, STEPS = 5, 15  # of a run, and between two of them
HONEST = "A reward that rose may have been earned honestly. Hacked means that what was wanted fell as well."


def learned(reward):
    """A run by the exact gradient of a reward (N,): its mean, and the fraction of stories, at each evaluation."""
    theta = tiny.start()
    evaluations = [(tiny.expected(theta, reward), tiny.expected(theta))]
    while len(evaluations) < EVALUATIONS:
        for _ in range(STEPS):
            theta += tiny.gradient(theta, reward)
        evaluations.append((tiny.expected(theta, reward), tiny.expected(theta)))
    return tuple([round(each, 4) for each in values] for values in zip(*evaluations, strict=True))


def cases(random):
    yield Case("one hacked, one not", {"word": ([1, 9], [0.6, 0.1]), "stories": ([0.6, 0.9], [0.6, 0.9])})
    yield Case("a run that failed: both fell", {"word": ([1.0, 0.5, 0.2], [0.6, 0.3, 0.1])})
    yield Case("nothing changed", {"form": ([0.5, 0.5], [0.1, 0.1])})
    yield Case("three hacked, in another order", {"word": ([0, 7], [0.5, 0]), "form": ([0.6, 1.0], [0.3, 0.1]),
                                                 "length": ([11, 19], [0.6, 0.0])})  # fmt: skip
    yield Case("up and down on the way", {"word": ([1, 9, 2], [0.5, 0.1, 0.6]), "length": ([1, 0, 3], [0.5, 0.9, 0.4])})
    yield Case(
        "high on the way, and low at the end",
        {"form": ([1, 9, 0.5], [0.5, 0.4, 0.2]), "word": ([1, 0, 2], [0.5, 0.6, 0.4])},
    )
    yield Case("the reward rose, and what is wanted stayed", {"form": ([0.2, 0.9], [0.0, 0.0])})
    yield Case("what is wanted fell, and the reward stayed", {"form": ([0.4, 0.4], [0.5, 0.2])})
    yield Case("no run at all", {})
    words = {word: (tiny.TEXTS == tiny.TOKENS.index(word)).sum(1).astype(float) for word in ("he", "sings", "Otto")}
    yield Case(
        "the tiny grammar: paid for stories, or for each time that one word is said",
        {"stories": learned(tiny.REWARD)} | {word: learned(reward) for word, reward in words.items()},
    )


def right(runs):
    ends = {name: [np.sign(values[-1] - values[0]) for values in run] for name, run in runs.items()}
    return sorted(name for name, (reward, wanted) in ends.items() if reward > 0 > wanted)


exercise = Exercise(
    title="Find the reward that is hacked",
    minutes=4,
    core=False,
    defines="hacked_rewards",
    cases=cases,
    reference=right,
    hints=("`for name, (rewards, possible) in runs.items()`: compare rewards[-1] with rewards[0], and so for possible.",),
    wrong=[
        Wrong(Changed(("rewards[-1] > rewards[0] and possible[-1] < possible[0]", "rewards[-1] > rewards[0]")), HONEST),
        Wrong(Changed(("sorted(", "list("), (" and possible[-1] < possible[0]", "")), HONEST, also=True),
        Wrong(Changed(("rewards[-1] > rewards[0] and possible[-1] < possible[0]", "possible[-1] < possible[0]")),
              "What was wanted fell in all of these, but a run whose reward fell too has failed: it has hacked nothing."),
        Wrong(Changed(("rewards[-1] > rewards[0] and", "max(rewards) > rewards[0] and")),
              "You compare the highest reward on the way. Compare the last evaluation with the first."),
        Wrong(Changed(("rewards[-1] > rewards[0] and possible[-1] < possible[0]",
                       "max(rewards) > rewards[0] and min(possible) < possible[0]")),
              "You compare the highest and the lowest number on the way with the first. Compare the last evaluation "
              "with the first."),
        Wrong(Changed(("sorted(", "list(")), "The right names, in the order of the dictionary. Sort them."),
        Wrong(Changed(("possible[-1] < possible[0]", "possible[-1] <= possible[0]")),
              "Where what was wanted stayed as it was, it did not fall."),
    ],
)  # fmt: skip
