"""Open challenge: the learning rates of 300 steps, for the lowest loss at their end."""

import math
from functools import cache

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

STEPS, BATCH = 300, 16


@cache
def text():
    """Characters of stories as ids, and how many different ones there are: (n,), V."""
    from course_lib import stories

    joined = "\n".join(stories.write(5, 40))
    known = sorted(set(joined))
    return np.array([known.index(character) for character in joined]), len(known)


def loss_at_the_end(answer):
    """Validation loss, in nats per character, of a bigram model, logits (V, V), trained with these rates."""
    ids, V = text()
    cut = 3 * len(ids) // 4
    random, logits = np.random.default_rng(0), np.zeros((V, V))
    for rate in answer(STEPS):
        positions = random.integers(0, cut - 1, BATCH)
        a, b = ids[positions], ids[positions + 1]  # (B,)
        gradient = np.exp(logits[a] - logits[a].max(-1, keepdims=True))
        gradient /= gradient.sum(-1, keepdims=True)  # (B, V), probabilities
        gradient[np.arange(BATCH), b] -= 1
        with np.errstate(all="ignore"):
            np.add.at(logits, a, -float(rate) * gradient / BATCH)
        if not np.isfinite(logits).all():
            return math.inf
    a, b = ids[cut:-1], ids[cut + 1 :]
    top = logits.max(-1)
    logsumexp = top + np.log(np.exp(logits - top[:, None]).sum(-1))  # (V,)
    return float((logsumexp[a] - logits[a, b]).mean())


def cases(random):
    yield Case("one step", 1)
    yield Case("ten steps", 10)
    yield Case("300 steps", STEPS)


def check(rates, steps):
    try:
        rates = [float(rate) for rate in rates]
    except TypeError:
        return "The result must be a list of numbers: the learning rate of each step."
    if len(rates) != steps:
        return f"These are {len(rates)} rates. Return one for each step: {steps}."
    for step, rate in enumerate(rates):
        if not 0 <= rate < math.inf:
            return f"The rate of step {step} is {rate}: it must be 0 or more, and finite."
    return None


exercise = Exercise(
    title="Challenge: the best 300 rates",
    minutes=20,
    core=False,
    challenge=True,
    defines="learning_rate_schedule",
    given="import math",
    cases=cases,
    compared=False,
    check=check,
    goals=[Goal("loss at the end, in nats per character", loss_at_the_end)],
    hints=(
        "Begin with one rate for all steps: [1.0] * steps. Then try 10, 30, 100. Which is the first that is too large?",
        "A high rate makes fast progress, but the loss stays noisy at the end; a low one makes hardly any progress. Can a "
        "schedule have both?",
        "[high * (1 - step / steps) for step in range(steps)] decays linearly. Compare it with a cosine, and with a rate that "
        "is divided by the same number at each step.",
    ),
    example='''def volumes(seconds):
    """The loudness of each second of a song that is played in full, and fades in its last quarter."""
    fade = seconds // 4
    return [1.0] * (seconds - fade) + [1 - (i + 1) / fade for i in range(fade)]
''',
    wrong=[
        Wrong("def learning_rate_schedule(steps):\n    return 10.0\n", generic="must be a list of numbers"),
        Wrong("def learning_rate_schedule(steps):\n    return [10.0 / step for step in range(1, steps)]\n",
              generic="These are 0 rates"),
        Wrong("def learning_rate_schedule(steps):\n    return [10.0 - step for step in range(steps)]\n",
              generic="The rate of step 11 is -1.0"),
        Wrong("def learning_rate_schedule(steps):\n    return [10.0] * 300\n", generic="These are 300 rates"),
    ],
)  # fmt: skip
