"""The corpus: exact probabilities, one reading each, the promised sizes, and English that an editor would let pass."""

import hashlib
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import stories
from course_lib.stories.reading import read
from course_lib.tokenizer import Tokenizer

COUNT = 2_000


@pytest.fixture(scope="module")
def told() -> list[tuple[str, float]]:
    return list(stories.write_with_log_probability(seed=11, count=COUNT))


def test_parsed_log_probability_is_the_sampled_one(told):
    for text, log in told:
        assert stories.log_probability(text) == pytest.approx(log, abs=1e-9)


def test_every_story_has_exactly_one_derivation(told):
    assert all(len(list(read(stories.GRAMMAR, text))) == 1 for text, _ in told)


def test_alternatives_begin_with_different_words():
    assert stories.GRAMMAR.clashes() == []


def test_no_word_of_a_list_begins_another_of_it():
    lists = {**stories.GRAMMAR.lists, **stories.GRAMMAR.kinds}
    for name, words in lists.items():
        plain = [entry[""] for entry in words.words]
        assert len(set(plain)) == len(plain), name
        assert not [(a, b) for a in plain for b in plain if b.startswith(a + " ")], name


def test_stories_never_change():
    text = "\n\n".join(stories.write(seed=0, count=50))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "ff5867a8f5d0ee72"


@given(seed=st.integers(0, 2**64), first=st.integers(0, 10**9), count=st.integers(1, 5))
def test_a_story_depends_on_seed_and_index_only(seed, first, count):
    together = list(stories.write(seed, count + 3, first))
    assert list(stories.write(seed, count, first)) == together[:count]
    assert list(stories.write(seed, 1, first + count)) == together[count : count + 1]
    assert all(math.isfinite(stories.log_probability(text)) and stories.judge(text).possible for text in together)


def test_seeds_differ():
    assert not set(stories.write(0, 300)) & set(stories.write(1, 300))


def test_lengths_paragraphs_and_spaces(told):
    for text, _ in told:
        assert 60 <= len(text.split()) <= 200
        assert text.count("\n") == 3
        assert not re.search(r"\s\s|^\s|\s$| [.,!?]|[^\x20-\x7e\n]", text), text


def test_capitals_marks_and_articles(told):
    for text, _ in told:
        assert all(re.match(r"\"?[A-Z]", paragraph) and paragraph[-1] in '.!?"' for paragraph in text.split("\n")), text
        assert all(paragraph.count('"') % 2 == 0 for paragraph in text.split("\n")), text
        assert not re.search(r"\w\. [a-z]|[.!?,]{2}", text), text
        assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]", re.sub(r"\b[Aa] one\b", "", text)), text


def test_plots_vary(told):
    plots = {re.match(r"\w+", text.split("\n")[1]).group() for text, _ in told}
    openings = {text.split()[0] for text, _ in told}
    assert len(plots) == 16 and len(openings) >= 8


def test_trace_accounts_for_every_character_and_every_nat(told):
    facts = 0
    for text, log in told[:300]:
        pieces = stories.trace(text)
        assert "".join(text[piece.start : piece.end] for piece in pieces) == text
        assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
        assert math.fsum(piece.nats for piece in pieces) == pytest.approx(-log, abs=1e-9)
        assert all(piece.nats == 0 for piece in pieces if piece.kind in ("fact", "text"))
        facts += sum(piece.kind == "fact" for piece in pieces)
    assert facts / 300 >= 15


def test_a_small_vocabulary_fills_and_whole_stories_fit_the_context():
    corpus = list(stories.write(seed=5, count=6_000))
    types = {kind.lower() for text in corpus for kind in re.findall(r"[A-Za-z]+", text)}
    assert len(types) >= 1_500
    for size, context in ((2048, 192), (4096, 256)):
        tokenizer = Tokenizer.train(corpus, size)
        assert tokenizer.vocab_size == size
        assert max(len(tokenizer.encode(text)) + 1 for text in corpus[:2_000]) < context


@pytest.mark.slow
def test_a_hundred_thousand_stories():
    seen, types = set(), set()
    for text in stories.write(seed=2, count=100_000):
        seen.add(hash(text))
        types.update(text.lower().split())
        assert 60 <= len(text.split()) <= 200
    assert len(seen) == 100_000
    assert len({re.sub(r"\W", "", kind) for kind in types}) >= 1_800


def test_two_things_of_one_story_are_never_the_same():
    lists = stories.GRAMMAR.lists
    for one, other in (("hero", "friend"), ("thing", "treasure"), ("colour", "shade"), ("material", "strong")):
        assert not {entry[""] for entry in lists[one].words} & {entry[""] for entry in lists[other].words}
    for place in lists["place"].words:
        assert not {spot[""] for spot in place["spots"].words} & {nook[""] for nook in place["nooks"].words}
