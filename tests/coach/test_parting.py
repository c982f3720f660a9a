"""Where the values of an answer part from ours: what is noted, what is told, and what is kept quiet."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.coach import kernel_steps, parting, steps
from course_lib.coach.exercise import Case
from course_lib.coach.steps import Site

FORWARD = """\
def f(x, w):
    scores = x @ w
    total = 0.0
    for row in scores:
        total += row.sum()
    mean = total / len(scores)
    return scores - mean
"""


def sites(text):
    return [(site.line, site.words, site.target) for site in steps.marked(text)[1]]


def test_each_value_of_a_function_is_a_site_and_no_target_index_or_constant_is():
    found = sites(FORWARD)
    assert (2, "`x @ w`", "scores") in found and (7, "`scores - mean`", "return") in found
    assert (5, "`row.sum()`", "total") in found, "what is added"
    assert (6, "`total`", "") in found, "a sum, where it is used"
    assert not any(words in ("`0.0`", "`mean`") for _, words, _ in found)
    assert sites("x = np.ones(3) + 1\n") == [], "outside of functions nothing is noted"
    assert [words for _, words, _ in sites("def f(x):\n    y = np.zeros(3)\n    y[2:-1] = x[1] + 1\n    return y\n")] == [
        "`np.zeros(3)`", "`x[1] + 1`", "`x[1]`",
    ]  # fmt: skip


def test_a_marked_text_computes_what_the_text_does():
    tree, found = steps.marked(FORWARD)
    recorder = steps.Recorder(found)
    namespace = {steps.CALLED: recorder, "np": np}
    exec(compile(tree, "f.py", "exec"), namespace)
    x, w = np.arange(6.0).reshape(2, 3) + 0.25, np.arange(12.0).reshape(3, 4) - 0.5
    assert np.array_equal(namespace["f"](x, w), x @ w - (x @ w).sum() / 2)
    seen = dict(zip([site.words for site in found], recorder.seen(), strict=True))
    assert np.array_equal(seen["`x @ w`"], np.unique(x @ w))


@pytest.mark.parametrize(
    "value, wanted",
    [(3, []), (300, [300.0]), (2.0, [2.0]), (True, None), ("a", None), ([1.5, (2.5,)], [1.5, 2.5]), (10**30, []),
     (np.arange(19, 23), [21.0, 22.0]), (np.array([True]), None), (np.array([[1.5]], np.float32), [1.5]), (None, None)],
)  # fmt: skip
def test_the_numbers_of_a_value_are_no_counters(value, wanted):
    found = steps.numbers(value)
    assert (found is None and wanted is None) or found.tolist() == wanted


def test_numbers_are_known_again_in_any_order_and_nan_by_nan():
    others = np.array([-2.0, 1.0, 3.5, np.nan])
    assert parting.contained(np.array([3.5000001, 1.0, np.nan, 2.0]), others).tolist() == [True, True, True, False]
    assert parting.contained(np.array([np.nan]), others[:3]).tolist() == [False]
    assert parting.inputs_in((np.array([2.0, 1.0]), [3, {"a": (4.5,)}], "text", None)).tolist() == [1, 2, 3, 4.5]


def run(*given):
    """Sites (line, words, inside, target, names), each with its numbers in one case."""
    known = [Site(*one[:5]) for one in given]
    return parting.Run(known, [[None if one[5] is None else np.unique(np.array(one[5], float)) for one in given]])


A, B, C, D = ([base + 0.1, base + 0.2, base + 0.3] for base in (5, 6, 7, 8))
OURS = run(
    (1, "`a`", -1, "a", (), A),
    (2, "`b`", -1, "b", (), B),
    (3, "`c`", -1, "c", (), C),
    (4, "`x`", -1, "", (), [9.25, 9.5, 9.75]),
)
GIVEN = [np.array([0.7, 9.25, 9.5, 9.75])]


def said(*given, ends=0):
    return parting.Found(run(*given), OURS, GIVEN).says(ends)


def test_what_is_ours_is_named_and_the_first_value_that_is_not():
    words = said((4, "`first`", -1, "p", ("x",), A), (5, "`p + 1`", -1, "return", ("p",), D))
    assert words == (
        "`p` has values that our solution computes too, whatever it is called there. But what you compute in line 5, `p + 1`, "
        "has values that ours has nowhere. Look there first."
    )


def test_the_smallest_part_that_is_not_ours_is_told_and_where_what_it_is_made_of_is_not_known():
    words = said(
        (4, "`first`", -1, "p", ("x",), A), (4, "`n`", -1, "n", ("x",), [0.2]),
        (5, "`q(p) + 1`", -1, "r", ("q", "p", "n"), D), (5, "`q(p)`", 2, "", ("q", "p", "n"), D),
    )  # fmt: skip
    assert "line 5, `q(p)`, has values" in words and words.endswith("Look there, and where `n` is made.")


def test_another_way_that_leads_to_a_value_of_ours_is_no_mistake():
    words = said(
        (4, "`first`", -1, "p", ("x",), A), (5, "`other`", -1, "q", ("p",), D), (6, "`q - 1`", -1, "r", ("q",), B),
        (7, "`r * 2`", -1, "return", ("r",), [1.1, 1.2, 1.3]),
    )  # fmt: skip
    assert "line 7, `r * 2`" in words and "`p` and `r` have values" in words


def test_nothing_is_told_of_counters_of_few_numbers_and_of_what_all_is_unknown():
    assert said((4, "`k`", -1, "k", (), [0.3, 0.4]), (5, "`k + 1`", -1, "return", ("k",), [1.0, 2.0])) == ""
    assert said((4, "`big`", -1, "k", (), None)) == ""
    given = said((4, "`x`", -1, "k", (), [9.25, 9.5, 9.75]), (5, "`k + 1`", -1, "return", ("k",), D))
    assert given == "What you compute first, in line 5, `k + 1`, has values that our solution has nowhere."
    unknown = said((4, "`x`", -1, "k", (), [1.5]), (5, "`k + 1`", -1, "return", ("k",), D))
    assert unknown == "", "it may be wrong already"


def test_where_all_values_are_ours_they_stand_in_the_wrong_place():
    given = (4, "`first`", -1, "p", ("x",), A), (5, "`p[i]`", -1, "y", ("p",), B)
    assert said(*given, ends=5).startswith(
        "The values of line 5, `p[i]`, are all values that our solution computes too. So some stand in the wrong place"
    )
    assert said(*given, ends=6) == "", "a statement follows whose values are not known"


class Slow:
    """A sandbox on a machine so slow that only small cases get through."""

    def steps(self, texts, inputs, seconds):
        exercise = SimpleNamespace(name="f", prelude="", defines="f", call=None, language="python")
        return steps.recorded(exercise, texts, inputs) if len(inputs[0]) < 5 else []

    def instead(self, *given):
        return [], 0.0


def test_a_case_that_takes_too_long_takes_no_sentence_from_the_others():
    ours = "def f(x):\n    halves = x * 0.37\n    return halves + x ** 2\n"
    answer = "def f(x):\n    h = x * 0.37\n    return h - x ** 2\n"
    cases = [Case("", np.arange(count) + 5.25) for count in (9, 4, 3)]

    def said(failing):
        return parting.of_python(answer, ours, Slow(), failing, cases, right=None)

    assert said([0, 1, 2]) == said([1, 2]) and "`h` has values that our solution computes too" in said([0, 1, 2])
    assert said([0]) == ""


KERNEL = """\
template <int N> __global__ void f(const float* x, float* y, int n) {
    __shared__ float tile[32];
    float r = rsqrtf(x[0]), sum = 0.0f;
    const int i = threadIdx.x;
    Pair p = {x[i] * r, 2.0f};
    for (int k = 0; k < N; k += 1) sum += r * x[k];
    tile[i] = i < n ? scan<N, Sum>(sum, &r) : 0.0f;
    if (i < n) y[i] = block_sum<32>(sum) / n;
    c.store(i, 0, four * r);
}
"""


def test_the_floats_of_a_kernel_are_sites():
    text, found = kernel_steps.marked(KERNEL)
    assert [(site.line, site.words, site.target) for site in found] == [
        (3, "`rsqrtf(x[0])`", "r"), (5, "`x[i] * r`", "p"), (6, "`r * x[k]`", "sum"),
        (7, "`i < n ? scan<N, Sum>(sum, &r) : 0.0f`", "tile"), (8, "`block_sum<32>(sum) / n`", "y"), (8, "`sum`", ""),
        (9, "`four * r`", ""),
    ]  # fmt: skip
    assert "y[i] = course_seen(4, block_sum<32>(course_seen(5, sum)) / n);" in text
    assert [site.line for site in kernel_steps.marked(KERNEL, {6, 7})[1]] == [6, 7]


def test_a_formula_that_is_wrong_in_two_ways_is_found_by_its_values(ask):
    verdict = ask(
        """\
def group_advantages(rewards):
    d = rewards - rewards.mean()
    spread = (d * d).sum() / (len(d) - 0.5) + 0.1
    return d / spread
""",
        "group_advantages",
    )
    assert "`d` has values that our solution computes too" in verdict.why


def test_a_value_with_which_all_cases_are_right_is_told(ask):
    verdict = ask(
        """\
def clipped_loss(log_p, before, advantages, clip):
    ratio = np.exp(log_p - before)
    clamped = np.minimum(np.maximum(ratio, 1 / (1 + clip)), 1 + clip * clip + 0.01)
    return -np.minimum(ratio * advantages, clamped * advantages).mean()
""",
        "clipped_loss",
    )
    assert verdict.why == (
        "Line 3: the value of `np.minimum(np.maximum(ratio, 1 / (1 + clip)) ...` is wrong. With the one that our solution "
        "has in its place, all cases are right."
    )


def test_a_kernel_whose_formula_is_wrong_in_two_ways_is_found_by_its_values(ask):
    text = """\
#include "reduce.cuh"

__global__ void residual_post_norm(const float* x, const float* branch, const float* weight, float* y, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float own[3], squares = 0.0f;
        for (int j = 0; j < 3; j++) {
            own[j] = branch[row * 384 + threadIdx.x + 128 * j];
            squares += own[j] * own[j];
        }
        float r = rsqrtf(block_sum<128>(squares) / 100 + 0.3f);
        for (int j = 0; j < 3; j++) {
            int i = threadIdx.x + 128 * j;
            y[row * 384 + i] = x[row * 384 + i] + own[j] * r * weight[i];
        }
    }
}
"""
    assert ask(text, "residual_post_norm").why == (
        "`squares` has values that our solution computes too, whatever it is called there. But what you compute in line 10, "
        "`rsqrtf(block_sum<128>(squares) / 100 + 0.3f)`, has values that ours has nowhere. Look there first."
    )
