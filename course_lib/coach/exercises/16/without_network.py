"""Open challenge: guess the next letter of a story by counting alone."""

import math
from functools import cache

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong


@cache
def texts():
    """Stories to learn from, and the beginning of another: about 30,000 and 600 letters."""
    from course_lib import stories

    told = list(stories.write(11, 52))
    return "\n".join(told[:50]), "\n".join(told[50:])[:600]


def surprise(answer):
    """The mean of -log p over the letters of another story, in nats per letter."""
    known, new = texts()
    odds = answer(known, sorted(set(known + new)))
    total = 0.0
    for place, letter in enumerate(new):
        share = odds(new[:place])[letter]
        total -= math.log(share) if share > 0 else -math.inf
    return total / len(new)


def cases(random):
    yield Case("two letters", "abab", "a")
    yield Case("nothing stands before", "abab", "")
    yield Case("a letter that was never followed", "aab", "ab")
    yield Case("words", "the cat sat on the mat", "the ca")
    yield Case("what stands before is new", "the cat sat on the mat", "sea tac")


def called(answer, text, before):
    """The odds behind `before`, the letters that they are for, and whether the function was one."""
    letters = sorted({*text, *before, "z"})
    odds = answer(text, letters)
    return (odds(before) if callable(odds) else None), letters


def check(result, text, before):
    odds, letters = result
    if odds is None:
        return "`learn` must return a function, which is called with the text so far: `def odds(before): ...; return odds`."
    if not isinstance(odds, dict):
        return f"`odds(before)` gives a {type(odds).__name__}; a dict is asked for, with a probability for each letter."
    lacks = [letter for letter in letters if letter not in odds]
    if lacks:
        return f"There is no probability for the letter {lacks[0]!r}: each of `letters` needs one."
    low = [letter for letter in letters if not odds[letter] > 0]
    if low:
        return (f"The letter {low[0]!r} has the probability {odds[low[0]]:.3g}. If it came, the surprise would be infinite: give "
                "each letter a little.")  # fmt: skip
    total = sum(odds.values())
    if not abs(total - 1) < 1e-6:
        return f"The probabilities of all letters sum to {total:.6g}; they must sum to 1."
    return None


exercise = Exercise(
    title="Challenge: without a network",
    minutes=20,
    core=False,
    challenge=True,
    defines="learn",
    cases=cases,
    call=called,
    compared=False,
    check=check,
    seconds=12.0,
    goals=[Goal("surprise, in nats per letter", surprise)],
    hints=(
        "Begin with letters alone: how often is each one there? Add 1 to each count, so that none is impossible.",
        "Count what follows each letter, then each pair of letters, each three. The longer the beginning, the surer the guess, "
        "and the rarer it was seen. What do you do where it was never seen?",
        "Mix: odds of the longer beginning, where it was seen n times, get the weight n / (n + 1), and the shorter one the rest; "
        "from no letters at all up to five or six.",
    ),
    sibling='''from collections import Counter, defaultdict

def weather_learner(days):
    """Counts which weather followed which; returns a function: yesterday's weather -> today's odds."""
    after = defaultdict(Counter)
    for yesterday, today in zip(days, days[1:]):
        after[yesterday][today] += 1

    def odds(yesterday):
        counts = {day: after[yesterday][day] + 1 for day in set(days)}  # add 1: nothing is impossible
        return {day: count / sum(counts.values()) for day, count in counts.items()}

    return odds
''',
    wrong=[
        Wrong("def learn(text, letters):\n    return {letter: 1 / len(letters) for letter in letters}\n",
              generic="must return a function"),
        Wrong("""def learn(text, letters):
    def odds(before):
        counts = {letter: text.count(before[-1:] + letter) for letter in letters}
        total = sum(counts.values()) or 1
        return {letter: count / total for letter, count in counts.items()}
    return odds
""", generic="the surprise would be infinite"),
        Wrong("""def learn(text, letters):
    def odds(before):
        return {letter: (text.count(letter) + 1) / len(text) for letter in letters}
    return odds
""", generic="they must sum to 1"),
        Wrong("""def learn(text, letters):
    def odds(before):
        return {letter: text.count(letter) / len(text) for letter in set(text)}
    return odds
""", generic="There is no probability for the letter 'z'"),
        Wrong("def learn(text, letters):\n    return lambda before: [1 / len(letters)] * len(letters)\n",
              generic="gives a list"),
    ],
)  # fmt: skip
