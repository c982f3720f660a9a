"""The judge on stories that were spoiled, cut, mixed up, or never stories at all."""

import math
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import stories

KINDS = (
    "name",
    "animal",
    "relative",
    "thing",
    "colour",
    "number",
    "feeling",
    "marvel",
    "home",
    "spot",
    "wrap",
    "hobby",
)


@pytest.fixture(scope="module")
def told() -> list[str]:
    return list(stories.write(seed=21, count=400))


@pytest.mark.parametrize("kind", KINDS)
def test_a_story_with_a_fact_exchanged_is_well_formed_and_impossible(told, kind):
    random, spoiled = Random(kind), 0
    for text in told:
        try:
            wrong = stories.spoil(text, random, kind)
        except ValueError:
            continue
        spoiled += 1
        verdict = stories.judge(wrong)
        assert not verdict.possible and not stories.is_possible(wrong), wrong
        assert verdict.well_formed and verdict.wrong_facts == 1, wrong
        assert stories.sentences(wrong)[verdict.first_fault] != stories.sentences(text)[verdict.first_fault]
    assert spoiled >= 5


def test_two_wrong_facts_are_two(told):
    for text in told[:100]:
        mentions = [
            piece
            for piece in stories.trace(text)
            if piece.kind == "fact" and piece.word.kind == "name" and not piece.form
        ]
        for piece in (mentions[-1], mentions[0]):
            text = text[: piece.start] + ("Otto" if piece.word[""] != "Otto" else "Mia") + text[piece.end :]
        assert stories.judge(text).wrong_facts == 2


def test_a_story_says_where_it_is_cut(told):
    for text in told[:100]:
        cut = text[: len(text) * 2 // 3]
        verdict = stories.judge(cut)
        assert not verdict.possible and not verdict.well_formed and verdict.log_probability == -math.inf
        assert verdict.first_fault == len(stories.sentences(cut)) - 1
        assert verdict.wrong_facts == 0


def test_the_end_of_another_story_does_not_fit(told):
    for text, other in zip(told[:100], told[100:200], strict=True):
        verdict = stories.judge(text.rsplit("\n", 1)[0] + "\n" + other.rsplit("\n", 1)[1])
        assert not verdict.possible
        assert verdict.first_fault >= len(stories.sentences(text.rsplit("\n", 1)[0])) - 1


def test_what_follows_the_end_is_a_fault(told):
    for text in told[:50]:
        for more in (" The end.", "\nThe end.", "\n\n" + told[0], " ", "\n", "x"):
            verdict = stories.judge(text + more)
            assert not verdict.possible and not verdict.well_formed
        assert stories.judge(text + " The end.").first_fault == len(stories.sentences(text))


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "Hello!", "Once upon a time", "\x00\ud800", "Mia" * 10_000, "." * 1_000, "é世界"]
)
def test_no_story_at_all(text):
    verdict = stories.judge(text)
    assert (verdict.possible, verdict.well_formed, verdict.log_probability) == (False, False, -math.inf)
    assert 0 <= verdict.first_fault < len(stories.sentences(text))
    assert stories.log_probability(text) == -math.inf and not stories.is_possible(text)


@given(st.text(max_size=300))
def test_any_text_gets_a_verdict(text):
    assert stories.judge(text).first_fault is not None


@given(st.integers(0, 10_000), st.data())
def test_damaged_stories_get_a_verdict(index, data):
    (text,) = stories.write(7, 1, index)
    position = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:position] + data.draw(st.characters(codec="utf-8")) + text[position + 1 :]
    verdict = stories.judge(damaged)
    if damaged != text and verdict.possible:  # another story by chance: then it has a probability
        assert stories.log_probability(damaged) > -math.inf
    assert verdict.possible == (verdict.first_fault is None)
    assert not verdict.possible or verdict.well_formed


def test_pronouns_are_facts(told):
    text = next(text for text in told if " she " in text and " he " not in text)
    verdict = stories.judge(text[::-1].replace(" ehs ", " eh ", 1)[::-1])
    assert not verdict.possible and verdict.well_formed and verdict.wrong_facts == 1


# A word that stands where another of its kind belongs may lack what the other carries along: a friend's name has no kinds
# of hero, a friend's kind no heroes' names, "one" nothing that is less, "ten" nothing that is more.
LACKING = [
    ("Everybody in Elderwick knew Mia, the ", r"\bMia\b", "Olive", ""),
    ("This is the story of Tom, ", r"\bTom\b", "Jack", ""),
    (" little rabbit called ", "rabbit", "hamster", ""),
    (" little rabbit named ", "rabbit", "badger", ""),
    ("failed six times", r"\bfive\b", "ten", "six"),
    ("but he had only two", r"\bthree\b", "one", "two"),
]


@pytest.mark.parametrize("beginning, old, new, follows", LACKING)
def test_a_word_that_lacks_what_another_carries_is_one_wrong_fact(beginning, old, new, follows):
    text = next(text for text in stories.write(seed=3, count=20_000) if beginning in text and re.search(old, text))
    wrong = re.sub(old, new, text)
    verdict = stories.judge(wrong)
    assert (verdict.possible, verdict.well_formed, verdict.wrong_facts) == (False, True, 1), wrong
    assert (
        new in stories.sentences(wrong)[verdict.first_fault] or follows in stories.sentences(wrong)[verdict.first_fault]
    )
    for end in range(0, len(wrong), 7):
        assert not stories.judge(wrong[:end]).well_formed


def agrees(text: str) -> stories.Verdict:
    """The verdict on any text, once all that can be asked of it has been found to agree."""
    verdict, log, count = stories.judge(text), stories.log_probability(text), len(stories.sentences(text))
    assert verdict.log_probability == log <= 0 and verdict.possible == stories.is_possible(text) == (log > -math.inf), (
        text
    )
    assert verdict.possible == (verdict.well_formed and verdict.wrong_facts == 0), text
    assert verdict.first_fault is None if verdict.possible else 0 <= verdict.first_fault < count, text
    return verdict


def test_words_exchanged_for_others_of_their_kind_leave_a_story_well_formed():
    random = Random("exchanged")
    for index, text in enumerate(stories.write(seed=22, count=600)):
        pieces = [piece for piece in stories.trace(text) if piece.word]
        for piece in sorted(random.sample(pieces, len(pieces) if index % 3 == 0 else 1 + index % 6), reverse=True):
            others = stories.GRAMMAR.kinds[piece.word.kind].words
            text = text[: piece.start] + random.choice(others)[piece.form] + text[piece.end :]
        assert agrees(text).well_formed, text


def mentions_exchanged(text: str, other: str, random: Random) -> str:
    old, new = (random.choice(re.findall(r"\w+", story)) for story in (text, other))
    return re.sub(rf"\b{old}\b", new, text)


def mixed_up(text: str, other: str, random: Random) -> str:
    pieces = stories.sentences(text) + random.choice([[], stories.sentences(other)])
    return random.choice(" \n").join(random.sample(pieces, random.randint(0, len(pieces))))


def joined(text: str, other: str, random: Random) -> str:
    return text[: random.randint(0, len(text))] + other[random.randint(0, len(other)) :]


def other_paragraphs(text: str, other: str, random: Random) -> str:
    return "\n".join(random.choice(pair) for pair in zip(text.split("\n"), other.split("\n"), strict=True))


def odd_characters(text: str, other: str, random: Random) -> str:
    at = random.randint(0, len(text))
    odd = random.choice("\x00é世\ud800\u200b\u2028\r\tİß²_5")
    return text[:at] + odd + text[at + random.randint(0, 1) :]


def other_case(text: str, other: str, random: Random) -> str:
    return random.choice([str.upper, str.lower, str.title])(text)


@pytest.mark.parametrize(
    "damage",
    [mentions_exchanged, mixed_up, joined, other_paragraphs, odd_characters, other_case],
    ids=lambda f: f.__name__,
)
def test_the_judge_agrees_with_itself_on_damaged_stories(damage):
    random = Random(damage.__name__)
    for text, other in zip(stories.write(23, 150), stories.write(24, 150), strict=True):
        for _ in range(2):
            text = damage(text, other, random) if text else text
            agrees(text)
