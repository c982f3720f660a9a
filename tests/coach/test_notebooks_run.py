"""The exercise notebooks run from top to bottom in a fresh kernel, blank and solved, with nothing loaded by hand; of the
lectures only the cells of their exercises, for the others are nbval's."""

import os
from pathlib import Path

import nbformat
import pytest

from course_lib import build, environment
from course_lib.coach import builder, catalogue, state
from course_lib.devices.webgpu import adapter

from .conftest import piece

SOURCES = sorted(catalogue.SOLUTIONS.glob("*.py"))


@pytest.fixture(scope="module", autouse=True)
def taught(tmp_path_factory):
    """What the set-up writes into an environment, in a folder of the test's own: the environment may be of an older set-up."""
    folder = tmp_path_factory.mktemp("environment")
    environment.teach_ipython(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "home"))
        (folder / "home/profile_default").mkdir(parents=True)
        written = folder / "etc/ipython/ipython_config.py"
        written.rename(folder / "home/profile_default/ipython_config.py")
        yield


def _in_wgsl(cell) -> bool:
    found = build.exercise_of(cell)
    return bool(found) and catalogue.load(found[0]).language == "wgsl"


def run(notebook, folder: Path):
    from nbclient import NotebookClient

    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    said = {}
    for cell in notebook.cells:
        if found := build.exercise_of(cell):
            texts = [output.data["text/plain"] for output in cell.outputs if "data" in output]
            said[found[0]] = next(text for text in texts if text.partition(":")[0] in ("Passed", "Not yet", "Blank"))
    return said


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_blank_notebook_stops_nowhere_and_keeps_nothing(source, mine):
    """The blanks of the lecture first, as they stand there, in a kernel that has run nothing yet."""
    blank = nbformat.read(builder.EXERCISES / source.with_suffix(".ipynb").name, as_version=4)
    lecture = nbformat.read(builder.LECTURES / source.with_suffix(".ipynb").name, as_version=4)
    blank.cells = list(filter(build.exercise_of, lecture.cells)) + blank.cells
    said = run(blank, builder.EXERCISES)
    assert sorted(said) == sorted(catalogue.names(source.stem.split("_")[0]))
    assert all(text.startswith("Blank: ") for text in said.values()), said
    assert not (mine / "answers").exists()


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_solved_notebook_passes(source):
    notebook = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    if problem := adapter.problem():  # test_verify skips those in WGSL with this sentence
        notebook.cells = [cell for cell in notebook.cells if not _in_wgsl(cell)]
        if not any(map(build.exercise_of, notebook.cells)):
            pytest.skip(f"no WGSL can be judged here: {problem}")
    said = run(notebook, source.parent)
    assert said and all(text.startswith("Passed: ") for text in said.values()), said
    assert all(state.passing(name) for name in said)


@pytest.mark.slow
def test_an_answer_is_defined_in_the_notebook_too_and_other_cells_are_named(tmp_path):
    cells = [
        "helper = 1\nfrom course_lib import course",
        "%%exercise repeated_axes\ndef repeated_axes(shape, to):\n    return (helper,)",
        "%%exercise backward_pass\nprint('top')\ndef backward_pass(tape, last):\n    return {last: 1.0}",
        "assert backward_pass([], 'L') == {'L': 1.0}\nassert repeated_axes((1,), (1,)) == (1,)",
        "%%exercise scale\n__global__ void scale(const float* x, float* y, float s, int n) { y[0] = s * x[0]; }",
        "import numpy as np\ny = np.zeros(1, np.float32)\nscale(1, 1, (y + 2, y, 3.0, 1))\nassert y == 6",
        "%%exercise no_such_exercise\npass",
        "assert course.last_case().label\ncourse.hint()\ncourse.progress()\ncourse.solution()\ncourse.reset('scale')",
        "%%exercise repeated_axes\nwhile True:\n    pass",
        "print('alive')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    from nbclient import NotebookClient

    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    texts = ["\n".join(o.data.get("text/plain", "") if "data" in o else o.get("text", "") for o in cell.outputs)
             for cell in notebook.cells]  # fmt: skip
    assert "`helper` is defined in another cell" in texts[1]
    assert texts[2].count("top") == 1
    assert "There is no exercise named 'no_such_exercise'" in texts[6]
    assert "hint 1 of 3" in texts[7] and "minutes of core left" in texts[7] and "%%exercise scale" in texts[7]
    assert "still running" in texts[8] and texts[9] == "alive\n"


@pytest.mark.slow
def test_a_kernel_of_this_environment_knows_the_magic_without_being_told():
    """As in any editor: nothing but the environment's own configuration, which make writes."""
    import sys

    if Path(sys.prefix) != environment.VENV:
        pytest.skip("the tests run outside of .venv, whose configuration this is about")
    assert "course_lib.coach.magic" in (environment.VENV / "etc/ipython/ipython_config.py").read_text()
    from jupyter_client.manager import start_new_kernel

    env = {name: value for name, value in os.environ.items() if name != "IPYTHONDIR"}
    manager, kernel = start_new_kernel(kernel_name="python3", env=env)
    try:
        for _ in range(2):  # the second time after a restart
            reply = kernel.execute_interactive(
                "get_ipython().magics_manager.magics['cell']['exercise']", silent=True, timeout=60
            )
            assert reply["content"]["status"] == "ok"
            manager.restart_kernel(now=True)
            kernel.wait_for_ready(timeout=60)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_a_learner_may_interrupt_a_judgement_and_go_on(mine):
    import time

    from jupyter_client.manager import start_new_kernel

    manager, kernel = start_new_kernel(kernel_name="python3", cwd=str(builder.EXERCISES))
    try:
        kernel.execute("%%exercise repeated_axes\ndef repeated_axes(shape, to):\n    while True:\n        pass")
        for _ in range(600):  # the answer is kept before it is judged
            if (mine / "answers/repeated_axes.py").exists():
                break
            time.sleep(0.1)
        time.sleep(0.5)
        manager.interrupt_kernel()
        told = []
        while True:
            message = kernel.get_iopub_msg(timeout=60)
            if message["msg_type"] == "display_data":
                told.append(message["content"]["data"].get("text/plain", ""))
            assert message["msg_type"] != "error", message["content"]
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle" and told:
                break
        assert any("Stopped. Your answer is kept" in text for text in told), told
        reply = kernel.execute_interactive(
            f"%%exercise repeated_axes\n{piece('repeated_axes').solution}", timeout=60, output_hook=lambda m: None
        )
        assert reply["content"]["status"] == "ok" and state.passing("repeated_axes")
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
