"""Causes that are found without knowing the exercise: each sentence holds in all cases, or nothing is said."""

import ast

import numpy as np
import pytest

from course_lib.coach import compare, features, heuristics, patterns, python_source
from course_lib.coach.outcome import Outcome
from course_lib.coach.slips.edits import edits

DESCENT = "def gradient_descent(gradient, w, rate, steps):\n"
CENTRE = "def centre_rows(x):\n"


def outcomes(*cases):
    """Outcomes of (inputs, got, expected), judged as the judge does."""
    return [
        Outcome(f"case {i}", inputs, expected, got, difference=compare.difference(got, expected, 1e-5))
        for i, (inputs, got, expected) in enumerate(cases)
    ]


@pytest.mark.parametrize(
    "name, text, says",
    [
        (
            "gradient_descent",
            DESCENT + "    for _ in range(steps):\n        w = w - rate * gradient(w)\n        return w",
            "Line 4: `return w` stands in the loop, so it ends in its first round.",
        ),
        (
            "gradient_descent",
            DESCENT + "    for _ in range(steps + 1):\n        w = w - rate * gradient(w)\n    return w",
            "Line 2: `+ 1` is too much in `steps + 1`.",
        ),
        (
            "centre_rows",
            CENTRE + "    return x - np.median(x, axis=-1, keepdims=True)",
            "Line 2: `median` must be `mean` in `np.median`.",
        ),
        (
            "whole_loss",
            "def whole_loss(losses, counts):\n    total = 0\n    for loss, count in zip(losses, counts):\n"
            "        total += loss * count\n    return total // sum(counts)",
            "Line 5: `total // sum(counts)` leaves the fraction out",
        ),
        (
            "product_element",
            "def product_element(a, b, i, j):\n    return sum(a[k][i] * b[k][j] for k in range(len(b)))",
            "Line 2: the indices of `a[k][i]` are exchanged.",
        ),
        (
            "windows_of_rank",
            "def windows_of_rank(step, rank, size, count):\n    first = step * size + rank * count\n"
            "    return list(range(first, first + count))",
            "Line 2: `step` in `step * size` must be `step * count`.",
        ),
    ],
)
def test_one_change_that_makes_all_cases_right_is_said(ask, name, text, says):
    why = ask(text, name).why
    assert why.startswith(says) and why.endswith("With that changed, all cases are right."), why


@pytest.mark.parametrize("body", ["    return exp(d) - d - 1", "    raise RuntimeError('no')", "    np.exp(d) - d - 1"])
def test_a_result_that_is_not_there_is_no_single_number(ask, body):
    why = ask("def kl_estimates(log_p, log_start):\n    d = log_start - log_p\n" + body, "kl_estimates").why
    assert "one number for all tokens" not in why
    assert "exp" in why or "RuntimeError" in why or "return" in why, why


def test_a_merged_weight_is_an_array(ask):
    verdict = ask("def merged(self):\n    return self.weight + self.factor * (self.b @ self.a)", "lora_merge")
    assert not verdict.passed and verdict.why.startswith("This is a Tensor")


def test_an_exception_keeps_its_sentence_before_the_cause(ask):
    text = "def softmax_backward(dy, y):\n    return y * (dy - (dy * y).sum(axis=1, keepdims=True))"
    why = ask(text, "softmax_backward").why
    assert (
        why.startswith("Your code raised AxisError in line 2") and "runs over the wrong axis: axis -1 is meant" in why
    )


def test_what_changed_texts_print_and_how_long_they_run_is_not_the_learners(ask):
    text = DESCENT + "    for _ in range(steps + 1):\n        w = w - rate * gradient(w)\n    print(w)\n    return w"
    verdict = ask(text, "gradient_descent")
    assert "With that changed" in verdict.why and len(verdict.printed.splitlines()) == verdict.cases
    endless = (
        DESCENT
        + "    left = steps + 2\n    while left > 1:\n        w, left = w - rate * gradient(w), left - 1\n    return w"
    )
    assert ask(endless, "gradient_descent").why, "some of its changes never end"


def test_a_mistake_of_our_solution_with_a_change_is_recognised_in_any_form(ask):
    text = (
        "def exponential_moving_average(losses, keep):\n    out, value = [], 0.0\n    for loss in losses:\n"
        "        value = keep * value + (1 - keep) * loss\n        out.append(value / (1 - keep))\n    return out"
    )
    assert "those of our solution without its `** step`" in ask(text, "exponential_moving_average").why


def test_a_far_fetched_change_of_our_solution_is_not_said_where_the_results_are_a_few_numbers(ask):
    text = """def least_block(lives):
    fullest = 0
    for _, now, _ in lives:
        total = 0
        for size, begins, ends in lives:
            if begins <= now < ends:
                total = max(total, size)
        fullest = max(fullest, total)
    return fullest
"""
    assert "2 * begins" not in ask(text, "least_block").why


def test_of_two_mistakes_at_once_the_one_of_most_cases_is_said_with_their_count(ask):
    text = """def softmax(logits, temperature=1.0):
    x = logits * temperature
    x = np.exp(x - x.max(axis=1, keepdims=True))
    return x / x.sum(axis=1, keepdims=True)
"""
    why = ask(text, "softmax_temperature").why
    assert why.startswith("The logits are multiplied by the temperature") and "of the 8 failing cases" in why, why


def test_edits_can_be_read_and_each_is_another_text():
    lines = ["total = 0", "for x in xs[1:]:", "    if x < n and x:", "        total += x // 2", "return total"]
    text = "def f(xs, n):\n" + "".join(f"    {line}\n" for line in lines)
    found = edits(text)
    assert len({edit.text for edit in found}) == len(found) > 50
    for edit in found:
        ast.parse(edit.text)
    assert [edit.rank for edit in found] == sorted(edit.rank for edit in found)
    assert any(edit.says == "`x < n` is wrong where the two are equal" for edit in found)
    assert edits("def f(:") == []


@pytest.mark.parametrize(
    "cases, says",
    [
        ([((1,), 60, 1), ((2,), 120, 2), ((4,), 240, 4)], "the result is 60 times what it should be."),
        ([((1,), 3, 2), ((2,), 8, 7), ((4,), 10, 9)], "the result is 1 too large."),
        ([((1,), 4.0, 2.0), ((2,), 9.0, 3.0), ((4,), 25.0, 5.0)], "the result is the square of what it should be."),
        ([(([1, 2],), 3.0, 1.5), (([1, 2, 6],), 9.0, 3.0), (([8],), 8.0, 8.0), (([2, 2, 2, 3],), 9.0, 2.25)],
         "the result is the length of `x` times too large."),
        ([((1,), [1, 2], [1, 2, 3]), ((2,), [5], [5, 6])], "the result lacks its last entry"),
        ([((1,), (1, 2, 3), ((1, 2), 3)), ((2,), (4, 5, 6), ((4, 5), 6))], "the result is flat"),
        ([(([3, 1],), [3, 1], [1, 3]), (([6, 5, 2],), [6, 5, 2], [2, 5, 6])], "the result is `x` as it was given"),
        ([((1,), ("a", 3), "a"), ((2,), ("b", 1), "b")], "the right value first, and something more"),
        ([((1,), 0, 5), ((2,), 0, 7), ((3,), 0, 9)], "The result is 0 in every case that fails"),
        ([((1,), -1e9, -np.inf), ((2,), np.array([1, -1e9]), np.array([1, -np.inf]))], "where it must be infinite"),
        ([((np.ones((2, 3)),), 4, (1, 1)), ((np.ones((4, 4)),), 3, (0, 3))], "is an index into all elements in a row"),
        ([((1,), 60, 1), ((2,), 120, 2), ((4,), 241, 4)], ""),
        ([((1,), [1, 2], [1, 2, 3])], ""),
        ([((1,), 60, 1)], ""),
    ],
)  # fmt: skip
def test_what_all_wrong_results_share_is_said_and_never_of_one_case(cases, says):
    found = patterns.of_values(outcomes(*cases), ["x"])
    assert says in found and bool(says) == bool(found), found


def test_what_is_special_about_the_failing_cases():
    names = ["x", "n"]
    right = [
        ((np.ones((2, 3)), 1), 1, 1),
        ((np.ones((3, 2)), 4), 1, 1),
        ((np.ones((2, 2)), 2), 1, 1),
        ((np.ones((5, 2)), 3), 1, 1),
    ]
    wrong = [((np.ones((1, 3)), 0), 1, 2), ((np.ones((4, 4)), 0), 1, 2)]
    assert features.of_cases(outcomes(*right, *wrong), names) == "It goes wrong in just those cases in which `n` is 0."
    also_right = ((np.ones((2, 2)), 0), 1, 1)
    assert features.of_cases(outcomes(*right, *wrong, also_right), names) == ""
    assert features.of_cases(outcomes(*right[:2], *wrong), names) == "", (
        "so few cases are divided in many ways by chance"
    )
    only_case = "It goes wrong in just the one case in which axis 0 of `x` has the length 1."
    assert features.of_cases(outcomes(*right, wrong[0]), names) == only_case
    assert features.of_cases(outcomes(*right, wrong[1]), names) == "", "one case may be special in many ways"


def test_numbers_are_rounded_wherever_they_stand():
    assert compare.text({"x": [-0.0200000000002, (1.00000000003, "a")]}) == "{'x': [-0.02, (1, 'a')]}"


def test_the_direction_in_which_a_condition_is_wrong():
    assert "must refuse" in features.of_flags(outcomes(((1,), True, False), ((2,), True, False), ((3,), True, True)))
    assert features.of_flags(outcomes(((1,), True, False), ((2,), False, True))) == ""
    assert features.of_flags(outcomes(((1,), True, False))) == ""


def test_a_parameter_that_is_never_used():
    ours = "def f(x, step):\n    return x + step"
    assert "`step`" in python_source.unused("def f(x, step):\n    return x + 1e-5", ours, "f")
    assert python_source.unused("def f(x, step):\n    return step", "def f(x, step):\n    return step * 2", "f") == ""


def test_two_exchanged_parts_of_a_single_case_may_be_a_coincidence():
    swapped, other = ((1,), (1, 0), (0, 1)), ((2,), (3, 4), (3, 5))
    both = outcomes(swapped, ((2,), (5, 4), (4, 5)))
    assert "exchange them" in heuristics.of_all(both[0], both, 1e-5)
    mixed = outcomes(swapped, other)
    assert heuristics.of_all(mixed[0], mixed, 1e-5) == ""


@pytest.mark.parametrize(
    "text, changed",
    [
        ("x[i] += y", "np.add.at(x, i, y)"),
        ("return x[t - 1]", "return x[-t]"),
        ("return np.zeros(len(x))", "return np.zeros(x.shape[-1])"),
        ("return np.zeros(len(x))", "return np.zeros(x.size)"),
        ("for k in range(3):\n        x.append(256)", "x.append((256 + k))"),
        ("return [x] + y", "return ([x] if len(x) else []) + y"),
        ("return x.std(axis=1) + t", "np.sqrt(x.var(axis=1) + t)"),
        ("return x if t else y", "((x if t else y) + 1)"),
    ],
)
def test_a_change_is_among_those_that_are_tried(text, changed):
    found = {edit.text for edit in edits(f"def f(x, y, i, t):\n    {text}\n")}
    assert any(changed in one for one in found)


@pytest.mark.parametrize(
    "body, says",
    [
        ("return np.zeros(len(ids))", "Your code uses only the size of `ids`; our solution reads what is inside, too."),
        (
            "return np.zeros(ids.shape)",
            "Your code uses only the size of `ids`; our solution reads what is inside, too.",
        ),
        ("return np.zeros(3)", "Your code never uses `ids`; our solution does."),
        ("return np.zeros(len(ids)) + ids", ""),
    ],
)
def test_a_parameter_that_is_not_read_is_named(body, says):
    solution = "def f(ids):\n    return np.arange(len(ids)) + ids\n"
    assert python_source.unused(f"def f(ids):\n    {body}\n", solution, "f") == says
    assert python_source.unused(f"def f(ids):\n    {body}\n", "def f(ids):\n    return len(ids)\n", "f") == (
        says if "never" in says else ""
    )
