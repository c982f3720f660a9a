"""`course update`: the newest course, without a conflict, whatever the learner ran or wrote.

Notebooks of the course that were changed by running them are copied to `exercises/mine/set-aside/` and put back as they were;
git then only moves forward. After that the learner's copies are renewed, and answers to exercises that have changed are judged
anew. Files that are no notebooks are never touched: if they stand in the way, git's own words say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from course_lib.coach import state
from course_lib.paths import ROOT

FOLDERS = ("notebooks/", "exercises/", "solutions/")


def run() -> int:
    """Update the course; returns an exit status."""
    if not _is_clone():
        print("This folder is not a clone made with git, so it cannot update itself: clone the course anew beside it,")
        print("and copy your folder exercises/mine/ there.")
        return 1
    aside = _set_aside(changed_notebooks())
    before = _git("rev-parse", "HEAD").stdout
    pulled = _git("pull", "--ff-only", "--quiet")
    if pulled.returncode:
        _bring_back(aside)
        print("The update did not go through; nothing was changed. Git says:\n")
        print(pulled.stderr.strip() or pulled.stdout.strip())
        return 1
    if aside:
        print(f"Notebooks that you had run or changed: {len(aside)}. They lie in {_place(aside)}, as you left them.")
    print("The course is up to date." if _git("rev-parse", "HEAD").stdout == before else "The course was updated.")
    # what follows is the new course's business: a new process reads its files
    return subprocess.run([sys.executable, "-m", "course_lib.coach.update"], cwd=ROOT).returncode


def after() -> int:
    """What follows once the files are new: the environment, the copies, the answers."""
    from course_lib import environment
    from course_lib.coach import catalogue, client, copies
    from course_lib.coach.exercise import ExerciseError

    if Path(sys.prefix) == environment.VENV and "course" not in environment.installed():
        print("It needs other packages than before: run `make install`, and then `course update` again.")
        return 1
    for sentence in copies.refresh():
        print(sentence)
    for name in catalogue.names():
        passed = state.passing(name)
        if passed is None or state.noted(name).get("judged_by") == catalogue.fingerprint(name):
            continue
        try:
            verdict = client.judged(name, passed.text, measure=False)
        except ExerciseError as error:
            print(error)
            continue
        if not verdict.judged:
            continue
        state.rejudged(name, passed, verdict.passed)
        print(f"The exercise {name} has changed: " + ("your answer still passes." if verdict.passed else
              f"your answer no longer passes, and is kept. {verdict.why}"))  # fmt: skip
    return 0


def changed_notebooks() -> list[str]:
    """Notebooks of the course that differ from what was committed, as paths in the clone."""
    if not _is_clone():
        return []
    listed = _git("diff", "--name-only", "-z", "HEAD", "--", *FOLDERS).stdout
    return [path for path in listed.split("\0") if path.endswith(".ipynb")]


def _set_aside(paths: list[str]) -> dict[str, Path]:
    """Copy these files aside and put the committed ones in their place; returns where each copy lies."""
    if not paths:
        return {}
    place = state.set_aside("update")
    copies = {}
    for path in paths:
        copies[path] = place / path
        copies[path].parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).exists():
            shutil.copy2(ROOT / path, copies[path])
    _git("checkout", "--quiet", "HEAD", "--", *paths)
    return copies


def _bring_back(aside: dict[str, Path]) -> None:
    for path, copy in aside.items():
        if copy.exists():
            shutil.copy2(copy, ROOT / path)


def _place(aside: dict[str, Path]) -> str:
    first_path, first_copy = next(iter(aside.items()))
    return str(Path(str(first_copy).removesuffix(first_path)).relative_to(state.folder().parent))


def _is_clone() -> bool:
    return shutil.which("git") is not None and (ROOT / ".git").exists()


def _git(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(after())
