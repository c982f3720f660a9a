"""The mean over all tokens, where ranks hold different numbers of them."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks

MEAN_OF_MEANS = (
    "This is the mean of the ranks' means. A rank with fewer tokens counts as much as one with more: right only if all hold "
    "as many."
)


def cases(random):
    yield Case("two ranks with one loss each", [np.array([2.0]), np.array([6.0])])
    yield Case("rank 0 holds more", [np.array([2.0, 4.0]), np.array([9.0])])
    yield Case("rank 1 holds none", [np.array([2.0, 3.0]), np.zeros(0)])
    yield Case("one rank", [np.array([1.0, 2.0, 6.0])])
    yield Case("four ranks", [random.normal(3.0, 1.0, n) for n in (3, 8, 1, 5)])


def called(answer, losses):
    return on_ranks(answer, losses, given=("all_reduce",))[0]


def mean(communicator, losses):
    sums = communicator.all_reduce(np.array([losses.sum()]))
    return float(sums[0]) / float(communicator.all_reduce(np.array([len(losses)]))[0])


exercise = Exercise(
    title="A mean over unequal shards",
    minutes=3,
    core=False,
    defines="mean_over_ranks",
    cases=cases,
    reference=mean,
    call=called,
    hints=("Two sums over all ranks are needed: of the losses, and of how many there are. They fit into one array of two.",),
    wrong=[
        Wrong("""def mean_over_ranks(communicator, losses):
    own = losses.sum() / max(len(losses), 1)
    return communicator.all_reduce(np.array([own]))[0] / communicator.size
""", MEAN_OF_MEANS),
        Wrong("""def mean_over_ranks(communicator, losses):
    return communicator.all_reduce(np.array([losses.sum()]))[0] / max(len(losses), 1)
""", "The sum is that of all ranks, and you divide it by the number of this rank's tokens. Add up the numbers as well."),
        Wrong("""def mean_over_ranks(communicator, losses):
    return communicator.all_reduce(np.array([losses.mean()]))[0] / communicator.size
""", MEAN_OF_MEANS, also=True),
        Wrong(Changed(("total / count", "total")), "This is the sum over all tokens. Divide it by their number."),
        Wrong("""def mean_over_ranks(communicator, losses):
    return communicator.all_reduce(losses).sum() / communicator.size / len(losses)
""", "An all-reduce adds up arrays of one shape. Here they differ in length from rank to rank: give it the sum and the number.",
              when=lambda seen: len(set(re.findall(r"all_reduce of float64 \((\d+),\)", seen.error))) == 2),
        Wrong("""def mean_over_ranks(communicator, losses):
    total, count = communicator.all_reduce(np.array([sum(losses), len(losses)]))
    return total / count
""", "Of no losses sum(losses) is a whole number, 0, and an all-reduce adds up arrays of one dtype. losses.sum() is a float "
              "on every rank.",
              when=lambda seen: {"float64", "int64"} == set(re.findall(r"all_reduce of (\w+)", seen.error))
              and re.search(r"(?<![.\w])sum\(losses\)", seen.text)),
    ],
)  # fmt: skip
