"""Every exercise in CUDA C++ as a page judges it, in Node: our solution passes, and known wrong answers do not.

One wrong answer of each, and two of some. All of them take a quarter of an hour: `python -m tests.site.engine_jobs wrong`.
"""

import pytest

from course_lib.site import exported_cases
from tests.site import engine_jobs

pytestmark = pytest.mark.slow
TWO = {"scale", "reverse", "reduce_columns", "compare", "look_back", "global_norm_squares", "value_gradient"}
UNJUDGED = "value_gradient"  # compares two runs


def test_solutions_pass_and_wrong_answers_are_refused_as_natively(built):
    names = exported_cases.exercises_in("cuda")
    wrong = {name: engine_jobs.wrong_answers(name)[: 2 if name in TWO else 1] for name in names}
    jobs = [job for name in names for job in (engine_jobs.solution(name), *wrong[name])]
    told = engine_jobs.run(built(names), jobs)["results"]
    otherwise = {
        (job["judge"], job.get("says", "our solution")): verdict.get("headline", verdict)
        for job, verdict in zip(jobs, told, strict=True)
        if job["judge"] != UNJUDGED and engine_jobs.unlike("wrong" if "says" in job else "solutions", job, verdict)
    }
    assert len(names) > 120 and otherwise == {}
    ours, *others = (verdict for job, verdict in zip(jobs, told, strict=True) if job["judge"] == UNJUDGED)
    assert not any(verdict["passed"] for verdict in (ours, *others)) and ours["issues"] == []
    assert "cannot judge" in ours["headline"] and f"course check {UNJUDGED}" in ours["headline"]
