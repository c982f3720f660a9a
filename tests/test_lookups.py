"""Tokens that must be looked up: which they are, how much they count, and what a run makes of it."""

import io
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
import tqdm
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data, devices, parallel, progress, recall, recipes
from course_lib.data import Lookups, Training, lookups
from course_lib.functional import linear, linear_cross_entropy
from course_lib.tensor import Tensor
from course_lib.training import train
from course_lib.tuning import policy
from tests.tiny_runs import StopAt

END = 9
SETTINGS = {"stories": 60, "lookups": 8.0, "steps": 8, "batch": 2, "device": "cpu", "validation_rows": 4,
            "model": {"layers": 1, "heads": 2, "channels": 16, "context": 64, "vocab_size": 400}}  # fmt: skip


def places(tokens: list[int], before: int) -> list[tuple]:
    return [tuple(tokens[max(at - before, 0) : at]) for at in range(len(tokens))]


def one_by_one(tokens: list[int], before: int) -> list[bool]:
    """The same for one number of tokens before it, token by token, as it is said in words."""
    times, said, comes = Counter(), Counter(), defaultdict(Counter)
    read: set[int] = set()
    before_it = places(tokens, before)
    for place, token in zip(before_it, tokens, strict=True):
        read = set() if token == END else read
        times[place] += 1
        said[place] += token in read
        comes[place][token] += 1
        read = read | {token}
    return [
        at >= max(lookups.BEFORE) and times[place] >= lookups.SEEN and said[place] >= lookups.SURE * times[place]
        and max(comes[place].values()) <= lookups.VARIED * times[place]
        for at, place in enumerate(before_it)
    ]  # fmt: skip


def going_with(tokens: list[int], found: list[bool], before: int) -> list[bool]:
    """So, too, of what goes with a word that is looked up two tokens on."""
    here, before_it = defaultdict(list), places(tokens, before)
    for at, place in enumerate(before_it):
        if at >= max(lookups.BEFORE):
            here[place].append(at)
    chosen = set()
    for place, ats in here.items():
        times = len(ats)
        going = [
            at + 2 < len(tokens) and found[at + 2] and not found[at] and END not in tokens[at : at + 3] for at in ats
        ]
        if times < lookups.SEEN or sum(going) < lookups.MOST * times:
            continue
        padded = [*tokens, 0, 0]
        likeliest = [max(Counter(some).values()) for some in ([padded[at + i] for at in ats] for i in (0, 1))]
        by_word = defaultdict(Counter)
        for at in ats:
            by_word[padded[at + 2]][tokens[at]] += 1
        same = sum(max(each.values()) for each in by_word.values())
        if (
            len(by_word) * lookups.OFTEN <= times and same >= lookups.SURE * times
            and likeliest[1] >= lookups.SURE * times and likeliest[0] <= lookups.VARIED * times
        ):  # fmt: skip
            chosen.add(place)
    return [at >= max(lookups.BEFORE) and place in chosen for at, place in enumerate(before_it)]


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=9), min_size=30, max_size=40),
    st.sampled_from([(1,), (2,), (1, 2), (2, 3), (1, 2, 4)]),
)
def test_they_are_those_that_counting_one_by_one_finds(documents, before):
    tokens = [END, *(token for document in documents for token in [*document, END])]
    with pytest.MonkeyPatch.context() as patch:  # bounds that a few documents reach
        for name, value in (
            ("BEFORE", before),
            ("SEEN", 4),
            ("SURE", 0.6),
            ("VARIED", 0.7),
            ("MOST", 0.4),
            ("OFTEN", 2),
        ):
            patch.setattr(lookups, name, value)
        found = [any(each) for each in zip(*(one_by_one(tokens, some) for some in before), strict=True)]
        wanted = [any(each) for each in zip(found, *(going_with(tokens, found, some) for some in before), strict=True)]
        assert lookups.lookups(np.array(tokens, np.uint16), END).tolist() == wanted


def test_a_colour_that_each_document_says_again_is_found_and_nothing_else():
    colours = np.random.default_rng(0).integers(0, 4, 200)
    tokens = [END, *(token for colour in colours for token in [5, colour, 6, 7, 8, colour, END])]
    found = lookups.lookups(np.array(tokens, np.uint16), END).reshape(-1)[1:].reshape(200, 7)
    assert found.tolist() == [[False] * 5 + [True, False]] * 200


def test_a_bar_comes_to_its_end(monkeypatch):
    shown = []

    class Bar(tqdm.tqdm):
        def close(self):
            shown.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(tqdm, "tqdm", lambda **options: Bar(**options | {"file": io.StringIO(), "disable": False}))
    monkeypatch.setattr(lookups, "BEFORE", (2, 4))
    lookups.lookups(np.arange(50, dtype=np.uint16) % 7, END)
    assert set(shown) == {(8, 8)}


def test_what_goes_with_a_word_that_is_looked_up_is_found_and_a_free_choice_is_not():
    """5 or 6 before word 1 or 2, 7 or 8 before 3 or 4: known to who knows the word. And a choice that nothing tells."""
    words, free = np.random.default_rng(0).integers(1, 5, 400), np.random.default_rng(1).integers(5, 7, 400)
    documents = [[word, 10, 11, 12, (5, 5, 7, 7)[word - 1], 13, word, 14, 15, 16, some, 13, word, END]
                 for word, some in zip(words.tolist(), free.tolist(), strict=True)]  # fmt: skip
    tokens = np.array([END, *(token for document in documents for token in document)], np.uint16)
    found = lookups.lookups(tokens, END)[1:].reshape(400, 14)
    wanted = [at in (4, 6, 12) for at in range(14)]
    assert found.tolist() == [wanted] * 400


def test_in_the_stories_they_are_words_that_an_earlier_one_determines_of_every_kind():
    corpus = data.prepare("stories", vocab_size=1500, context=128, stories=4000)
    tokens, end = np.asarray(corpus.train.tokens), corpus.tokenizer.end_id
    found, starts = lookups.lookups(tokens, end), np.flatnonzero(tokens == end)
    facts, kinds = np.zeros(len(tokens), bool), defaultdict(list)
    for begin, behind in pairwise(starts[:1001]):
        story = corpus.tokenizer.decode(tokens[begin + 1 : behind].tolist())
        for place, _, kind in recall.repeats(story, corpus.tokenizer):
            word = slice(begin + 1 + place.start, begin + 1 + place.stop)
            facts[word] = True
            kinds[kind].append(found[word].any())
    found, facts = found[: starts[1000]], facts[: starts[1000]]
    assert (found & facts).sum() > 0.7 * found.sum(), "most of them are such words"
    assert (found & facts).sum() > 0.4 * facts.sum(), "and many of such words are found"
    assert len(kinds) > 20
    assert min(np.mean(hits) for hits in kinds.values()) > 0.25, "the hero's animal is the rarest: three tokens miss it"


def test_they_count_more_at_first_and_as_all_others_in_the_end():
    colours = np.random.default_rng(0).integers(0, 4, 200)
    tokens = np.array([END, *(token for colour in colours for token in [5, colour, 6, 7, 8, colour, END])], np.uint16)
    windows = Training(tokens, 9, seed=0, starts=np.flatnonzero(tokens == END)[:-1])
    counted = Lookups(windows, 16.0)
    plain = windows.batch(3, 5)
    first = [1, 1, 1, 1, 1, 16, 1, 1, 1]  # of END 5 c 6 7 8 c END 5 c, from the second on
    half, alike = [weight**0.5 for weight in first], [1] * 9
    for done, wanted in ((0.0, first), (lookups.ALIKE / 2, half), (lookups.ALIKE, alike), (1.0, alike)):
        idx, targets, weights = counted.batch(3, 5, done)
        assert np.array_equal(idx, plain[0]) and np.array_equal(targets, plain[1])
        assert weights.dtype == np.float32 and weights.tolist() == [wanted] * 5


def test_a_text_without_documents_and_a_number_that_makes_no_sense_get_a_sentence():
    with pytest.raises(ValueError, match="not divided into documents: leave lookups at 1"):
        Lookups(Training(np.arange(50), 8, seed=0), 30.0)
    for wrong in ({"lookups": 0.5}, {"lookups": -1.0}, {"lookups": 30.0, "start": "runs/first"}):
        with pytest.raises(ValueError, match="so it is 1 or more; for fine-tuning it is 1"):
            recipes.settings("small", **wrong)


@pytest.mark.parametrize("preset", ["small", "12m", "hybrid-12m"])
def test_recipes_count_them_on_stories_and_nowhere_else(preset):
    assert recipes.settings(preset).lookups == 30.0
    others = ({"corpus": "shakespeare"}, {"text": "a.txt"}, {"recipe": "reference"}, {"start": "runs/first"})
    assert all(recipes.settings(preset, **other).lookups == 1.0 for other in others)


@pytest.mark.parametrize("preset", ["small", "modern-12m"])
def test_half_the_rate_of_muon_where_these_presets_count_them_and_their_own_for_other_texts(preset):
    rates = [
        recipes.settings(preset, **given).matrix_peak for given in ({}, {"corpus": "shakespeare"}, {"text": "a.txt"})
    ]
    assert rates[1] == rates[2] == recipes.LARGE_RECIPE["matrix_peak"] == 2 * rates[0]


@pytest.mark.parametrize("device", devices.available_devices())
def test_weights_scale_the_gradient_of_each_row_and_not_the_loss(device):
    rng = np.random.default_rng(0)
    n, k, v = 37, 11, 53
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in ((n, k), (v, k), (v,))]
    targets, counts = rng.integers(0, v, n), rng.uniform(0.5, 30, n).astype(np.float32)
    ours, wanted = ([Tensor(one, device=device, requires_grad=True) for one in arrays] for _ in range(2))
    loss = linear_cross_entropy(*ours, targets, weights=counts)
    loss.backward()
    assert loss.item() == pytest.approx(linear_cross_entropy(*wanted, targets).item(), rel=1e-6)
    policy.policy_gradient(policy.log_probabilities(linear(*wanted), targets), counts).backward()
    for one, other in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.fixture
def everywhere(monkeypatch):
    """Bounds that 60 stories reach."""
    monkeypatch.setattr(lookups, "SEEN", 3)
    monkeypatch.setattr(lookups, "SURE", 0.5)


def run(**given):
    return train("micro", **{**SETTINGS, "display": progress.Quiet(), **given})


def bits(trained):
    return {name: array.tobytes() for name, array in trained.model.state().items()}


def test_a_run_that_counts_them_goes_on_to_the_same_bits(everywhere, tmp_path):
    whole = run()
    assert bits(whole) != bits(run(lookups=1.0))
    assert run(out=tmp_path / "run", display=StopAt(3)).stopped
    resumed = train(out=tmp_path / "run", resume=True, device="cpu", display=progress.Quiet())
    assert bits(resumed) == bits(whole)


def test_ranks_count_them_as_one_process_does(everywhere):
    given = {**SETTINGS, "accumulate": 2, "display": progress.Quiet()}
    ranks = parallel.virtual(2, lambda c: parallel.train("micro", communicator=c, **given))
    assert bits(ranks[0]) == bits(ranks[1]) == bits(run(accumulate=2))
