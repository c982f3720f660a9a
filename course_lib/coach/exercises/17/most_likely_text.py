"""Open challenge: the likeliest text, with few calls of the model."""

from functools import cache

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

V, LENGTH, CALLS = 12, 8, 150


class TooMany(RuntimeError):
    """More calls than are allowed."""


@cache
def table(seed):
    """Probabilities of the next token after each pair of tokens, (V + 1, V + 1, V), of low or high entropy. V: no token."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(V + 1, V + 1, V)) * random.choice([0.3, 1.0, 3.0], size=(V + 1, V + 1, 1))
    raw = np.exp(logits)
    return raw / raw.sum(-1, keepdims=True)


class Counted:
    """The model: probabilities of the next token after a list of tokens; it counts its calls."""

    def __init__(self, seed, most=CALLS):
        self.probabilities, self.most, self.count = table(seed), most, 0

    def __call__(self, tokens):
        self.count += 1
        if self.count > self.most:
            raise TooMany(f"the model was called more than {self.most} times for one text")
        before = [V, V, *tokens][-2:]
        return self.probabilities[before[0], before[1]].copy()


def surprise(seed, tokens):
    return float(-sum(np.log(Counted(seed)(list(tokens[:i]))[token]) for i, token in enumerate(tokens)))


def total(answer):
    """The surprise, in nats, of the texts found by 30 models, added up."""
    return sum(surprise(seed, list(answer(Counted(seed), LENGTH))) for seed in range(100, 130))


def cases(random):
    yield Case("one token", 0, 1)
    yield Case("two tokens", 1, 2)
    yield Case("eight tokens", 2, LENGTH)


def called(answer, seed, length):
    return answer(Counted(seed), length)


def check(tokens, seed, length):
    try:
        whole = [int(token) for token in tokens]
    except (TypeError, ValueError):
        return f"The result must be a list of tokens, integers from 0 to {V - 1}."
    if len(whole) != length:
        return f"The length of the text is {len(whole)}; it must be {length}."
    if not all(0 <= token < V for token in whole):
        return f"Tokens are integers from 0 to {V - 1}; {next(t for t in whole if not 0 <= t < V)} is not."
    likeliest = table(seed)[V, V].argmax()
    if length == 1 and whole[0] != likeliest:
        return f"A text of one token is easy: {likeliest} is the likeliest."
    return None


exercise = Exercise(
    title="Challenge: the likeliest text",
    minutes=20,
    core=False,
    challenge=True,
    defines="most_likely_text",
    given="import numpy as np",
    cases=cases,
    call=called,
    compared=False,
    check=check,
    goals=[Goal("surprise of 30 texts, in nats", total)],
    hints=(
        "Begin with greedy decoding: the likeliest token at each step, 8 calls. What does it miss if a first token is a little "
        "less likely, but all that follow it are almost certain?",
        "Keep several beginnings at a time, say the 10 likeliest. Extend each of them by one token, and keep the 10 likeliest "
        "again. This is called beam search. How many calls does it need?",
        "beams = [(0.0, [])]; at each step: [(s - np.log(p), tokens + [v]) for s, tokens in beams for v, p in "
        "enumerate(probabilities(tokens))], sorted, cut to `width`. With 150 calls the width can be about 20.",
    ),
    example='''def cheapest_walk(costs, start, steps, width=3):
    """A walk from town to town by beam search: at each step only the `width` cheapest are extended. costs[a][b]: from a to b."""
    walks = [(0, [start])]
    for _ in range(steps):
        longer = [(paid + cost, walk + [town]) for paid, walk in walks for town, cost in costs[walk[-1]].items()]
        walks = sorted(longer)[:width]
    return walks[0][1]
''',
    wrong=[
        Wrong("def most_likely_text(probabilities, length):\n    return 0\n", generic="must be a list of tokens"),
        Wrong("def most_likely_text(probabilities, length):\n    return [int(probabilities([]).argmax())]\n",
              generic="The length of the text is 1; it must be 2"),
        Wrong("""from itertools import product

def most_likely_text(probabilities, length):
    def surprise(tokens):
        return -sum(np.log(probabilities(list(tokens[:i]))[t]) for i, t in enumerate(tokens))
    return min(product(range(12), repeat=length), key=surprise)
""", generic="called more than 150 times"),
        Wrong("""def most_likely_text(probabilities, length):
    tokens = []
    for _ in range(length):
        tokens.append(int(probabilities(tokens).argmin()))
    return tokens
""", generic="A text of one token is easy"),
    ],
)  # fmt: skip
