"""Windows: batches a function of seed and step, documents from their start, the floor over exactly the scored tokens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.data import IGNORE, Training, Validation
from course_lib.data.bigram import bigram_loss
from course_lib.data.windows import spread, whole_documents

END = 9


def packed(documents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """END document END document END, and the places of the end tokens that begin one."""
    tokens = np.array([END, *(token for document in documents for token in [*document, END])], np.uint16)
    return tokens, np.flatnonzero(tokens == END)[:-1]


DOCUMENTS = [[n % 7] * (3 + n % 5) for n in range(40)]
TOKENS, STARTS = packed(DOCUMENTS)


@pytest.mark.parametrize("starts", [None, STARTS])
def test_batches_are_a_function_of_seed_and_step(starts):
    one, other = (Training(TOKENS, 8, seed=5, starts=starts) for _ in range(2))
    forward = [one.batch(step, 3) for step in range(30)]
    backward = [other.batch(step, 3) for step in reversed(range(30))][::-1]
    for (idx, targets), (idx_again, targets_again) in zip(forward, backward, strict=True):
        assert idx.dtype == targets.dtype == np.int32
        assert idx.shape == targets.shape == (3, 8)
        np.testing.assert_array_equal(idx, idx_again)
        np.testing.assert_array_equal(targets, targets_again)
        np.testing.assert_array_equal(idx[:, 1:], targets[:, :-1])
    another = Training(TOKENS, 8, seed=6, starts=starts)
    assert any(not np.array_equal(another.batch(step, 3)[0], forward[step][0]) for step in range(3))
    assert any(not np.array_equal(forward[0][0], forward[step][0]) for step in range(1, 3))


def test_batches_are_the_same_on_every_machine_and_version():
    """Raw Philox bits decide, which NumPy promises not to change."""
    assert Training(np.arange(1000), 2, seed=1).batch(3, 4)[0][:, 0].tolist() == [241, 143, 863, 183]
    last = [Training(TOKENS, 8, seed=seed, starts=STARTS).batch(10**12, 9)[0] for seed in (-1, -2, 2**64 - 1)]
    assert np.array_equal(last[0], last[2])
    assert not np.array_equal(last[0], last[1])


def test_each_document_begins_one_window_per_epoch():
    tokens = np.arange(200)  # distinct, so that a window tells where it began
    starts = np.arange(0, 200, 10)
    train = Training(tokens, 15, seed=0, starts=starts)
    usable = [start for start in starts if start + 15 < 200]
    began = np.concatenate([train.batch(step, 3)[0][:, 0] for step in range(2 * len(usable))])  # six epochs
    for epoch in np.split(began, 6):
        assert sorted(epoch) == usable
    assert not np.array_equal(began[: len(usable)], began[len(usable) : 2 * len(usable)])


def test_text_windows_reach_both_ends():
    train = Training(np.arange(12), 8, seed=0)
    began = {int(train.batch(step, 4)[0][row, 0]) for step in range(20) for row in range(4)}
    assert began == {0, 1, 2, 3}


@given(st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=9), min_size=1, max_size=12), st.integers(10, 25))
def test_validation_scores_each_whole_document_once(documents, context):
    tokens, starts = packed(documents)
    nats = np.arange(1.0, len(documents) + 1)
    validation, longer = whole_documents(tokens, starts, nats, context)
    assert longer == 0
    assert validation.scored == len(tokens) - 1
    assert validation.floor == pytest.approx(nats.sum() / (len(tokens) - 1))
    scored = validation.targets != IGNORE
    assert validation.targets[scored].tolist() == tokens[1:].tolist()
    assert validation.idx[scored].tolist() == tokens[:-1].tolist()
    assert (validation.idx[:, 0] == END).all()


def test_documents_longer_than_a_window_are_left_out_and_counted():
    tokens, starts = packed([[1] * 4, [2] * 9, [3] * 3])
    validation, longer = whole_documents(tokens, starts, np.array([0.5, 100.0, 0.25]), 9)
    assert longer == 1
    assert validation.targets.tolist() == [[1, 1, 1, 1, END, 3, 3, 3, END]]
    assert validation.floor == pytest.approx(0.75 / 9)


def test_the_floor_is_the_loss_of_the_true_model():
    """Documents from a known chain: the chain itself, as a model, has exactly the floor as its loss; others have more."""
    random = np.random.default_rng(0)
    chance = random.dirichlet(np.ones(10) * 0.5, size=10)  # (a, b): P(b | a); END is one of the ten
    chance[END, END] = 0
    chance /= chance.sum(1, keepdims=True)
    documents, nats = [], []
    for _ in range(300):
        document, last, total = [], END, 0.0
        while not document or last != END:
            token = int(random.choice(10, p=chance[last]))
            total -= np.log(chance[last, token])
            document.append(token)
            last = token
        documents.append(document[:-1])
        nats.append(total)
    kept = [n for n, document in enumerate(documents) if len(document) < 40]
    tokens, starts = packed([documents[n] for n in kept])
    validation, _ = whole_documents(tokens, starts, np.array(nats)[kept], 40)

    def loss(idx, targets, model=chance):
        scored = targets != IGNORE
        return -np.log(model[idx[scored], targets[scored]]).mean()

    assert validation.mean_loss(loss, batch_size=7) == pytest.approx(validation.floor, abs=1e-12)
    assert validation.mean_loss(lambda i, t: loss(i, t, chance * 0.9 + 0.01), 7) > validation.floor
    few = validation.head(5)
    assert len(few) == 5
    assert few.mean_loss(loss, 2) == pytest.approx(few.floor, abs=1e-12)
    train, _ = packed([documents[n] for n in range(150)])
    assert validation.floor < bigram_loss(train, validation, 10) < validation.floor + 0.2


def test_validation_batches_are_fixed_and_complete():
    validation = spread(TOKENS, 8, 10, STARTS)
    twice = [list(validation.batches(4)) for _ in range(2)]
    assert [len(idx) for idx, _ in twice[0]] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([idx for idx, _ in twice[1]]), validation.idx)
    assert (validation.idx[:, 0] == END).all()
    assert validation.floor is None


def test_text_is_validated_side_by_side():
    validation = spread(np.arange(100), 8, 1000)
    assert validation.idx[:, 0].tolist() == list(range(0, 92, 8))
    assert spread(np.arange(100), 8, 3).idx[:, 0].tolist() == [0, 40, 88]
    short = spread(np.arange(1, 5), 8, 3)
    assert short.targets.tolist() == [[2, 3, 4, *[IGNORE] * 5]]
    assert short.idx[0, :4].tolist() == [1, 2, 3, 4]


def test_the_mean_loss_counts_each_scored_target_once():
    targets = np.array([[1, IGNORE, IGNORE], [2, 3, 4], [5, 6, IGNORE]], np.int32)
    validation = Validation(np.zeros_like(targets), targets)
    mean = validation.mean_loss(lambda idx, targets: targets[targets != IGNORE].mean(), batch_size=2)
    assert mean == pytest.approx((1 + 2 + 3 + 4 + 5 + 6) / 6)


def bigram_by_loops(tokens: list[int], validation: Validation, size: int) -> float:
    """Witten and Bell's formula, one token at a time: the reference of the vectorised one."""
    losses = []
    for row, row_targets in zip(validation.idx.tolist(), validation.targets.tolist(), strict=True):
        for a, b in zip(row, row_targets, strict=True):
            if b == IGNORE:
                continue
            after = [tokens[i + 1] for i in range(len(tokens) - 1) if tokens[i] == a]
            single = (tokens.count(b) + 1) / (len(tokens) + size)
            kinds = len(set(after))
            losses.append(-np.log((after.count(b) + kinds * single) / (len(after) + kinds) if after else single))
    return float(np.mean(losses))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30), st.lists(st.integers(0, 5), min_size=2, max_size=9))
def test_the_bigram_loss_is_the_formula(train, held_out):
    validation = spread(np.array(held_out), 4, 3)
    expected = bigram_by_loops(train, validation, 6)
    assert bigram_loss(np.array(train, np.uint16), validation, 6) == pytest.approx(expected, rel=1e-12)
