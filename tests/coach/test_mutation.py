"""The small faults that are put into solutions: where, which, and that each is one that a learner could have made."""

import ast
from types import SimpleNamespace

import pytest

from course_lib.coach import catalogue, client, mutation, verify
from course_lib.coach.regions import Piece

from .conftest import piece

NAMES = catalogue.names()


def changes(text: str, language: str, blank: str = "", goals=()) -> list[str]:
    """The changes of a text that is all the learner's, but for the lines of `blank`."""
    exercise = SimpleNamespace(language=language, goals=goals)
    return [mutant.change for mutant in mutation.mutants(exercise, Piece(text, blank, planted=False))]


def python(text: str) -> list[str]:
    return changes(text, "python")


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_changes_one_line_of_the_learner(name):
    own = piece(name)
    solution, given = own.solution.splitlines(), own.blank.splitlines()
    found = verify.mutants_of(name)
    for mutant in found:
        if mutant.kind == mutation.ONE_THREAD:
            continue
        line = solution[mutant.line - 1]
        assert own.planted or solution.count(line) > given.count(line), f"{line!r} is given"
        after = mutant.text.splitlines()
        rest = len(solution) - mutant.line
        assert after[: mutant.line - 1] == solution[: mutant.line - 1]
        assert mutant.kind == "argument" or after[len(after) - rest :] == solution[mutant.line :]
    texts = [own.solution, *(mutant.text for mutant in found)]
    assert len(set(texts)) == len(texts), "two mutants are the same, or one is the solution"


@pytest.mark.parametrize("name", [name for name in NAMES if catalogue.load(name).language == "python"])
def test_a_mutant_in_python_parses(name):
    for mutant in verify.mutants_of(name):
        ast.parse(mutant.text)


def test_the_mutants_of_a_kernel():
    assert {mutant.change for mutant in verify.mutants_of("scale")} == {
        "one thread does the work of all",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; -> int i = blockIdx.y * blockDim.x + threadIdx.x;",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; -> int i = blockIdx.x + blockDim.x + threadIdx.x;",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; -> int i = blockIdx.x * blockDim.y + threadIdx.x;",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; -> int i = blockIdx.x * blockDim.x - threadIdx.x;",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; -> int i = blockIdx.x * blockDim.x + threadIdx.y;",
        "if (i < n) { -> if (true) {",
        "if (i < n) { -> if (i <= n) {",
        "y[i] = s * x[i]; -> ;",
        "y[i] = s * x[i]; -> y[i] = s + x[i];",
    }


def test_the_mutants_of_a_shader():
    assert {mutant.change for mutant in verify.mutants_of("scale_wgsl")} == {
        "let i = id.x; -> let i = id.y;",
        "if (i < args.n) { -> if (true) {",
        "if (i < args.n) { -> if (i <= args.n) {",
        "y[i] = args.s * x[i]; -> ;",
        "y[i] = args.s * x[i]; -> y[i] = args.s + x[i];",
    }


def test_the_launch_that_one_thread_does_passes_the_cases_and_misses_the_goal(judge):
    mutant = next(mutant for mutant in verify.mutants_of("scale") if mutant.kind == mutation.ONE_THREAD)
    verdict = client.judged("scale", mutant.text, measure=False, judge=judge)
    assert not verdict.passed and verdict.failing is None


def test_a_barrier_is_taken_away():
    kernel = "__global__ void k(float* x) {\n    __syncthreads();\n    x[threadIdx.x] = -INFINITY;\n}\n"
    assert changes(kernel, "cuda") == [
        "__syncthreads(); -> ;",
        "x[threadIdx.x] = -INFINITY; -> ;",
        "x[threadIdx.x] = -INFINITY; -> x[threadIdx.y] = -INFINITY;",
        "x[threadIdx.x] = -INFINITY; -> x[threadIdx.x] = 0.0f;",
    ]


def test_t_is_a_type_in_a_template_and_a_length_elsewhere():
    body = "__global__ void k(int* y, int T) {\n    y[0] = T;\n}\n"
    assert not any("float" in change for change in changes(body, "cuda"))
    of_type = "template <class T> __global__ void k(int* y) {\n    y[0] = T(1);\n}\n"
    assert "y[0] = T(1); -> y[0] = float(1);" in changes(of_type, "cuda")


def test_an_array_becomes_shorter_and_other_numbers_larger():
    kernel = "__global__ void k(float* x) {\n    __shared__ float a[8], b[32][33];\n    x[2] = a[3];\n}\n"
    assert {change for change in changes(kernel, "cuda") if not change.endswith("-> ;")} == {
        "__shared__ float a[8], b[32][33]; -> __shared__ float a[7], b[32][33];",
        "__shared__ float a[8], b[32][33]; -> __shared__ float a[8], b[31][33];",
        "__shared__ float a[8], b[32][33]; -> __shared__ float a[8], b[32][32];",
        "x[2] = a[3]; -> x[3] = a[3];",
        "x[2] = a[3]; -> x[2] = a[4];",
    }
    shader = "var<workgroup> tree: array<f32, 128>;\n"
    assert changes(shader, "wgsl") == ["var<workgroup> tree: array<f32, 128>; -> var<workgroup> tree: array<f32, 127>;"]


@pytest.mark.parametrize(
    "line, among",
    [
        ("y = x.sum(axis=1, keepdims=True)", "y = x.sum(axis=1)"),
        ("y = x.sum(axis=1, keepdims=True)", "y = x.sum(axis=None, keepdims=True)"),
        ("y = x.astype(np.float64)", "y = x.astype(np.float32)"),
        ("y = x.copy()", "y = x"),
        ("y = [i for i in range(n)]", "y = [i for i in range(n - 1)]"),
        ("y = 1 if a and b else 2", "y = 1 if a or b else 2"),
        ("y = 1 if a and b else 2", "y = 1 if True else 2"),
        ("x[0] += 3", "x[0] -= 3"),
        ("y = -np.inf", "y = 0.0"),
        ("y = 0.5", "y = 1.0"),
    ],
)
def test_a_fault_in_python(line, among):
    assert f"{line} -> {among}" in python(line)


def test_what_no_result_depends_on_is_left_alone():
    assert changes('static_assert(TILE <= 32, "a block");\n', "cuda") == []
    assert python("pairs = zip(a, b, strict=True)") == []
    assert python("def f(x: int | None = None) -> list[float] | None:\n    return x") == []


def test_a_line_that_is_given_is_left_alone():
    assert changes("y = x + 1\nz = y * 2", "python", blank="y = x + 1\n...") == [
        "z = y * 2 -> z = y + 2",
        "z = y * 2 -> z = y * 3",
    ]
