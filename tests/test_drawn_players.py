"""Players that are drawn in Python: their numbers are NumPy's, and the page shows those of the step that it names."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import Tensor, functional, plots
from course_lib.devices.reference.recurrence_forms import parallel

pytestmark = pytest.mark.slow


class View:
    def __init__(self, buffer, shape, strides, offset=0):
        self.buffer, self.shape, self.strides, self.offset = buffer, shape, strides, offset


TRANSPOSE = View(list(range(10, 22)), (4, 3), (1, 4))
STATE = plots.state_steps(["kite", "boat", "kite"], [[1, 0], [0.6, 0.8], [1, 0]], [[1, 0], [0, 1], [0, 2]])


def head(tokens=3, size=2, seed=0):
    q, k, v = np.random.default_rng(seed).normal(size=(3, tokens, size)).round(2)
    return plots.attention_steps(q, k, v, [f"word{i}" for i in range(tokens)]), (q, k, v)


@st.composite
def views(draw):
    """A view that stays in its buffer: a transpose, a slice, read backwards, or broadcast."""
    x = np.arange(draw(st.integers(1, 4)) * 6, dtype=np.int64).reshape(-1, 6)
    steps = [draw(st.sampled_from([-2, -1, 1, 2])) for _ in range(2)]
    view = x[:: steps[0], :: steps[1]]
    view = view.T if draw(st.booleans()) else view
    view = view[draw(st.integers(0, len(view) - 1))] if draw(st.booleans()) else view
    return np.broadcast_to(view, (draw(st.integers(1, 3)), *view.shape)) if view.ndim == 1 else view, x


@settings(max_examples=15, deadline=None)
@given(views())
def test_strides_visit_the_elements_in_numpys_order(drawn):
    view, x = drawn
    strides = tuple(s // x.itemsize for s in view.strides)
    offset = (view.__array_interface__["data"][0] - x.__array_interface__["data"][0]) // x.itemsize
    steps = plots.strides(View(x.reshape(-1).tolist(), view.shape, strides, offset)).steps
    assert [(step.index, step.value) for step in steps] == list(np.ndenumerate(view))
    assert all(x.reshape(-1)[step.flat_index] == step.value for step in steps)


@settings(max_examples=15, deadline=None)
@given(tokens=st.integers(1, 6), size=st.integers(1, 4), seed=st.integers(0, 99))
def test_attention_steps_are_the_attention_of_the_library(tokens, size, seed):
    player, parts = head(tokens, size, seed)
    theirs = functional.attention(*(Tensor(part[None, :, None], dtype="float64") for part in parts)).numpy()[0, :, 0]
    assert [step.position for step in player.steps] == [i for i in range(tokens) for _ in range(3)]
    for step in player.steps:
        np.testing.assert_allclose(step.output, theirs[step.position], atol=1e-12)
        assert np.all(np.isneginf(step.scores) == (np.arange(tokens) > step.position))
        assert np.all(step.weights[step.position + 1 :] == 0) and np.isclose(step.weights.sum(), 1)


@settings(max_examples=15, deadline=None)
@given(facts=st.integers(1, 6), D=st.integers(1, 4), E=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_memory_is_the_delta_rule_of_the_library_and_a_sum(facts, D, E, seed):
    random = np.random.default_rng(seed)
    k, v = random.normal(size=(facts, D)), random.normal(size=(facts, E))
    k /= np.linalg.norm(k, axis=1, keepdims=True)
    names = [str(i % 4) for i in range(facts)]
    steps = plots.state_steps(names, k, v).steps
    head = (k[None, None], k[None, None], v[None, None], np.zeros((1, 1, facts, D)))
    y, S = parallel(*head, np.ones((1, 1, facts)))
    np.testing.assert_allclose(steps[-1].states["corrects"], S[0, 0], atol=1e-10)
    np.testing.assert_allclose(steps[-1].states["adds"], k.T @ v, atol=1e-12)
    for t, step in enumerate(steps[1:]):  # with beta 1 and keys of length 1, what was written last is read exactly
        np.testing.assert_allclose(step.reads["corrects"][names[t]][0], v[t], atol=1e-10)
        np.testing.assert_allclose(step.reads["corrects"][names[t]][0], y[0, 0, t], atol=1e-10)
        assert step.reads["adds"].keys() == set(names[: t + 1])


def test_what_cannot_be_read_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"got 1 names, \(2, 3\) and \(2, 3\)"):
        plots.state_steps(["a"], np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"strides\(\) draws a view: .* A list has none of them"):
        plots.strides([1, 2, 3])
    with pytest.raises(ValueError, match="T at most 6 and D at most 4"):
        head(tokens=7)
    with pytest.raises(ValueError, match="and 2 tokens"):
        plots.attention_steps(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), ["a", "b"])


@pytest.mark.parametrize(
    "player", [plots.strides(TRANSPOSE), head(6, 4)[0], STATE], ids=["strides", "attention", "state"]
)
def test_a_page_stands_alone_and_is_light(player):
    assert len(player.html.encode()) < 60_000
    assert "http" not in player.html.replace("http://www.w3.org/2000/svg", "")
    assert "<img alt=" in player.html and player.picture.alt in repr(player)


# ---- in a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens a player as a page; gives the page. No script of it may fail."""
    errors, pages = [], []

    def opened(player, **options):
        (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{player.html}", encoding="utf-8")
        pages.append(chromium.new_page(**options))
        pages[-1].on("pageerror", lambda error: errors.append(str(error)))
        pages[-1].goto(f"file://{tmp_path / 'page.html'}")
        return pages[-1]

    yield opened
    for page in pages:
        page.close()
    assert not errors


def shown(page) -> list[str]:
    return page.locator("svg text").evaluate_all(
        "all => all.filter(t => t.getClientRects().length).map(t => t.textContent)"
    )


def test_each_step_shows_its_own_sum(opened):
    page, player = opened(plots.strides(TRANSPOSE)), plots.strides(TRANSPOSE)
    for number, step in enumerate(player.steps):
        page.get_by_label("time, in steps").fill(str(number))
        i, j = step.index
        sums = [text for text in shown(page) if re.match(r"= \d", text)]
        assert sums == [f"= 0 + {i} · 1 + {j} · 4 = {step.flat_index}"]
        said = page.get_by_role("status").inner_text()
        assert said.startswith(f"Step {number + 1} of 12: Element ({i}, {j}) is {step.value},")


def test_a_write_shows_its_correction_and_which_reads_are_wrong(opened):
    page = opened(STATE)
    page.get_by_label("time, in steps").fill("3")
    texts = shown(page)
    assert "written under it: [-0.64, 1.4]" in texts  # [0, 2] minus what is read with k, [0.64, 0.6]
    assert "read kite: [0, 2]" in texts and "read kite: [1, 2.6], not [0, 2]" in texts
    said = page.get_by_role("status").inner_text()
    assert "kite is overwritten." in said and said.endswith("in the one that corrects, wrong is now: boat.")


def test_keys_and_buttons_move_from_scores_to_weights_to_the_sum(opened):
    player, _ = head()
    page, step = opened(player), player.steps[3]  # of the second word
    slider = page.get_by_label("time, in steps")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    texts = shown(page)
    assert texts.count("masked") == 1 and any(text.endswith(f"= {step.scores[0]:.2f}") for text in texts)
    weights = {f"{weight:.2f}" for weight in step.weights}
    assert not weights & set(texts)
    page.keyboard.press("ArrowRight")
    assert weights <= set(shown(page)) and "Softmax" in slider.get_attribute("aria-valuetext")
    page.get_by_label("next step").click()
    assert any(text.startswith("sum: [") for text in shown(page))
    assert page.get_by_role("img").get_attribute("aria-label") in page.get_by_role("status").inner_text()


def test_without_scripts_the_still_picture_stands_there(opened):
    player, _ = head()
    page = opened(player, java_script_enabled=False)
    assert page.get_by_role("img").get_attribute("alt") == player.picture.alt
