"""The numbers of an answer that is right: counters beside those of our solution, and the goals that it must reach."""

from __future__ import annotations

import contextlib
import copy
import threading
from typing import Any

from course_lib.coach import answers, diagnosis, goal_causes
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Asked, RaisedError, Seen
from course_lib.coach.sandbox import Sandbox
from course_lib.coach.verdict import Count, Verdict, as_text

BEYOND_REACH = "as this machine's compiler counts, our own solution would miss it too"


def compile_ours(exercise: Exercise, solution: str) -> threading.Thread | None:
    """Begin to compile our kernel for the comparison, beside the learner's."""
    from course_lib.coach import kernels

    if not solution:
        return None

    def compile_it() -> None:
        with contextlib.suppress(Exception):  # what is wrong, such as no compiler, shows with the learner's own kernel
            kernels.load(solution, exercise).kernel.compiled(checked=True)

    thread = threading.Thread(target=compile_it, daemon=True)
    thread.start()
    return thread


def measure(
    exercise: Exercise, verdict: Verdict, sandbox: Sandbox, outcomes, cases, solution: str
) -> RaisedError | None:
    """Fill in the numbers; a goal that is missed turns a passed verdict. Gives what an answer raised while it was measured."""
    measured = -1  # number of the case
    if exercise.is_kernel:
        if exercise.language == "wgsl":  # of CUDA the simulator sees all but counters
            seen = {what for outcome in outcomes for report in outcome.reports for what in report.not_checked}
            verdict.not_measured = sorted(seen)
        if not exercise.measured:
            return None
        counting = answers.launched(exercise)
        measured = next(i for i, case in enumerate(cases) if case.label == exercise.measured)
        reports = outcomes[measured].reports
        our_reports: list = []
        if solution:
            ours = answers.load_answer(exercise, solution)
            ours.seed = sandbox.runs[-1] if exercise.language == "cuda" else 0
            answers.call(exercise, ours, copy.deepcopy(cases[measured].inputs))
            our_reports = ours.reports
        verdict.report = diagnosis.report(outcomes[measured])
        yours, ours_counted = counting.counters(reports), counting.counters(our_reports)
        verdict.counts = [Count(name, number, ours_counted.get(name)) for name, number in yours.items()]
        verdict.measured = exercise.measured
        our_subject: Any = our_reports
        verdict.not_measured += sorted(
            {what for report in reports for what in report.not_checked} - set(verdict.not_measured)
        )
    elif exercise.goals:
        our_subject = answers.load_answer(exercise, solution) if solution else None
    for place, goal in enumerate(exercise.goals):
        ours_number = goal.counts(our_subject) if our_subject else None
        if exercise.is_kernel:
            number = goal.counts(reports)
        else:
            done = sandbox.goal(place)
            if done.raised:
                return done.raised
            number = done.result if type(done.result) in (int, float) else None
        beyond_reach = Count("", ours_number, None, goal.at_most).missed
        if exercise.is_kernel and (beyond_reach or (number is None and our_subject and ours_number is None)):
            number = None  # a compiler that asks for memory in other pieces is no fault of the learner's
            verdict.not_measured.append(f"{goal.name}: {BEYOND_REACH}")
        elif number is None and goal.at_most is not None and verdict.passed:
            verdict.passed = False
            verdict.why = (
                f"The results are right, but the goal cannot be counted: {goal.name}. Your code does nothing of that kind "
                "in the case that is measured."
            )
        count = Count(goal.name, number, ours_number, goal.at_most)
        verdict.counts = [c for c in verdict.counts if c.name != goal.name] + [count]
        if count.missed and verdict.passed:
            verdict.passed = False
            verdict.why = (
                f"The results are right, but the goal is not reached: {goal.name}: {as_text(number)}; "
                f"at most {as_text(goal.at_most)} is required."
            )
            if exercise.is_kernel:
                verdict.why += counting.costliest(reports, goal.name)
            if exercise.language == "cuda":
                verdict.why += goal_causes.why(
                    reports, our_reports, goal.name, cases[measured].inputs, outcomes[measured].got
                )
            seen = Asked(Seen("", outcomes[measured], outcomes))
            for wrong in exercise.wrong:
                explains = wrong.when is not None and diagnosis.holds(wrong.when, seen)
                if explains and not {"got", "kinds"} & seen.looked_at:  # values are right here: they prove nothing
                    verdict.why, verdict.recognised = wrong.says, True
                    break
                seen.looked_at.clear()
    return None
