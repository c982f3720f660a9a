"""Sampling filters against plain definitions; writing with and without the cache; text that comes in whole characters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import sampling
from course_lib.generation import generate, generate_many
from course_lib.model import GPT, GPTConfig
from course_lib.tokenizer import Tokenizer

LEARNED = {"layers": 2, "heads": 2, "channels": 16, "context": 24, "vocab_size": 300}
MODERN = {**LEARNED, "kv_heads": 1, "positions": "rope", "norm": "rmsnorm", "activation": "swiglu", "bias": False}


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train("the cat sat on the mat; the dog – süß 🙂 – ran. " * 30, 280)


def lively(config, seed=1):
    """A model whose weights are large, so that its choices differ from place to place."""
    model = GPT(GPTConfig(**config), seed=seed)
    model.load_state({name: values * 6 for name, values in model.state().items()})
    return model


# The filters

logits = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=40).map(lambda row: np.array([row], np.float32))


@given(logits, st.floats(0.01, 5))
def test_softmax_by_its_definition(row, temperature):
    exact = np.exp(row.astype(np.longdouble) / temperature)
    np.testing.assert_allclose(sampling.softmax(row, temperature), exact / exact.sum(), rtol=1e-9, atol=1e-300)


@given(logits)
def test_temperature_zero_takes_the_largest(row):
    chances = sampling.softmax(row, 0)
    assert chances[0, row[0].argmax()] == 1 and chances.sum() == 1


def test_a_very_low_temperature_does_not_overflow():
    assert np.array_equal(sampling.softmax(np.array([[1e4, -1e4, 0.0]]), 1e-6), [[1, 0, 0]])


@given(logits, st.integers(1, 50))
def test_top_k_keeps_the_k_likeliest_and_their_odds(row, k):
    before = sampling.softmax(row)[0]
    after = sampling.top_k_filter(before[None], k)[0]
    kept = after > 0
    assert after.sum() == pytest.approx(1)
    assert kept.sum() >= min(k, (before > 0).sum()) and (before > before[kept].min()).sum() < k
    assert before[~kept].max(initial=0) <= before[kept].min()
    np.testing.assert_allclose(after[kept] / after.max(), before[kept] / before.max(), rtol=1e-9)


@given(logits, st.floats(0.01, 1))
def test_top_p_keeps_the_fewest_that_reach_p(row, p):
    before = sampling.softmax(row)[0]
    after = sampling.top_p_filter(before[None], p)[0]
    kept = np.sort(before[after > 0])
    assert after.sum() == pytest.approx(1)
    assert kept.sum() >= p - 1e-9 and kept[1:].sum() < p + 1e-9
    assert before[after == 0].max(initial=0) <= kept[0]


def test_top_p_of_one_changes_nothing():
    chances = sampling.softmax(np.random.default_rng(0).normal(size=(5, 50)))
    np.testing.assert_allclose(sampling.top_p_filter(chances, 1.0), chances, rtol=1e-12)


def test_draws_follow_the_probabilities():
    chances = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
    uniform = (np.arange(10_000) + 0.5) / 10_000  # an even comb instead of chance: the shares are exact
    drawn = sampling.draw(np.tile(chances, (10_000, 1)), uniform)
    np.testing.assert_allclose(np.bincount(drawn, minlength=6) / 10_000, chances, atol=2e-4)


@given(logits, st.sampled_from([0.0, 0.5, 1 - 2**-53]))
def test_a_draw_never_takes_what_was_filtered_out(row, uniform):
    chances = sampling.top_k_filter(sampling.softmax(row), 3)
    assert chances[0, sampling.draw(chances, np.array([uniform]))[0]] > 0


# Writing


@pytest.mark.parametrize("config", [LEARNED, MODERN], ids=["learned", "modern"])
@pytest.mark.parametrize("prompt", ["", "the cat sat", "the dog ran on the mat; " * 8], ids=["empty", "short", "long"])
def test_the_cache_changes_nothing_also_when_the_context_is_full(tokenizer, config, prompt):
    model = lively(config)
    a, b = (
        "".join(generate(model, tokenizer, prompt, 60, seed=3, use_cache=cache, stop_at_end=False))
        for cache in (True, False)
    )
    assert a == b and len(a) > 40


def test_the_seed_decides_and_temperature_zero_needs_none(tokenizer):
    model = lively(LEARNED)

    def text(**given):
        return "".join(generate(model, tokenizer, "the", 30, stop_at_end=False, **given))

    assert text(seed=1) == text(seed=1) != text(seed=2)
    assert text(seed=1, temperature=0) == text(seed=2, temperature=0) == text(seed=5, top_k=1)


def test_a_model_with_room_for_more_tokens_than_there_are_never_uses_it(tokenizer):
    model = lively(LEARNED)
    assert model.config.vocab_size > tokenizer.vocab_size
    for seed in range(5):
        "".join(generate(model, tokenizer, "", 60, temperature=3.0, seed=seed, stop_at_end=False))  # no unknown id


class Scripted:
    """Stands for a model: after each position it wants the next token of a script."""

    def __init__(self, script, vocab_size, context=1000):
        self.script, self.config = script, GPTConfig.preset("micro", vocab_size=vocab_size, context=context)
        self.seen = []

    def eval(self):
        return self

    def new_cache(self):
        return []

    def __call__(self, idx, cache=None):
        from course_lib import Tensor

        self.seen.append(idx.copy())
        wanted = np.zeros((*idx.shape, self.config.vocab_size), np.float32)
        wanted[..., self.script[len(self.seen) - 1]] = 50.0
        return Tensor(wanted)


def test_characters_come_whole_and_the_end_token_stops(tokenizer):
    ids = [*"süß 🙂!".encode(), tokenizer.end_id, *b"more"]
    pieces = list(generate(Scripted(ids, tokenizer.vocab_size), tokenizer, "", 100))
    assert "".join(pieces) == "süß 🙂!" and all("\ufffd" not in piece for piece in pieces)
    assert pieces == ["s", "ü", "ß", " ", "🙂", "!"]


def test_half_a_character_at_the_end_is_shown_as_such(tokenizer):
    assert "".join(generate(Scripted(list("a🙂".encode()), tokenizer.vocab_size), tokenizer, "", 3)) == "a\ufffd"


def test_a_text_begins_with_the_end_token_and_the_prompt(tokenizer):
    model = Scripted([97, 98], tokenizer.vocab_size)
    list(generate(model, tokenizer, "the cat", 2))
    assert model.seen[0].tolist() == [[tokenizer.end_id, *tokenizer.encode("the cat")]]
    assert model.seen[1].tolist() == [[97]]


def test_a_full_context_keeps_its_last_half(tokenizer):
    model = Scripted(list(range(97, 107)), tokenizer.vocab_size, context=4)
    list(generate(model, tokenizer, "", 6))
    end = tokenizer.end_id
    assert [seen.tolist()[0] for seen in model.seen] == [[end], [97], [98], [99], [99, 100], [101]]


def test_tokens_appear_as_they_come(tokenizer):
    model = Scripted([97] * 50, tokenizer.vocab_size)
    stream = generate(model, tokenizer, "", 50)
    next(stream)
    assert len(model.seen) == 1


def test_many_texts_do_not_depend_on_the_batch(tokenizer):
    model = lively(LEARNED)
    settings = {"prompt": "the", "tokens": 40, "temperature": 2.0, "seed": 5}
    a, b = (generate_many(model, tokenizer, 7, batch=batch, **settings) for batch in (7, 3))
    assert a == b and len(a) == 7
    for number, text in enumerate(a):
        alone = "the" + "".join(generate(model, tokenizer, "the", 40, 2.0, seed=5 + number))
        assert text == alone or text is None


def test_many_texts_end_at_their_end_token(tokenizer):
    end = tokenizer.end_id
    assert generate_many(Scripted([97, 98, end, 99], tokenizer.vocab_size), tokenizer, 2, tokens=4) == ["ab", "ab"]
    assert generate_many(Scripted([97, 98, 99], tokenizer.vocab_size), tokenizer, 2, tokens=3) == [None, None]


def test_the_tape_of_the_caller_goes_on(tokenizer):
    from course_lib import Tensor

    stream = generate(lively(LEARNED), tokenizer, "", 5, stop_at_end=False)
    next(stream)
    x = Tensor([2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.numpy().tolist() == [4.0]


@pytest.mark.parametrize(
    ("given", "word"),
    [({"temperature": -1}, "temperature"), ({"temperature": float("nan")}, "temperature"), ({"top_k": 0}, "top_k"),
     ({"top_p": 0.0}, "top_p"), ({"top_p": 1.5}, "top_p"), ({"tokens": -1}, "tokens")],
)  # fmt: skip
def test_settings_that_choose_nothing_are_refused(tokenizer, given, word):
    with pytest.raises(ValueError, match=f"{word} is"):
        list(generate(lively(LEARNED), tokenizer, "", **given))


def test_swapped_or_written_out_settings_get_a_sentence(tokenizer):
    with pytest.raises(TypeError, match="its tokenizer, then the beginning"):
        generate(lively(LEARNED), "Once", tokenizer)
    with pytest.raises(TypeError, match=r"temperature is '0\.7', a str"):
        generate(lively(LEARNED), tokenizer, temperature="0.7")
