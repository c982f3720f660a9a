"""serving/speculative.py: whatever drafts, the texts are the model's."""

from itertools import product

import numpy as np
import pytest

from course_lib import generation
from course_lib.generation import Choice
from course_lib.model import GPT, GPTConfig
from course_lib.serving.drafts import Lookup, NGrams, SmallModel
from course_lib.serving.engine import Engine
from course_lib.serving.paged_model import Addition, PagedModel
from course_lib.serving.speculative import Tally, accept, speculate
from course_lib.serving.texts import Request

pytestmark = pytest.mark.slow

QUARTERS = 4  # all probabilities are multiples of a quarter, so
GRID = (np.arange(12) + 0.5) / 12  # every decision is taken by whole twelfths of [0, 1): this grid integrates exactly


def distributions(random, count, vocabulary=3):
    return random.multinomial(QUARTERS, np.ones(vocabulary) / vocabulary, size=count) / QUARTERS


@pytest.mark.parametrize("seed", range(4))
def test_by_enumeration_two_tokens_have_the_models_joint_distribution(seed):
    """Two drafted tokens over a vocabulary of three, all drafts and all random numbers, each with its weight."""
    random = np.random.default_rng(seed)
    first, second = distributions(random, 1)[0], distributions(random, 3)  # p(x), p(y | x)
    q_first, q_second = distributions(random, 1)[0], distributions(random, 3)
    after = distributions(random, 1)[0]  # a third token, which does not matter here
    joint = np.zeros((3, 3))
    for x, y in product(range(3), repeat=2):
        weight = q_first[x] * q_second[x, y] / len(GRID) ** 3
        if weight:
            target, draft = np.stack([first, second[x], after]), np.stack([q_first, q_second[x]])
            for uniform in product(GRID, repeat=3):
                got = accept(target, draft, [x, y], np.array(uniform))
                if len(got) > 1:
                    joint[got[0], got[1]] += weight
                else:  # the next pass begins after this token
                    joint[got[0]] += weight * second[got[0]]
    np.testing.assert_allclose(joint, first[:, None] * second, atol=1e-12)


def test_a_perfect_draft_is_always_accepted_and_an_impossible_one_never():
    p = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    assert accept(p, p[:1], [0], np.array([0.999, 0.2])) == [0, 1]
    assert accept(p, np.array([[0.0, 0.0, 1.0]]), [2], np.array([0.0, 0.7])) == [1]
    assert accept(p[:1], np.zeros((0, 3)), [], np.array([0.2])) == [0]


@pytest.fixture(scope="module")
def drafts(text, tokenizer, model):
    known, ids = tokenizer.vocab_size, tokenizer.encode(text)
    weak = GPT(GPTConfig.preset("micro", layers=1, context=40, vocab_size=known), seed=1)
    return {"n-grams": NGrams([ids], known, 2), "lookup": Lookup(known, 1), "small model": SmallModel(weak, known)}


@pytest.mark.parametrize("kind", ["n-grams", "lookup", "small model"])
def test_greedy_texts_are_those_that_the_model_writes_alone(model, tokenizer, text, drafts, kind):
    """A context that fills up, and a draft whose context is shorter, included."""
    for seed, tokens in ((0, 12), (1, 999)):
        prompt, tally = tokenizer.encode(text)[20 * seed : 20 * seed + 9], Tally()
        chosen = speculate(model, tokenizer, drafts[kind], prompt, tokens, Choice(0.0), seed, 3, tally)
        got = [token for some in chosen for token in some]
        room = min(tokens, model.config.context - len(prompt) - 1)
        ((want, _),) = generation.complete(model, tokenizer, [prompt], room, Choice(0.0), [0])
        assert got == want
        assert tally.passes + tally.accepted == len(got)


@pytest.mark.parametrize("pages", [None, 24], ids=["room for all", "few pages"])
@pytest.mark.parametrize("kind", ["n-grams", "lookup", "small model"])
def test_in_the_engine_greedy_texts_are_those_without_a_draft(model, tokenizer, text, drafts, kind, pages):
    """Texts that come and go, twins, a budget that leaves room for some drafts only, and pages that run out."""
    ids, random, written = tokenizer.encode(text), np.random.default_rng(1), []
    given = [ids[at : at + random.integers(0, 25)] for at in random.integers(0, len(ids) - 30, 10)]
    draft = SmallModel(drafts[kind].model, tokenizer.vocab_size, texts=8) if kind == "small model" else drafts[kind]
    for one in (None, draft):
        engine = Engine(model, tokenizer, batch=8, budget=24, pages=pages, draft=one, drafts=3)
        requests = [Request(prompt, 5 + 9 * i, Choice(0.0), [0] * (1 + i % 2)) for i, prompt in enumerate(given)]
        for request in requests:
            engine.submit(request)
        while engine.busy:
            engine.step()
        assert engine.pool.held == 0 and (engine.preempted > 0) == (pages is not None)
        written.append([request.written for request in requests])
    assert written[0] == written[1]
    assert 0 < engine.accepted < engine.drafted
    assert kind != "small model" or (not draft.read and draft.paged.pool.held == 0), "its pages are given back too"


def pairs_alone(model, tokenizer, draft, prompt, choice, pairs):
    for seed in range(pairs):
        yield [t for some in speculate(model, tokenizer, draft, prompt, 2, choice, seed, 2) for t in some]


def pairs_in_the_engine(model, tokenizer, draft, prompt, choice, pairs):
    """All but the first texts find the prompt in full pages, but for its last token: their first pass has drafts."""
    engine = Engine(model, tokenizer, batch=16, draft=draft, drafts=2)
    requests = [Request(prompt, 3, choice, [seed]) for seed in range(pairs)]
    for request in requests:
        engine.submit(request)
    while engine.busy:
        engine.step()
    assert engine.drafted > 1.9 * pairs
    return [request.written[0] for request in requests]


@pytest.mark.parametrize("written", [pairs_alone, pairs_in_the_engine])
def test_by_chi_square_two_tokens_of_our_model_have_its_distribution(model, tokenizer, text, drafts, written):
    """Half of the drafts are accepted; 1,200 pairs against the exact probabilities, the rare ones taken together."""
    prompt, choice, pairs, known = tokenizer.encode(text)[20:28], Choice(0.7), 1200, tokenizer.vocab_size
    paged = PagedModel(model, 40)

    def exact(ids):
        table: list[int] = []
        paged.make_room(table, 0, len(ids))
        (logits,) = paged.logits([Addition(table, ids, 0)])
        paged.pool.release(table)
        return choice.probabilities(logits[:, :known])[0]

    start = [tokenizer.end_id, *prompt]
    first = exact(start)
    expected = np.zeros((known, known))
    for x in np.flatnonzero(first > 1e-5):
        expected[x] = first[x] * (exact([*start, int(x)]) if x != tokenizer.end_id else np.eye(known)[0])
    observed = np.zeros((known, known))
    for got in written(model, tokenizer, drafts["n-grams"], prompt, choice, pairs):
        observed[got[0], got[1] if len(got) > 1 else 0] += 1
    often = expected * pairs >= 5
    seen = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], 1 - expected[often].sum()) * pairs
    statistic, freedom = ((seen - wanted) ** 2 / wanted).sum(), len(seen) - 1
    assert freedom > 20
    assert statistic < freedom + 3.5 * np.sqrt(2 * freedom)
