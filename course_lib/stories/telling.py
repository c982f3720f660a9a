"""Tell stories: walk a grammar, choose at every fork, remember the facts.

A story depends on its seed and its index only, so any part of a corpus can be written again, anywhere.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from random import Random

from course_lib.stories.grammar import Choice, Draw, Grammar, Node, Say, Text, Word

Choose = Callable[[list[int]], int]  # cumulative weights -> index


def tell(grammar: Grammar, choose: Choose, facts: dict[str, Word] | None = None) -> tuple[str, float]:
    """One story and its log-probability in nats; `choose` gets cumulative weights and returns an index.

    facts: an empty dictionary, to find there what the story remembers.
    """
    said: list[str] = []
    nats = _follow(grammar.start, choose, {} if facts is None else facts, said)
    return "".join(said), -nats


def _follow(nodes: Sequence[Node], choose: Choose, facts: dict[str, Word], said: list[str]) -> float:
    nats = 0.0
    for node in nodes:
        match node:
            case Text():
                said.append(node.text)
            case Say():
                said.append(facts[node.fact][node.form])
            case Choice():
                k = choose(node.cumulative)
                nats += node.nats[k] + _follow(node.alternatives[k], choose, facts, said)
            case Draw():
                words = node.words(facts)
                k = choose(words.cumulative)
                nats += words.nats[k]
                said.append(words.words[k][node.form])
                if node.fact:
                    facts[node.fact] = words.words[k]
            case _:
                facts[node.fact] = node.value(facts)
    return nats


def tell_numbered(grammar: Grammar, seed: int, count: int, first: int = 0) -> Iterator[tuple[str, float]]:
    """Stories first, first + 1, ... of this seed, each with its log-probability in nats."""
    for index in range(first, first + count):
        yield tell(grammar, numbered(seed, index))


def numbered(seed: int, index: int) -> Choose:
    """The choices of story number `index` of a seed."""
    random = Random(f"{seed}/{index}").random
    return lambda cumulative: bisect(cumulative, int(random() * cumulative[-1]))
