"""`course update` with real git: no conflict, no answer lost."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from course_lib import build
from course_lib.paths import ROOT

from .conftest import piece

pytestmark = pytest.mark.slow
LECTURE = "notebooks/02_autograd.ipynb"


def sh(folder: Path, *words: str, **more) -> str:
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, **more)
    assert run.returncode == 0, f"{words}\n{run.stdout}\n{run.stderr}"
    return run.stdout


def git(folder: Path, *words: str) -> str:
    return sh(folder, "git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *words)


@pytest.fixture
def upstream(tmp_path):
    """A repository that holds what this working tree holds."""
    if shutil.which("git") is None:
        pytest.skip("there is no git here, and this is about living with it")
    folder = tmp_path / "upstream"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("this is no clone, and so there is nothing to update")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "The course")
    return folder


@pytest.fixture
def learner(upstream, tmp_path):
    folder = tmp_path / "learner"
    git(tmp_path, "clone", "-q", str(upstream), str(folder))
    return folder


def course(folder: Path, *words: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "COURSE_MINE"}
    return subprocess.run(
        [sys.executable, "-m", "course_lib.cli", *words], cwd=folder, capture_output=True, text=True,
        env=environment | {"COURSE_CACHE": str(ROOT / ".cache")},
    )  # fmt: skip


def python(folder: Path, code: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "COURSE_MINE"}
    return sh(folder, sys.executable, "-c", code, env=environment)


def answer(folder: Path, name: str, text: str) -> None:
    """What a learner does in the copy of a notebook: write, save, run."""
    path = next(p for p in (folder / "exercises/mine").glob("*.ipynb") if name in p.read_text())
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if (found := build.exercise_of(cell)) and found[0] == name:
            cell.source = f"%%exercise {name}\n{text}"
    nbformat.write(notebook, path)
    suffix = ".cu" if "__global__" in text else ".py"
    (folder / "exercises/mine/answers").mkdir(exist_ok=True)
    (folder / f"exercises/mine/answers/{name}{suffix}").write_text(text + "\n")
    assert course(folder, "check", name).returncode == 0


def change(folder: Path, path: str, old: str, new: str) -> None:
    text = (folder / path).read_text()
    assert old in text
    (folder / path).write_text(text.replace(old, new))


def test_a_lecture_was_run_and_three_exercises_answered_and_both_change(upstream, learner):
    python(learner, "from course_lib.coach import copies; copies.refresh()")
    lecture = nbformat.read(learner / LECTURE, as_version=4)
    next(cell for cell in lecture.cells if cell.cell_type == "code").source += "\n# my note"
    nbformat.write(lecture, learner / LECTURE)
    answers = {name: piece(name).solution + "\n" for name in ("repeated_axes", "scale", "backward_pass")}
    answers = {name: f"{text}{'//' if name == 'scale' else '#'} mine" for name, text in answers.items()}
    for name, text in answers.items():
        answer(learner, name, text)
    copy = learner / "exercises/mine/02_autograd.ipynb"
    notebook = nbformat.read(copy, as_version=4)
    notebook.cells.insert(3, nbformat.v4.new_markdown_cell("A note of my own"))
    nbformat.write(notebook, copy)

    newer = nbformat.read(upstream / LECTURE, as_version=4)
    newer.cells[0].source = newer.cells[0].source.replace("who moved the needle", "who moved the pointer")
    build.write(build.normalised(newer), upstream / LECTURE)
    change(
        upstream, "solutions/02_autograd.py", "## 1. Where was it repeated?", "## 1. Where was it repeated, exactly?"
    )
    change(
        upstream,
        "course_lib/coach/exercises/02/backward_pass.py",
        'title="Find the fault: used twice"',
        'title="Find it"',
    )
    sh(upstream, sys.executable, "-m", "course_lib.cli", "build", "solutions/02_autograd.py")
    git(upstream, "commit", "-q", "-a", "-m", "Better words")

    updated = course(learner, "update")
    assert updated.returncode == 0, updated.stdout + updated.stderr
    assert "The course was updated" in updated.stdout and "Notebooks that you had run or changed: 1" in updated.stdout
    assert "The exercise backward_pass has changed: your answer still passes." in updated.stdout
    assert git(learner, "status", "--porcelain") == ""
    assert "who moved the pointer" in (learner / LECTURE).read_text()
    aside = [
        p for p in (learner / "exercises/mine/set-aside").glob("*/notebooks/*.ipynb") if "# my note" in p.read_text()
    ]
    assert len(aside) == 1
    renewed = nbformat.read(copy, as_version=4)
    bodies = dict(found for cell in renewed.cells if (found := build.exercise_of(cell)))
    kept = learner / "exercises/mine/answers/backward_pass.py"  # an exercise of the lecture
    assert bodies["repeated_axes"] == answers["repeated_axes"] and kept.read_text() == answers["backward_pass"] + "\n"
    assert any("repeated, exactly?" in cell.source for cell in renewed.cells)
    assert any(cell.source == "A note of my own" for cell in renewed.cells)
    status = course(learner, "status").stdout
    assert all(f"[x] {name}" in status for name in answers), status
    tests = ["tests/coach/test_source.py", "tests/coach/test_regions.py", "tests/test_notebooks.py"]
    sh(learner, sys.executable, "-m", "pytest", "-q", *tests, "-k", "02_autograd or backward_pass or sources_say")
    assert course(learner, "update").stdout.strip().endswith("The course is up to date.")


def test_an_exercise_that_is_gone_and_one_that_grew_stricter(upstream, learner):
    python(learner, "from course_lib.coach import copies; copies.refresh()")
    answer(learner, "repeated_axes", piece("repeated_axes").solution + "\n# mine")
    answer(learner, "backward_pass", piece("backward_pass").solution + "\n# mine")
    git(
        upstream,
        "mv",
        "course_lib/coach/exercises/02/repeated_axes.py",
        "course_lib/coach/exercises/02/axes_repeated.py",
    )
    change(upstream, "solutions/02_autograd.py", '# %% exercise="repeated_axes"', '# %% exercise="axes_repeated"')
    change(upstream, "course_lib/coach/exercises/02/backward_pass.py", "    return gradients\n\n\nexercise",
           "    return {name: 2 * gradient for name, gradient in gradients.items()}\n\n\nexercise")  # fmt: skip
    sh(upstream, sys.executable, "-m", "course_lib.cli", "build", "solutions/02_autograd.py")
    git(upstream, "commit", "-q", "-a", "-m", "Rename and tighten")

    updated = course(learner, "update")
    assert updated.returncode == 0, updated.stdout + updated.stderr
    assert "The exercise backward_pass has changed: your answer no longer passes, and is kept." in updated.stdout
    status = course(learner, "status").stdout
    assert "[ ] axes_repeated" in status and "[ ] backward_pass" in status
    text = (learner / "exercises/mine/02_autograd.ipynb").read_text()
    bodies = dict(found for cell in nbformat.reads(text, 4).cells if (found := build.exercise_of(cell)))
    assert "# mine" not in bodies["axes_repeated"]
    for name in ("repeated_axes", "backward_pass"):
        assert (learner / f"exercises/mine/answers/{name}.py").read_text().endswith("# mine\n")
    (aside,) = (learner / "exercises/mine/set-aside").glob("*/02_autograd.ipynb")
    assert "%%exercise repeated_axes" in aside.read_text(), "the old copy holds the answer too"


def test_a_changed_file_of_the_library_stops_the_update_and_nothing_is_lost(upstream, learner):
    change(learner, "course_lib/optim.py", '"""', '"""My own words. ')
    change(upstream, "course_lib/optim.py", '"""', '"""Other words. ')
    git(upstream, "commit", "-q", "-a", "-m", "Other words")
    lecture = json.loads((learner / LECTURE).read_text())
    lecture["cells"][0]["source"].append("\nmine")
    (learner / LECTURE).write_text(json.dumps(lecture))
    updated = course(learner, "update")
    assert updated.returncode == 1 and "nothing was changed" in updated.stdout and "optim.py" in updated.stdout
    assert "Traceback" not in updated.stderr
    assert "My own words" in (learner / "course_lib/optim.py").read_text()
    assert json.loads((learner / LECTURE).read_text()) == lecture


def test_a_folder_that_is_no_clone_gets_a_sentence(tmp_path, monkeypatch, capsys):
    from course_lib.coach import update

    monkeypatch.setattr(update, "ROOT", tmp_path)
    assert update.run() == 1
    assert "not a clone made with git" in capsys.readouterr().out
