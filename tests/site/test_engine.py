"""The engine of the web edition, in Node: what it says of kernels is what the native checker says, by kind and line.

One Node process runs all that is fast. Answers to exercises: test_engine_exercises.py.
"""

from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, sanitize, zeros
from tests.simulator.test_zoo import FILES
from tests.site import beginner_kernels, engine_jobs

pytestmark = pytest.mark.slow

TEXT = Path(__file__).with_name("engine.cu")
# Kernel, threads of a block, n; the grid has one block.
LAUNCHES = {
    "scale": (64, 50), "past_the_end": (1001, 1000), "far_away": (4, 0), "below": (8, 0), "through_null": (32, 0),
    "sum_without_order": (64, 0), "neighbor": (64, 0), "neighbor_right": (64, 0), "barrier_for_some": (64, 0),
    "two_barriers": (64, 0), "for_ever": (2, 0), "divide": (8, 0), "in_shared": (8, 30), "copy4": (64, 0),
    "warp_sum": (64, 0), "say": (4, 0),
}  # fmt: skip
RIGHT = {"scale", "neighbor_right", "copy4", "warp_sum", "say"}
EXERCISES = ["scale", "reverse", "compare"]
MUTANTS = 20  # `python -m tests.site.engine_jobs mutants 1000` judges more
MEMORY = 1000  # MB of Node with a worker, after kernels that ask for gigabytes


@pytest.fixture(scope="module")
def folder(built):
    return built(EXERCISES)


@pytest.fixture(scope="module")
def told(folder):
    """What the engine says: of engine.cu by kernel, and of launches of one module."""
    launches = [engine_jobs.launch(name, (block,), n) for name, (block, n) in LAUNCHES.items()]
    launches[list(LAUNCHES).index("past_the_end")]["block"] = [501, 1, 1]
    launches[list(LAUNCHES).index("past_the_end")]["grid"] = [2, 1, 1]
    again = [engine_jobs.launch("count_launches", (8,)) for _ in range(3)]
    orders = [engine_jobs.launch("last_one", (64,), seed=seed) for seed in (0, 1, 2, 3)]
    (first,) = engine_jobs.run(folder, [{"text": TEXT.read_text(), "launches": launches + again + orders}])["results"]
    assert isinstance(first, list), first
    return {
        "kernels": {one["kernel"]: one for one in first[: len(launches)]},
        "again": first[len(launches) : -4], "orders": first[-4:],
    }  # fmt: skip


def places(issues) -> set[tuple[str, int]]:
    return {(issue.kind, issue.line) for issue in issues}


@pytest.mark.parametrize("name", LAUNCHES)
def test_kind_and_line_are_those_of_the_native_checker(name, told):
    block, n = LAUNCHES[name]
    grid, block = ((2,), (501,)) if name == "past_the_end" else ((1,), (block,))
    args = (asarray(np.arange(1, 1001, dtype=np.float32)), zeros(1000), zeros(256, np.int32), n)
    report = sanitize(Kernel(TEXT, name), grid, block, args, timeout=0.5)
    said = {(issue["kind"], issue["line"]) for issue in told["kernels"][name]["issues"]}
    assert said == places(report.issues)
    assert (not said) == (name in RIGHT)
    if name in RIGHT:
        np.testing.assert_array_equal(told["kernels"][name]["arrays"][1], args[1])


def test_an_index_that_is_far_away_is_told_by_its_array(told):
    (issue,) = told["kernels"]["far_away"]["issues"]
    assert "100000000" in issue["message"] and "'y'" in issue["message"]


def test_four_floats_are_one_request(told):
    counted = [(one["op"], one["requests"], one["sectorsPerRequest"]) for one in told["kernels"]["copy4"]["counters"]]
    assert counted == [("read", 2, 16), ("write", 2, 16)]


def test_a_kernel_prints(told):
    assert told["kernels"]["say"]["printed"] == "x[2] = 3\n"


def test_variables_of_the_device_live_on_between_launches(told):
    assert [one["arrays"][2][0] for one in told["again"]] == [1, 2, 3]
    assert [one["arrays"][1][7] for one in told["again"]] == [8, 9, 10]
    assert not any(one["issues"] for one in told["again"])


def test_orders_are_shuffled(told):
    last = [one["arrays"][2][0] for one in told["orders"]]
    assert last[0] == 63 and len(set(last)) > 2


def test_small_faults_leave_the_engine_alive(folder):
    """As in a page, each is judged by a worker of its own."""
    faulty = engine_jobs.mutants(MUTANTS, EXERCISES)
    said = list(engine_jobs.run_in_workers(folder, faulty))
    assert [one["dead"] for one in said if "dead" in one] == []
    verdicts = [one["result"] for one in said]
    assert len(verdicts) == MUTANTS + 1 and all("headline" in verdict for verdict in verdicts)
    assert verdicts[-1]["passed"] and sum(verdict["passed"] for verdict in verdicts) < MUTANTS / 3


def test_no_kernel_of_a_beginner_takes_the_page_along(folder):
    """Endless loops, huge arrays, far pointers, floods: each is answered, and by its own sentence; the engine lives on."""
    jobs = [*beginner_kernels.jobs(), engine_jobs.solution("scale")]
    *said, last = engine_jobs.run_in_workers(folder, jobs)
    told = {}
    for (name, (_, expected)), one in zip(beginner_kernels.KERNELS.items(), said, strict=True):
        result = one.get("result", {"error": one.get("dead")})
        errors = [error["message"] for error in result.get("compileErrors", [])] + [result["error"] or ""]
        words = [f"{issue['kind']}: {issue['message']}" for issue in result.get("issues", [])] + errors
        if "dead" in one or not any(expected in word for word in words):
            told[name] = (expected, words)
    assert told == {}
    assert last["result"]["passed"] and last["megabytes"] < MEMORY


def test_the_zoo_has_the_same_kinds_and_lines(folder):
    """Each fault, as natively, and nothing of its right twin."""
    results = engine_jobs.run(folder, [engine_jobs.zoo(file) for file in FILES])["results"]
    found = {file: engine_jobs.differences(file, told) for file, told in zip(FILES, results, strict=True)}
    assert {file: kernels for file, kernels in found.items() if kernels} == {}
    assert sum(map(len, results)) > 300
