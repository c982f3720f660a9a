"""Is a model right by saying little? What its texts hold beside what as many true stories hold.

    told = diversity.count(texts)          told.words: different words; told.plots: how often each plot was told
    true = diversity.count(stories.write(seed, len(texts)))
    diversity.plot_chances()               the true frequency of each plot, exactly, by the grammar
    told.choices                           how far names, kinds, traits, places, ... are from their true frequencies, in nats
    diversity.narrowest(told.choices)      ("Trait", 0.7): the choice that is farthest from them

Only words that true stories use are counted, so that a misspelling is no gain. A text that cannot be read as a story has no plot
and no facts.

A choice is measured by KL(chosen || true). A model that uses only some of the words, and those in their true proportions, is at
-log P(one of these words): log 2 if they are half of the draws. Counts of few texts are some way off by chance; the mean of that
over as many true stories is known exactly and subtracted, so that true stories have 0 on average. Limit: few words are less far
off by chance than many, so narrowed choices read too low, by at most what was subtracted: for Trait 0.1 of 300 texts, 0.3 of 90.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from course_lib import stories
from course_lib.stories import marginal, requests
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.grammar import Word
from course_lib.stories.reading import read

KNOWN_FROM = 4000  # stories
PLOT = "plot"
# The facts that a third of all stories have, or more; but for Marvel, one of 164 words, of which some hundred stories say little.
FACTS = (
    "Hero", "Kind", "Trait", "Home", "Friend", "FriendKind", "Hobby", "Elder", "Place", "Colour", "Thing", "Count", "Sad",
)  # fmt: skip
MEASURED_FROM = 30  # texts with a fact; fewer say nothing about its frequencies
_WORD = re.compile(r"[a-z']+")


@dataclass(frozen=True)
class Counts:
    """texts: how many have an end. words: different words of the grammar in them. plots: texts of each plot.

    choices: nats from the true frequencies, for the plot and each of FACTS; without those of fewer than MEASURED_FROM texts.
    """

    texts: int
    words: int
    plots: dict[str, int]
    choices: dict[str, float]


def count(texts: Iterable[str | None]) -> Counts:
    """What is in these texts; None stands for one without an end, and is left out."""
    ended = [text for text in texts if text is not None]
    words = words_of(ended) & _known_words()
    facts = [_facts_of(text) for text in ended]
    made = [each | {PLOT: requests.plot_of(each)} for each in facts]
    chosen = {name: _chosen(made, name) for name in (PLOT, *FACTS)}
    choices = {
        name: divergence(counts, true_frequencies(name))
        for name, counts in chosen.items()
        if counts.total() >= MEASURED_FROM
    }
    return Counts(len(ended), len(words), {plot: chosen[PLOT][plot] for plot in requests.PLOTS}, choices)


def words_of(texts: Iterable[str]) -> set[str]:
    """The different words of texts, in lower case."""
    return {word for text in texts for word in _WORD.findall(text.lower())}


@cache
def _known_words() -> set[str]:
    """As good as all words of the grammar: those of so many stories that more bring hardly any."""
    return words_of(stories.write(0, KNOWN_FROM))


def _facts_of(text: str) -> Mapping[str, Word]:
    """The facts of a text that can be read as a story, right ones or wrong ones; none of others."""
    reading = next(read(GRAMMAR, text, free=True), None)
    return reading.facts if reading else {}


@cache
def plot_chances() -> dict[str, float]:
    """How often the grammar tells each plot."""
    return {plot: marginal.chance(GRAMMAR, {}, plot) for plot in requests.PLOTS}


@cache
def true_frequencies(choice: str) -> Mapping[Hashable, float]:
    """How often the grammar chooses each plot, or each word for a fact of this name, in the stories that have it."""
    return plot_chances() if choice == PLOT else marginal.frequencies(GRAMMAR, choice)


def _chosen(made: Iterable[Mapping], choice: str) -> Counter:
    """How often each was chosen. A word that the grammar never draws there is a wrong fact, not a choice, and is left out."""
    return Counter(each[choice] for each in made if each.get(choice) in true_frequencies(choice))


def divergence(counts: Mapping[Hashable, int], true: Mapping[Hashable, float]) -> float:
    """KL(counted || true) in nats, minus its mean over as many draws from `true`."""
    n = sum(counts.values())
    kl = sum(number / n * math.log(number / n / true[each]) for each, number in counts.items() if number)
    return kl - by_chance(n, tuple(true.values()))


@cache
def by_chance(n: int, true: tuple[float, ...]) -> float:
    """The mean of KL(counted || true) over all counts of n draws: the count of each outcome is binomial."""
    k = np.arange(1, n + 1)  # (n,)
    p = np.array(true)[:, None]  # (outcomes, 1), each below 1
    ways = np.array([math.log(math.comb(n, i)) for i in k.tolist()])
    chances = np.exp(ways + k * np.log(p) + (n - k) * np.log1p(-p))  # (outcomes, n)
    return float((chances * (k / n) * np.log(k / n / p)).sum())


def narrowest(choices: Mapping[str, float]) -> tuple[str, float] | None:
    """The choice that is farthest from its true frequencies, and by how many nats; None if none was measured."""
    return max(choices.items(), key=lambda item: item[1], default=None)
