"""What the README, CONTRIBUTING and the set-up files say is so: links lead somewhere, chapters and commands exist."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from course_lib import recipes
from course_lib.model import GPTConfig

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9][0-9]*.ipynb"))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"{page} links to {target}, which is not there"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_each_chapter_stands_in_the_table_with_its_minutes(chapter):
    opening = "".join(json.loads(chapter.read_text(encoding="utf-8"))["cells"][0]["source"])
    minutes = re.search(r"\*\*(?:about )?(\d+) minutes", opening)
    assert minutes, f"the first cell of {chapter.name} should say how long it takes, as **40 minutes**"
    row = next((line for line in README.splitlines() if f"(notebooks/{chapter.name})" in line), None)
    assert row, f"the table of chapters in README.md has no link to notebooks/{chapter.name}"
    assert row.rstrip("| ").endswith(f"| {minutes[1]}"), f"README.md and {chapter.name} differ in minutes: {row}"


def test_the_table_of_chapters_is_what_is_there():
    there = {path.stem.split("_")[0] for path in CHAPTERS}
    linked = set(re.findall(r"^\| (\d\d[a-c]?) \| \[[^\]]+\]\(notebooks/", README, re.MULTILINE))
    coming = set(re.findall(r"^\| (\d\d[a-c]?) \|.*\| coming \|$", README, re.MULTILINE))
    assert linked == there and not there & coming


def test_commands_of_the_readme_exist():
    helped = subprocess.run(
        [sys.executable, "-m", "course_lib.cli", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for command in set(re.findall(r"\.venv/bin/course (\w+)", README)):
        assert re.search(rf"\b{command}\b", helped)
    targets = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert set(re.findall(r"(?:`| {4})make ([\w-]+)", README)) <= set(targets)


@pytest.mark.parametrize("preset", ["micro", "small", "12m"])
def test_the_table_of_presets_holds_the_recipes_of_today(preset):
    """After a recipe has changed, its row is written and its time measured anew, with `course doctor`."""
    settings, config = recipes.settings(preset), GPTConfig.preset(preset)
    parameters = sum(count for _, count in config.parameter_table())
    row = f"| `{preset}` | {parameters:,} | {settings.steps:,} | {settings.batch} x {config.context} | "
    found = re.search(rf"^{re.escape(row)}(.*?) \|", README, re.MULTILINE)
    assert found, f"README.md has no row that begins with {row}"
    assert found[1] and re.fullmatch(r"(\d+ h )?(\d+ min ?)?(\d+ s)?", found[1]), f"{preset}: {found[1]!r} is no time"


def test_every_named_dependency_is_pinned():
    """What pyproject.toml asks for to run and to test has its exact version in constraints.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = project["dependencies"] + extras["test"] + extras["peers"] + extras["browser"] + extras["webgpu"]
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    assert {re.split(r"[<>=!~\[]", name)[0] for name in asked} <= pinned


def test_the_container_installs_the_course():
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert settings["postCreateCommand"] == "make install"
