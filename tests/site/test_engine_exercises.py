"""Every exercise in CUDA C++ as a page judges it, in Node: our solution passes, and known wrong answers do not.

Two wrong answers of each, ten minutes of a processor; all of them: `python -m tests.site.engine_jobs wrong`, some twenty.
"""

import pytest

from course_lib.site import exported_cases
from tests.site import engine_jobs

pytestmark = pytest.mark.slow
WRONG = 2
UNJUDGED = {"value_gradient"}  # compares two runs; the page says so


def test_solutions_pass_and_wrong_answers_are_refused_as_natively(built):
    names = exported_cases.exercises_in("cuda")
    jobs = [job for name in names for job in (engine_jobs.solution(name), *engine_jobs.wrong_answers(name)[:WRONG])]
    told = engine_jobs.run(built(names), jobs)["results"]
    otherwise = {
        (job["judge"], job.get("says", "our solution")): verdict.get("headline", verdict)
        for job, verdict in zip(jobs, told, strict=True)
        if job["judge"] not in UNJUDGED and engine_jobs.unlike("wrong" if "says" in job else "solutions", job, verdict)
    }
    assert len(names) > 120 and otherwise == {}
    assert not any(verdict.get("passed") for job, verdict in zip(jobs, told, strict=True) if job["judge"] in UNJUDGED)
