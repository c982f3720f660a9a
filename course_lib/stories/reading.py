"""Read a story back: find every derivation of a text, with its probability, span by span.

The reader follows the grammar as the teller does, but takes only what the text continues with. Where several ways are
open it keeps all of them, so the sum over derivations is exact for any grammar (ours has one derivation for each
story). With `free` facts it also takes any other word of the right kind (another name, another
place), as few as possible, and counts them.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.stories.grammar import Choice, Draw, Grammar, Let, Node, Say, Text, Word, Words, first_word


class Span(NamedTuple):
    """Characters start:end of a story, and the nats that they cost.

    kind: "template" (the first word after a choice of templates, where the choice shows; no characters if a fact or a
    free word comes first), "word" (a word drawn from a list), "fact" (a word that an earlier one determines) or "text"
    (determined by the template). Facts and text cost 0 nats. wrong: the first character at which the text says another
    word than may stand here; None if it does not.
    """

    start: int
    end: int
    kind: str
    nats: float
    word: Word | None = None
    form: str = ""
    wrong: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One derivation of a text: its nats (-log-probability), its wrong facts (0 unless free), its spans, what it remembers."""

    nats: float
    wrong: int
    spans: list[Span]
    facts: dict[str, Word]


@dataclass(slots=True)
class Reach:
    """How far a text could be read, and with how many wrong facts.

    fine: to the letter also within a word drawn or a fact, which may be several words long; that takes longer.
    spans: those of the text as far as it could be read."""

    position: int = 0
    wrong: int = 0
    fine: bool = False
    trail: "tuple | None" = None

    def extend(self, position: int, wrong: int, trail: "tuple | None") -> None:
        if position > self.position:
            self.position, self.wrong, self.trail = position, wrong, trail

    @property
    def spans(self) -> list[Span]:
        return _unwind(self.trail)


class _State(NamedTuple):
    """A place in the grammar and in the text. The heap takes the fewest wrong facts first, then the newest."""

    wrong: int
    order: int
    position: int
    nodes: tuple[Node, ...]
    step: int  # index of the next of these nodes
    after: "tuple | None"  # (nodes, step, after) to go on with when these are told
    facts: dict[str, Word]
    nats: float
    owed: float  # nats of template choices that no word has shown yet
    trail: "tuple | None"  # (span, earlier trail)


def read(grammar: Grammar, text: str, free: bool = False, reach: Reach | None = None) -> Iterator[Reading]:
    """Every derivation of the text, fewest wrong facts first; `reach` is told how far the text makes sense."""
    reach = reach or Reach()
    heap = [_State(0, 0, 0, grammar.start, 0, None, {}, 0.0, 0.0, None)]
    order = 0
    while heap:
        wrong, _, position, nodes, step, after, facts, nats, owed, trail = heapq.heappop(heap)
        while True:
            if step == len(nodes):
                if after is None:
                    reach.extend(position, wrong, trail)
                    if position == len(text):
                        yield Reading(nats, wrong, _unwind(trail), facts)
                    break
                nodes, step, after = after
                continue
            node = nodes[step]
            step += 1
            if isinstance(node, Text):
                if not text.startswith(node.text, position):
                    reach.extend(position + _agreement(node.text, text, position), wrong, trail)
                    break
                end = position + len(node.text)
                if owed:
                    shown = position + len(first_word(node.text))
                    trail = (Span(position, shown, "template", owed), trail)
                    position, owed = shown, 0.0
                if position < end:
                    trail = (Span(position, end, "text", 0.0), trail)
                position = end
            elif isinstance(node, Let) and _carries(facts, node.source, node.carried):
                facts = {**facts, node.fact: node.value(facts)}
            elif isinstance(node, Let):  # a wrong word, which carries no such word: what any other of its kind carries
                for entry in grammar.carried[facts[node.source].kind, node.carried].words:
                    order -= 1
                    known = {**facts, node.fact: entry}
                    heapq.heappush(heap, _State(wrong, order, position, nodes, step, after, known, nats, owed, trail))
                break
            elif isinstance(node, Choice):
                after = (nodes, step, after) if step < len(nodes) else after
                for k, alternative in enumerate(node.alternatives):
                    lead = alternative[0]
                    if isinstance(lead, Text) and not text.startswith(lead.text, position):
                        reach.extend(position + _agreement(lead.text, text, position), wrong, trail)
                        continue
                    order -= 1
                    cost = node.nats[k]
                    state = _State(
                        wrong, order, position, alternative, 0, after, facts, nats + cost, owed + cost, trail
                    )
                    heapq.heappush(heap, state)
                break
            else:
                for entry, said, cost, clash in _candidates(grammar, node, facts, text, position, free):
                    order -= 1
                    kind = "fact" if isinstance(node, Say) else "word"
                    known = {**facts, node.fact: entry} if kind == "word" and node.fact else facts
                    grown = (Span(position, position, "template", owed), trail) if owed else trail
                    differs = position + _farthest(node, facts, text, position) if clash and reach.fine else None
                    grown = (Span(position, position + len(said), kind, cost, entry, node.form, differs), grown)
                    end = position + len(said)
                    heapq.heappush(
                        heap, _State(wrong + clash, order, end, nodes, step, after, known, nats + cost, 0.0, grown)
                    )
                reach.extend(position + (_farthest(node, facts, text, position) if reach.fine else 0), wrong, trail)
                break


def _farthest(node: Say | Draw, facts: dict[str, Word], text: str, position: int) -> int:
    """How many characters at this position a word that may stand here begins with."""
    if isinstance(node, Say):
        words = [facts[node.fact]]
    else:
        words = node.words(facts).words if isinstance(node.source, Words) or _carries(facts, *node.source) else []
    said = (word.forms.get(node.form, "") for word in words)
    return max((_agreement(each, text, position) for each in said), default=0)


def _candidates(grammar: Grammar, node: Say | Draw, facts: dict[str, Word], text: str, position: int, free: bool):
    """What the text can mean here: (word, as said, nats, whether it is a wrong fact)."""
    if isinstance(node, Say):
        entry = facts[node.fact]
        said, kind = entry.forms.get(node.form), entry.kind  # a wrong word may have no such form
        if said and text.startswith(said, position):
            yield entry, said, 0.0, False
        true = {said}
    else:
        if isinstance(node.source, Words) or _carries(facts, *node.source):
            words = node.words(facts)
        else:  # as above, of a list
            words = grammar.carried[facts[node.source[0]].kind, node.source[1]]
        kind = words.kind
        true = set()
        for k, said in words.matches(node.form, text, position):
            true.add(said)
            yield words.words[k], said, words.nats[k], False
    if free:
        others = grammar.kinds[kind]
        for k, said in others.matches(node.form, text, position):
            if said not in true:  # of several words that say the same, one is enough
                true.add(said)
                yield others.words[k], said, 0.0, True


def _carries(facts: dict[str, Word], fact: str, form: str | None) -> bool:
    """Has the fact's word what is asked of it? One that stands where another of its kind belongs may not."""
    return not form or form in facts[fact].forms


def _agreement(expected: str, text: str, position: int) -> int:
    """How many characters of the expected text stand at this position."""
    count = 0
    for want, have in zip(expected, text[position : position + len(expected)], strict=False):
        if want != have:
            break
        count += 1
    return count


def _unwind(trail: tuple | None) -> list[Span]:
    spans = []
    while trail:
        span, trail = trail
        spans.append(span)
    return spans[::-1]
