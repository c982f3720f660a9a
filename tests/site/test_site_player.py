"""A launch step by step in the built site, in Chromium: what is shown is what the native player shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_lib import cuda, plots
from course_lib.coach import catalogue
from course_lib.plots.play import sentence
from course_lib.site import first

pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
pytestmark = pytest.mark.slow


def test_a_launch_is_played_as_natively(visit):
    """Free play records what the native player shows: each step in the same words, its arrays, the race by its two lines."""
    shown = visit(fake=False, service_workers="block")
    page = shown.open("play.html")
    shown.write(".exercise", first.KERNEL)
    page.fill("#launch", "block 64\nx = float32 64: range\ny = float32 64: zeros")
    page.locator(".exercise .go").click()
    page.locator(".verdict.wrong").wait_for()
    page.get_by_role("button", name="Play it step by step").click()
    player = page.locator(".course-player")
    player.wait_for()
    said, steps = [], player.locator("input[type=range]")
    for _ in range(int(steps.get_attribute("max")) + 1):
        said.append(player.locator(".said").inner_text())
        player.get_by_role("button", name="next step").click()
    x, y = cuda.asarray(np.arange(64, dtype=np.float32)), cuda.zeros(64)
    native = plots.play(cuda.Kernel(first.KERNEL, "reverse"), 1, 64, (x, y))
    assert len(said) == len(native.steps) > 5
    for number, (words, step) in enumerate(zip(said, native.steps, strict=True), 1):
        assert words == f"Step {number} of {len(said)}: {sentence(step)} {step.mark}".strip()
    marks = player.get_by_role("button", name=re.compile("race"))
    assert marks.count() == 2
    marks.first.click()
    assert player.locator("li.here").count() == player.locator("li.partner").count() == 1
    assert shown.said == []


def test_a_failing_exercise_is_played_on_the_case_that_fails(visit):
    shown = visit(fake=False, service_workers="block")
    page = shown.open("notebooks/04_first_kernel.html")
    box = "#exercise-scale"
    shown.write(box, catalogue.piece("scale").solution.replace("s * x[i]", "x[i]"))
    page.keyboard.press("Control+Enter")
    page.locator(f"{box} .verdict.wrong").wait_for()
    page.locator(f"{box} .verdict").get_by_role("button", name="Play it step by step").click()
    page.locator(f"{box} .course-player h4").wait_for()
    assert page.locator(f"{box} .course-player h4").inner_text().startswith("scale: ")
    assert shown.said == []
