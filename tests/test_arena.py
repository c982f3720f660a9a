"""The arena: plans in which nothing that lives at the same time overlaps, and arrays that are never handed out twice."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import native, plots
from course_lib.devices import ops
from course_lib.devices.gpu import guarded, launching
from course_lib.devices.gpu.arena import ALIGNMENT, Arena, Life, plan, rounded

needs_simulator = pytest.mark.skipif(native.find_compiler() is None, reason="guarded memory needs a C++ compiler")


@st.composite
def lives(draw):
    found = []
    for _ in range(draw(st.integers(0, 25))):
        begins = draw(st.integers(0, 40))
        found.append(Life(draw(st.integers(0, 5000)), begins, begins + draw(st.integers(1, 30))))
    return found


def alone(life: Life, offset: int, other: Life, other_offset: int) -> bool:
    return offset + rounded(life.size) <= other_offset or other_offset + rounded(other.size) <= offset


@given(lives())
def test_arrays_that_live_at_the_same_time_never_overlap(found):
    made = plan(found)
    for (i, a), (j, b) in itertools.combinations(enumerate(found), 2):
        assert not a.meets(b) or alone(a, made.offsets[i], b, made.offsets[j])
    assert all(offset % ALIGNMENT == 0 for offset in made.offsets)
    assert made.least <= made.bytes <= made.apart
    assert all(offset + life.size <= made.bytes for offset, life in zip(made.offsets, found, strict=True))


def test_arrays_that_follow_each_other_share_one_place():
    made = plan([Life(1000, 0, 1), Life(1000, 1, 2), Life(1000, 2, 3)])
    assert made.offsets == (0, 0, 0) and made.bytes == made.least == 1024 and made.apart == 3072


def test_the_smaller_ones_go_under_the_gap_that_a_large_one_leaves():
    made = plan([Life(256, 0, 9), Life(1024, 1, 3), Life(512, 4, 6), Life(512, 4, 6)])
    assert made.bytes == 1280 == made.least


def one_step(arena: Arena, keep: list | None = None) -> list[int]:
    """Arrays that come and go; returns their addresses."""
    where = []
    with arena.step():
        a = arena.empty((100,), np.float32)
        b = arena.empty((3, 7), np.int64)
        for i in range(3):
            c = arena.empty((1000,), np.float32)
            c[...] = i
            where.append(c.ctypes.data)
            del c
        a[...], b[...] = 1, 2
        d = arena.empty((50,), np.float32)
        d[...] = 3
        assert (a == 1).all() and (b == 2).all()
        where += [x.ctypes.data for x in (a, b, d)]
        if keep is not None:
            keep.append(a[3:])  # a view keeps its array
    return where


@needs_simulator
def test_after_two_steps_every_array_has_its_place_in_the_block():
    arena = Arena(guarded)
    for _ in range(2):
        one_step(arena)
    first, second = one_step(arena), one_step(arena)
    assert arena.ready and first == second
    assert first[0] == first[1] == first[2], "three that follow each other share one place"
    assert max(first) - min(first) < arena.plan.bytes == arena.plan.least


@needs_simulator
def test_an_array_that_outlives_its_step_keeps_its_values():
    arena, kept = Arena(guarded), []
    for _ in range(6):
        one_step(arena, kept)
    assert all((a == 1).all() for a in kept)
    spans = sorted((a.ctypes.data, a.ctypes.data + a.nbytes) for a in kept)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans)), "handed out twice"


@needs_simulator
def test_a_step_that_turns_out_otherwise_is_noticed_and_planned_anew():
    arena = Arena(guarded)
    for _ in range(3):
        one_step(arena)
    with arena.step():
        x = arena.empty((4096,), np.float32)
        x[...] = 5
        assert (x == 5).all() and arena.surprises == 1
    assert not arena.ready
    for _ in range(2):
        with arena.step():
            x = arena.empty((4096,), np.float32)
            x[...] = 6
    assert arena.ready and arena.plan.bytes == 4096 * 4


def test_the_map_says_what_sharing_saves():
    shown = plots.arena(plan([Life(1000, 0, 1), Life(1000, 1, 2), Life(3000, 0, 3)]))
    assert "3 arrays" in shown.alt and "4.1 KB" in shown.alt and "5.1 KB" in shown.alt


@needs_simulator
def test_a_rehearsal_counts_launches_and_computes_nothing():
    table, x = ops("simulator"), ops("simulator").full((5,), 2.0)
    with launching.rehearsing(), launching.counting() as counted:
        y = table.multiply(x, x)
    assert counted == {"arithmetic.cu binary": 1} and np.isnan(y).all()
    np.testing.assert_array_equal(table.multiply(x, x), np.full(5, 4.0))
