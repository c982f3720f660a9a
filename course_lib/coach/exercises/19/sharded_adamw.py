"""One step of ZeRO, stage 2: gradients and averages in shards, parameters whole."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import on_ranks

GIVEN = """
def adamw(p, g, m, v, t, rate):
    m = 0.9 * m + 0.1 * g
    v = 0.95 * v + 0.05 * g * g
    p = p * (1 - 0.1 * rate) - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.95**t)) + 1e-8)
    return p, m, v
"""


def cases(random):
    def case(label, ranks, n, rate, first=1):
        p, g = random.normal(size=n).round(1), random.normal(size=(ranks, n)).round(1)
        m, v = random.normal(size=n).round(1) / 8, random.random(n).round(1) / 8
        return Case(label, p, list(g), m * (first > 1), v * (first > 1), first, rate)

    yield Case("two ranks, two parameters", np.array([1.0, 2.0]), [np.array([0.5, -1.0]), np.array([1.5, -3.0])],
               np.zeros(2), np.zeros(2), 1, 0.1)  # fmt: skip
    yield case("one rank", 1, 3, 0.1)
    yield case("four ranks, four parameters", 4, 4, 0.1)
    yield case("a later step", 2, 6, 0.1, 5)
    yield case("three ranks, another rate", 3, 12, 0.01, 3)


def called(answer, p, g, m, v, t, rate):
    """Two steps, so that a shard that was not updated shows. -> p, m and v of each rank, and the bytes sent in both steps."""
    ranks = len(g)
    n = len(p) // ranks
    states = [(p, m[r * n : (r + 1) * n], v[r * n : (r + 1) * n]) for r in range(ranks)]
    bytes_sent = 0
    for step in (t, t + 1):
        results, sent = on_ranks(lambda c, s, own, step=step: answer(c, s[0], own, s[1], s[2], step, rate), states, g,
                                 given=("reduce_scatter", "all_gather"))  # fmt: skip
        for result in results:
            if not isinstance(result, tuple | list) or len(result) != 3:
                raise TypeError("sharded_adamw must return three arrays: p, m and v")
        states = [tuple(np.array(one) for one in result) for result in results]
        bytes_sent += sent
    return *(np.stack(parts) for parts in zip(*states, strict=True)), bytes_sent


def step(communicator, p, g, m, v, t, rate):
    inside = {"np": np}
    exec(GIVEN, inside)
    n = len(m)
    own = slice(n * communicator.rank, n * (communicator.rank + 1))
    part, m, v = inside["adamw"](p[own], communicator.reduce_scatter(g) / communicator.size, m, v, t, rate)
    return communicator.all_gather(part), m, v


exercise = Exercise(
    title="A sharded step of AdamW",
    minutes=20,
    defines="sharded_adamw",
    given=GIVEN,
    cases=cases,
    reference=step,
    call=called,
    results=("p on each rank", "m on each rank", "v on each rank", "the bytes that the ranks send"),
    test_out=True,
    hints=(
        "Three lines do it: one collective before the update, the update of the shard, one collective after it.",
        "communicator.reduce_scatter(g) is the sum of all gradients, of this rank's shard. Which slice of p belongs to it? "
        "It has as many numbers as m.",
        "mean = communicator.reduce_scatter(g) / communicator.size; own, m, v = adamw(p[start : start + len(m)], mean, m, "
        "v, t, rate); return communicator.all_gather(own), m, v. start is communicator.rank * len(m).",
    ),
    example='''def sharded_sgd(communicator, p, g, rate):
    """The same with plain gradient descent, which keeps no averages."""
    mean = communicator.reduce_scatter(g) / communicator.size
    start = len(mean) * communicator.rank
    return communicator.all_gather(p[start : start + len(mean)] - rate * mean)
''',
    wrong=[
        Wrong(Changed((" / communicator.size\n    own", "\n    own")),
              "The gradients are added up, and not divided by the number of ranks: AdamW needs their mean. (p hides it in "
              "the first step, for AdamW divides by the size of the gradient; m and v show it.)"),
        Wrong(Changed(("communicator.reduce_scatter(g) / communicator.size", "g[start : start + shard]")),
              "You use this rank's own gradient. The other ranks have seen other stories: add up all gradients first."),
        Wrong("""def sharded_adamw(communicator, p, g, m, v, t, rate):
    n = len(m)
    start = n * communicator.rank
    own, m, v = adamw(p[start : start + n], communicator.reduce_scatter(g) / communicator.size, m, v, t, rate)
    p = p.copy()
    p[start : start + n] = own
    return p, m, v
""", "Each rank has new parameters in its own shard, and old ones in all others. All ranks need all new parameters: "
              "all_gather."),
        Wrong(Changed(("p[start : start + shard], mean", "p, mean")),
              "You update all of p by the gradient of one shard. Take the slice of p that begins at rank * n / size."),
        Wrong(Changed(("p[start : start + shard], mean", "p[:shard], mean")),
              "Every rank updates the first shard of p, with the gradient of its own. Take the slice of p that begins at "
              "rank * n / size."),
        Wrong("""def sharded_adamw(communicator, p, g, m, v, t, rate):
    size, n = communicator.size, len(m)
    mean = sum(communicator.all_gather(g).reshape(size, -1)) / size
    start = n * communicator.rank
    own, m, v = adamw(p[start : start + n], mean[start : start + n], m, v, t, rate)
    return communicator.all_gather(own), m, v
""", "The step is right, but every rank receives the whole gradients of all others. With reduce_scatter each gets the sum "
              "of its own shard alone, in 1/N of the bytes."),
        Mistake("Give reduce_scatter the whole g: it returns this rank's piece of the sum itself.",
                when=lambda seen: re.search(r"reduce_scatter\(\s*g\[", seen.text)
                or ("reduce_scatter was given" in seen.error and seen.text.count("reduce_scatter(") == 1)),
        Wrong(Changed(("communicator.all_gather(own), m, v", "own, m, v")),
              "You return the shard of p. All ranks need all parameters for the next forward pass: all_gather puts the "
              "shards together.",
              when=lambda seen: "arrays must have the same shape" in seen.error
              or seen.got[0].shape[1] < seen.expected[0].shape[1],
              once="p has as many numbers as a shard"),
    ],
)  # fmt: skip
