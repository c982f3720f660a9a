"""Every exercise in CUDA C++ as a page judges it, in Node: our solution passes, and known wrong answers do not.

Two wrong answers of each take six minutes of a processor. All of them, a quarter of an hour: `python -m tests.site.engine_jobs
wrong`.
"""

import pytest

from course_lib.site import exported_cases
from tests.site import engine_jobs

pytestmark = pytest.mark.slow
WRONG = 2
UNJUDGED = "value_gradient"  # compares two runs


def test_solutions_pass_and_wrong_answers_are_refused_as_natively(built):
    names = exported_cases.exercises_in("cuda")
    jobs = [job for name in names for job in (engine_jobs.solution(name), *engine_jobs.wrong_answers(name)[:WRONG])]
    told = engine_jobs.run(built(names), jobs)["results"]
    otherwise = {
        (job["judge"], job.get("says", "our solution")): verdict.get("headline", verdict)
        for job, verdict in zip(jobs, told, strict=True)
        if job["judge"] != UNJUDGED and engine_jobs.unlike("wrong" if "says" in job else "solutions", job, verdict)
    }
    assert len(names) > 120 and otherwise == {}
    for job, verdict in zip(jobs, told, strict=True):
        if job["judge"] == UNJUDGED:
            assert not verdict["passed"] and f"course check {UNJUDGED}" in verdict["headline"]
            assert "says" in job or ("cannot judge" in verdict["headline"] and verdict["issues"] == [])
