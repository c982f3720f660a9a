"""Exercises in WGSL: judged on whatever adapter there is, and put in the place of our kernels on the device webgpu."""

import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import devices, paths
from course_lib.coach import answering, catalogue, client, judge, magic, regions, state, swapping, verify, versions
from course_lib.coach import verdict as verdicts
from course_lib.coach.sandboxed import Done
from course_lib.coach.verdict import Verdict
from course_lib.devices.webgpu import adapter, source
from course_lib.wgsl import Shader

from .conftest import piece

here = pytest.mark.skipif(bool(adapter.problem()), reason=f"no WGSL can be judged here: {adapter.problem()}")
NAMES = [name for name in catalogue.names() if catalogue.load(name).language == "wgsl"]
REPLACING = [name for name in NAMES if catalogue.load(name).target]


@pytest.fixture(scope="module")
def ask():
    one = client.Judge()
    yield lambda text, name="bias_gelu_wgsl", **more: client.judged(name, text, judge=one, **more)
    one.stop()


def changed(name: str, old: str, new: str) -> str:
    text = piece(name).solution
    assert text.count(old) == 1
    return text.replace(old, new)


@here
def test_a_right_answer_passes_and_is_counted(ask):
    verdict = ask(piece("gemm_inner_loop").solution, "gemm_inner_loop")
    assert verdict.passed and verdict.judged and verdict.measured == "one tile", verdict.why
    counts = {count.name: (count.yours, count.ours) for count in verdict.counts}
    assert counts["elements read from workgroup memory"] == (2 * 256 * 32, 2 * 256 * 32)
    assert re.search(r"line +space", verdict.report)


@here
def test_what_mesa_compiled_is_kept_for_the_next_verdict(ask):
    if "llvmpipe" not in adapter.adapter_name():
        pytest.skip("another driver than Mesa's in software keeps what it compiles elsewhere")
    began = time.time()
    assert not ask(
        changed("bias_gelu_wgsl", "y[i] = ", f"y[i] = {began:.3f} * ")
    ).passed  # a text that nobody compiled before
    kept = paths.cache("shaders") / "mesa_shader_cache"  # all but caches is closed to the process of an answer
    assert any(path.stat().st_mtime >= began - 1 for path in kept.rglob("*") if path.is_file())


@here
def test_a_wrong_number_shows_the_smallest_case(ask):
    verdict = ask(changed("bias_gelu_wgsl", "x[i] + bias[i % args.F]", "x[i] - bias[i % args.F]"))
    assert not verdict.passed and verdict.failing.label == "one number" and "expected" in verdicts.text(verdict)


@here
def test_a_compile_error_is_a_sentence_with_the_learners_line(ask):
    text = changed(
        "bias_gelu_wgsl", "let i = element_index(group, groups, lane);", "let i = element_index(group, groups, lane)"
    )
    verdict = ask(text)
    line = text[: text.index("let i")].count("\n") + 1
    assert not verdict.loaded and verdict.failing.line == line and "bias_gelu_wgsl.wgsl, line" in verdict.why
    assert "A `;` is missing" in verdict.why and verdict.failing.code.startswith("let i = element_index")


@here
def test_workgroup_memory_that_not_every_adapter_has_is_refused(ask):
    text = piece("matmul_wgsl").solution
    head, rest = text.split("@compute")
    for more, words in (("array<f32, 4096>", "bytes. Every adapter has 16,384"), ("array<vec4<f32>, 2>", "")):
        verdict = ask(f"{head}var<workgroup> more: {more};\n@compute{rest}", "matmul_wgsl")
        assert verdict.passed == (not words) and words in verdict.why


@here
def test_a_race_is_found_where_the_numbers_may_be_right(ask):
    text = piece("workgroup_sum").solution.replace("    workgroupBarrier();\n    let total", "    let total")
    verdict = ask(text, "workgroup_sum")
    assert not verdict.passed and verdict.issues[0].startswith("race: workgroup_sum.wgsl, line")


@here
def test_the_planted_fault_is_named_and_its_blank_is_not_kept():
    verdict = answering.answer("workgroup_sum", piece("workgroup_sum").blank)
    assert verdict.blank and "is in an `if` that only some enter" in verdict.why
    assert not state.answer_file("workgroup_sum").exists()


@here
@pytest.mark.slow
def test_a_loop_without_end_is_a_verdict(ask):
    verdict = ask(changed("bias_gelu_wgsl", "    if (i < args.n) {", "    while (i < args.n) {"))
    assert not verdict.passed and "a loop that never ends" in verdict.why


@here
def test_names_of_bindings_and_numbers_are_kept(ask):
    verdict = ask(piece("bias_gelu_wgsl").solution.replace("bias:", "b:").replace("bias[", "b["))
    assert "no storage buffer of that name: keep its binding" in verdict.why
    verdict = ask(changed("bias_gelu_wgsl", "    F: u32,\n", ""))
    assert not verdict.passed
    verdict = ask(changed("bias_gelu_wgsl", "fn bias_gelu_forward", "fn bias_gelu"))
    assert "no entry point named bias_gelu_forward" in verdict.why


@pytest.mark.skipif(
    not os.path.exists("/proc/self/task"), reason="threads are counted in /proc, which this system has not"
)
def test_what_is_loaded_ahead_starts_no_thread():
    """A process with threads must not be copied by fork."""
    code = (
        "import os; from course_lib.coach import warm; warm.preload(); warm.rehearse('scale_wgsl'); "
        "print(len(os.listdir('/proc/self/task')))"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert found.stdout.split()[-1] == "1"


def test_two_runs_must_agree():
    """A kernel whose second plain run differs in one bit is refused, though both are near enough."""
    drift = iter([0.0, 0.0, 1e-6])
    exercise = SimpleNamespace(is_kernel=True, compared=True, check=None, tolerance=1e-3, results=(), call=None)
    sandbox = SimpleNamespace(runs=(0, 1, 2), call=lambda inputs, seed: Done(result=np.ones(3) + next(drift)))
    outcome = judge._try(exercise, sandbox, SimpleNamespace(label="", inputs=()), (np.ones(3), ()))
    assert "Two runs on the same inputs" in outcome.complaint


def test_without_an_adapter_nothing_is_judged(monkeypatch):
    monkeypatch.setattr(adapter, "problem", lambda: "No graphics driver of this machine offers a WebGPU adapter.")
    found = judge.judge({"name": "bias_gelu_wgsl", "text": "what it may be"})
    assert found["judged"] is False and not found["passed"] and "mesa-vulkan-drivers" in found["why"]
    monkeypatch.setattr(client, "judged", lambda *_, **__: Verdict(**{k: v for k, v in found.items() if k != "trial"}))
    for text, word in ((piece("bias_gelu_wgsl").solution, "Not judged"), (piece("bias_gelu_wgsl").blank, "Blank")):
        verdict = answering.answer("bias_gelu_wgsl", text)
        assert verdict.word == word and "not judged here, neither right nor wrong" in verdicts.text(verdict)
    assert state.answer_file("bias_gelu_wgsl").exists() and state.tries("bias_gelu_wgsl") == []


def test_without_an_adapter_verify_says_what_it_has_not_proved(monkeypatch, capsys):
    monkeypatch.setattr(adapter, "problem", lambda: "The package wgpu is not installed: pip install it")
    assert verify.run(["bias_gelu_wgsl"]) == 0
    said = capsys.readouterr().out
    assert "1 exercises in WGSL were not tried" in said and "0 solutions" in said


def test_tries_in_wgsl_are_kept_and_found():
    state.save("bias_gelu_wgsl", "first", Verdict("bias_gelu_wgsl", "", "wgsl", False))
    state.save("bias_gelu_wgsl", "second", Verdict("bias_gelu_wgsl", "", "wgsl", True))
    assert [one.path.name for one in state.tries("bias_gelu_wgsl")] == ["0001-not-yet.wgsl", "0002-passed.wgsl"]
    assert state.passing("bias_gelu_wgsl").text == "second\n"


def test_an_answer_is_defined_in_the_notebook_too():
    shell = SimpleNamespace(user_ns={})
    magic.define(shell, "bias_gelu_wgsl", piece("bias_gelu_wgsl").solution)
    assert isinstance(shell.user_ns["bias_gelu_forward"], Shader)


@here
@pytest.mark.slow
def test_a_challenge_has_versions_by_their_bytes():
    for text in (verify.variants("matmul_wgsl")[0], piece("matmul_wgsl").solution):
        assert answering.answer("matmul_wgsl", text).passed
    steps = list(versions.moved_bytes("matmul_wgsl").values())
    assert steps[1] == 192512 and steps[0] > 20 * steps[1]
    assert f"need {int(steps[1]):,} bytes" in catalogue.source("18").read_text(encoding="utf-8")


# In the place of ours


@pytest.mark.parametrize("name", REPLACING)
def test_a_shader_to_replace_takes_our_arguments(name, tmp_path):
    exercise = catalogue.load(name)
    file = tmp_path / f"{name}.wgsl"
    file.write_text(piece(name).solution)
    constants = (("T", "f32"),)
    ours, theirs = source.read(exercise.target.removeprefix("wgsl:"), constants), source.read(file, constants)
    for buffer, (_, written) in theirs.buffers.items():
        assert ours.buffers[buffer][1] == written
    assert set(theirs.structs) <= set(ours.structs) and len(theirs.structs) == 1


x, row = np.random.default_rng(0).normal(size=(2, 6, 8)).astype(np.float32), np.arange(8, dtype=np.float32)
CALLS = {
    "bias_gelu_wgsl": ("bias_gelu_forward", (x[0], row)),
    "bias_gelu_backward_wgsl": ("bias_gelu_backward", (x[0], x[1], row)),
    "softmax_wgsl": ("softmax_forward", (x[0],)),
    "gemm_inner_loop": ("matmul", (x[0], x[1].T.copy())),
    "workgroup_sum": ("global_norm", ([x[0], x[1]],)),
}


def test_every_replacement_is_tried():
    assert set(CALLS) == set(REPLACING)


@here
@pytest.mark.parametrize("name", CALLS)
def test_a_solution_runs_in_the_place_of_our_shader(name, tmp_path):
    table, (op, inputs) = devices.ops("webgpu"), CALLS[name]

    def there(value):
        if isinstance(value, list):
            return [there(one) for one in value]
        return table.from_numpy(value) if isinstance(value, np.ndarray) else value

    file = tmp_path / f"{name}.wgsl"
    file.write_text(piece(name).solution)
    one = swapping.Swap(catalogue.load(name))
    undo = swapping.install(one, file)
    try:
        got = getattr(table, op)(*map(there, inputs))
    finally:
        undo()
    wide = [
        [v.astype(np.float64) for v in value] if isinstance(value, list) else value.astype(np.float64)
        for value in inputs
    ]
    want = getattr(devices.ops("reference"), op)(*wide)
    assert one.calls >= 1 and not one.why
    for mine_, theirs in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        np.testing.assert_allclose(table.to_numpy(mine_), theirs, rtol=1e-4, atol=1e-4)


@here
@pytest.mark.slow
def test_training_on_webgpu_runs_the_learners_shaders():
    for name in REPLACING:
        state.save(name, piece(name).solution, Verdict(name, "", "wgsl", True))
    ours = swapping.use(preset="micro", steps=0, device="cpu")
    assert ours.swapped == [] and "in WGSL" not in str(ours)  # they are for the device webgpu alone
    swaps = swapping.use(preset="micro", steps=1, device="webgpu")
    try:
        called = {one.exercise.name for one in swaps.swapped if one.calls_per_step}
        assert called >= {"bias_gelu_wgsl", "bias_gelu_backward_wgsl", "gemm_inner_loop", "workgroup_sum"}
        assert swaps.yours == len(REPLACING) and not any(one.why for one in swaps.swapped)
        assert "bias_gelu_forward in bias_gelu.wgsl" in str(swaps) and "steps of micro will take about" in str(swaps)
    finally:
        swapping.remove()


def test_course_train_puts_answers_in_place_where_it_is_asked_to(monkeypatch):
    from typer.testing import CliRunner

    from course_lib import cli, training

    used = []
    monkeypatch.setattr(swapping, "use", lambda **choices: used.append(choices) or "0 of 9 operations are yours.")
    monkeypatch.setattr(training, "train", lambda *_, **__: SimpleNamespace(stopped=0))
    for line, said in (
        (["train", "--device", "cpu"], ""),
        (["train", "--device", "cpu", "--mine"], "0 of 9 operations are yours.\n"),
    ):
        found = CliRunner().invoke(cli.app, line)
        assert found.exit_code == 0 and found.stdout == said
    assert used == [{"steps": 0, "device": "cpu"}]


def test_a_piece_of_wgsl_is_taken_from_its_file(tmp_path):
    file = regions.ROOT / "kernels" / "softmax.wgsl"
    assert regions.included(file, "args") == "@group(0) @binding(0) var<uniform> args: Args;"
    assert regions.included(file, "Args").startswith("struct Args {") and regions.included(file, "Args").endswith("}")
    forward = regions.included(file, "softmax_forward")
    assert forward.startswith("@compute @workgroup_size(THREADS)\nfn softmax_forward(") and forward.endswith("}")
    assert (
        regions.included(regions.ROOT / "kernels/include/reduce.wgsl", "tree")
        == "var<workgroup> tree: array<f32, THREADS>;"
    )


def test_what_a_blank_function_gives_back_is_a_value_of_its_type():
    blank = piece("softmax_wgsl").blank
    assert "return f32();  // until you write it" in blank and blank.count("// Your part:") == 2
