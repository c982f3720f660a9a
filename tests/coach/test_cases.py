"""What the cases and goals of all exercises hold, so that a whole class of wrong answers cannot pass."""

import copy
import re

import numpy as np
import pytest

from course_lib.coach import answers, catalogue, compare, diagnosis, judge
from course_lib.coach.shared_cases import EXTREMES
from course_lib.tuning import tiny

EXERCISES = {name: catalogue.load(name) for name in catalogue.names()}
ALL = pytest.mark.parametrize("name", EXERCISES)


def cases_of(name):
    return list(EXERCISES[name].cases(np.random.default_rng(judge.SEED)))


def solution(name):
    return catalogue.piece(name).solution


@pytest.mark.parametrize("name", [name for name, exercise in EXERCISES.items() if exercise.goals])
def test_a_goal_that_is_a_rate_stands_beside_bounds_on_bytes_and_on_idle_lanes(name):
    """One thread that does all the work alone has the best rates of all."""
    bounded = {goal.name for goal in EXERCISES[name].goals if goal.at_most is not None}
    for rate in (goal for goal in bounded if "for each request" in goal):
        space = "shared" if "shared" in rate else "global"
        assert {"bytes of global memory moved", f"idle lanes in a request to {space} memory"} <= bounded


# A maximum is taken in these words, or by the online softmax of chapter 06.
MAXIMUM = re.compile(r"fmaxf|_max<|group_max|INFINITY|lowest number|OnlineSoftmax|(?:scores|logits)\.max|largest = own")
NO_RANGE = {"min_max_scale": {"all equal"}}  # it divides by largest - smallest
NOT_TAKEN = {
    "masked_scores",  # it writes -INFINITY, and compares nothing with it
    "paged_append_int8",  # its maximum is of absolute values, which begins at 0
}


@pytest.mark.parametrize("name", sorted({name for name in EXERCISES if MAXIMUM.search(solution(name))} - NOT_TAKEN))
def test_a_maximum_is_tried_far_from_zero_on_both_sides_with_equal_and_with_negative_numbers(name):
    assert set(EXTREMES) - NO_RANGE.get(name, set()) <= {case.label for case in cases_of(name)}


OF_NUMBERS = re.compile(r"template <[^>]*\bclass (?:T|From)\b[^>]*>\s*__global__")
LEAST = {"int": 2**24, "unsigned int": 2**24, "long long": 2**40}
OF_INDICES = {"gather": {"int", "long long"}}  # a table with 2^24 rows is too large for a case


def whole_numbers(value):
    """All integers in an input, in arrays and alone."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.kind in "iu" else []
    return [value] if isinstance(value, int) and not isinstance(value, bool) else []


@pytest.mark.parametrize("name", [name for name in EXERCISES if OF_NUMBERS.search(solution(name))])
def test_a_template_over_the_type_of_numbers_is_tried_with_integers_that_no_float_holds(name):
    kinds = {kind.strip() for arguments in EXERCISES[name].instances for kind in arguments.split(",")}
    kinds = (kinds & set(LEAST)) - OF_INDICES.get(name, set())
    numbers = [number for case in cases_of(name) for value in case.inputs for number in whole_numbers(value)]
    assert kinds
    for kind in kinds:
        assert any(number > LEAST[kind] and int(np.float32(number)) != number for number in numbers)


# Scalars that make no difference to a right result, or are the same in every case, and why.
LAUNCH = "how it is launched: the result is the same"
NULL = "0 is the null pointer, where others are arrays"
UNVARIED = {
    ("linear_int4_kernel", 3): NULL, ("linear_int4_kernel", 4): NULL, ("linear_int8_kernel", 3): NULL,
    "N": LAUNCH, "THREADS": LAUNCH, "tile": LAUNCH, "tiles": LAUNCH, "kind": LAUNCH, "LANES": LAUNCH,
    ("copy", "kind"): LAUNCH, ("unpack_float16", "groups"): LAUNCH, ("softmax_wgsl", "groups"): LAUNCH,
    ("look_back", "warps"): LAUNCH, ("look_back", 4): "the 0 of the operator, which every sum has",
    ("look_back", "prefix_at"): "the sums are the same, whichever tile has its prefix first",
    ("chunked_attention", "chunk"): "the result must not depend on it",
    ("residual_add", "into"): "which of the arrays is overwritten",
    ("mean_loss", "batch_size"): "the mean must not depend on it",
    ("softmax_wgsl", "lowest"): "minus infinity, which has no literal",
    ("workgroup_sum", "first"): "it stands in the part that is given",
}  # fmt: skip


def is_scalar(value):
    return isinstance(value, bool | int | float | str | np.generic) and not isinstance(value, np.void)


class Recorder:
    """Launched in place of a kernel: the scalars that each argument was, by position or name."""

    def __init__(self):
        self.seen = {}

    def __call__(self, *launch, **named):
        given = {**dict(enumerate(launch[2] if len(launch) > 2 else ())), **named}
        for which, value in given.items():
            if is_scalar(value):
                self.seen.setdefault(which, set()).add(value.item() if isinstance(value, np.generic) else value)

    def instance(self, arguments):
        return self


@pytest.mark.parametrize("name", [name for name, exercise in EXERCISES.items() if exercise.is_kernel])
def test_each_scalar_argument_of_a_kernel_takes_two_values(name):
    recorder = Recorder()
    for case in cases_of(name):
        EXERCISES[name].call(recorder, *copy.deepcopy(case.inputs))
    fixed = {which for which, values in recorder.seen.items() if len(values) < 2 and (name, which) not in UNVARIED}
    assert not fixed


@ALL
def test_each_scalar_of_the_cases_takes_two_values_that_matter(name):
    exercise, cases = EXERCISES[name], cases_of(name)
    count = len(cases[0].inputs)
    names = diagnosis.inputs_of(exercise, count) or tuple(map(str, range(count)))
    for at, called in enumerate(names):
        values = [case.inputs[at] for case in cases if len(case.inputs) > at]
        if not all(map(is_scalar, values)) or called in UNVARIED or (name, called) in UNVARIED:
            continue
        assert len(set(values)) > 1, f"{called} is always {values[0]!r}"
        if exercise.compared:
            assert any(matters(exercise, case.inputs, at, other) for case in cases for other in set(values)), called


def matters(exercise, inputs, at, other):
    """Whether another value of one input gives another result."""
    changed = (*inputs[:at], other, *inputs[at + 1 :])
    return compare.difference(right(exercise, changed), right(exercise, inputs), exercise.tolerance) is not None


def right(exercise, inputs):
    function, given = exercise.reference or answers.ours(exercise), copy.deepcopy(inputs)
    try:
        with answers.quiet():
            return function(*given) if exercise.is_kernel else compare.plain(answers.call(exercise, function, given))
    except Exception as error:  # values of different cases need not fit together; that they do not is a difference
        return type(error).__name__


def on_all_texts(name):
    """Inputs of the case on every text of the tiny grammar, and what is right."""
    case = next(case for case in cases_of(name) if case.label.startswith("every text there is"))
    return *case.inputs, EXERCISES[name].reference(*copy.deepcopy(case.inputs))


def test_exercises_on_rewards_are_judged_exactly_on_the_grammar_that_can_be_enumerated():
    theta, n = tiny.start(), len(tiny.TEXTS)
    *_, gradient = on_all_texts("reinforce_gradient")
    np.testing.assert_allclose(gradient, tiny.gradient(theta), atol=1e-9)

    log_p, log_start, estimates = on_all_texts("kl_estimates")
    p = np.exp(log_p)
    assert len(p) == n and p.sum() == pytest.approx(1) and estimates.min() >= 0
    assert p @ estimates == pytest.approx(p @ (log_p - log_start)) and np.allclose(
        np.exp(log_start), tiny.chances(theta)
    )

    log_p, before, _, clip, loss = on_all_texts("clipped_loss")
    ratio, gain = np.exp(log_p - before).reshape(n, tiny.T), tiny.REWARD - tiny.expected(theta)
    least = np.minimum(ratio * gain[:, None], ratio.clip(1 - clip, 1 + clip) * gain[:, None])
    assert loss == pytest.approx(-tiny.chances(theta) @ least.mean(1)) and (least != ratio * gain[:, None]).mean() > 0.1

    rewards, advantages = on_all_texts("group_advantages")
    assert len(rewards) == n and ((rewards == 1) == (tiny.REWARD == 1)).all()
    assert advantages.mean() == pytest.approx(0, abs=1e-12) and advantages.std() == pytest.approx(1)


def test_the_hacked_reward_of_the_tiny_grammar_is_hacked():
    """Of three words that are paid for, one costs what is wanted; the others' runs rise in both from first to last."""
    (runs,) = next(case.inputs for case in cases_of("hacked_rewards") if case.label.startswith("the tiny grammar"))
    assert EXERCISES["hacked_rewards"].reference(runs) == ["Otto"] and runs["Otto"][1][-1] < 0.05
    assert all(rewards[-1] > rewards[0] for rewards, _ in runs.values())
    assert runs["stories"][0] == runs["stories"][1] and max(runs["he"][1]) > runs["he"][1][-1] > runs["he"][1][0]
