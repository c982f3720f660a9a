"""Requests for stories: what they name is in the story, and what an answer costs is exactly known."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from course_lib import stories
from course_lib.stories import marginal, requests, telling
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.grammar import Grammar, Words

TINY_LISTS = {
    "kind": Words.parse("animal", "cat, dog, owl", 0.7),
    "name": Words.parse("name", "Ann, Bob", 0.6),
    "thing": Words.parse("thing", "kite, ball, drum", 0.9),
}
TINY_RULES = {
    "story": ["<opening> [<lost>|<found>] [The end.|Bye.]"],
    "opening": ["{Hero=name}, a {Kind=kind}.", "A {Kind=kind}, {Hero=name}.", "Once: {Kind=kind} {Hero=name}."],
    "lost": ["{Hero} lost {Thing=thing.a}.", "Where is {Thing=thing.a}?"],
    "found": ["{Hero} found {Thing=thing.a}. {thing.A} too!"],
}
TINY = Grammar(TINY_LISTS, TINY_RULES)


def everything(grammar):
    """Each story of a small grammar: (facts, P), by walking through all choices."""
    found, pending = [], [()]
    while pending:
        path, weights = pending.pop(), []

        def choose(cumulative, path=path, weights=weights):
            weights.append(cumulative)
            return path[len(weights) - 1] if len(weights) <= len(path) else 0

        facts = {}
        text, log_probability = telling.tell(grammar, choose, facts)
        found.append((text, facts, math.exp(log_probability)))
        for at in range(len(path), len(weights)):
            pending += [(*path, *[0] * (at - len(path)), other) for other in range(1, len(weights[at]))]
    return found


def test_every_story_of_the_tiny_grammar_is_found():
    found = everything(TINY)
    assert len({text for text, _, _ in found}) == len(found)
    assert math.fsum(p for _, _, p in found) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("names", [(), ("Kind",), ("Hero", "Kind"), ("Thing",), ("Thing", "Hero", "Kind")])
@pytest.mark.parametrize("plot", [None, "lost", "found"])
def test_the_chance_of_facts_is_the_sum_over_all_stories_that_have_them(names, plot):
    sums = Counter()
    for text, facts, p in everything(TINY):
        if plot is None or (plot == "found") == ("found" in text and "too!" in text):
            sums[tuple(facts[name] for name in names)] += p
    assert sum(sums.values()) <= 1 + 1e-12 and len(sums) == math.prod(
        {"Kind": 3, "Hero": 2, "Thing": 3}[n] for n in names
    )
    for words, expected in sums.items():
        assert marginal.chance(TINY, dict(zip(names, words, strict=True)), plot) == pytest.approx(expected, rel=1e-12)


def test_the_chances_of_all_heroes_add_up_to_one():
    heroes, kinds = (GRAMMAR.lists[name].words for name in ("hero", "kind"))
    total = sum(marginal.chance(GRAMMAR, {"Hero": h, "Kind": k}) for h, k in itertools.product(heroes, kinds))
    assert total == pytest.approx(1, abs=1e-12)
    plots = [marginal.chance(GRAMMAR, {}, plot) for plot in requests.PLOTS]
    assert sum(plots) == pytest.approx(1, abs=1e-12)


def test_chances_are_the_frequencies_among_many_stories():
    many, seen = 20_000, Counter()
    for number in range(many):
        facts = {}
        telling.tell(GRAMMAR, telling.numbered(77, number), facts)
        seen[facts["Hero"], facts["Kind"]] += 1
        seen[requests.plot_of(facts)] += 1
    for (hero, kind), count in [item for item in seen.most_common(40) if isinstance(item[0], tuple)]:
        p = marginal.chance(GRAMMAR, {"Hero": hero, "Kind": kind})
        assert abs(count - many * p) < 5 * math.sqrt(many * p)
    for plot in requests.PLOTS:
        p = marginal.chance(GRAMMAR, {}, plot)
        assert abs(seen[plot] - many * p) < 5 * math.sqrt(many * p)


def test_frequencies_are_sums_over_all_stories_that_have_the_fact():
    for fact in ("Hero", "Kind", "Thing"):
        sums = Counter()
        for _, facts, p in everything(TINY):
            if fact in facts:
                sums[facts[fact]] += p
        expected = {word: p / sum(sums.values()) for word, p in sums.items()}
        assert marginal.frequencies(TINY, fact) == pytest.approx(expected, rel=1e-12)


def test_frequencies_hold_for_each_fact_that_many_stories_draw_lists_that_others_carry_included():
    many, seen = 8000, {}
    for number in range(many):
        facts = {}
        telling.tell(GRAMMAR, telling.numbered(78, number), facts)
        for fact, word in facts.items():
            seen.setdefault(fact, Counter())[word] += 1
    for fact, counts in seen.items():
        true = (
            marginal.frequencies(GRAMMAR, fact) if fact not in ("Left", "More") else {}
        )  # these are remembered, not drawn
        assert sum(true.values()) == pytest.approx(1 if true else 0, abs=1e-12)
        for word, p in true.items():
            mean = counts.total() * p
            assert abs(counts[word] - mean) < 5 * math.sqrt(mean) + 2, (fact, word[""])
        assert not true or counts.keys() <= true.keys()
    assert seen.keys() > {"Hero", "Kind", "Nook", "Young", "Find"}


def test_a_request_is_made_of_the_story_of_its_number():
    written = list(requests.write(5, 60, first=3))
    for one, story in zip(written, stories.write(5, 60, first=3), strict=True):
        assert story == one.answer or (one.is_question and one.prompt.startswith(story))
    assert written[10:20] == list(requests.write(5, 10, first=13))
    assert 5 < sum(one.is_question for one in written) < 30


def test_an_answer_costs_what_the_request_leaves_open():
    for one in itertools.islice((r for r in requests.write(2, 200) if not r.is_question), 60):
        named = marginal.chance(GRAMMAR, one.wanted, one.plot)
        assert one.nats == pytest.approx(-stories.log_probability(one.answer) + math.log(named), abs=1e-9)
        assert 0 < one.nats < -stories.log_probability(one.answer)
        for word in one.wanted.values():
            assert any(form and isinstance(form, str) and form in one.prompt for form in word.forms.values())


@pytest.mark.parametrize("plot", requests.PLOTS)
def test_each_plot_is_known_by_its_facts_and_can_be_asked_for_and_about(plot):
    for number in itertools.count():
        facts = {}
        story, _ = telling.tell(GRAMMAR, telling.numbered(9, number), facts)
        if requests.plot_of(facts) == plot:
            break
    text = requests.fill(f"{requests.HERO} {requests.PLOTS[plot]}", facts)
    assert "{" not in text and "None" not in text
    for question, answer in requests.QUESTIONS_OF[plot]:
        asked, right = requests.fill(question, facts), requests.fill(answer, facts)
        assert right[:-1].lower() not in asked.lower()  # the question does not give it away
        said = right[:-1].lower().removeprefix("to ").removeprefix("the ").removeprefix("a ").removeprefix("an ")
        assert said in story.lower() or plot == "skill"


def exchanged(story, old, new):
    assert old in story
    return story.replace(old, new)


def test_kept_tells_which_parts_of_a_request_a_story_has():
    one = next(r for r in requests.write(1, 300) if r.plot == "birthday")
    assert all(requests.kept(one, one.answer).values()) and requests.obeyed(one, one.answer)
    thing = one.wanted["Thing"][""]
    other = exchanged(one.answer, thing, "wagon" if thing != "wagon" else "drum")
    assert requests.kept(one, other) == {name: name != "Thing" for name in [*one.wanted, "plot"]}
    assert not requests.obeyed(one, other) and stories.judge(other).possible
    another = next(r for r in requests.write(1, 300) if r.plot == "seed").answer
    assert not requests.kept(one, another)["plot"]
    assert not any(requests.kept(one, "Once upon a time.").values()) and not any(requests.kept(one, "").values())


def test_a_question_has_one_answer():
    one = next(r for r in requests.write(1, 300) if r.is_question)
    assert requests.obeyed(one, one.answer) and requests.obeyed(one, f" {one.answer}\n")
    assert not requests.obeyed(one, one.answer[:-1]) and not requests.obeyed(one, "")


def test_the_mean_of_the_nats_is_what_the_prompts_leave_of_a_storys_entropy():
    nats = [one.nats for one in requests.write(3, 400) if not one.is_question]
    assert 28 < np.mean(nats) < 38  # of 47 for a whole story
