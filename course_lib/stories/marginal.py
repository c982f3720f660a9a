"""How likely a grammar is to tell a story in which some facts are given: summed over everything else.

    chance(GRAMMAR, {"Kind": hedgehog, "Hero": otto}, plot="lost")       a probability, exact
    frequencies(GRAMMAR, "Hero")                                         of each name, in the stories that have a hero

A fact's draw is multiplied in where it happens; what binds no wanted fact sums to 1 and is passed over; where a choice
decides in which order or way they are drawn, its alternatives are added up. So the sum needs no list of all stories.

Limit: where a wanted word is drawn from a list that another fact carries along, that fact must be wanted too.
What a `Let` remembers cannot be wanted.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from course_lib.stories.grammar import Choice, Draw, Grammar, Let, Node, Word, Words


def chance(grammar: Grammar, wanted: Mapping[str, Word], plot: str | None = None) -> float:
    """P(a story has these facts, and is told by the rule `plot`)."""
    rule = grammar.rules[plot] if plot else None
    return _chance(grammar.start, wanted, frozenset(wanted), rule, {})


def frequencies(grammar: Grammar, fact: str) -> dict[Word, float]:
    """P(a word is this fact | a story has this fact), for each word that the grammar may draw for it."""
    draws = _draws(grammar, fact)
    carriers = list(dict.fromkeys(node.source[0] for node in draws if not isinstance(node.source, Words)))
    lists = [_words(grammar, carrier) for carrier in carriers]
    chances = {
        word: sum(
            chance(grammar, {fact: word} | dict(zip(carriers, others, strict=True)))
            for others in itertools.product(*lists)
        )
        for word in _words(grammar, fact)
    }
    total = sum(chances.values())
    return {word: value / total for word, value in chances.items() if value}


def _draws(grammar: Grammar, fact: str) -> list[Draw]:
    """The places where a fact is drawn."""
    nodes = (node for choice in grammar.choices for alternative in choice.alternatives for node in alternative)
    return [node for node in nodes if isinstance(node, Draw) and node.fact == fact]


def _words(grammar: Grammar, fact: str) -> list[Word]:
    """All words that may be drawn for a fact, whatever carries their list."""
    words: dict[Word, None] = {}
    for node in _draws(grammar, fact):
        if isinstance(node.source, Words):
            words.update(dict.fromkeys(node.source.words))
        else:
            lists = (found for (_, form), found in grammar.carried.items() if form == node.source[1])
            words.update(dict.fromkeys(word for found in lists for word in found.words))
    return list(words)


def _chance(
    nodes: Sequence[Node], wanted: Mapping[str, Word], names: frozenset[str], rule: Choice | None, known: dict
) -> float:
    """The probability of a sequence. known: the facts that were drawn before it; those drawn in it are added."""
    result = 1.0
    for node in nodes:
        if isinstance(node, Draw) and node.fact in names:
            words = node.source if isinstance(node.source, Words) else known[node.source[0]][node.source[1]]
            word = known[node.fact] = wanted[node.fact]
            result *= math.exp(-words.nats[words.words.index(word)]) if word in words.words else 0.0
        elif isinstance(node, Choice) and ((inside := binds(node) & names) or _holds(node, rule)):
            result *= _of_choice(node, inside, wanted, names, rule, known)
        if not result:
            return 0.0
    return result


def _of_choice(
    node: Choice, inside: frozenset, wanted: Mapping, names: frozenset, rule: Choice | None, known: dict
) -> float:
    """The sum over those alternatives that draw all that this choice must, and lead to the rule."""
    total = 0.0
    for weight, alternative in zip(_weights(node.cumulative), node.alternatives, strict=True):
        bound = frozenset().union(*(binds(part) for part in alternative)) & names
        leads = not _holds(node, rule) or node is rule or any(_holds(part, rule) for part in alternative)
        if bound == inside and leads:
            total += weight * _chance(alternative, wanted, names, None if node is rule else rule, known)
    return total


def _weights(cumulative: list[int]) -> Iterator[float]:
    for before, after in zip([0, *cumulative], cumulative, strict=False):
        yield (after - before) / cumulative[-1]


@cache
def binds(node: Node) -> frozenset[str]:
    """The facts that a node remembers, in whichever way it is told."""
    if isinstance(node, Draw | Let):
        return frozenset([node.fact] if node.fact else [])
    if isinstance(node, Choice):
        return frozenset().union(*(binds(part) for alternative in node.alternatives for part in alternative))
    return frozenset()


@cache
def _holds(node: Node, rule: Choice | None) -> bool:
    """Is the rule somewhere in this node?"""
    if rule is None or not isinstance(node, Choice):
        return False
    return node is rule or any(_holds(part, rule) for alternative in node.alternatives for part in alternative)
