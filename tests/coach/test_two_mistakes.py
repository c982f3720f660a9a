"""Two mistakes at once: each is said, and only where the results prove both; or the one that makes most failing cases right."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.coach import compare, kernel_repairs, two_mistakes
from course_lib.coach.outcome import Outcome
from course_lib.coach.regions import Piece
from course_lib.coach.sandbox import NotCompiled
from course_lib.coach.slips.edits import edits
from course_lib.coach.slips.kernel_edits import edits as kernel_edits

ONE_LAYER = "def one_layer(W1, b1, W2, b2):\n"
KERNEL = """\
__global__ void f(float* y, int n, int m) {
    int i = threadIdx.x, j = threadIdx.y;
    if (i < m) y[j] = 1.0f;
}
"""


def outcomes(*cases):
    return [Outcome("a case", (x,), want, got, None, compare.difference(got, want, 1e-5)) for x, got, want in cases]


def known(k, outcome):
    """Wrong answer 0 is wrong for odd numbers, 1 for multiples of 10; right is twice the number."""
    x = outcome.inputs[0]
    return (2 * x + (x % 2 == 1), 2 * x) if k == 0 else (2 * x, 2 * x + 5 * (x % 10 == 0))


@pytest.mark.parametrize(
    "cases, both",
    [
        ([(1, (3, 2), (2, 2)), (10, (20, 25), (20, 20)), (4, (8, 8), (8, 8))], True),
        ([(1, (3, 2), (2, 2)), (10, (20, 26), (20, 20)), (4, (8, 8), (8, 8))], False),  # what came is another number
        (
            [(1, (3, 2), (2, 2)), (10, (20, 25), (20, 20)), (3, (6, 6), (6, 6))],
            False,
        ),  # where the first must show it does not
        ([(1, (3, 2), (2, 2)), (4, (8, 8), (8, 8))], False),  # the second shows nowhere
    ],
)
def test_two_known_mistakes_are_said_if_each_shows_just_where_it_must(cases, both):
    said = two_mistakes.says(["One.", "Two."], known, lambda *_: True, outcomes(*cases), 1e-5)
    assert said == ("There are two mistakes. One. And elsewhere: Two." if both else "")
    assert not two_mistakes.says(["One.", "Two."], known, lambda k, _: k == 0, outcomes(*cases), 1e-5)


@pytest.mark.parametrize(
    "name, text, says",
    [
        (
            "one_layer",
            ONE_LAYER + "    return W1 @ W2, W1 @ b2 + b1",
            "There are two mistakes. Line 2: `W1` and `W2` are exchanged. Then line 2: `b1` and `b2` are exchanged. With both",
        ),
        (
            "safe_logsumexp",
            "def logsumexp(scores):\n    m = scores.max()\n    return np.log(np.exp(scores - m).sum() + m)",
            "Line 3: `m` stands inside of `np.log(np.exp(scores - m).sum() + m)`, and belongs behind it.",
        ),
        (
            "tile_reads",
            "def tile_reads(M, N, K, TM, TN):\n    return M // TM * (N // TN) * K * TM + TN",
            "Line 2: `M // TM * (N // TN) * K *` belongs to all behind it, which needs brackets, in",
        ),
        (
            "attend_one",
            "def attend_one(q, k, v, t):\n    D = q.shape[1]\n    s = k[:t] @ q[t] / np.sqrt(D)\n    p = np.exp(s)\n"
            "    return p / p.sum() @ v[:t]",
            "Line 3: `t` is one too small, and so in all lines that have it (3, 5). With that changed, 7 of the 10 failing",
        ),
        (
            "local_gradients",
            "def local_gradients(operation, inputs):\n    if operation == 'subtract':\n        return (1.0, -1.0)\n"
            "    if operation == 'divide':\n        a, b = inputs\n        return (1 / b, a / b**2)\n"
            "    if operation == 'exp':\n        return (math.exp(inputs[0]),)\n    if operation == 'log':\n"
            "        return (1 / inputs[0],)\n    if operation == 'tanh':\n        return (1 - math.tanh(inputs[0])**2,)\n"
            "    a, b = inputs\n    return (1.0, 0.0) if a >= b else (0.0, 1.0)",
            "There are two mistakes. If b goes up, a / b goes down (for a above 0): the second slope has a minus. And elsewhere: "
            "When both are equal",
        ),
    ],
)
def test_two_mistakes_of_an_answer_are_said(ask, name, text, says):
    why = ask(text, name).why
    assert why.startswith(says), why


def test_bounds_of_slices_are_changed_together_and_other_indices_stay():
    found = [edit.text for edit in edits("def f(x, y, t):\n    return x[:t] @ y[:t] + x[t]")]
    assert "def f(x, y, t):\n    return x[:(t + 1)] @ y[:(t + 1)] + x[t]" in found


class Sandbox:
    """Changes of a kernel, of which some are right in a case: fits(changed text, case)."""

    def __init__(self, fits, refused=()):
        self.fits, self.refused, self.compiled = fits, list(refused), []

    def switched(self, whole, numbers, inputs, seconds):
        if self.refused:
            raise NotCompiled(self.refused.pop())
        self.compiled.append(whole)
        return [(self.fits(number, inputs[0]), []) for number in numbers], 0.0


def cause(sandbox, failing, cases=4):
    tried = [Outcome("a case", (), complaint="wrong" if i < failing else "") for i in range(cases)]
    blank = Piece(KERNEL, KERNEL.replace("    if (i < m) y[j] = 1.0f;\n", ""), False)
    exercise, inputs = SimpleNamespace(language="cuda"), [SimpleNamespace(inputs=(i,)) for i in range(cases)]

    def all_right(text):
        return "i < n" in text and "y[i]" in text

    return kernel_repairs.cause(exercise, KERNEL, blank, sandbox, tried, inputs, lambda got, *_: got, all_right)


def number_of(after):
    return next(k for k, edit in enumerate(kernel_edits(KERNEL, {3}), 1) if edit.after == after)


def test_a_change_that_makes_most_failing_cases_right_is_said_with_their_count():
    bound = number_of("i < n")

    some = cause(Sandbox(lambda k, case: k == bound and case != 1), failing=3)
    assert some == (
        "Line 3: `i < m` must be `i < n`. With that changed, 2 of the 3 failing cases are right; in the others something else is "
        "wrong, too."
    )
    assert cause(Sandbox(lambda k, case: k == bound and case not in (1, 2)), failing=3) == "", "one of three is too few"
    assert cause(Sandbox(lambda k, case: k == bound and case not in (1, 3)), failing=3) == "", (
        "and a right case must stay so"
    )


def test_two_changes_of_a_kernel_are_found_one_after_the_other():
    begun = KERNEL.replace("i < m", "i < n")
    first = number_of("i < n")
    second = next(k for k, edit in enumerate(kernel_edits(begun, {3}), 1) if edit.after == "y[i]")

    class Twice(Sandbox):
        def switched(self, whole, numbers, inputs, seconds):
            self.compiled += [whole] if whole not in self.compiled else []
            if len(self.compiled) == 1:
                return [(k == first and inputs[0] != 1, []) for k in numbers], 0.0
            return [(k == second, []) for k in numbers], 0.0

    assert cause(Twice(None), failing=3) == (
        "There are two mistakes. Line 3: `i < m` must be `i < n`. Then line 3: `y[j]` must be `y[i]`. With that changed, all "
        "cases are right."
    )


def test_a_line_that_does_not_compile_with_changes_is_left_as_it_is():
    assert cause(Sandbox(lambda *_: False, [99]), failing=2) == "", "not the learner's line"
    sandbox = Sandbox(lambda *_: False, [4])
    assert cause(sandbox, failing=2) == "" and not any("course_switch ==" in whole for whole in sandbox.compiled)


def test_a_part_that_is_no_array_counts_as_one():
    came = outcomes((1, np.array([3.0]), np.array([2.0])), (10, np.array([25.0]), np.array([20.0])))

    def one(k, outcome):
        x = outcome.inputs[0]
        return np.array([2.0 * x + (x == 1)]) if k == 0 else np.array([2.0 * x + 5 * (x == 10)])

    assert two_mistakes.says(["One.", "Two."], one, lambda *_: True, came, 1e-5).startswith("There are two")
