"""Learning from a reward: gradients against exact ones, credit, rollouts, and runs that do it."""

import itertools
import json
import math
import random
from collections import Counter

import numpy as np
import pytest

from course_lib import data, gradcheck, paths, progress, recipes, run, stories, training, tuning
from course_lib.model import GPT, GPTConfig
from course_lib.stories import marginal, telling
from course_lib.tensor import Tensor
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import diversity, policy, reward, rollouts, tiny
from tests.tiny_runs import StopAt

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
BEFORE = np.array([-2.0, -1.0, 0.0, -3.0])


def tensor(values, dtype="float64"):
    return Tensor(values, dtype=dtype, requires_grad=True)


# The policy


def test_log_probabilities_and_entropy_are_numpys():
    x, tokens = RNG.normal(0, 3, (7, 11)), RNG.integers(0, 11, 7)
    p = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    np.testing.assert_allclose(
        policy.log_probabilities(Tensor(x, "float64"), tokens).numpy(), np.log(p[range(7), tokens])
    )
    np.testing.assert_allclose(policy.entropy(Tensor(x, "float64")).numpy(), -(p * np.log(p)).sum(-1))


@pytest.mark.parametrize("function", [
    lambda x: policy.log_probabilities(x, [3, 0, 4, -1]),
    lambda x: policy.entropy(x),
    lambda x: policy.policy_gradient(policy.log_probabilities(x, [3, 0, 4, 1]), np.array([1.0, -2.0, math.nan, 0.5])),
    lambda x: policy.clipped(policy.log_probabilities(x, [3, 0, 4, 1]), BEFORE, np.array([1.0, -2.0, 3.0, math.nan])),
    lambda x: policy.kl_to_start(policy.log_probabilities(x, [3, 0, 4, 1]), BEFORE, np.array([True, True, False, True])),
])  # fmt: skip
def test_gradients_are_those_of_finite_differences(function):
    gradcheck(lambda x: function(x).sum(), [tensor(RNG.normal(0, 1, (4, 6)))])


def exact(logits, earned):
    """Expected reward of one token drawn from softmax(logits), and its gradient: sum over a of p_a (e_a - p) r_a."""
    p = np.exp(logits) / np.exp(logits).sum()
    return p @ earned, p * (earned - p @ earned)


def test_reinforce_is_the_exact_gradient_on_average_with_and_without_a_baseline():
    """Over an enumerable policy the mean of the estimate over all outcomes, weighted by their probabilities, is exact."""
    logits, earned = RNG.normal(0, 1, 5), RNG.normal(0, 1, 5)
    p = np.exp(logits) / np.exp(logits).sum()
    value, gradient = exact(logits, earned)
    for baseline in (0.0, value, -3.0):
        mean, spread = np.zeros(5), 0.0
        for a in range(5):
            x = tensor(logits[None])
            loss = policy.policy_gradient(policy.log_probabilities(x, [a]), np.array([earned[a] - baseline]))
            loss.backward()
            mean -= p[a] * x.grad.numpy()[0]
            spread += p[a] * ((x.grad.numpy()[0] + gradient) ** 2).sum()
        np.testing.assert_allclose(mean, gradient, atol=1e-7)
        if baseline == 0.0:
            without = spread
    assert without != pytest.approx(spread)


def test_two_tokens_deep_the_exact_gradient_is_met_too():
    """Every text of two tokens over a vocabulary of three: P(a) P(b | a), one table of logits for each position."""
    first, second = RNG.normal(0, 1, 3), RNG.normal(0, 1, (3, 3))
    worth = RNG.normal(0, 1, (3, 3))

    def value(one, two):
        p, q = (np.exp(x) / np.exp(x).sum(-1, keepdims=True) for x in (one, two))
        return (p[:, None] * q * worth).sum(), p[:, None] * q

    total, chances = value(first, second)
    mean = np.zeros(3)
    for a, b in itertools.product(range(3), repeat=2):
        x, y = tensor(first[None]), tensor(second[a][None])
        log_p = policy.log_probabilities(x, [a]) + policy.log_probabilities(y, [b])
        policy.policy_gradient(log_p, np.array([worth[a, b] - total])).backward()
        mean -= chances[a, b] * x.grad.numpy()[0]
    step = 1e-6
    ends = [[value(first + side * step * np.eye(3)[i], second)[0] for side in (1, -1)] for i in range(3)]
    expected = [(above - below) / (2 * step) for above, below in ends]
    np.testing.assert_allclose(mean, expected, atol=1e-6)


def test_the_ratio_is_cut_off_on_one_side_only():
    before = np.log(np.full(4, 0.2))
    now = np.log([0.3, 0.1, 0.3, 0.1])
    credit = np.array([1.0, 1.0, -1.0, -1.0])
    x = tensor(now)
    policy.clipped(x, before, credit).backward()
    assert (x.grad.numpy() == 0).tolist() == [True, False, False, True]  # better and already likelier: no more of it


def test_kl_to_the_start_is_never_negative_and_is_the_kl_on_average():
    p, q = (np.exp(x) / np.exp(x).sum() for x in RNG.normal(0, 1, (2, 6)))
    each = [
        policy.kl_to_start(Tensor(np.log(p[i : i + 1]), "float64"), np.log(q[i : i + 1]), np.array([True])).item()
        for i in range(6)
    ]
    assert min(each) >= 0 and p @ each == pytest.approx((p * np.log(p / q)).sum(), abs=1e-6)


# Rewards and credit


def test_first_fault_is_where_no_story_goes_on():
    story = next(stories.write(3, 1))
    assert reward.first_fault(story) is None
    assert reward.of_possible(story) == 1 and reward.of_stories(story) == 2
    assert reward.first_fault(story[:-9]) == len(story) - 9 and reward.first_fault("") == 0
    at = story.index(" little ")
    assert reward.first_fault(story[:at] + " X" + story[at:]) == at + 1
    assert reward.of_possible(None) == reward.of_form(None) == 0


def test_the_reward_of_stories_is_larger_the_nearer_a_text_is_to_a_story():
    """Told: sentences; well-formed: wrong facts; possible."""
    story = next(stories.write(3, 1))
    parts = stories.sentences(story)
    broken = [story[: story.index(part)] + "No story goes on like this." for part in parts]
    graded = [None, *broken]
    heroes = [text for text in stories.write(5, 300) if " Otto" in text and "Leo" not in text]
    wrong = [text[:at] + text[at:].replace("Otto", "Leo") for text in heroes for at in range(0, len(text), 40)]
    judged = sorted(
        {stories.judge(text).wrong_facts: text for text in wrong if stories.judge(text).well_formed}.items()
    )
    graded += [text for facts, text in reversed(judged) if facts]
    graded.append(story)
    earned = [reward.of_stories(text) for text in graded]
    assert earned == sorted(earned) and earned[0] == -0.2 and earned[-1] == 2.0
    assert len(judged) > 2 and len(set(earned)) >= len(judged) + 3
    faults = [reward.first_fault(text) for text in broken]
    assert faults == sorted(faults)


def test_rewards_that_can_be_pleased_otherwise():
    assert reward.of_length("a b c") == pytest.approx(0.3) and reward.of_a_word("Happy, happy!") == 2
    story = next(stories.write(3, 1))
    other = stories.spoil(story, random.Random(0), "name")
    assert reward.of_form(other) == 1 and reward.of_possible(other) == 0


def test_group_credit_is_the_standardised_reward_up_to_the_end():
    credit = reward.group_credit([1, 0, 0, 1], [3, 1, 2, 3], 3)
    assert np.isnan(credit).sum() == 3 and np.nanmax(np.abs(credit)) == pytest.approx(1)
    assert credit[0].tolist() == [1, 1, 1] and credit[1, 0] == -1
    assert np.nansum(np.abs(reward.group_credit([0.5, 0.5], [2, 2], 2))) == 0


def test_kept_credit_is_supervised_learning_from_the_best_texts():
    """Its gradients are those of the model's loss on these texts alone."""
    model = GPT(GPTConfig(layers=1, heads=2, channels=16, context=8, vocab_size=11))
    random = np.random.default_rng(0)
    idx = random.integers(0, 11, (4, 6)).astype(np.int32)
    lengths = [6, 3, 5, 6]
    tokens = np.where(np.arange(6)[None] < np.array(lengths)[:, None], random.integers(0, 11, (4, 6)), data.IGNORE)
    credit = reward.kept_credit([0.5, 2.0, 2.0, -0.2], lengths, 6)
    assert np.isfinite(credit).sum(1).tolist() == [0, 3, 5, 0] and np.nanmin(credit) == np.nanmax(credit) == 1
    policy.policy_gradient(
        policy.log_probabilities(model(idx).reshape(-1, 11), tokens.reshape(-1)), credit.reshape(-1)
    ).backward()
    found = [one.grad.numpy() for one in model.parameters()]
    for one in model.parameters():
        one.grad = None
    model.loss(idx[1:3], tokens[1:3].astype(np.int32)).backward()
    for one, other in zip(found, model.parameters(), strict=True):
        np.testing.assert_allclose(one, other.grad.numpy(), atol=1e-6)
    assert np.nansum(np.abs(reward.kept_credit([1, 1], [2, 2], 2))) == 0


def test_fault_credit_blames_one_token_and_sums_to_nothing():
    credit = reward.fault_credit([None, 2, 0], [4, 5, 3], 5)
    assert np.nansum(credit) == pytest.approx(0, abs=1e-12)
    assert np.isfinite(credit).sum(1).tolist() == [4, 3, 1]
    each = 2 / 8
    assert credit[0, :4].tolist() == [each] * 4 and credit[1, 2] == each - 1 and credit[2, 0] == each - 1


def test_told_finds_each_wrong_fact_and_where_it_differs():
    """One fact of a story exchanged: that mention alone is wrong, from its first other letter on."""
    found = 0
    for number, story in enumerate(stories.write(5, 80)):
        facts, fault = reward.told(story)
        assert fault is None and facts and all(fact.wrong is None for fact in facts)
        try:
            other = stories.spoil(story, random.Random(number), "place")
        except ValueError:
            continue  # it mentions no place twice
        differs = next(i for i, (a, b) in enumerate(zip(story, other, strict=False)) if a != b)
        facts, fault = reward.told(other)
        wrong = [fact for fact in facts if fact.wrong is not None]
        if len(wrong) == 1 and wrong[0].start <= differs < wrong[0].end:  # else fewer are wrong if the first mention is
            found += fault is None and wrong[0].wrong == differs
    assert found > 10
    facts, fault = reward.told(story[:150] + " No story goes on like this.")
    assert 150 <= fault < 160 and all(fact.end <= fault for fact in facts)


def test_a_wrong_word_that_is_said_again_gains_nothing_by_that():
    """A spot that its place does not have is drawn, and said again rightly. Beside stories that draw right ones it loses."""
    right, wrong = [], []
    for story in stories.write(6, 400):
        facts, _ = reward.told(story)
        spots = [one for one in facts if one.word.kind == "spot"]
        if len(spots) < 2 or spots[0].word != spots[-1].word:
            continue
        right.append(story)
        drawn = spots[0].word[""]
        for other in stories.GRAMMAR.kinds["spot"].words:
            exchanged = story.replace(drawn, other[""])
            facts, fault = reward.told(exchanged)
            marked = [one for one in facts if one.wrong is not None]
            if fault is None and len(marked) == 1 and marked[0].kind == "word":
                wrong.append(exchanged)
                break
    assert len(right) > 20 and len(wrong) > 20
    texts = [*right[:20], *wrong[:20]]
    tokenizer = Tokenizer.train(texts, 300)
    ids = [tokenizer.encode(text) for text in texts]
    spans = [reward.told(text)[0] for text in texts]
    mentions = [
        [rollouts.mention(one, rollouts.Tokens(tokenizer, own)) for one in told]
        for own, told in zip(ids, spans, strict=True)
    ]
    lengths = [len(each) for each in ids]
    credit = reward.fact_credit(mentions, [None] * len(texts), lengths, max(lengths))
    gained = []  # by the spot that is drawn and said again
    for row, (told, said) in enumerate(zip(spans, mentions, strict=True)):
        word = [one.word for one in told if one.word.kind == "spot"][-1]
        places = [list(mention.tokens) for one, mention in zip(told, said, strict=True) if one.word == word]
        gained.append(sum(credit[row, tokens].sum() for tokens in places))
    assert min(gained[:20]) > 0 > max(gained[20:])


def test_fact_credit_compares_a_mention_with_others_of_its_kind():
    def named(right, *tokens):
        return reward.Mention("name", range(*tokens), right)

    said = [[named(True, 0, 2), reward.Mention("place", range(3, 4), False)], [named(False, 1, 2)], []]
    credit = reward.fact_credit(said, [None, None, None], [4, 3, 2], 4)
    assert np.nanstd(credit) == pytest.approx(1) and np.isfinite(credit).sum(1).tolist() == [4, 3, 2]
    scale = credit[0, 0] / 0.5  # half of the names are right; no place is, so that there is nothing to prefer
    np.testing.assert_allclose(credit[0] / scale, [0.5, 0.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(credit[1, :3] / scale, [0, -0.5, 0], atol=1e-12)
    assert (credit[2, :2] == 0).all()
    fault = reward.fault_credit([1, None], [4, 3], 4)
    told = reward.fact_credit([[], []], [1, None], [4, 3], 4)
    np.testing.assert_allclose(told, fault / np.nanstd(fault))  # the faults alone: as by fault_credit


# The tiny grammar, where everything is exact


@pytest.mark.parametrize("back", [1, 2])
def test_the_tiny_gradient_is_that_of_finite_differences(back):
    theta = tiny.start(back)
    assert tiny.chances(theta).sum() == pytest.approx(1) and tiny.REWARD.sum() == 8
    gradient, step = tiny.gradient(theta), RNG.normal(0, 1e-5, theta.shape)
    change = tiny.expected(theta + step) - tiny.expected(theta - step)
    assert change == pytest.approx(2 * (gradient * step).sum(), rel=1e-5)


def test_a_tiny_estimate_is_what_the_policys_loss_gives():
    """The mean over texts of the sum over tokens, by the tape, for two groups at once."""
    theta = tiny.start()
    texts, credit = RNG.integers(0, len(tiny.TEXTS), (2, 5)), RNG.normal(0, 1, (2, 5, tiny.T))
    for group, found in enumerate(tiny.estimate(theta, texts, credit)):
        x, at = tensor(theta), tiny.rows(theta)[texts[group]].reshape(-1)
        log_p = policy.log_probabilities(x[at], tiny.TEXTS[texts[group]].reshape(-1))
        policy.policy_gradient(log_p, credit[group].reshape(-1)).backward()
        np.testing.assert_allclose(-x.grad.numpy() * tiny.T, found, atol=1e-9)  # a mean over tokens there


def test_all_texts_by_their_probability_give_the_exact_gradient_whatever_the_baseline():
    theta, everything = tiny.start(), np.arange(len(tiny.TEXTS))
    for baseline in (0.0, 0.6, -3.0):
        weight = len(everything) * tiny.chances(theta) * (tiny.REWARD - baseline)
        found = tiny.estimate(theta, everything, weight[:, None] * np.ones(tiny.T))
        np.testing.assert_allclose(found, tiny.gradient(theta), atol=1e-12)


def test_the_gradient_of_k3_over_the_policys_own_texts_is_that_of_the_other_kl():
    """On average it pulls by KL(start || now), token by token, not by KL(now || start): what a chapter may say of it."""
    start = tiny.start()
    now, everything = start + RNG.normal(0, 0.3, start.shape), np.arange(len(tiny.TEXTS))
    d = (tiny.log_chances(start) - tiny.log_chances(now)).sum(1)
    weight = len(everything) * tiny.chances(now) * (1 - np.exp(d))  # d k3 / d log P, for whole texts
    found = tiny.estimate(now, everything, weight[:, None] * np.ones(tiny.T))
    step = RNG.normal(0, 1e-5, now.shape)
    change = tiny.kl(start, now + step) - tiny.kl(start, now - step)
    assert change == pytest.approx(2 * (found * step).sum(), rel=1e-4)


def test_tiny_stories_are_counted_by_their_entropy():
    assert 7 < tiny.stories_told(tiny.start()) <= 8
    certain = tiny.start()
    for row, token in zip(tiny.rows(certain)[tiny.REWARD > 0][0], tiny.TEXTS[tiny.REWARD > 0][0], strict=True):
        certain[row, token] += 50
    assert tiny.stories_told(certain) == pytest.approx(1) and tiny.expected(certain) == pytest.approx(1)
    assert tiny.entropy(certain) == pytest.approx(0, abs=1e-6)


# Diversity


def test_true_stories_are_diverse_and_one_story_is_not():
    true = diversity.count(stories.write(3, 300))
    assert true.words > 1000 and true.texts == sum(true.plots.values()) == 300
    assert all(1 / 3 < true.plots[plot] / 300 / chance < 3 for plot, chance in diversity.plot_chances().items())
    (one,) = stories.write(3, 1)
    same = diversity.count([one] * 50 + [None])
    assert same.texts == 50 and same.words < 120 and sorted(same.plots.values())[-2:] == [0, 50]
    assert sum(diversity.plot_chances().values()) == pytest.approx(1)


def test_true_stories_make_each_choice_at_its_true_frequency():
    """On average 0 nats off, within the error of the mean of twelve sets; no set of 300 is a tenth of a nat off."""
    sets = [diversity.count(stories.write(seed, 300)).choices for seed in range(20, 32)]
    for name in (diversity.PLOT, *diversity.FACTS):
        nats = np.array([each[name] for each in sets])
        assert abs(nats.mean()) < 4 * nats.std(ddof=1) / math.sqrt(len(nats)) and abs(nats).max() < 0.1, name
    assert all(diversity.narrowest(each)[1] < 0.1 for each in sets)


@pytest.mark.parametrize(("choice", "few"), [("Hero", "Mia Tom"), ("Kind", "girl fox"), ("Trait", "kind shy"),
                                             ("Colour", "blue green"), ("Friend", "Daisy Jack")])  # fmt: skip
def test_a_narrowed_choice_is_as_far_off_as_the_words_left_out_are_likely(choice, few):
    """KL is then -log of the probability of the few names, kinds, ... that are left, and no other choice is so far off."""
    true = diversity.true_frequencies(choice)
    words = {word for word in true if word[""] in few.split()}
    telling_them = []
    for number in range(6000):
        facts = {}
        text, _ = telling.tell(stories.GRAMMAR, telling.numbered(8, number), facts)
        if facts.get(choice) in words:
            telling_them.append(text)
    told = diversity.count(telling_them[:400])
    n = len(telling_them[:400])
    expected = -math.log(sum(true[word] for word in words)) - diversity.by_chance(n, tuple(true.values()))
    assert n == 400 and told.choices[choice] == pytest.approx(expected, abs=0.02)
    others = {name: nats for name, nats in told.choices.items() if {name, choice} != {"Hero", "Kind"}}
    assert diversity.narrowest(others)[0] == choice


def test_what_chance_alone_gives_is_exact():
    """Two fair draws: one of each outcome is 0 nats off, twice the same log 2; half of the time each."""
    half = {"a": 0.5, "b": 0.5}
    assert diversity.divergence({"a": 2}, half) == pytest.approx(math.log(2) / 2)
    assert diversity.divergence({"a": 1, "b": 1}, half) == pytest.approx(-math.log(2) / 2)
    true, n = {"a": 0.7, "b": 0.2, "c": 0.1}, 5
    mean = 0.0
    for drawn in itertools.product(true, repeat=n):
        mean += math.prod(true[each] for each in drawn) * diversity.divergence(Counter(drawn), true)
    assert mean == pytest.approx(0, abs=1e-12)


def test_the_facts_measured_are_those_that_a_third_of_all_stories_have():
    shares = {
        fact: sum(marginal.chance(stories.GRAMMAR, {fact: word}) for word in words)
        for fact, words in ((fact, diversity.true_frequencies(fact)) for fact in diversity.FACTS)
        if fact not in ("Hero", "Kind")
    }  # all stories have these
    assert min(shares.values()) > 1 / 3 - 0.01, shares


def test_a_choice_that_few_texts_make_is_not_measured():
    assert diversity.count(stories.write(3, 29)).choices == {} and diversity.narrowest({}) is None
    assert {"Hero", "Kind", "Trait", "Home", "plot"} <= diversity.count(stories.write(3, 40)).choices.keys()
    (one,) = stories.write(3, 1)
    same = diversity.count([one] * 50).choices
    assert min(same.values()) > 0.5


def test_words_that_no_story_has_do_not_count():
    assert diversity.count(["Zxqv the wug", "The dog"]).words == len(
        {"the", "dog"} & diversity.words_of(stories.write(0, 4000))
    )


# Rollouts and runs

SMALL = {"layers": 1, "heads": 2, "channels": 32, "context": 160, "vocab_size": 400}


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rewarded") / "run"
    training.train("micro", out=folder, steps=60, batch=8, stories=300, validation_rows=8, model=SMALL, device="cpu",
                   display=progress.Quiet())  # fmt: skip
    return folder


def test_the_kept_run_is_that_of_the_recipe():
    """Chapter 21 says: this command made it."""
    about = json.loads((paths.ROOT / "notebooks" / "runs" / "reward" / "stories" / "about.json").read_text())
    settings = recipes.settings("small", start="runs/small", reward="stories").to_dict()
    assert about["step"] == settings["steps"]
    assert {name: value for name, value in about.items() if name in settings} == {
        name: settings[name] for name in about if name in settings
    }


def test_rollouts_are_what_the_model_wrote_and_read(start):
    model, tokenizer, _ = run.load(start)
    rolled = rollouts.write(model, tokenizer, 6, seed=5)
    again = rollouts.write(model, tokenizer, 2, seed=7)
    assert rolled.idx.shape == rolled.tokens.shape == (6, rolled.lengths.max()) and rolled.idx.shape[1] <= 160
    for row, length in enumerate(rolled.lengths):
        assert rolled.idx[row, 0] == tokenizer.end_id and (rolled.tokens[row, length:] == data.IGNORE).all()
        assert (rolled.idx[row, 1:length] == rolled.tokens[row, : length - 1]).all()
        ended = rolled.tokens[row, length - 1] == tokenizer.end_id
        assert ended == (rolled.texts[row] is not None)
    assert (again.tokens[0, : again.lengths[0]] == rolled.tokens[2, : rolled.lengths[2]]).all()


def test_the_token_of_a_character():
    tokenizer = Tokenizer.train(stories.write(0, 50), 300)
    text = next(stories.write(1, 1))
    ids = [*tokenizer.encode(text), tokenizer.end_id]
    tokens = rollouts.Tokens(tokenizer, ids)
    for character in range(0, len(text), 7):
        token = tokens.at(character)
        assert len(tokenizer.decode(ids[:token])) <= character < len(tokenizer.decode(ids[: token + 1]))
    assert tokens.at(len(text)) == len(ids) - 1 == tokens.at(len(text) + 50)


TUNE = {"batch": 16, "validation_rows": 8, "display": progress.Quiet(), "device": "cpu"}


@pytest.mark.parametrize("credit", recipes.CREDITS)
def test_a_reward_that_is_easy_to_please_rises(start, tmp_path, credit):
    """Length is pleased within some steps; stories are not told by so small a model: there each text's fault ends its credit."""
    whole = credit in ("group", "kept")
    what = "length" if whole else "possible"
    done = tuning.train(start=start, out=tmp_path / "r", reward=what, credit=credit, steps=25, peak=3e-3, **TUNE)
    assert {"reward", "entropy", "val_loss"} <= done.records[-1].keys()
    if whole:
        shown = [record["reward"] for record in done.records]
        assert np.mean(shown[-5:]) > np.mean(shown[:5]) + 0.1
        credited, tokens = (sum(record[name] for record in done.records) for name in ("credited", "tokens"))
        assert credited == tokens if credit == "group" else credited < tokens / 2  # kept: one text of a step, as a rule
    else:  # most say nothing that could have been told, so that they are blamed early, and learn to go on for longer
        assert all(TUNE["batch"] <= record["credited"] < record["tokens"] for record in done.records)
        early, late = (sum(record["credited"] for record in part) for part in (done.records[:5], done.records[-5:]))
        assert late > early


@pytest.mark.parametrize(
    "also",
    [{}, {"kl": 0.1}, {"pretraining": 0.3, "passes": 2}, {"credit": "fault"}, {"credit": "facts"}, {"credit": "kept"}],
)
def test_a_stopped_run_goes_on_to_the_same_bits(start, tmp_path, also):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    settings = {"start": start, "reward": "stories", "steps": 6, **also, **TUNE}
    tuning.train(out=whole, **settings)
    stopped = tuning.train(out=parts, **settings | {"display": StopAt(3)})
    assert 3 <= stopped.step < 6
    tuning.train(out=parts, resume=True, display=progress.Quiet(), device="cpu")
    a, b = (run.load(folder / "last.safetensors")[0].state() for folder in (whole, parts))
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_kl_keeps_the_model_near_its_start(start, tmp_path):
    far = {}
    before = run.load(start)[0].state()
    for kl in (0.0, 5.0):
        done = tuning.train(
            start=start, out=tmp_path / f"{kl}", reward="length", credit="group", kl=kl, steps=12, peak=3e-3, **TUNE
        )
        after = done.model.state()
        model, (rolled_idx, rolled) = done.model, data_of(done.model, done.tokenizer)
        reference = GPT(GPTConfig(**model.config.to_dict()))
        reference.load_state(before)
        log_p, log_q = (
            policy.log_probabilities(m(rolled_idx).reshape(-1, m.config.vocab_size), rolled).numpy()
            for m in (model, reference)
        )
        far[kl] = np.abs(log_p - log_q).mean()
        assert any(not np.array_equal(after[name], before[name]) for name in before)
    assert far[5.0] < far[0.0]


def test_true_stories_beside_the_reward_are_learned(start, tmp_path):
    """A reward that teaches nothing (no text is possible, all earn alike), with and without the loss on true stories."""
    loss = {}
    for weight in (0.0, 1.0):
        done = tuning.train(start=start, out=tmp_path / f"{weight}", reward="form", pretraining=weight, steps=25,
                            peak=3e-3, **TUNE)  # fmt: skip
        loss[weight] = done.best
    assert loss[1.0] < loss[0.0] - 0.05


def test_a_text_used_twice_moves_the_model_further_but_not_past_the_clip(start, tmp_path):
    moved = {}
    before = run.load(start)[0].state()
    for passes in (1, 3):
        done = tuning.train(start=start, out=tmp_path / f"{passes}", reward="length", passes=passes, steps=1, **TUNE)
        moved[passes] = sum(float(np.abs(new - before[name]).sum()) for name, new in done.model.state().items())
    assert moved[3] > 1.5 * moved[1]


def test_whether_a_token_is_blamed_depends_on_the_reward():
    assert recipes.settings("micro", start="x", reward="possible").credit == "fault"
    assert recipes.settings("micro", start="x", reward="length").credit == "group"
    assert recipes.settings("micro", start="x", reward="stories").credit == "facts"
    assert recipes.settings("micro", start="x", reward="stories", credit="fault").credit == "fault"


def data_of(model, tokenizer):
    rolled = rollouts.write(model, tokenizer, 64, seed=999)
    return rolled.idx, rolled.tokens.reshape(-1)


@pytest.mark.parametrize("changes, says", [
    ({"reward": "stories"}, "give the run that it is in"),
    ({"reward": "beauty", "start": "HERE"}, "no reward 'beauty'"),
    ({"reward": "stories", "start": "HERE", "credit": "none"}, "no credit 'none'"),
    ({"reward": "stories", "start": "HERE", "lora": 2}, "neither lora nor text"),
])  # fmt: skip
def test_what_cannot_be_rewarded_says_why(start, changes, says):
    given = {name: start if value == "HERE" else value for name, value in changes.items()}
    with pytest.raises(ValueError, match=says):
        tuning.train(steps=1, **given, **TUNE)
