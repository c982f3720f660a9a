"""Story grammars: templates and word lists, compiled to a small program.

A grammar is a set of word lists and a set of rules. A rule is a list of templates, one of which is told:

    One [sunny|windy] day, {Hero} took {Hero.her} {Colour} {Thing} to {Place=place}. <search>

    [a|b|c]            one of these; the k-th has weight 1/k. The alternatives of a rule are equally likely.
    {treat}            a word of the list `treat`; {treat.a} says it in its form `a` ("an apple")
    {Place=place}      a word of the list `place`, remembered as the fact `Place`
    {Spot=Place.spots} a word of the list that the fact `Place` carries along; {=Place.spots} is not remembered
    {Place}  {Place.at}  the fact again, in its plain form or in another; {Hero.She} is {Hero.she} with a capital
    {Left:=Count.less} says nothing: remembers under `Left` the word that `Count` carries along
    <search>           the rule `search`
    ¶                  a new paragraph; any other white space is one space

Alternatives that begin with different words make every story readable in one way only; `Grammar.clashes()` lists the
places where that fails. Limits: no empty alternative, no rule that begins with itself, and no letter right
after `{...}`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

# Up to the end of the first word, quotes and spaces before it included: what tells one alternative from another.
FIRST_WORD = re.compile(r"[^\W\d_]+|[\W\d_]+[^\W\d_]*")


def first_word(text: str, position: int = 0) -> str:
    """The text from `position` to the end of its first word ('' at the end of the text)."""
    match = FIRST_WORD.match(text, position)
    return match.group() if match else ""


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """One entry of a list: its forms by name ("" is the plain one), and what it carries along (words and lists).

    `kind` groups what can be mistaken for each other: every name is a `name`, whichever list it stands in.
    """

    kind: str
    forms: dict[str, "str | Word | Words"]

    def __getitem__(self, form: str):
        return self.forms[form]


def article(text: str) -> str:
    """The text with its indefinite article: 'apple' -> 'an apple'."""
    sounds_like_vowel = text[0] in "aeiouAEIOU" and not text.startswith(("uni", "use", "eu", "one"))
    return f"{'an' if sounds_like_vowel or text.startswith(('hour', 'honest')) else 'a'} {text}"


def word(plain: str, kind: str, **forms) -> Word:
    """A word with its plain form, `a` (with article), those given, and the capitalised twin of each."""
    spoken = {"": plain, "a": article(plain), **forms}
    spoken["Plain"] = plain[0].upper() + plain[1:]
    for form, text in list(spoken.items()):
        if form and isinstance(text, str):
            spoken[form[0].upper() + form[1:]] = text[0].upper() + text[1:]
    return Word(kind, spoken)


class Words:
    """A list of words to draw from; the k-th (from 1) has weight k ** -steep, rounded to a whole number of millionths.

    Whole numbers make the same draw on every machine.
    """

    def __init__(self, words: Iterable[Word], steep: float = 1.0):
        self.words = list(words)
        self.kind = self.words[0].kind
        self.cumulative, self.nats = weigh(steep, len(self.words))
        self._index: dict[str, dict[str, list[int]]] = {}

    @classmethod
    def parse(cls, kind: str, text: str, steep: float = 1.0, forms: Sequence[str] = ()) -> "Words":
        """Words from 'ball, kite, drum', or with further forms from 'mouse/mice, sheep/sheep' and forms=('s',)."""
        words = []
        for entry in " ".join(text.split()).strip(", ").split(", "):
            plain, *others = entry.split("/")
            words.append(word(plain, kind, **dict(zip(forms, others, strict=True))))
        return cls(words, steep)

    def __len__(self) -> int:
        return len(self.words)

    def matches(self, form: str, text: str, position: int) -> Iterator[tuple[int, str]]:
        """The words whose form stands in the text at this position: (index, form as text)."""
        if form not in self._index:
            index = self._index[form] = {}
            for k, candidate in enumerate(self.words):
                if form in candidate.forms:
                    index.setdefault(first_word(candidate[form]), []).append(k)
        for k in self._index[form].get(first_word(text, position), ()):
            said = self.words[k][form]
            if text.startswith(said, position):
                yield k, said


def weigh(steep: float, count: int) -> tuple[list[int], list[float]]:
    """Cumulative whole weights of `count` ranks, and the nats (-log probability) of each."""
    weights = [round(1e6 * rank**-steep) for rank in range(1, count + 1)]
    total = sum(weights)
    return list(accumulate(weights)), [math.log(total / weight) for weight in weights]


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Says these characters."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Says a new word; `source` is a list, or the names of a fact and of the list that it carries along."""

    source: "Words | tuple[str, str]"
    form: str
    fact: str | None

    def words(self, facts: Mapping[str, Word]) -> Words:
        """The list to draw from, in a story where these facts hold."""
        return self.source if isinstance(self.source, Words) else facts[self.source[0]][self.source[1]]


@dataclass(frozen=True, slots=True, eq=False)
class Say:
    """Says a fact again."""

    fact: str
    form: str


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """Remembers a fact under another name, or the word that it carries along."""

    fact: str
    source: str
    carried: str | None

    def value(self, facts: Mapping[str, Word]) -> Word:
        """The word to remember."""
        return facts[self.source][self.carried] if self.carried else facts[self.source]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Tells one of several sequences."""

    alternatives: list["tuple[Node, ...]"] = field(default_factory=list)
    cumulative: list[int] = field(default_factory=list)
    nats: list[float] = field(default_factory=list)

    def fill(self, alternatives: list["tuple[Node, ...]"], steep: float) -> "Choice":
        cumulative, nats = weigh(steep, len(alternatives))
        self.alternatives[:], self.cumulative[:], self.nats[:] = alternatives, cumulative, nats
        return self


Node = Text | Draw | Say | Let | Choice
TOKEN = re.compile(r"(?P<mark>[\[\]|])|<(?P<rule>\w+)>|\{(?P<slot>[^{}]*)\}|(?P<text>[^\[\]|<>{}]+)")


class Grammar:
    """Word lists and rules, compiled. `start` is the sequence of nodes that tells one story."""

    def __init__(self, lists: Mapping[str, Words], rules: Mapping[str, Sequence[str]], start: str = "story"):
        self.lists = lists
        self.rules = {name: Choice() for name in rules}
        self.choices: list[Choice] = []
        for name, templates in rules.items():
            alternatives = [self._compile(template, name) for template in templates]
            self.choices.append(self.rules[name].fill(alternatives, steep=0.0))
        self.start: tuple[Node, ...] = (self.rules[start],)
        self.kinds, self.carried = self._kinds()

    def _compile(self, template: str, rule: str) -> tuple[Node, ...]:
        tidy = re.sub(r"\s*¶\s*", "\n", re.sub(r"\s+", " ", template.strip()))
        if "".join(token.group() for token in TOKEN.finditer(tidy)) != tidy or re.search(r"\}[a-zA-Z]", tidy):
            raise ValueError(f"The rule {rule} has a stray bracket, or a letter right after one, in: {tidy}")
        nodes, mark = self._sequence(TOKEN.finditer(tidy), rule)
        if mark:
            raise ValueError(f"The rule {rule} has a '{mark}' outside of brackets, in: {tidy}")
        return nodes

    def _sequence(self, tokens: Iterator[re.Match], rule: str) -> tuple[tuple[Node, ...], str | None]:
        """Nodes up to the next '|' or ']' (or the end), and which of these it was."""
        nodes: list[Node] = []
        for token in tokens:
            if token["mark"] == "[":
                alternatives, mark = [], "|"
                while mark == "|":
                    alternative, mark = self._sequence(tokens, rule)
                    if not alternative or mark is None:
                        raise ValueError(f"The rule {rule} has an empty alternative or a '[' without its ']'.")
                    alternatives.append(alternative)
                nodes.append(Choice().fill(alternatives, steep=1.0))
                self.choices.append(nodes[-1])
            elif token["mark"]:
                return tuple(nodes), token["mark"]
            elif token["rule"]:
                if token["rule"] not in self.rules:
                    raise ValueError(f"The rule {rule} calls <{token['rule']}>, which does not exist.")
                nodes.append(self.rules[token["rule"]])
            elif token["slot"]:
                nodes.append(self._slot(token["slot"], rule))
            else:
                nodes.append(Text(token["text"]))
        return tuple(nodes), None

    def _slot(self, slot: str, rule: str) -> Node:
        fact, binds, source = slot.rpartition("=")
        names = source.split(".")
        if fact.endswith(":"):
            return Let(fact[:-1], names[0], names[1] if len(names) > 1 else None)
        if names[0][0].isupper() and binds:
            return Draw((names[0], names[1]), names[2] if len(names) > 2 else "", fact or None)
        if names[0][0].isupper():
            return Say(names[0], names[1] if len(names) > 1 else "")
        if names[0] not in self.lists:
            raise ValueError(f"The rule {rule} draws from the list {names[0]}, which does not exist.")
        return Draw(self.lists[names[0]], names[1] if len(names) > 1 else "", fact or None)

    def _kinds(self) -> tuple[dict[str, Words], dict[tuple[str, str], Words]]:
        """All words of each kind, and all that the words of a kind carry along in each form: by kind, by (kind, form)."""
        words: dict[str, dict[Word, None]] = {}  # dicts as sets that keep their order
        carried: dict[tuple[str, str], dict[Word, None]] = {}
        pending = [entry for source in self.lists.values() for entry in source.words]
        while pending:
            entry = pending.pop(0)
            if entry not in words.setdefault(entry.kind, {}):
                words[entry.kind][entry] = None
                for form, other in entry.forms.items():
                    if not isinstance(other, str):
                        more = other.words if isinstance(other, Words) else [other]
                        carried.setdefault((entry.kind, form), {}).update(dict.fromkeys(more))
                        pending += more
        return tuple({key: Words(entries) for key, entries in group.items()} for group in (words, carried))

    def clashes(self) -> list[str]:
        """The places where two alternatives of one choice begin with the same word. None: one text, one derivation."""
        found = []
        for choice in self.choices:
            begun: dict[str, int] = {}
            for k, alternative in enumerate(choice.alternatives):
                for start in first_words(alternative):
                    if begun.setdefault(start, k) != k:
                        found.append(
                            f"{start!r} begins alternatives {begun[start] + 1} and {k + 1}: {choice.alternatives}"
                        )
        return found


def first_words(nodes: Sequence[Node], said: str = "") -> set[str]:
    """The words that a sequence can begin with; a fact, whose word is not known here, stands as {Fact.form}."""
    for k, node in enumerate(nodes):
        rest = nodes[k + 1 :]
        match node:
            case Text(text):
                said += first_word(text)
                if said[-1].isalpha():
                    return {said}
            case Say(fact, form):
                return {f"{said}{{{fact}.{form}}}"}
            case Draw(Words() as source, form):
                return {said + first_word(entry[form]) for entry in source.words}
            case Draw((fact, carried)):
                return {f"{said}{{{fact}.{carried}}}"}
            case Choice(alternatives):
                return set().union(*(first_words((*alternative, *rest), said) for alternative in alternatives))
    return {said}
