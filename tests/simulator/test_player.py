"""The player of a launch: its steps are the requests that the sanitizer counts, and the page shows just these."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import plots
from course_lib.cuda import Kernel, sanitize
from course_lib.cuda.trace import record

F = np.float32
TREE = """__global__ void block_sum(const float* x, float* total, int n) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = t < n ? x[blockIdx.x * 64 + t] : 0.0f;
    BARRIER
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        BARRIER
    }
    if (t == 0) total[blockIdx.x] = part[0];
}"""
TILE = """__global__ void transposed(const float* x, float* y) {
    __shared__ float tile[8][8];
    int c = threadIdx.x, r = threadIdx.y;
    tile[r][c] = x[r * 8 + c];
    __syncthreads();
    y[r * 8 + c] = tile[c][r];
}"""
BUTTERFLY = """__global__ void warp_sum(const float* x, float* total) {
    float v = x[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(0xffffffff, v, half);
    total[threadIdx.x] = v;
}"""
STRIDED = """__global__ void strided(const float* x, float* y, int stride, int n) {
    __shared__ float part[1024];
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) part[t * stride % 1024] = x[i];
    y[t] = part[t * stride % 1024];
}"""


def tree(barrier="__syncthreads();"):
    kernel = Kernel(TREE.replace("BARRIER", barrier), "block_sum")
    x, total = np.arange(128, dtype=F), np.zeros(2, F)
    return plots.play(kernel, 2, 64, (x, total, 60)), x


def test_steps_of_a_tree():
    player, x = tree()
    of_first = [s for s in player.steps if s.block == 0]
    assert [s.op for s in of_first[:5]] == ["read", "read", "write", "write", "barrier"]  # two warps take turns
    adders = [len(s.threads) for s in of_first if s.op == "write" and s.array == "part"][2:]
    assert adders == [32, 16, 8, 4, 2, 1]
    assert [s.values for s in player.steps if s.array == "total"] == [[x[:60].sum()], [x[64:124].sum()]]
    assert not any(s.mark for s in player.steps)


def test_a_written_value_is_the_one_that_is_read_next():
    player, x = tree()
    held = {}
    for step in player.steps:
        for element, value in zip(step.elements, step.values, strict=True):
            place = step.array, element, step.block if step.space == "shared" else None
            if step.op == "write":
                held[place] = value
            elif step.array == "part":
                assert held[place] == value
            else:
                assert x[element] == value


def test_lanes_of_a_butterfly_take_from_their_partners():
    player = plots.play(Kernel(BUTTERFLY, "warp_sum"), 1, 32, (np.arange(32, dtype=F), np.zeros(32, F)))
    swaps = [s for s in player.steps if s.op == "shuffle"]
    assert [s.sources for s in swaps] == [[lane ^ half for lane in range(32)] for half in (16, 8, 4, 2, 1)]


def test_races_and_bank_conflicts_are_marked_where_they_happen():
    player, _ = tree(barrier="")
    marked = {s.line: s.mark for s in player.steps if s.mark}
    assert set(marked) == {4, 7} and all(mark.startswith("race") for mark in marked.values())
    one, other = (s for s in player.steps if s.mark)
    by = [{(e, t) for e, t in zip(s.elements, s.threads, strict=True)} for s in (one, other)]
    meeting = {e for e, t in by[0] for f, u in by[1] if e == f and t != u}
    told = int(re.search(r"element (\d+)", one.mark + other.mark)[1])
    assert told in meeting and "write" in (one.op, other.op), "both sides of one race"
    tiled = plots.play(Kernel(TILE, "transposed"), 1, (8, 8), (np.ones((8, 8), F), np.zeros((8, 8), F)))
    assert {s.line: s.mark for s in tiled.steps if s.mark} == {6: "2-way bank conflict"}
    assert "2-way bank conflict in line 6" in tiled.picture.alt


def counted(found, lines):
    """By line, space and op: requests, and sectors or wavefronts; as the steps have them and as the sanitizer has."""
    steps, report = Counter(), Counter()
    for s in found:
        if s.array:
            steps[s.line, s.space, s.op, "requests"] += 1
            steps[s.line, s.space, s.op, "cost"] += s.requests
    for line in lines:
        key = line.line, line.space, line.op
        each = line.wavefronts_per_request if line.space == "shared" else line.sectors_per_request
        report[*key, "requests"] += line.requests
        report[*key, "cost"] += round(each * line.requests)
    return steps, report


@settings(max_examples=25, deadline=None)
@given(threads=st.integers(1, 64), stride=st.integers(0, 40), n=st.integers(0, 100))
def test_steps_are_the_requests_that_the_sanitizer_counts(threads, stride, n):
    kernel, args = Kernel(STRIDED, "strided"), (np.ones(100, F), np.zeros(64, F), stride, n)
    steps, report = counted(plots.play(kernel, 1, threads, args).steps, sanitize(kernel, 1, threads, args).lines)
    assert steps == report


def test_what_is_too_large_is_refused_with_a_sentence():
    kernel = Kernel("__global__ void one(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }", "one")
    with pytest.raises(ValueError, match="at most 128 threads; this launch has 160"):
        plots.play(kernel, 1, 160, (np.zeros(160, F),))
    with pytest.raises(ValueError, match=r"at most 2,560 elements; 'y' has 3,000\. Launch it on less"):
        plots.play(kernel, 1, 64, (np.zeros(3000, F),))
    with pytest.raises(ValueError, match="at most 1,500 steps"):
        plots.play(Kernel("__global__ void many(float* y) { for (int i = 0; i < 2000; i++) ((volatile float*)y)[0] = i; }",
                          "many"), 1, 1, (np.zeros(4, F),))  # fmt: skip
    with pytest.raises(ValueError, match="touches no memory"):
        plots.play(Kernel("__global__ void none(float* y) {}", "none"), 1, 1, (np.zeros(4, F),))


def test_the_page_stands_alone_and_is_light():
    player, _ = tree()
    assert len(player.html.encode()) < 300_000
    assert "http" not in player.html.replace("http://www.w3.org/2000/svg", "")  # a name, not an address that is asked
    assert "<img alt=" in player.html and player.picture.alt in repr(player)


def test_a_recording_keeps_the_order_and_the_values():
    kernel = Kernel(TREE.replace("BARRIER", "__syncthreads();"), "block_sum")
    kept = record(kernel, 1, 64, (np.arange(64, dtype=F), np.zeros(1, F), 64))
    assert kept.complete and kept.report.ok
    assert sum(event.op == "barrier" for event in kept.events) == 7
    first = next(event for event in kept.events if event.array == "x" and event.thread == 5)
    assert np.frombuffer(first.value, F)[0] == 5 and first.line == 4


# ---- in a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(chromium, tmp_path):
    player, _ = tree(barrier="")
    (tmp_path / "player.html").write_text(f"<!doctype html><meta charset=utf-8><body>{player.html}", encoding="utf-8")
    page, errors = chromium.new_page(viewport={"width": 1000, "height": 800}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"file://{tmp_path / 'player.html'}")
    yield page, player
    page.close()
    assert not errors


def test_the_events_shown_are_those_of_the_trace(page):
    page, player = page
    slider = page.get_by_label("time, in steps")
    for number, step in enumerate(player.steps):
        slider.fill(str(number))
        shown = page.evaluate("""() => [...document.querySelectorAll("[data-touched]")]
                                         .map(cell => [cell.dataset.cell, cell.dataset.touched])""")
        assert {tuple(cell) for cell in shown} == {(f"{step.array}:{element}", step.op) for element in step.elements}
        here = page.locator("li[aria-current]").inner_text()
        assert int(here.split()[0]) == step.line
        said = page.get_by_role("status").inner_text()
        assert step.mark in said and said.startswith(f"Step {number + 1} of {len(player.steps)}: block {step.block},")


def test_keys_buttons_and_marks_move_it(page):
    page, player = page
    at = lambda: int(page.locator(".course-player").get_attribute("data-step"))  # noqa: E731
    slider = page.get_by_label("time, in steps")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert at() == 2
    assert player.steps[2].array in slider.get_attribute("aria-valuetext")
    page.get_by_label("step back").click()
    assert at() == 1
    page.get_by_role("button", name="race").first.click()
    assert player.steps[at()].mark.startswith("race")
    page.get_by_label("speed").select_option("fast")
    page.get_by_role("button", name="play").click()
    page.wait_for_function(f"document.querySelector('.course-player').dataset.step == {len(player.steps) - 1}")
    page.get_by_role("button", name="play", exact=True).wait_for()  # and no longer "pause"


def test_without_scripts_a_still_picture_stands_there(chromium, tmp_path):
    player, _ = tree()
    (tmp_path / "player.html").write_text(f"<!doctype html><meta charset=utf-8><body>{player.html}", encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{tmp_path / 'player.html'}")
    assert page.get_by_role("img").get_attribute("alt") == player.picture.alt
    context.close()


WIDE = """
extern "C" __global__ void wide(float4* y, int step) {
    __shared__ float4 s[32];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x / step];
}
"""


@pytest.mark.parametrize("step", [1, 2, 3, 8, 32])
def test_wide_loads_of_pairs_of_lanes_cost_what_the_sanitizer_counts(step):
    kernel, args = Kernel(WIDE, "wide"), (np.zeros((32, 4), F), step)
    steps, report = counted(plots.play(kernel, 1, 32, args).steps, sanitize(kernel, 1, 32, args).lines)
    assert steps == report
