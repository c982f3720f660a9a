"""Is a model right by saying little? What its texts hold beside what as many true stories hold.

    told = diversity.count(texts)          told.words: different words; told.plots: how often each plot was told
    true = diversity.count(stories.write(seed, len(texts)))
    diversity.plot_chances()               the true frequency of each plot, exactly, by the grammar

Only words that true stories use are counted, so that a misspelling is no gain. A text that cannot be read as a story has no plot.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from course_lib import stories
from course_lib.stories import marginal, requests
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.reading import read

KNOWN_FROM = 4000  # stories
_WORD = re.compile(r"[a-z']+")


@dataclass(frozen=True)
class Told:
    """texts: how many have an end. words: different words of the grammar in them. plots: texts of each plot."""

    texts: int
    words: int
    plots: dict[str, int]


def count(texts: Iterable[str | None]) -> Told:
    """What is in these texts; None stands for one without an end, and is left out."""
    ended = [text for text in texts if text is not None]
    words = words_of(ended) & _known_words()
    plots = Counter(plot for text in ended if (plot := plot_of(text)))
    return Told(len(ended), len(words), {plot: plots[plot] for plot in requests.PLOTS})


def words_of(texts: Iterable[str]) -> set[str]:
    """The different words of texts, in lower case."""
    return {word for text in texts for word in _WORD.findall(text.lower())}


@cache
def _known_words() -> set[str]:
    """As good as all words of the grammar: those of so many stories that more bring hardly any."""
    return words_of(stories.write(0, KNOWN_FROM))


def plot_of(text: str) -> str | None:
    """The plot of a text that can be read as a story, right facts or wrong ones; None for others."""
    reading = next(read(GRAMMAR, text, free=True), None)
    return requests.plot_of(reading.facts) if reading else None


@cache
def plot_chances() -> dict[str, float]:
    """How often the grammar tells each plot."""
    return {plot: marginal.chance(GRAMMAR, {}, plot) for plot in requests.PLOTS}
