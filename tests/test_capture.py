"""Capturing a step as a graph, with a stand-in for the card's stream that writes launches down and replays them here."""

import numpy as np
import pytest

from course_lib import native
from course_lib.devices import ops
from course_lib.devices.gpu import guarded, launching
from course_lib.devices.gpu.capture import CapturedStep

pytestmark = pytest.mark.skipif(native.find_compiler() is None, reason="the simulator needs a C++ compiler")


class StandInStream:
    """While capturing, launches are written down with the addresses of their arrays, as a CUDA graph does, and not run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: bool = False):
        self.launches, self.graphs, self.fails = None, [], fails
        launch = launching.Counted.__call__

        def written_down(kernel, grid, block, args, shared_mem=0):
            if self.launches is None:
                return launch(kernel, grid, block, args, shared_mem)
            fixed = tuple(launching.address(x) if isinstance(x, np.ndarray) else x for x in args)
            self.launches.append((kernel, grid, block, fixed, shared_mem))

        monkeypatch.setattr(launching.Counted, "__call__", written_down)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def begin_capture(self):
        self.launches = []

    def end_capture(self):
        launches, self.launches = self.launches, None
        if self.fails:
            raise RuntimeError("operation not permitted when stream is capturing\nand more")
        self.graphs.append(launches)
        return StandInGraph(launches)


class StandInGraph:
    def __init__(self, launches):
        self.launches, self.runs = launches, 0

    def launch(self):
        self.runs += 1
        for launch in self.launches:
            launch[0](*launch[1:])


def work(x, factor):
    """Changes nothing but its own arrays; a dozen of them."""
    table = ops("simulator")
    for _ in range(5):
        y = table.add(table.multiply(x, factor), 1.0)
        x = table.tanh(y)
    return x, table.exp(x)


def expected(x, factor):
    for _ in range(5):
        x = np.tanh(x * factor + 1)
    return x, np.exp(x)


def inputs(seed: int, shape=(5, 33)):
    random = np.random.default_rng(seed)
    return random.normal(size=shape).astype(np.float32), np.float32(random.normal(size=()))[None]


def agree(step: CapturedStep, seeds, shape=(5, 33)):
    for seed in seeds:
        given = inputs(seed, shape)
        for got, want in zip(step(*given), expected(*given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_step_is_captured_once_and_replayed_with_new_contents(monkeypatch):
    stream, calls = StandInStream(monkeypatch), []
    step = CapturedStep(lambda *arrays: calls.append(1) or work(*arrays), guarded, stream)
    agree(step, range(12))
    assert len(stream.graphs) == step.captured == 1
    assert len(calls) == 4, "warm-up, written down, planned, captured; then no more Python"
    assert len(stream.graphs[0]) == 16, "every launch of the work is in the graph"


def test_each_shape_of_inputs_has_a_graph_of_its_own(monkeypatch):
    stream = StandInStream(monkeypatch)
    step = CapturedStep(work, guarded, stream)
    for _ in range(5):
        agree(step, range(2))
        agree(step, range(2), shape=(2, 7))
    assert len(stream.graphs) == step.captured == 2


def test_a_replay_allocates_nothing(monkeypatch):
    stream = StandInStream(monkeypatch)
    step = CapturedStep(work, guarded, stream)
    agree(step, range(5))
    monkeypatch.setattr(guarded, "empty", lambda *_: pytest.fail("an array was made"))
    agree(step, range(5, 8))
    (plan,) = step.plans
    assert plan.bytes < plan.apart


def test_if_the_capture_fails_the_work_goes_on_launch_by_launch_and_says_so(monkeypatch):
    step = CapturedStep(work, guarded, StandInStream(monkeypatch, fails=True))
    with pytest.warns(
        UserWarning, match=r"could not be captured .*not permitted when stream is capturing\).* same results"
    ):
        agree(step, range(5))
    agree(step, range(5, 8))
    assert step.captured == 0


def test_a_step_that_asks_for_a_value_cannot_be_captured(monkeypatch):
    def looks(x, factor):
        ops("simulator").to_numpy(x)
        return work(x, factor)

    step = CapturedStep(looks, guarded, StandInStream(monkeypatch))
    with pytest.warns(UserWarning, match="a value was asked for"):
        agree(step, range(6))
