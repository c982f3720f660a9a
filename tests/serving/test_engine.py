"""serving/engine.py: texts join and leave between steps, and each is what it would be alone."""

import numpy as np
import pytest

from course_lib import generation, sampling
from course_lib.generation import Choice
from course_lib.model import GPT, GPTConfig
from course_lib.serving import quantised, scheduling
from course_lib.serving.engine import Engine
from course_lib.serving.paged_model import Addition, PagedModel
from course_lib.serving.texts import CANCELLED, FAILED, LENGTH, STOP, Request
from tests.tiny_runs import MODELS

TOKENS = 30


def prompts(tokenizer, text, count=12):
    ids, random = tokenizer.encode(text), np.random.default_rng(1)
    return [ids[at : at + random.integers(0, 25)] for at in random.integers(0, len(ids) - 30, count)]


def run(engine, requests):
    for request in requests:
        engine.submit(request)
    while engine.busy:
        engine.step()
    assert engine.pool.held == 0
    return [request.written[0] for request in requests]


@pytest.mark.parametrize("choice", [Choice(0.0), Choice(0.8, top_p=0.95)], ids=["greedy", "drawn"])
@pytest.mark.parametrize("pages", [None, 24], ids=["room for all", "few pages"])
def test_many_at_once_write_what_each_writes_alone(model, tokenizer, text, choice, pages):
    """And what generation.py writes, which knows no pages. With few of them texts are stopped and computed again."""
    given = prompts(tokenizer, text)
    requests = [Request(ids, TOKENS, choice, [i]) for i, ids in enumerate(given)]
    engine = Engine(model, tokenizer, batch=8, budget=20, pages=pages)
    got = run(engine, requests)
    for i, ids in enumerate(given):
        ((want, ended),) = generation.complete(model, tokenizer, [ids], TOKENS, choice, [i])
        assert got[i] == want
        assert requests[i].ended == [STOP if ended else LENGTH]
    assert (engine.preempted > 0) == (pages is not None)


@pytest.mark.parametrize("kind", ["learned positions", "modern"])
def test_every_kind_of_model_gives_the_same_logits_in_pages(kind):
    """A prompt in pieces, then token by token, between others, against the whole sequence at once."""
    config = GPTConfig.preset("micro", **MODELS[kind])
    model, random = GPT(config, seed=3), np.random.default_rng(0)
    paged = PagedModel(model, 30, rows=3)
    rows = random.integers(0, config.vocab_size, (2, 20))
    want = model(rows).numpy()  # (B, T, V)
    tables, at = ([], []), [0, 0]
    for counts in ((7, 1), (1, 5), (1, 1), (4, 0), (3, 13), (4, 0)):
        additions = []
        for text, count in enumerate(counts):
            if count:
                paged.make_room(tables[text], at[text], count)
                ids = rows[text, at[text] : at[text] + count].tolist()
                additions.append((text, Addition(tables[text], ids, at[text], every=True)))
        for (text, addition), logits in zip(additions, paged.logits([a for _, a in additions]), strict=True):
            first = at[text]
            at[text] += len(addition.ids)
            np.testing.assert_allclose(logits, want[text, first : at[text]], atol=2e-5)
    assert at == [20, 20]


def test_on_the_simulator_kernels_give_the_same_tokens(model, tokenizer, text):
    given = prompts(tokenizer, text, 3)
    there = GPT(model.config, device="simulator")
    there.load_state(model.state())
    got, want = (
        run(Engine(m, tokenizer), [Request(ids, 4, Choice(0.0), [0]) for ids in given]) for m in (there, model)
    )
    assert got == want


@pytest.mark.parametrize("to", quantised.FORMATS)
def test_a_quantised_model_writes_in_pages_what_it_writes_alone(model, tokenizer, text, to):
    small = quantised.QuantisedGPT(model.config, quantised.weights(model.state(), to))
    given = prompts(tokenizer, text)
    got = run(Engine(small, tokenizer, batch=8, budget=20), [Request(ids, TOKENS, Choice(0.0), [0]) for ids in given])
    for ids, written in zip(given, got, strict=True):
        assert written == generation.complete(small, tokenizer, [ids], TOKENS, Choice(0.0), [0])[0][0]


@pytest.mark.parametrize("pages", [None, 24], ids=["room for all", "few pages"])
def test_over_a_cache_of_8_bits_many_write_what_each_writes_alone(model, tokenizer, text, pages):
    """Whatever the pieces in which a prompt is read, and the twins of a prompt, which copy a page."""
    requests, alone = (
        [Request(ids, TOKENS, Choice(0.0), [i] * (1 + i % 2)) for i, ids in enumerate(prompts(tokenizer, text))]
        for _ in range(2)
    )
    run(Engine(model, tokenizer, batch=8, budget=20, pages=pages, cache="int8"), requests)
    for request in alone:
        run(Engine(model, tokenizer, batch=2, cache="int8"), [request])
    assert [request.written for request in requests] == [request.written for request in alone]


@pytest.mark.parametrize("kind", ["grouped queries", "latent"])
def test_a_cache_of_8_bits_is_a_quarter_as_large_and_loses_little(model, tokenizer, text, kind):
    if kind == "latent":
        model = GPT(GPTConfig.preset("micro", latent=20, vocab_size=tokenizer.vocab_size), seed=2)
    ids = [tokenizer.end_id, *tokenizer.encode(text)[:62]]
    logits, size = {}, {}
    for cache in ("float", "int8"):
        paged, table = PagedModel(model, 8, cache=cache), []
        paged.make_room(table, 0, len(ids))
        (logits[cache],) = paged.logits([Addition(table, ids, 0, every=True)])  # (T, V)
        size[cache] = paged.bytes_per_token
    assert size["int8"] / size["float"] == {"grouped queries": 9 / 32, "latent": 10 / 36}[kind]  # words for numbers
    error = np.abs(logits["int8"] - logits["float"]).max() / np.abs(logits["float"]).max()
    assert 1e-7 < error < 0.02
    losses = [-np.log(sampling.softmax(x[:-1])[np.arange(len(ids) - 1), ids[1:]]).mean() for x in logits.values()]
    assert abs(losses[1] - losses[0]) < 0.005


def test_a_cache_of_another_kind_is_refused(model, tokenizer):
    with pytest.raises(ValueError, match="A cache holds float or int8, and not 'int4'"):
        Engine(model, tokenizer, cache="int4")


def test_a_model_with_recurrences_is_refused(tokenizer):
    model = GPT(GPTConfig.preset("micro", mixers="delta attention", vocab_size=tokenizer.vocab_size))
    with pytest.raises(ValueError, match="A cache in pages knows models whose blocks all have attention; the mixers"):
        Engine(model, tokenizer)


def test_several_texts_of_one_prompt_share_its_pages_and_go_their_own_ways(model, tokenizer, text):
    (ids,) = prompts(tokenizer, text, 1)
    ids = (ids * 20)[:21]
    engine = Engine(model, tokenizer, rows=8)
    request = Request(ids, 9, Choice(1.0), [5, 6, 7])
    engine.submit(request)
    engine.step()
    assert engine.pool.held == 3  # 22 tokens, once
    engine.step()
    assert engine.pool.held == 5  # each wrote to the third page: two copied it
    while engine.busy:
        engine.step()
    for seed, written in zip((5, 6, 7), request.written, strict=True):
        assert written == generation.complete(model, tokenizer, [ids], 9, Choice(1.0), [seed])[0][0]


def test_a_beginning_that_was_read_before_is_not_computed_again(model, tokenizer, text):
    ids = tokenizer.encode(text)[:40]
    engine = Engine(model, tokenizer, rows=8)
    (first,) = run(engine, [Request(ids, 5, Choice(0.0), [0])])
    computed = engine.computed
    (second,) = run(engine, [Request(ids, 5, Choice(0.0), [0])])
    assert second == first
    assert engine.shared == 40 and engine.computed - computed == 41 - 40 + 4


def test_a_text_that_nobody_wants_frees_its_pages_at_the_next_step(model, tokenizer):
    told = []
    engine = Engine(model, tokenizer, batch=2)
    one = Request([5] * 30, 30, Choice(), [0], tell=lambda *event: told.append(event))
    other, third = Request([6], 5, Choice(), [0, 1]), Request([7], 5, Choice(), [0])
    for request in (one, other, third):
        engine.submit(request)
    engine.step()
    one.stopped.add(0)
    other.stopped.add(1)
    engine.step()
    assert one.ended == [CANCELLED] and told[-1] == (0, None, CANCELLED)
    while engine.busy:
        engine.step()
    assert other.ended[0] in (LENGTH, STOP) and third.ended[0] in (LENGTH, STOP) and engine.pool.held == 0


def test_a_context_that_is_full_ends_a_text(model, tokenizer):
    engine = Engine(model, tokenizer)
    request = Request([5] * (model.config.context - 2), 10, Choice(0.0), [0])
    run(engine, [request])
    assert request.ended == [LENGTH] and len(request.written[0]) == 2


def test_after_a_failed_step_every_text_has_ended_and_new_ones_are_served(model, tokenizer):
    engine = Engine(model, tokenizer, batch=1)
    requests = [Request([5], 3, Choice(0.0), [0]) for _ in range(2)]
    for request in requests:
        engine.submit(request)
    engine.step()
    engine.abort(FAILED)
    assert [request.ended for request in requests] == [[FAILED], [FAILED]] and not engine.busy and engine.pool.held == 0
    assert run(engine, [Request([5], 3, Choice(0.0), [0])])


def test_requests_that_can_never_be_served_are_refused_at_once(model, tokenizer):
    engine = Engine(model, tokenizer, batch=2, pages=3)
    for ids, tokens, seeds, words in (
        ([5] * 64, 5, [0], "The prompt has 65 tokens, and this model reads 64"),
        ([5], 0, [0], "1 token or more"),
        ([5], 5, [0, 1, 2], "1 to 2 texts"),
        ([99999], 5, [0], "not one of 0"),
        ([5], 40, [0], "more than the 3 pages"),
    ):
        with pytest.raises(ValueError, match=words):
            engine.submit(Request(ids, tokens, Choice(), seeds))
    with pytest.raises(ValueError, match="at least a token of each"):
        Engine(model, tokenizer, batch=9, budget=8)


def test_one_who_sends_many_does_not_keep_out_one_who_sends_one(model, tokenizer):
    engine = Engine(model, tokenizer, batch=2)
    many = [Request([5], 8, Choice(), [i], client="many") for i in range(6)]
    single = Request([6], 8, Choice(), [0], client="single")
    for request in (*many, single):
        engine.submit(request)
    while single.ended == [None]:
        engine.step()
    assert sum(request.ended != [None] for request in many) <= 1


def test_a_budget_goes_to_those_who_wait_for_one_token_first():
    assert scheduling.share_budget([50, 1, 7, 1], 32) == [30, 1, 0, 1]
    assert scheduling.share_budget([3, 1, 7], 32) == [3, 1, 7]
    assert scheduling.next_in_line(["a", "b"], ["a"]) == 1 and scheduling.next_in_line(["a", "b"], []) == 0
