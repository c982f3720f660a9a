"""The engine under the stories, on grammars small enough to list everything that they can tell."""

import math
from collections import Counter
from random import Random

import pytest

from course_lib.stories.grammar import Grammar, Word, Words, article, weigh, word
from course_lib.stories.judging import judge, log_probability, spoil, trace
from course_lib.stories.reading import read
from course_lib.stories.telling import tell, tell_numbered

NAMES = Words([word("Mia", "name", she="she"), word("Tom", "name", she="he")], 1.0)
NUMBERS = [word(number, "number") for number in ("one", "two", "three")]
for fewer, more in ((0, 1), (1, 2)):
    NUMBERS[more].forms["less"] = NUMBERS[fewer]
POND = word("the pond", "place", spots=Words.parse("spot", "under a leaf, in the mud", 0.5))
BARN = word("the barn", "place", spots=Words.parse("spot", "in the hay, under a bucket", 0.5))
LISTS = {
    "name": NAMES,
    "animal": Words.parse("animal", "owl, fox, hen", 0.7),
    "number": Words(NUMBERS[1:], 0.5),
    "place": Words([POND, BARN]),
}
RULES = {
    "story": ["{Hero=name} was {Kind=animal.a}. <plot>"],
    "plot": [
        "[Once|One day] {Hero.she} went to {Place=place} and looked {Spot=Place.spots}. [Nothing was|A treasure lay] {Spot}!",
        "{Hero.She} had {Count=number} nuts and gave one to {Friend=name}. Now {Hero} had {Left:=Count.less}{Left}.",
    ],
}


def every_story(grammar: Grammar) -> list[tuple[str, float]]:
    """All that a grammar can tell, by counting through its choices as one counts through digits."""
    stories, digits = [], []
    while True:
        sizes = []

        def choose(cumulative, digits=digits, sizes=sizes):
            sizes.append(len(cumulative))
            if len(sizes) > len(digits):
                digits.append(0)
            return digits[len(sizes) - 1]

        stories.append(tell(grammar, choose))
        while digits and digits[-1] == sizes[len(digits) - 1] - 1:
            digits.pop()
        if not digits:
            return stories
        digits[-1] += 1


@pytest.fixture(scope="module")
def small() -> Grammar:
    return Grammar(LISTS, RULES)


def test_probabilities_of_all_stories_sum_to_one(small):
    stories = every_story(small)
    assert len(stories) == 2 * 3 * (2 * 2 * 2 * 2 + 2 * 2)
    assert len({text for text, _ in stories}) == len(stories)
    assert math.fsum(math.exp(log) for _, log in stories) == pytest.approx(1, abs=1e-12)


def test_reader_agrees_with_teller_on_every_story(small):
    for text, log in every_story(small):
        assert log_probability(small, text) == pytest.approx(log, abs=1e-12)
        assert len(list(read(small, text))) == 1


def test_drawn_stories_come_as_often_as_their_probability_says(small):
    count = 20_000
    drawn = Counter(text for text, _ in tell_numbered(small, 0, count))
    for text, log in every_story(small):
        p = math.exp(log)
        assert abs(drawn[text] - count * p) < 5 * math.sqrt(count * p * (1 - p))


def test_ambiguous_grammar_is_summed_over_its_derivations_and_named():
    twice = Grammar({}, {"story": ["[one|two|one] [two|one two]"]})
    assert log_probability(twice, "one two") == pytest.approx(math.log((1 + 1 / 3) / (11 / 6) * 2 / 3), abs=1e-6)
    assert len(list(read(twice, "one two"))) == 2
    assert len(twice.clashes()) == 1 and "'one' begins alternatives 1 and 3" in twice.clashes()[0]
    stories = every_story(twice)
    assert math.fsum(math.exp(log_probability(twice, text)) for text in {text for text, _ in stories}) == pytest.approx(
        1
    )


def test_clashes_looks_through_marks_words_and_rules():
    lists = {"animal": LISTS["animal"]}
    clear = Grammar(lists, {"story": ['["Go|go|" {animal}]']})
    assert not clear.clashes()
    for hidden in ('["{animal}|"<more>]', "[{animal}|<more>]"):
        assert Grammar(lists, {"story": [hidden], "more": ["fox trot", "ox"]}).clashes()


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("a [b|c", "without its ']'"),
        ("a [b|] c", "empty alternative"),
        ("{name}s", "letter right after"),
        ("a } b", "stray bracket"),
        ("<nowhere>", "<nowhere>, which does not exist"),
        ("{nothing}", "list nothing, which does not exist"),
        ("a | b", "outside"),
    ],
)
def test_a_broken_rule_is_named(rule, complaint):
    with pytest.raises(ValueError, match="The rule story") as error:
        Grammar(LISTS, {"story": [rule]})
    assert complaint in str(error.value)


def test_weights_fall_as_the_rank_rises_and_are_whole():
    cumulative, nats = weigh(1.0, 3)
    assert cumulative == [1_000_000, 1_500_000, 1_833_333]
    assert math.fsum(math.exp(-n) for n in nats) == pytest.approx(1)


def test_articles():
    said = "an apple, a unicorn, an hourglass, a pear, an umbrella, a useful box, an honest fox"
    assert ", ".join(article(part.split(" ", 1)[1]) for part in said.split(", ")) == said


def test_wrong_facts_are_counted_and_located(small):
    right = "Tom was an owl. One day he went to the pond and looked in the mud. Nothing was in the mud!"
    assert judge(small, right).possible
    wrong = {
        "Tom was an owl. One day she went to the pond and looked in the mud. Nothing was in the mud!": (1, 1),
        "Tom was an owl. One day he went to the pond and looked in the mud. Nothing was in the hay!": (1, 2),
        "Tom was an owl. One day he went to the pond and looked in the hay. Nothing was in the hay!": (1, 1),
        "Tom was an owl. Once she went to the pond and looked in the hay. Nothing was in the mud!": (3, 1),
        "Tom was an owl. He had two nuts and gave one to Mia. Now Mia had two.": (2, 2),
    }
    for text, (facts, sentence) in wrong.items():
        verdict = judge(small, text)
        assert (verdict.possible, verdict.well_formed) == (False, True)
        assert (verdict.wrong_facts, verdict.first_fault) == (facts, sentence), text


def test_trace_names_what_each_piece_is(small):
    text = "Tom was an owl. One day he went to the pond and looked in the mud. Nothing was in the mud!"
    pieces = [(text[piece.start : piece.end], piece.kind) for piece in trace(small, text)]
    assert pieces[:4] == [("Tom", "word"), (" was ", "text"), ("an owl", "word"), (". ", "text")]
    assert (
        ("One", "template") in pieces
        and ("he", "fact") in pieces
        and pieces[-2:] == [("in the mud", "fact"), ("!", "text")]
    )


def test_spoil_contradicts_one_fact(small):
    text = "Tom was an owl. He had two nuts and gave one to Mia. Now Tom had one."
    assert spoil(small, text, Random(0), "name") == text.replace("Now Tom", "Now Mia")
    with pytest.raises(ValueError, match="mentions no place a second time"):
        spoil(small, text, Random(0), "place")
    with pytest.raises(ValueError, match="not one of our stories"):
        spoil(small, "Tom was a hat.", Random(0))


def test_kinds_gather_every_word_that_can_be_said(small):
    assert {entry[""] for entry in small.kinds["spot"].words} == {
        "under a leaf",
        "in the mud",
        "in the hay",
        "under a bucket",
    }
    assert all(isinstance(entry, Word) for kind in small.kinds.values() for entry in kind.words)
