"""Requests for stories, and questions about them: what fine-tuning teaches a model to answer (chapter 20).

    for one in requests.write(seed=0, count=3): print(one.prompt, one.answer)
    requests.kept(request, text)          which parts of a request a story kept: {"Hero": True, "Thing": False, ...}

A request is made of a story that the grammar told: it names the hero, and mostly the plot and what it is about. So the story
answers it, and how likely this answer was is known: P(story | request) = P(story) / P(what the request names), since a
request is worded independently of all else in the story. Its mean over many requests is the floor of the loss on answers.

A question about a story has one right answer, determined by the story: it costs 0 nats.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from course_lib.stories import marginal, telling
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.grammar import Word
from course_lib.stories.reading import Reading, read

QUESTIONS = 0.25  # of all prompts
BARE = 0.3  # of the requests name the hero alone
FRAMES = [
    "Write a story about {hero}.",
    "Tell me a story about {hero}.",
    "Please write about {hero}.",
    "I would like a story about {hero}.",
]
HERO = "{Trait.a} {Kind} called {Hero}"
# What a request says of each plot. The facts that it names are asked for, and nothing else of the plot.
PLOTS = {
    "lost": "who loses {Colour.a} {Thing} and finds it again",
    "shared": "who shares {Treat.s} {Place.at}",
    "race": "who runs a race to {Place}",
    "lent": "who breaks {Thing.a} that a friend has lent",
    "traded": "who trades {Thing.a} for {Prize.a}",
    "birthday": "who buys {Colour.a} {Thing} for a friend's birthday",
    "built": "who builds {Den.a} {Place.at}",
    "map": "who finds a map and a treasure: {Shade.a} {Prize}",
    "quarrel": "who quarrels with a friend over {Colour.a} {Thing}",
    "gathered": "who gathers {Find.s} {Place.at}",
    "rescue": "who takes care of {Young.a} from {Place}",
    "night": "who is afraid of {Fear.a} at night",
    "seed": "who puts a seed in {Colour.a} {Pot}",
    "skill": "who learns to {Skill}",
    "errand": "who is sent to buy {Treat.s}",
    "neighbour": "who gives {Colour.a} {Thing} to a new neighbour",
}
# What may be asked about a story of each plot, and what is right. The first of each pair holds nothing that tells the second.
QUESTIONS_OF_ALL = [("Where does {Hero} live?", "In {Home}."), ("What is {Hero} like?", "{Trait.Plain}.")]
QUESTIONS_OF = {
    "lost": [("What colour is the {Thing}?", "{Colour.Plain}."), ("Who found the {Thing}?", "{Friend}."),
             ("Who has the {Thing} at the end?", "{Hero}.")],
    "shared": [("How many {Treat.s} did {Hero} have left?", "{Left.Plain}."), ("Who was hungry?", "{Friend}.")],
    "race": [("What was the prize?", "{Shade.A} {Prize}."), ("Who was hurt?", "{Friend}.")],
    "lent": [("Who owned the {Thing} that broke?", "{Friend}."), ("What colour was the {Thing}?", "{Colour.Plain}.")],
    "traded": [("Who has the {Thing} at the end?", "{Hero}."), ("Who has the {Prize} at the end?", "{Friend}.")],
    "birthday": [("Who has the {Thing} at the end?", "{Friend}."), ("How many coins did it cost?", "{Count.Plain}.")],
    "built": [("What was the second {Den} made of?", "{Strong.Plain}."),
              ("How many days did the first {Den} take?", "{Count.Plain}.")],
    "map": [("What was the treasure?", "{Shade.A} {Prize}."), ("Where was it?", "{Nook.Plain}.")],
    "quarrel": [("How many days did they quarrel?", "{Count.Plain}."), ("What did they find?", "{Colour.A} {Thing}.")],
    "gathered": [("How many {Find.s} does {Hero} keep?", "{Left.Plain}."), ("What colour is the {Bag}?", "{Colour.Plain}.")],
    "rescue": [("Who came home with {Hero}?", "{Young.A}."), ("Where was the {Young}?", "{Nook.Plain}.")],
    "night": [("What made the noise?", "{Cause.A}."), ("In which room was the noise?", "The {Room}.")],
    "seed": [("What grew from the seed?", "{Flower.A}."), ("What colour was the {Pot}?", "{Colour.Plain}.")],
    "skill": [("What did {Hero} learn?", "To {Skill}."), ("What lay on the floor?", "{Colour.A} {Cap}.")],
    "errand": [("How many {Treat.s} came home?", "{Left.Plain}."), ("Who was hungry?", "The {Stranger}.")],
    "neighbour": [("Who has the {Thing} at the end?", "{Friend}."), ("Who was new next door?", "{Friend}.")],
}  # fmt: skip
_SLOT = re.compile(r"\{(\w+)\.?(\w*)\}")


@dataclass(frozen=True)
class Request:
    """A prompt with one answer that is right, or was told.

    wanted: the facts that the prompt names, by name; plot: the plot that it names, or None. nats: -log P(answer | prompt).
    """

    prompt: str
    answer: str
    wanted: Mapping[str, Word]
    plot: str | None
    nats: float

    @property
    def is_question(self) -> bool:
        return self.nats == 0.0


def write(seed: int, count: int, first: int = 0) -> Iterator[Request]:
    """Requests first, ..., first + count - 1 of this seed, questions among them. Each depends on the seed and its number only.

    The stories are those of `stories.write(seed, ...)`, by the same numbers.
    """
    for number in range(first, first + count):
        random, facts = Random(f"request {seed}/{number}"), {}
        story, log_probability = telling.tell(GRAMMAR, telling.numbered(seed, number), facts)
        if random.random() < QUESTIONS:
            yield ask(story, facts, random)
        else:
            yield request(story, -log_probability, facts, random)


def request(story: str, nats: float, facts: Mapping[str, Word], random: Random) -> Request:
    """A request that this story answers. How it is worded depends on nothing in the story but what it names."""
    plot = None if random.random() < BARE else plot_of(facts)
    text = HERO if plot is None else f"{HERO} {PLOTS[plot]}"
    wanted = {name: facts[name] for name, _ in _SLOT.findall(text)}
    known = -math.log(marginal.chance(GRAMMAR, wanted, plot))
    prompt = random.choice(FRAMES).replace("{hero}", fill(text, facts))
    return Request(prompt, story, wanted, plot, nats - known)


def ask(story: str, facts: Mapping[str, Word], random: Random) -> Request:
    """A question about a story that has one right answer; the story stands before it."""
    question, answer = random.choice([*QUESTIONS_OF_ALL, *QUESTIONS_OF[plot_of(facts)]])
    return Request(f"{story}\n\n{fill(question, facts)}", fill(answer, facts), {}, None, 0.0)


def fill(template: str, facts: Mapping[str, Word]) -> str:
    """A template with {Fact} and {Fact.form} put in."""
    return _SLOT.sub(lambda slot: facts[slot[1]][slot[2]], template)


def plot_of(facts: Mapping[str, Word]) -> str | None:
    """The plot that remembers just these facts; None if there is none."""
    return _plots().get(frozenset(facts) - _opening())


@cache
def _opening() -> frozenset[str]:
    """What may be known before the plot begins."""
    before = (GRAMMAR.rules[rule] for rule in ("opening", "friend", "family"))
    return frozenset().union(*map(marginal.binds, before))


@cache
def _plots() -> dict[frozenset[str], str]:
    return {marginal.binds(GRAMMAR.rules[plot]) - _opening(): plot for plot in PLOTS}


def kept(request: Request, text: str) -> dict[str, bool]:
    """Which of the facts that a request names (and its plot) a story has; of a text that cannot be read as a story, none."""
    reading: Reading | None = next(read(GRAMMAR, text, free=True), None)
    facts = reading.facts if reading else {}
    found = {name: facts.get(name) is word for name, word in request.wanted.items()}
    return found | ({"plot": bool(facts) and plot_of(facts) == request.plot} if request.plot else {})


def obeyed(request: Request, text: str) -> bool:
    """Does a text answer a request: a story with all that was asked for; or, of a question, the right answer."""
    if request.is_question:
        return text.strip() == request.answer
    return all(kept(request, text).values())
