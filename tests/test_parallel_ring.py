"""The ring: sums that are right for any length and number of ranks, and bytes that are those of the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import parallel, progress
from course_lib.parallel import ring


def arrays(ranks, *shape, dtype=np.float64):
    return [np.random.default_rng(rank).normal(size=shape).astype(dtype) for rank in range(ranks)]


@settings(max_examples=25, deadline=None)
@given(ranks=st.integers(1, 6), rows=st.integers(0, 13), columns=st.integers(1, 3))
def test_an_all_reduce_is_the_sum_on_all_ranks_to_the_bit(ranks, rows, columns):
    xs = arrays(ranks, rows, columns)
    results = parallel.virtual(ranks, lambda c: ring.ring_all_reduce(c, xs[c.rank]))
    for result in results:
        np.testing.assert_allclose(result, sum(xs), atol=1e-12)
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_each_rank_sends_two_times_n_minus_1_chunks_and_no_more(ranks):
    def work(communicator):
        ring.ring_all_reduce(communicator, np.ones(ranks * 10, np.float32))
        return communicator.traffic

    for traffic in parallel.virtual(ranks, work):
        assert (traffic.messages, traffic.bytes) == (2 * (ranks - 1), 2 * (ranks - 1) * 10 * 4)


def test_given_arrays_stay_as_they_are():
    xs = arrays(3, 7)
    before = [x.copy() for x in xs]

    def work(communicator):
        chunks = np.array_split(xs[communicator.rank], 3)
        ring.ring_reduce_scatter(communicator, chunks)
        ring.ring_all_gather(communicator, chunks[0])

    parallel.virtual(3, work)
    np.testing.assert_array_equal(xs, before)


@pytest.mark.parametrize("counts", [None, (5, 0, 1)])
def test_a_ring_as_a_communicator_gives_what_the_plain_one_gives(counts):
    xs, onto = arrays(3, 6, 2), arrays(3, 5, 2)
    length = counts or (2, 2, 2)

    def work(communicator, wrap):
        c, x = wrap(communicator), xs[communicator.rank]
        part = onto[c.rank][: length[c.rank]]
        mine = c.start_reduce_scatter(x, counts, part).wait()
        return c.all_reduce(x), c.reduce_scatter(x, counts), mine, c.all_gather(mine, counts), c.rank, c.size

    plain = parallel.virtual(3, lambda c: work(c, lambda one: one))
    for ours, theirs in zip(parallel.virtual(3, lambda c: work(c, ring.Ring)), plain, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_ring_goes_on_from_a_part_as_gradients_of_several_batches_do():
    xs, parts = arrays(3, 7), arrays(3, 3)
    onto = [parts[0], parts[1][:2], parts[2][:2]]
    expected = sum(xs) + np.concatenate(onto)
    for result in parallel.virtual(3, lambda c: ring.Ring(c).start_all_reduce(xs[c.rank], onto[c.rank]).wait()):
        np.testing.assert_allclose(result, expected, atol=1e-12)


def test_a_ring_finds_its_functions_where_an_answer_can_take_their_place(monkeypatch):
    called = []
    monkeypatch.setattr(
        ring, "ring_reduce_scatter", lambda communicator, chunks: called.append(communicator.rank) or chunks[0]
    )
    parallel.virtual(2, lambda c: ring.Ring(c).reduce_scatter(np.ones(4)))
    parallel.virtual(2, lambda c: ring.Ring(c).all_reduce(np.ones(4)))
    assert called == [0, 1, 0, 1]


TINY = {"layers": 1, "heads": 1, "channels": 16, "context": 32, "vocab_size": 300}


@pytest.mark.parametrize("shard", [None, "optimizer", "gradients"])
def test_two_ranks_train_around_the_ring_as_without_it(text, monkeypatch, shard):
    """With an answer in the place of one of its functions; two ranks add the same two numbers, so the bits are the same."""
    calls = []

    def answer(communicator, chunks, ours=ring.ring_reduce_scatter):
        calls.append(communicator.rank)
        return ours(communicator, chunks)

    def trained(wrap):
        settings = {"model": TINY, "steps": 4, "batch": 2, "device": "cpu", "text": text, "display": progress.Quiet()}
        done = parallel.virtual(2, lambda c: parallel.train("micro", communicator=wrap(c), shard=shard, **settings))
        return [[record["loss"] for record in one.records] for one in done]

    assert ring.chosen("a communicator") == "a communicator", "ours everywhere: no ring is needed"
    plain = trained(lambda c: c)
    answer.answer = "digest"
    monkeypatch.setattr(ring, "ring_reduce_scatter", answer)
    assert trained(ring.chosen) == plain and plain[0][-1] < plain[0][0]
    assert set(calls) == {0, 1} and len(calls) >= 8
