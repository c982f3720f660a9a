"""An answer that takes the place of a kernel of the course takes the same arguments, and really runs there."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import devices
from course_lib.coach import catalogue, client, magic, swapping
from course_lib.cuda import source

NAMES = [name for name in catalogue.names() if catalogue.load(name).target.startswith("kernel:")]
F = np.float32


def solution(name: str) -> str:
    return catalogue.piece(name).solution


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_to_replace_takes_our_arguments(name, tmp_path):
    exercise = catalogue.load(name)
    answer = tmp_path / f"{name}.cu"
    answer.write_text(solution(name))
    ours = source.kernels(source.find(exercise.target.removeprefix("kernel:")))[exercise.defines]
    theirs = source.kernels(source.find(Path(answer)))[exercise.defines]
    assert [kind for kind, _ in theirs.parameters] == [kind for kind, _ in ours.parameters]
    own = [given for given in exercise.instances if given and "<" not in given]  # the others are of kernels beside it
    assert theirs.template == ours.template == bool(own)


# Which op launches the kernel of an exercise, with arrays on which it does.
x, y, row = (np.random.default_rng(i).normal(size=shape).astype(F) for i, shape in enumerate(((6, 8), (6, 8), (8,))))
wide = np.random.default_rng(3).random((2, 17_000), F)  # rows too long for registers
CALLS = {
    "gelu_forward": ("gelu_forward", (x,)),
    "gelu_backward": ("gelu_backward", (y, x)),
    "bias_gelu_forward": ("bias_gelu_forward", (x, row)),
    "bias_gelu_backward": ("bias_gelu_backward", (y, x, row)),
    "swiglu_forward": ("swiglu_forward", (x,)),
    "binary": ("multiply", (x, y)),
    "swiglu_backward": ("swiglu_backward", (y[:, :4].copy(), x)),
    "unary": ("tanh", (x,)),
    "compare": ("less", (x, row)),
    "where": ("where", (x > 0, x, row)),
    "cast": ("cast", (x, "int32")),
    "dropout": ("dropout_forward", (x, 0.25, np.array([5, 6, 7], np.uint32), 2)),
    "argmax": ("argmax", (x, 0)),
    "copy_rows": ("strided_copy", (np.tile(x, 3), (6, 8), (24, 1), 8)),
    "reduce_columns": ("sum", (x, 0)),
    "reduce_rows": ("max", (x, 1)),
    "rmsnorm_forward": ("rmsnorm_forward", (x, row, 1e-5)),
    "rmsnorm_backward": ("rmsnorm_backward", (y, x, row, 1 / np.sqrt((x**2).mean(1) + F(1e-5)))),
    "gemm_bias": ("linear_forward", (x, y, row[:6].copy())),
    "gather": ("gather", (x, np.array([[5, 0, 0], [2, 5, 1]]))),
    "scatter_add_sorted": ("scatter_add", (np.tile(x, (50, 1)), np.arange(300) ** 2 % 7, 7)),
    "softmax_forward": ("softmax_forward", (x,)),
    "softmax_online": ("softmax_forward", (wide,)),
    "softmax_backward_kernel": ("softmax_backward", (wide[::-1].copy(), wide)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_solution_runs_in_the_place_of_our_kernel(name, tmp_path):
    if "simulator" not in devices.available_devices():
        pytest.skip("there is no C++ compiler, so no kernel can be launched")
    table, (op, inputs) = devices.ops("simulator"), CALLS[name]
    answer = tmp_path / f"{name}.cu"
    answer.write_text(solution(name))
    piece = swapping.Swap(catalogue.load(name))
    undo = swapping.install(piece, answer)
    try:
        got = getattr(table, op)(*(table.from_numpy(v) if isinstance(v, np.ndarray) else v for v in inputs))
    finally:
        undo()
    want = getattr(devices.ops("reference"), op)(
        *(v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype == F else v for v in inputs)
    )
    assert piece.calls >= 1
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        np.testing.assert_allclose(table.to_numpy(one), other, rtol=1e-4, atol=1e-5)


# Where a fault is planted: what the lines say that the report of the blank must name.
PLANTED = {"copy_rows": "y[row * x_row + column]", "min_max_scale": "float top = part[0];",
           "unary": "= *(const Pack<T, N>*)(x + i)"}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_the_report_of_a_planted_fault_names_its_line(name):
    if "simulator" not in devices.available_devices():
        pytest.skip("there is no C++ compiler, so no kernel can be judged")
    blank = catalogue.piece(name).blank
    verdict = client.judged(name, blank, measure=False)
    assert not verdict.passed and PLANTED[name] in blank
    assert any(PLANTED[name] in issue for issue in verdict.issues), verdict.issues


def test_a_goal_is_measured_whichever_compiler_counts(compiler):
    """A pack of four floats is one access under both."""
    judge = client.Judge()
    try:
        verdict = client.judged("gelu_forward", solution("gelu_forward"), measure=True, judge=judge)
    finally:
        judge.stop()
    (goal,) = (count for count in verdict.counts if count.at_most is not None)
    assert verdict.passed and not verdict.not_measured, verdict.why
    assert goal.yours <= goal.at_most


def test_a_variable_without_a_value_is_named(compiler):
    answer = solution("centre_and_scale").replace("float squares = 0.0f;", "float squares;")
    judge = client.Judge()
    try:
        verdict = client.judged("centre_and_scale", answer, measure=False, judge=judge)
    finally:
        judge.stop()
    assert not verdict.passed and "'squares' is read before it has a value" in verdict.why, verdict.why
    assert any("float squares;" in issue for issue in verdict.issues), verdict.issues


def test_a_template_is_defined_in_the_notebook_in_its_first_instance():
    shell = SimpleNamespace(user_ns={})
    magic.define(shell, "gelu_forward", solution("gelu_forward"))
    assert repr(shell.user_ns["gelu_forward"]).endswith("'gelu_forward<4>')")
