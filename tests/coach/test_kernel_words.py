"""What a learner's kernel is told: other parameters than the task's, parts that nobody wrote, threads that all do the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import cuda
from course_lib.coach import (
    catalogue,
    client,
    diagnosis,
    heuristics,
    kernel_slips,
    kernel_source,
    kernels,
    messages,
    pictures,
    verify,
)
from course_lib.coach import verdict as verdicts
from course_lib.coach.outcome import Outcome
from course_lib.cuda.report import Issue, Line, Report

from .conftest import piece

CUDA = [name for name in catalogue.names() if catalogue.load(name).language == "cuda"]


@pytest.mark.parametrize(
    "parameters, says",
    [
        ("float* y, const float* x, float s, int n", "your `y` gets the argument of `x`"),
        ("const float* x, float* y, int n, float s", "your `n` gets the argument of `s`"),
        ("const float* x, float* y, int n", "Your kernel has 3 parameters; the task's has 4."),
        ("const float* x, float* y, int s, int n", "The parameter `s` of your kernel is of another type"),
        ("const int* x, float* y, float s, int n", "The parameter `x` of your kernel is of another type"),
        ("const float* x, const float* y, float s, int n", "declares `y` const, so it can only read it"),
        ("const float* from, float* to, float factor, int length", ""),
        ("float* x, float* y, float s, int n", ""),
        ("const float* __restrict__ x, float *__restrict__ y, const double s, unsigned int n", ""),
        ("float const *x, float *y, float s, size_t n", ""),
    ],
)
def test_other_parameters_than_the_task_has_are_said_first(parameters, says):
    text = f"__global__ void scale({parameters}) {{\n}}\n"
    said = kernel_source.other_parameters(catalogue.load("scale"), text)
    assert says in said if says else said == ""
    if said:
        assert f"`({parameters})`" in said and "`(const float* x, float* y, float s, int n)`" in said


@pytest.mark.parametrize("name", CUDA)
def test_nothing_is_said_of_a_right_answer(name):
    """Nor of the parameters of a blank."""
    exercise, solution = catalogue.load(name), catalogue.piece(name).solution
    assert kernel_source.double_literal(solution) == ""
    for trial in verify.proofs(name):
        if trial.kind != "wrong":
            assert kernel_source.other_parameters(exercise, trial.text) == "", trial.text
        if trial.kind in ("solution", "right"):
            assert kernel_source.slip(trial.text) == kernel_slips.says(trial.text, exercise.defines, solution) == "", (
                trial.text
            )


@pytest.mark.parametrize(
    "line, says",
    [
        ("y[i, j] = x[i * N + j];", "Line 2: `y[i, j]` is `y[j]` in C++"),
        ("y[i] = x[row[i], min(i, j)];", "`x[row[i], min(i, j)]` is `x[min(i, j)]`"),
        ("y[min(i, j)] = Pair<2, 3>{1, 2}.first;", ""),
        ("float r[2] = {1, 2}; auto f = [i, j](int k) { return k; };", ""),
        ("if (i = N) return;", "`if (i = N)` sets `i`"),
        ("while (i < N && (j = 0)) {}", "sets `j`"),
        ("if (i == N || j <= 2 || i != j) return;", ""),
        ("if (const float* p = find(x)) y[0] = *p;", ""),
        ("y[i] = 1 / 10 * x[i];", "`1 / 10` is 0"),
        ("y[i] = 31 / 10 * x[i] + 1.0f / 10 + (i + 1) / 10 + 0 / 2;", ""),
    ],
)
def test_a_slip_of_the_pen_is_named(line, says):
    said = kernel_source.slip(f"__global__ void k(const float* x, float* y, int i, int j, int N) {{\n    {line}\n}}\n")
    assert says in said if says else said == ""


def test_a_slip_is_said_before_what_came_of_it(judge):
    text = piece("add_bias").solution
    for old, new, says in (("y[i * N + j]", "y[i, j]", "a comma keeps only"), ("j < N", "(j = N)", "one `=` assigns")):
        assert says in client.judged("add_bias", text.replace(old, new), judge=judge).why


@pytest.mark.parametrize(
    "shape, written, says",
    [
        ((7,), np.s_[:4], "elements 4 to 6: they are still nan."),
        ((7,), np.s_[1:], "element 0: it is still nan."),
        ((7,), np.s_[::2], "elements 1, 3, 5: they"),
        ((4, 5), np.s_[:2], "rows 2 to 3:"),
        ((4, 5), np.s_[:, :4], "column 4: it is still nan."),
        ((80,), np.s_[:70], "elements 70 to 79: they are still nan."),  # some of 64 threads loop over several
        ((4, 5), np.s_[:3, :2], "row 3 and columns 2 to 4:"),
        ((4, 5), (np.arange(4), np.arange(4)), "16 of 20 elements; the first of them is (0, 1):"),
        ((4, 5), np.s_[:0], "any element of the result: they"),
        ((2, 2, 3), np.s_[0], "the last 6 elements, from (1, 0, 0) on:"),
        ((300,), np.s_[:64], "elements 64 to 299: they are still nan. 64 threads (2 x 32) have 300 elements to write"),
    ],
)
def test_the_part_that_nobody_wrote_is_named(shape, written, says):
    y = cuda.empty(shape)
    y[written] = 1.0
    launched = [Report("scale", (2, 1, 1), (32, 1, 1), [], [])]
    said = heuristics._unwritten(y, Outcome("", (), reports=launched))
    assert f"Your kernel never wrote {says}" in said and ("loop over" in said) == ("64 threads" in says)
    assert heuristics._unwritten(y, Outcome("", ())) == "", "nothing was launched"
    y[...] = np.nan
    assert heuristics._unwritten(y, Outcome("", (), reports=launched)) == "", "a nan that was computed"


ACROSS = "in different blocks"


@pytest.mark.parametrize(
    "body, grid, block, where, says",
    [
        ("for (int i = 0; i < n; i++) y[i] = 1;", (2, 1, 1), (32, 1, 1), ACROSS, "uses neither threadIdx nor blockIdx"),
        ("y[threadIdx.x] = 1;", (2, 1, 1), (32, 1, 1), ACROSS, "all 2 blocks do the same work"),
        ("y[blockIdx.x] = 1;", (2, 1, 1), (32, 1, 1), "", "all 32 threads of a block do the same work"),
        ("y[blockIdx.x * 8 + threadIdx.x] = 1;", (1, 1, 1), (8, 4, 1), "", "8 x 4 threads. Your kernel never"),
        ("y[blockIdx.x + threadIdx.x + threadIdx.y] = 1;", (3, 2, 1), (8, 4, 1), ACROSS, "the grid has 3 x 2 blocks"),
        ("y[(blockIdx.x * 8 + threadIdx.x) / 2] = 1;", (1, 1, 1), (8, 1, 1), "", ""),
        ("dim3 t = threadIdx; y[t.x] = 1;", (2, 1, 1), (32, 1, 1), ACROSS, ""),
        ("y[threadIdx.x] = 1; // blockIdx.x", (2, 1, 1), (32, 1, 1), ACROSS, "never uses blockIdx.x"),
    ],
)  # fmt: skip
def test_threads_that_all_do_the_same_are_told_so(body, grid, block, where, says):
    issue = SimpleNamespace(kind="race", file="f.cu", line=2, message=f"two threads write the same address, {where}")
    seen = SimpleNamespace(text=f"__global__ void f(float* y, int n) {{\n    {body}\n}}",
                           reports=[Report("f", grid, block, [issue], [])])  # fmt: skip
    said = messages.of_issue(issue, seen)
    assert says in said if says else said.startswith("Two threads access the same address")


FORWARD = """__global__ void f(const float* x, float* y, int n) {
    float v = x[threadIdx.x];
    if (threadIdx.x < 3) v = block_max<32>(v);
    y[threadIdx.x] = v;
}
"""


def test_what_happens_in_a_header_is_told_at_the_line_that_calls_it():
    issue = SimpleNamespace(kind="missing-lanes", file="reduce.cuh", line=18, message="lanes are missing")
    seen = SimpleNamespace(text=FORWARD, reports=[])
    assert "line 3, through reduce.cuh, line 18: lanes are missing" in messages.of_issue(issue, seen)
    seen.text = FORWARD.replace("block_max", "my_max")
    assert "mask: reduce.cuh, line 18: lanes are missing" in messages.of_issue(issue, seen), "nobody knows which line"


def test_an_access_in_a_header_is_one_of_the_line_that_calls_it(judge):
    text = piece("softmax_forward").solution
    call = next(i for i, line in enumerate(text.splitlines(), 1) if "own.store(y" in line)
    verdict = client.judged("softmax_forward", text.replace("own.store(y", "own.store(y + 4"), judge=judge)
    assert f"out of bounds: line {call}: a write" in verdict.why and "(in row.cuh, line" in verdict.why
    assert f"softmax_forward.cu, line {call}:" in verdict.issues[0] and "own.store(y + 4" in verdict.issues[0]


def test_what_several_launches_show_alike_is_told_once_and_the_learners_lines_first():
    def report(*places):
        issues = [Issue("race", file, line, other, (0, 0, 0), None, "") for file, line, other in places]
        return Report("f", (1, 1, 1), (32, 1, 1), issues, [])

    seen = Outcome("", (), reports=[report(("a.cuh", 3, 3), ("f.cu", 5, 6)), report(("f.cu", 6, 5), ("f.cu", 5, 5))])
    assert [(issue.file, issue.line, issue.other_line) for issue in seen.issues] == [
        ("f.cu", 5, 6), ("f.cu", 5, 5), ("a.cuh", 3, 3)
    ]  # fmt: skip


def test_parts_of_a_result_have_their_names():
    said = diagnosis.labelled((np.eye(2), None), ("dx", "dbias"))
    assert said == "dx: [[1. 0.]\n     [0. 1.]]  shape (2, 2)\ndbias: None"
    assert diagnosis.labelled((1, 2), ()) == "(1, 2)" and diagnosis.labelled(None, ("dx",)) == "None"


def test_inputs_of_every_kernel_have_their_names():
    unnamed = []
    for name in catalogue.names():
        exercise = catalogue.load(name)
        inputs = next(iter(exercise.cases(np.random.default_rng(0)))).inputs
        if exercise.is_kernel and len(diagnosis.inputs_of(exercise, len(inputs))) != len(inputs):
            unnamed.append(name)
    assert unnamed == []
    assert diagnosis.inputs_of(catalogue.load("gather_rows"), 2) == ("table", "rows")


def test_a_verdict_speaks_of_inputs_by_their_names_and_breaks_no_word(judge):
    text = "__global__ void scale(const float* x, float* y, float s, int n) {\n    y[threadIdx.x] = 1.0f;\n}"
    verdict = client.judged("scale", text, judge=judge)
    assert "\n  s         2.5\n" in verdicts.text(verdict) and "input 1" not in verdicts.text(verdict)
    html = pictures.html(verdict)
    assert ">s</th>" in html and "input 1" not in html
    assert "<caption" not in html, "a caption is no wider than its table"
    assert html.count("<pre") == html.count("word-break:normal") > 0, "JupyterLab breaks every <pre> inside words"


@pytest.mark.parametrize("name", CUDA)
def test_a_number_that_went_through_an_int_is_seen(name):
    """Of every array of floats that a kernel is given some case has numbers that are not whole."""
    fractions: dict[int, bool] = {}
    for case in catalogue.load(name).cases(np.random.default_rng(20)):
        for place, value in enumerate(case.inputs):
            arrays = value if isinstance(value, list) else [value]
            for array in arrays:
                if isinstance(array, np.ndarray) and array.dtype.kind == "f":
                    finite = array[np.isfinite(array)]
                    fractions[place] = fractions.get(place, False) or bool((finite != np.trunc(finite)).any())
    named = diagnosis.inputs_of(catalogue.load(name), 1 + max(fractions, default=-1))
    assert all(fractions.values()), [named[place] for place, found in fractions.items() if not found]


@pytest.mark.parametrize(
    "goal, says",
    [
        ("bytes of global memory moved", "Line 4 has the most: 6,144 bytes."),
        ("instructions that read global memory", "Line 5 has the most: 40 instructions."),
        ("requests that read global memory", "Line 5 has the most: 40 requests."),
        ("instructions that write global memory", "Line 4 has the most: 16 instructions."),
        ("sectors for each request, reading global memory", "Line 4 has the most: 8 for each request."),
        ("wavefronts for each request to shared memory", "tile.cuh, line 9, has the most: 3 for each request."),
        ("registers", ""),
    ],
)
def test_a_goal_that_is_missed_names_the_line_that_costs_most(goal, says):
    lines = [
        Line("scale.cu", 4, "global", "read", 8, 8, 2, 32, 1024, 2048),
        Line("scale.cu", 4, "global", "write", 16, 4, 1, 32, 2048, 4096),
        Line("scale.cu", 5, "global", "read", 20, 4, 1, 32, 2560, 2560),
        Line("tile.cuh", 9, "shared", "read", 99, 0, 3, 32, 9999, 0),
    ]
    launches = [Report("scale", (2, 1, 1), (32, 1, 1), [], given) for given in (lines, lines[2:3])]
    assert kernels.costliest(launches, goal).strip() == says
