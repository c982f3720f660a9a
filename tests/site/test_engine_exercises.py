"""Every exercise in CUDA C++ as a page judges it, in Node: our solution passes, and the known wrong answers do not.

With --peers, as CI runs it, all wrong answers (a quarter of an hour of a processor); else the first of each.
"""

import pytest

from course_lib.site import exported_cases
from tests.site import engine_jobs

pytestmark = pytest.mark.slow
UNJUDGED = "value_gradient"  # compares two runs


def test_solutions_pass_and_wrong_answers_are_refused_as_natively(built, request):
    names = exported_cases.exercises_in("cuda")
    most = None if request.config.getoption("--peers") else 1
    wrong = {name: engine_jobs.wrong_answers(name)[:most] for name in names}
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
