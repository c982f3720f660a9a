"""serving/pages.py: nobody reads another's rows, no page is lost or freed twice, little is wasted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.generation import Choice
from course_lib.model import GPT, GPTConfig
from course_lib.serving.engine import Engine
from course_lib.serving.pages import OutOfPages, Pool, release
from course_lib.serving.texts import Request


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 4),
    count=st.integers(1, 9),
    steps=st.lists(
        st.tuples(st.sampled_from("new add add add fork end back".split()), st.integers(0, 99)), max_size=60
    ),
)
def test_every_text_reads_its_own_rows_whatever_happens(rows, count, steps):
    """Texts begin, perhaps as another did, grow, fork, lose their last rows and end, over a few pages of numbers."""
    pool, texts = Pool(count, rows), []  # each text: table, ids
    memory = np.full((count, rows), -1)

    def write(table, at, token):
        copied = pool.room_for(table, at)
        if copied is not None:
            memory[table[at // rows]] = memory[copied]
        memory[table[at // rows], at % rows] = token

    for action, number in steps:
        text = texts[number % len(texts)] if texts else None
        try:
            if action == "new" or text is None:
                ids = [t % 2 for t in range(number % 7 + 1)]
                table = pool.find(ids)
                assert len(table) * rows < len(ids), "the last token must be computed"
                text = (table, ids[: len(table) * rows])
                texts.append(text)
                for token in ids[len(text[1]) :]:
                    write(table, len(text[1]), token)
                    text[1].append(token)
                pool.remember(table, text[1])
            elif action == "add":
                write(text[0], len(text[1]), number)
                text[1].append(number)
            elif action == "fork":
                texts.append((pool.fork(text[0]), list(text[1])))
            elif action == "back" and text[0] and all(page not in pool.names for page in text[0]):
                kept = number % (len(text[1]) + 1)
                pool.forget(text[0], kept)
                del text[1][kept:]
            elif action == "end":
                pool.remember(*text)
                pool.release(text[0])
                texts.remove(text)
        except OutOfPages:
            assert not pool.available
        for table, ids in texts:
            assert [memory[table[j // rows], j % rows] for j in range(len(ids))] == ids
        held = [page for table, _ in texts for page in table]
        assert pool.holders == [held.count(page) for page in range(count)]
        assert sorted([*pool.free, *pool.kept, *set(held)]) == list(range(count))
        assert pool.held == len(set(held)) and pool.held + pool.available == count


def test_a_page_that_is_freed_twice_is_found():
    holders = [1, 2, 0]
    assert release([0, 1], holders) == [0] and holders == [0, 1, 0]
    with pytest.raises(ValueError, match="Page 2 is freed twice"):
        release([2], holders)


def test_the_beginning_that_was_used_last_stays_longest():
    pool = Pool(2, 2)
    for ids in ([1, 2], [3, 4]):
        table: list[int] = []
        for at in range(2):
            pool.room_for(table, at)
        pool.remember(table, ids)
        pool.release(table)
    pool.release(pool.find([1, 2, 9]))
    pool.room_for([], 0)  # somebody wants a page
    assert pool.find([3, 4, 9]) == [] and len(pool.find([1, 2, 9])) == 1


def test_under_a_mixed_load_at_most_5_percent_of_the_pages_in_use_is_empty():
    """Against the two thirds that rows up to the context would leave empty, reserved for each text."""
    config = GPTConfig.preset("micro", layers=1, channels=16, heads=1, vocab_size=260)
    engine, random = Engine(GPT(config), _Bytes(), batch=16), np.random.default_rng(0)
    for _ in range(48):
        prompt = random.integers(0, 250, random.integers(1, 100)).tolist()
        engine.submit(
            Request(prompt, int(random.integers(20, 256 - len(prompt))), Choice(), [int(random.integers(99))])
        )
    wasted, reserved = [], []
    while engine.busy:
        engine.step()
        texts = [(text.table, text.computed) for text in engine.running]
        if len(texts) == engine.batch:
            wasted.append(engine.pool.waste(texts))
            reserved.append(1 - np.mean([length for _, length in texts]) / config.context)
    assert len(wasted) > 100
    assert np.mean(wasted) <= 0.05 and np.mean(reserved) > 0.4
    assert engine.pool.held == 0


class _Bytes:
    """What an engine asks of a tokenizer: the end token, and how many there are. The end is never drawn here."""

    end_id, vocab_size = 259, 259
