"""Open challenge: predict the next character of a story by counting alone."""

import math
from functools import cache

from course_lib.coach.exercise import Case, Exercise, Goal, Mistake, Wrong


@cache
def texts():
    """Stories to learn from, and the beginning of another: about 30,000 and 600 characters."""
    from course_lib import stories

    told = list(stories.write(11, 52))
    return "\n".join(told[:50]), "\n".join(told[50:])[:600]


def surprise(answer):
    """The mean of -log p over the characters of another story, in nats per character."""
    known, new = texts()
    probabilities = answer(known, sorted(set(known + new)))
    total = 0.0
    for i, character in enumerate(new):
        p = probabilities(new[:i])[character]
        total -= math.log(p) if p > 0 else -math.inf
    return total / len(new)


def cases(random):
    yield Case("two characters", "abab", "a")
    yield Case("the beginning of a text", "abab", "")
    yield Case("a character that nothing ever followed", "aab", "ab")
    yield Case("words", "the cat sat on the mat", "the ca")
    yield Case("a beginning that never occurred", "the cat sat on the mat", "sea tac")


def called(answer, text, before):
    """The probabilities after `before`, None if the answer did not return a function; and the characters."""
    characters = sorted({*text, *before, "z"})
    probabilities = answer(text, characters)
    return (probabilities(before) if callable(probabilities) else None), characters


def check(result, text, before):
    probabilities, characters = result
    if probabilities is None:
        return (
            "`fit` must return a function, which is called with the text so far: `def probabilities(before): ...; "
            "return probabilities`."
        )
    if not isinstance(probabilities, dict):
        return (
            f"`probabilities(before)` returns a {type(probabilities).__name__}; it must return a dict with a probability for "
            "each character."
        )
    lacks = [character for character in characters if character not in probabilities]
    if lacks:
        return f"There is no probability for the character {lacks[0]!r}: each of `characters` needs one."
    low = [character for character in characters if not probabilities[character] > 0]
    if low:
        return (f"The character {low[0]!r} has the probability {probabilities[low[0]]:.3g}. If it occurred, "
                "the surprise would be infinite: give each character a small probability.")  # fmt: skip
    total = sum(probabilities.values())
    if not abs(total - 1) < 1e-6:
        return f"The probabilities of all characters sum to {total:.6g}; they must sum to 1."
    return None


exercise = Exercise(
    title="Challenge: without a network",
    minutes=20,
    core=False,
    challenge=True,
    defines="fit",
    cases=cases,
    call=called,
    compared=False,
    check=check,
    seconds=12.0,
    goals=[Goal("surprise, in nats per character", surprise)],
    hints=(
        "Begin with single characters: how often does each occur? Add 1 to each count, so that no probability is 0.",
        "Count what follows each character, then each pair of characters, each three. The longer the context, the better the "
        "prediction, but the fewer its counts. What do you do with a context that never occurred?",
        "Interpolate: the probabilities after the longer context, if n characters followed it, get the weight n / (n + 1), and "
        "those after the shorter one the rest; from no characters at all up to five or six.",
    ),
    example='''from collections import Counter, defaultdict

def weather_learner(days):
    """Counts which weather followed which; returns a function: yesterday's weather -> probabilities for today."""
    after = defaultdict(Counter)
    for yesterday, today in zip(days, days[1:]):
        after[yesterday][today] += 1

    def probabilities(yesterday):
        counts = {day: after[yesterday][day] + 1 for day in set(days)}  # add 1, so that no probability is 0
        return {day: count / sum(counts.values()) for day, count in counts.items()}

    return probabilities
''',
    wrong=[
        Wrong("def fit(text, characters):\n    return {character: 1 / len(characters) for character in characters}\n",
              generic="must return a function"),
        Wrong("""def fit(text, characters):
    def probabilities(before):
        counts = {character: text.count(before[-1:] + character) for character in characters}
        total = sum(counts.values()) or 1
        return {character: count / total for character, count in counts.items()}
    return probabilities
""", generic="the surprise would be infinite"),
        Wrong("""def fit(text, characters):
    def probabilities(before):
        return {character: (text.count(character) + 1) / len(text) for character in characters}
    return probabilities
""", generic="they must sum to 1"),
        Wrong("""def fit(text, characters):
    def probabilities(before):
        return {character: text.count(character) / len(text) for character in set(text)}
    return probabilities
""", generic="There is no probability for the character 'z'"),
        Mistake("At the first character `before` is empty: it has no last character yet.",
                when=lambda seen: seen.label == "the beginning of a text" and seen.error.startswith("IndexError")),
        Wrong("def fit(text, characters):\n    return lambda before: [1 / len(characters)] * len(characters)\n",
              generic="returns a list"),
    ],
)  # fmt: skip
