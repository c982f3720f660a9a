"""The pictures of many processes: what they show is what the library computes, and the sliders find it without a server."""

import json
import re

import numpy as np
import pytest

from course_lib import parallel, plots
from course_lib.parallel import ring


def gigabytes(model, cards):
    return {"weights": {"small": 2.0, "large": 100.0}[model], "moments": 96.0 / cards}


CHOICES = {"model": ["small", "large"], "cards": [1, 2, 1024]}


def driven(**more):
    return plots.sliders(gigabytes, CHOICES, limit=80, mark="80 GB of a card", unit="GB", title="Memory", **more)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_the_steps_of_the_ring_are_those_of_the_librarys(ranks):
    values = np.random.default_rng(0).integers(1, 9, (ranks, ranks)).astype(float)
    steps = plots.ring(values).steps
    assert len(steps) == 2 * ranks - 1

    def work(communicator):
        return ring.ring_reduce_scatter(communicator, np.split(values[communicator.rank], ranks))

    scattered = np.concatenate(parallel.virtual(ranks, work))
    np.testing.assert_array_equal(np.diag(steps[ranks - 1]["values"]), scattered)
    np.testing.assert_array_equal(steps[-1]["values"], np.tile(values.sum(0), (ranks, 1)))
    for step in steps[1:]:
        assert sorted(rank for rank, _ in step["sent"]) == list(range(ranks)), "each rank sends one chunk"


def test_a_ring_of_one_or_of_many_is_refused():
    for ranks in (1, 7):
        with pytest.raises(ValueError, match="2 to 6 ranks"):
            plots.ring(np.ones((ranks, ranks)))


def test_sliders_hold_a_row_for_each_combination_and_say_the_first():
    player = driven(start=("large", 2))
    assert player.steps == [gigabytes(model, cards) for model in CHOICES["model"] for cards in CHOICES["cards"]]
    assert "weights 100, moments 48. That is 148 GB in all, more than the 80 GB of a card" in player.picture.alt
    data = json.loads(re.search(r"const DATA = (.*);", player.html)[1])
    assert data["rows"][4] == [100.0, 48.0] and [control["value"] for control in data["controls"]] == [1, 1]


def test_what_sliders_cannot_show_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="not among their choices"):
        driven(start=("large", 3))
    with pytest.raises(ValueError, match="at most 5,000 combinations"):
        plots.sliders(gigabytes, {"model": ["small"] * 80, "cards": [1] * 80}, 1, "a limit", "GB", "Too many")


def test_a_slider_moves_by_the_keys_and_says_what_it_shows(chromium, tmp_path):
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{driven().html}", encoding="utf-8")
    page = chromium.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"file://{tmp_path / 'page.html'}")
    said = page.get_by_role("status")
    assert "98 GB in all, more than the 80 GB of a card" in said.inner_text()
    slider = page.get_by_role("slider", name="cards")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2"
    assert "50 GB in all, which fits into the 80 GB of a card" in said.inner_text()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1,024" and page.locator("svg rect").count() == 2
    page.close()
    assert not errors


def test_a_timeline_says_when_the_last_work_ends():
    drawn = plots.timeline(
        {"a": [(0, 2, "x", "work")], "b": [(2, 3, "y", "work"), (5, 1, "z", "rest")]}, "Two rows of three bars."
    )
    assert "ends at 6.0; at work are: a 2.0, b 4.0" in drawn.alt


def test_the_stages_of_zero_hold_fewer_bytes_each():
    assert "plain 16, stage 1 7, stage 2 5.5, stage 3 4" in plots.zero_stages(4).alt
    with pytest.raises(ValueError, match="2 to 6 ranks, not 1"):
        plots.zero_stages(1)
    with pytest.raises(ValueError, match="2 to 4 ranks, not 5"):
        plots.split_mlp(5)
