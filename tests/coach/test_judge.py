"""The judge: whatever an answer does, there is a verdict with the learner's own line, and the next answer is judged as well."""

import dataclasses
import re

import numpy as np
import pytest

from course_lib.coach import catalogue, client, compare, diagnosis, kernel_source
from course_lib.coach import judge as judging
from course_lib.coach import verdict as verdicts
from course_lib.coach.exercise import Mistake, Wrong
from course_lib.coach.outcome import Outcome, Seen
from course_lib.cuda.report import Issue, Report

from .conftest import piece

HEAD = "def repeated_axes(shape, to):\n"
WARMUP = "def warmup_linear(step, steps, peak, lowest, warmup):\n"


@pytest.mark.parametrize(
    "text, says, code",
    [
        ("import sys\nsys.exit(3)", "exits Python in line 2", "sys.exit(3)"),
        (HEAD + "    exit()", "exits Python|The name `exit` is not defined", "exit()"),
        (HEAD + "    return shape[9]", "IndexError in line 2: tuple index out of range", "return shape[9]"),
        (HEAD + "    return repeated_axes(shape, to)", "calls itself in line 2", "return repeated_axes(shape, to)"),
        (HEAD + "    return bytearray(1 << 40)", "more than the 2 GB of memory", "return bytearray(1 << 40)"),
        (
            "def repeated_axes(shape, to)\n    return 1",
            "Syntax error in line 1: expected ':'",
            "def repeated_axes(shape, to)",
        ),
        (HEAD + "return 1", "Syntax error in line 2: expected an indented block", "return 1"),
        ("def other():\n    pass", "defines nothing named repeated_axes", ""),
        (HEAD + "    return helper(shape)", "The name `helper` is not defined in line 2", "return helper(shape)"),
        ("import no_such_package", "ModuleNotFoundError in line 1", "import no_such_package"),
        ("def repeated_axes():\n    return 1", "cannot be called with the task's arguments, TypeError", ""),
        ("repeated_axes = 5", "cannot be called with the task's arguments, TypeError", ""),
        ("def repeated_axes(a, *, to):\n    return a", "cannot be called with the task's arguments, TypeError", ""),
        (HEAD + "    raise ValueError('a\\nb')", "ValueError in line 2: a\nb", "raise ValueError('a\\nb')"),
    ],
)
def test_an_error_is_a_sentence_with_the_learners_line(ask, text, says, code):
    verdict = ask(text)
    assert not verdict.passed
    assert any(one in verdict.why for one in says.split("|")), verdict.why
    assert verdict.failing.code == code
    assert "Traceback" not in verdicts.text(verdict) and "course_lib" not in verdict.why


@pytest.mark.parametrize(
    "text, says",
    [
        ("import os\nos._exit(4)", "with status 4"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
        ("import os\nos.abort()", "(SIGABRT). A library of C gave up"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "(SIGKILL). Either the system had no memory left"),
    ],
)
def test_a_process_that_ends_is_a_verdict(ask, text, says):
    assert says in ask(text).why
    assert ask(piece("repeated_axes").solution).passed, "the next answer is judged as if nothing had been"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "    while True:\n        pass",
        HEAD
        + "    while True:\n        try:\n            sum(range(100))\n        except Exception:\n            pass",
        "while True: pass",
    ],
)
@pytest.mark.slow
def test_an_endless_loop_is_stopped_at_the_learners_line(ask, text):
    verdict = ask(text)
    assert "still running after 6 seconds and was stopped in line" in verdict.why
    assert verdict.failing.code


@pytest.mark.slow
def test_a_loop_that_swallows_everything_is_ended_by_force(ask):
    body = ["while True:", "    try:", "        while True:", "            sum(range(1000))", "    except BaseException:",
            "        pass"]  # fmt: skip
    text = HEAD + "".join(f"    {line}\n" for line in body)
    assert "had to be killed" in ask(text).why
    assert ask(piece("repeated_axes").solution).passed


def test_a_name_of_another_cell_gets_its_sentence(ask):
    verdict = ask(HEAD + "    return helper(shape)", known=["helper"])
    assert "`helper` is defined in another cell of your notebook" in verdict.why


def test_what_is_printed_is_shown_and_cut(ask):
    verdict = ask("print('loaded')\n" + piece("repeated_axes").solution)
    assert verdict.passed and verdict.printed == "loaded\n"
    verdict = ask("import sys\nprint('x' * 100_000)\nprint('err', file=sys.stderr)\n" + piece("repeated_axes").solution)
    assert verdict.passed and len(verdict.printed) < 5000 and "bytes in all" in verdict.printed
    verdict = ask("for i in range(500): print(i)\n" + piece("repeated_axes").solution)
    assert (
        verdict.printed.startswith("0\n1\n")
        and len(verdict.printed.splitlines()) < 70
        and "bytes in all" in verdict.printed
    )


def test_expected_values_are_computed_before_the_answer_can_touch_the_library(ask):
    text = (
        "from course_lib.tensor import shapes\nshapes.repeated_axes = lambda shape, to: ()\n" + HEAD + "    return ()"
    )
    assert not ask(text).passed


def test_changed_inputs_are_said(ask):
    solution = piece("backward_pass").solution
    assert ask(
        solution.replace("    gradients = {last: 1.0}", "    tape = list(tape)\n    gradients = {last: 1.0}"),
        "backward_pass",
    ).passed
    verdict = ask(solution.replace("    return gradients", "    tape.clear()\n    return gradients"), "backward_pass")
    assert not verdict.passed and "`tape` was changed by your code" in verdict.why


def test_numpy_and_math_need_no_import(ask):
    text = HEAD + "    lacks = len(to) - len(shape)\n    full = np.array((1,) * lacks + shape)\n"
    text += "    return tuple(np.flatnonzero((full != to) | (np.arange(len(to)) < math.floor(lacks))))"
    assert ask(text).passed


def test_the_smallest_failing_case_comes_first(ask):
    verdict = ask(HEAD + "    return (0,) if shape == (4,) else ()")
    labels = [case.label for case in catalogue.load("repeated_axes").cases(None)]
    assert verdict.failing.label == labels[2] and verdict.right_cases == 2
    assert verdict.failing.inputs == ["repeated_axes((3, 1), (3, 4))"]


def test_a_sentence_needs_its_cause(ask):
    """An answer that fails as a known mistake does in its first failing case, and not in all, is not told that it made it."""
    known = catalogue.load("repeated_axes").wrong[0].answer.of(piece("repeated_axes").solution)
    assert ask(known).recognised
    verdict = ask(known.replace("def repeated_axes(", "def known(") + "\n\n" + HEAD +
                  "    return (7,) if len(to) == 4 else known(shape, to)\n")  # fmt: skip
    assert not verdict.passed and not verdict.recognised
    assert verdict.failing.label == ask(known).failing.label


def test_an_answer_with_the_results_of_a_wrong_one_gets_its_sentence(ask):
    known = catalogue.load("warmup_linear").wrong[1]
    text = f"""{WARMUP}    left = max(steps - step, 0) / steps
    return (step + 1) * peak / warmup if step < warmup else lowest + (peak - lowest) * left"""
    verdict = ask(text, "warmup_linear")
    assert verdict.recognised and verdict.why == known.says


@pytest.mark.parametrize(
    "wrong, words",
    [
        (Wrong(WARMUP + "    return 0.0", generic="anything"), ""),
        (Wrong(WARMUP + "    raise ZeroDivisionError", "never"), ""),
        (Wrong(WARMUP + "    while True: pass", "never"), ""),
        (Wrong(WARMUP + "    return step * 0.0", "always 0"), "always 0"),
    ],
    ids=["refused with a generic sentence", "raises", "never ends", "gives the same"],
)
def test_what_a_wrong_answer_does_is_no_fault_of_the_learner(monkeypatch, wrong, words):
    monkeypatch.setattr(diagnosis, "SECONDS", 0.2)
    exercise = dataclasses.replace(catalogue.load("warmup_linear"), wrong=[wrong])
    monkeypatch.setattr(catalogue, "load", lambda name: exercise)
    verdict = judging.judge({"name": "warmup_linear", "text": WARMUP + "    return 0.0"})
    assert verdict["recognised"] == bool(words) and not verdict["passed"]
    assert verdict["why"] == words if words else "is 0.0 in every case that fails" in verdict["why"]


def test_an_error_alone_is_no_proof_of_a_known_mistake():
    from course_lib.coach.outcome import Outcome, RaisedError

    def raises(shape, to):
        raise IndexError

    exercise = catalogue.load("repeated_axes")
    only_errors = [Outcome("", ((1,), (2,)), expected=(0,), error=RaisedError("IndexError", "out of range"))]
    assert not diagnosis.gives_the_same(exercise, raises, only_errors)


def test_results_of_a_kernel_come_with_lines_and_counters(ask):
    verdict = ask(piece("scale").solution, "scale")
    assert verdict.passed, verdict.why
    counts = {count.name: count for count in verdict.counts}
    reading = counts["sectors for each request, reading global memory"]
    assert reading.yours == reading.ours <= 4.0 == reading.at_most
    verdict = ask(piece("scale").blank, "scale")
    assert "nan" in verdict.why and not verdict.passed


def test_a_goal_that_is_missed_refuses_right_results(ask):
    strided = """__global__ void scale(const float* x, float* y, float s, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 37 % 1024;  // right for n <= 1024, and far from coalesced
    if (gridDim.x * blockDim.x < 1024) i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = s * x[i];
}"""
    verdict = ask(strided, "scale")
    assert not verdict.passed and "the goal is not reached" in verdict.why
    assert "Line 4 has the most: " in verdict.why and "In line 4 a warp moves" in verdict.why


def test_a_missed_goal_of_many_bytes_is_written_out(ask):
    one_by_one = """template <int N> __global__ void swiglu_forward(const float* x, float* y, int size, int F) {
    int first = N * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + N && i < size; i++) {
        float gate = x[i / F * 2 * F + i % F];
        y[i] = gate / (1.0f + expf(-gate)) * x[i / F * 2 * F + i % F + F];
    }
}"""
    verdict = ask(one_by_one, "swiglu_forward")
    assert not verdict.passed and "49,152; at most 12,288 is required" in verdict.why, verdict.why


def test_a_kernel_that_does_not_compile_names_the_line(ask):
    verdict = ask("__global__ void scale(const float* x, float* y, float s, int n) {\n    y[0] = 1.0f\n}", "scale")
    assert "scale.cu, line 2" in verdict.why and "semicolon" in verdict.why and verdict.failing.code == "y[0] = 1.0f"


def test_printf_of_a_kernel_is_shown(ask):
    text = piece("scale").solution.replace("y[i] =", 'if (i == 0 && n == 1) printf("hello %d\\n", n);\n        y[i] =')
    verdict = ask(text, "scale")
    assert verdict.passed and "hello 1" in verdict.printed


@pytest.mark.slow
def test_a_kernel_that_never_ends_is_stopped(ask):
    text = "__global__ void scale(const float* x, float* y, float s, int n) {\n    while (n > 0) y[0] = 1.0f;\n}"
    assert "still running" in ask(text, "scale").why


def test_long_work_is_told(judge, monkeypatch):
    monkeypatch.setattr(client, "SLOW", 0.0)
    told = []
    client.judged("repeated_axes", piece("repeated_axes").solution, judge=judge, stage=told.append)
    assert told


def test_the_seconds_of_an_answer_are_its_own(monkeypatch):
    """However long we compute what is expected: only what the answer itself takes is counted."""
    import time

    exercise = catalogue.load("repeated_axes")

    def slow(shape, to):
        time.sleep(0.2)
        return repeated_axes(shape, to)

    from course_lib.tensor.shapes import repeated_axes

    monkeypatch.setattr(catalogue, "load", lambda name: dataclasses.replace(exercise, seconds=1.0, reference=slow))
    assert judging.judge({"name": "repeated_axes", "text": piece("repeated_axes").solution})["passed"]
    busy = "    began = time.process_time()\n    while time.process_time() < began + 0.4: pass\n    return"
    text = "import time\n" + piece("repeated_axes").solution.replace("    return", busy, 1)
    verdict = judging.judge({"name": "repeated_axes", "text": text})
    assert "still running after 1 seconds" in verdict["why"], verdict["why"]


@pytest.mark.slow
def test_where_a_fork_is_not_safe_processes_are_started_ahead():
    """The way of macOS, tried on any system: judge and answer get processes that were loaded before."""
    import json
    import subprocess
    import sys

    code = "from course_lib.coach import sandbox, warm; sandbox.FRESH = True; warm.main()"
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for text, passes in ((piece("repeated_axes").solution, True), ("import os\nos._exit(5)", False)) * 2:
            job = {"name": "repeated_axes", "text": text, "seconds": 30.0, "number": "a7"}
            server.stdin.write(json.dumps(job) + "\n")
            server.stdin.flush()
            message = {"stage": ""}
            while "stage" in message:
                message = json.loads(server.stdout.readline())
            assert message["job"] == "a7" and message["verdict"]["passed"] == passes
            assert passes or "with status 5" in message["verdict"]["why"]
    finally:
        server.stdin.close()
        assert server.wait(60) == 0
        server.stdout.close()


def test_a_result_that_cannot_be_used_is_not_called_a_fault_of_calling(ask):
    assert (
        "The value that your code returns cannot be used"
        in ask("def topological_order(root):\n    return 5", "topological_order").why
    )


def test_a_check_or_a_question_that_cannot_look_at_a_result_blames_nobody_else(monkeypatch):
    exercise = dataclasses.replace(
        catalogue.load("repeated_axes"), compared=False, check=lambda got, shape, to: None if got[0] == 0 else "wrong",
        wrong=[Mistake("never", when=lambda seen: seen.got.shape == 3)],
    )  # fmt: skip
    monkeypatch.setattr(catalogue, "load", lambda name: exercise)
    for text, says in (("return None", "Your code returns nothing"), ("return 7", "Your code returns 7, of type int")):
        verdict = judging.judge({"name": "repeated_axes", "text": HEAD + "    " + text})
        assert says in verdict["why"] and not verdict["recognised"]


def test_inputs_that_changed_are_said_before_a_wrong_result(ask):
    text = "def causal_mask(scores):\n    scores[...] = np.tril(scores, -1)\n    return scores"
    verdict = ask(text, "causal_mask")
    assert verdict.why.startswith("`scores` was changed by your code") and verdict.failing.difference


def test_shapes_that_fit_by_chance_are_explained_by_those_that_do_not(ask):
    """In a square matrix a sum without `keepdims` runs over the wrong axis, and nothing is raised."""
    right = piece("head_attention").solution
    verdict = ask(right.replace("e.sum(axis=-1, keepdims=True)", "e.sum(axis=-1)"), "head_attention")
    assert "`keepdims=True` keeps it" in verdict.why and verdict.why.endswith("Here the shapes fit by chance.")
    assert verdict.failing.label == "two tokens"


def test_a_right_answer_that_is_far_slower_than_ours_is_told_its_time(ask):
    slow = """def strided_copy(x, shape, strides, offset=0):
    result, flat = np.empty(shape, x.dtype), x.reshape(-1)
    for index in np.ndindex(shape):
        result[index] = flat[offset + sum(i * s for i, s in zip(index, strides))]
    return result"""
    verdict = ask(slow, "strided_copy")
    assert verdict.passed and re.search(
        r"Right, and slow: .* takes [\d,]+ ms here, and [\d.]+ ms with ours", verdict.notes[0]
    )
    assert not ask(piece("strided_copy").solution, "strided_copy").notes
    assert not ask(slow, "strided_copy", measure=False).notes, "only where an answer is measured"


def seen_in(*cases):
    """What was seen where (inputs, got, expected) are the cases of an answer."""
    outcomes = [
        Outcome(f"case {i}", (given,), expected, got, difference=compare.difference(got, expected, 0.0))
        for i, (given, got, expected) in enumerate(cases)
    ]
    return Seen("", next(outcome for outcome in outcomes if not outcome.right), outcomes)


def twice(seen):
    return seen.got == 2 * seen.inputs[0]


@pytest.mark.parametrize(
    "cases, proved",
    [
        ([(1, 2, 1), (3, 6, 3)], True),
        ([(1, 2, 1), (3, 6, 3), (5, 5, 5)], True),
        ([(1, 2, 1)], False),
        ([(1, 2, 1), (1, 2, 1)], False),
        ([(1, 2, 1), (3, 6, 3), (5, 11, 5)], False),
        ([(1, 2, 1), (3, None, 3), (5, 10, 5)], False),
    ],
)
def test_what_is_said_of_values_holds_in_all_failing_cases_and_in_two(cases, proved):
    assert diagnosis.proves(Mistake("doubled", when=twice), seen_in(*cases)) == proved


def test_one_case_is_enough_where_the_mistake_says_why_or_looks_at_facts():
    one = seen_in((1, 2, 1))
    assert diagnosis.proves(Mistake("doubled", when=twice, once="a reason"), one)
    assert diagnosis.proves(Mistake("no loop", when=lambda seen: "for" not in seen.text), one)
    assert not diagnosis.proves(Mistake("a label is no fact", when=lambda seen: seen.label == "case 0"), one)


def test_a_case_that_cannot_tell_is_not_asked():
    seen = seen_in((1, 2, 1), (3, 7, 3), (5, 10, 5))
    assert diagnosis.proves(Mistake("doubled", when=lambda seen: None if seen.inputs[0] == 3 else twice(seen)), seen)
    assert diagnosis.proves(Mistake("doubled", when=lambda seen: {1: 2, 5: 10}[seen.inputs[0]] == seen.got), seen)


def test_a_look_alike_is_silent_where_only_the_simulator_complains_first(monkeypatch):
    """What the learner is shown is the smallest failing case: there every number is right."""
    exercise = dataclasses.replace(catalogue.load("scale"), wrong=[Wrong("", "doubled", like=lambda x: 2 * x)])
    seen = seen_in((1, 2, 2), (3, 6, 3))
    assert diagnosis.recognised(exercise, seen) == "doubled"
    issue = Issue("race", "scale.cu", 3, 3, (0, 0, 0), (1, 0, 0), "two threads write the same address")
    seen.outcomes[0].reports = [Report("scale", (1, 1, 1), (32, 1, 1), [issue], [])]
    assert diagnosis.recognised(exercise, Seen("", seen.outcomes[0], seen.outcomes)) == ""


@pytest.mark.slow
def test_an_answer_that_fails_only_while_it_is_measured_is_told_so(ask):
    """A goal runs an answer on more than its cases hold: what it raises there, or its time, is its own fault."""
    right = piece("most_likely_text").solution
    for line, says in (
        ("raise ValueError('eight')", "while your code was measured: your code raised ValueError in line"),
        ("while True: pass", "while your code was measured: your code was still running after 6 seconds"),
    ):
        later = (
            f"    calls.append(1)\n    if len(calls) > 3:  # there are three cases\n        {line}\n    return tokens"
        )
        text = "calls = []\n" + right.replace("    return tokens", later)
        assert text != right
        verdict = ask(text, "most_likely_text")
        assert not verdict.passed and says in verdict.why, verdict.why


def test_warnings_of_our_own_code_are_not_shown(ask):
    text = "import warnings\nwarnings.warn('mine')\n" + piece("repeated_axes").solution
    assert "UserWarning: mine" in ask(text).printed


def test_where_only_the_simulator_complains_right_values_are_not_compared(ask):
    """Outside of an array nothing is written: every number in it is right, and to show it twice would only puzzle."""
    verdict = ask(piece("fill").solution.replace("if (i < n) y[i]", "y[i]"), "fill")
    assert not verdict.passed and any(issue.startswith("out-of-bounds") for issue in verdict.issues)
    assert (verdict.failing.expected, verdict.failing.got, verdict.failing.difference) == ("", "", "")
    wrong = ask(piece("fill").solution.replace("if (i < n) y[i] = value", "y[i] = value + value"), "fill")
    assert wrong.failing.expected and wrong.failing.got


def test_a_constant_of_64_bits_is_noted_where_a_kernel_is_right(ask):
    ours = piece("gelu_backward").solution
    verdict = ask(ours.replace("(1.0f - gate)", "(1.0 - gate)"), "gelu_backward")
    line = next(i for i, row in enumerate(ours.splitlines(), 1) if "(1.0f - gate)" in row)
    assert (
        verdict.passed
        and verdict.notes[0].startswith(f"Line {line}: `1.0` is a double.")
        and "1.0f" in verdict.notes[0]
    )
    assert verdict.notes[0] in verdicts.text(verdict)
    assert not ask(ours, "gelu_backward").notes


@pytest.mark.parametrize(
    "code, found",
    [
        ("y = 0.5 * x;", "0.5"), ("y = x * .5;", ".5"), ("y = 1e-5 + x;", "1e-5"), ("y = 2. * x;", "2."), ("y = 1.5e3;", "1.5e3"),
        ("y = 0.5f * x;", ""), ("y = 1e-5f;", ""), ("y = x[0].y;", ""), ("// 0.5 of it\ny = x;", ""), ("double y = 0.5;", ""),
        ('printf("%.3f 0.5", x);', ""), ("y = 3 * x1;", ""), ("wmma::fill_fragment(c, 0.0f);", ""), ("/* 0.5 */ y = 2.0f;", ""),
    ],
)  # fmt: skip
def test_which_constants_are_doubles(code, found):
    assert (
        (f"`{found}` is a double" in kernel_source.double_literal(code))
        if found
        else kernel_source.double_literal(code) == ""
    )


def test_what_is_kept_between_calls_is_said(ask):
    text = (
        HEAD.replace("to)", "to, found=[])")
        + """    lacks = len(to) - len(shape)
    full = (1,) * lacks + tuple(shape)
    for axis, (a, b) in enumerate(zip(full, to)):
        if axis < lacks or a != b:
            found.append(axis)
    return tuple(found)
"""
    )
    verdict = ask(text)
    assert not verdict.passed and "your code keeps something between calls" in verdict.why, verdicts.text(verdict)


def test_parts_in_each_others_place_are_said():
    from course_lib.coach import heuristics

    def about(got, expected):
        difference = compare.difference(got, expected, 1e-5)
        return heuristics.about(Outcome("", (), expected, got, difference=difference), 1e-5)

    a, b, c = np.arange(3.0), np.arange(4.0), 5.0
    assert "Parts 1 and 3 of the result are right" in about((c, b, a), (a, b, c))
    assert "Parts" not in about((c, a, b), (a, b, c))
    assert "Parts" not in about((a, b, c + 1), (a, b, c))


@pytest.mark.parametrize(
    "name, text, says",
    [
        ("merge", "def merge(word, pair, symbol):\n    return word", "You return the list that was given."),
        ("mean_loss", "def mean_loss(self, loss, size):\n    return sum(loss(*b) for b in self.batches(8))", "self.batches(8)"),
    ],
)  # fmt: skip
def test_what_a_task_forbids_is_the_verdict(ask, name, text, says):
    assert says in ask(text, name).why


def test_one_case_is_right_and_several_are(ask):
    first = catalogue.load("repeated_axes").cases(None)[0].inputs[0]
    verdict = ask(HEAD + f"    return (0,) if shape == {first} else 'no'")
    assert verdict.right_cases == 1 and "1 of 6 cases is right." in verdicts.text(verdict)
