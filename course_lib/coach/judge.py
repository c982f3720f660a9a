"""Judges one answer: the reference first, then the answer, case by case, then its numbers.

`judge(job)` never raises for what an answer does; it gives a Verdict as a dict. The answer runs in another process (sandbox.py),
which sends what it computed; expected values, comparisons and the verdict are made here, where no answer reaches them.
"""

from __future__ import annotations

import copy
import pickle
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.coach import (
    answers,
    catalogue,
    compare,
    diagnosis,
    features,
    heuristics,
    kernel_causes,
    kernel_repairs,
    kernel_source,
    measuring,
    messages,
    parting,
    python_source,
    repairs,
    slowness,
    two_repairs,
)
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import ENDED, FORGED, KILLED, Outcome, Seen
from course_lib.coach.sandbox import Sandbox, starts_at_once
from course_lib.coach.verdict import Verdict

SEED = 20
LAST = ("StillRunning", ENDED, KILLED, FORGED)  # kinds of errors after which no other case is tried


def judge(job: dict, stage: Callable[[str], None] = lambda words: None) -> dict:
    """The Verdict on `job["text"]` as an answer to `job["name"]`.

    job: name, text, known (names that the learner's notebook knows), values (a file for the failing case, or ""),
    measure (whether to compare counters with our solution's), explain (whether anybody asks why a case fails). stage is told what
    is being done.
    """
    exercise = catalogue.load(job["name"])
    if exercise.language == "wgsl" and (missing := answers.launched(exercise).problem()):
        return Verdict(exercise.name, exercise.title, exercise.language, False, missing, judged=False).as_dict()
    for alarm in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(alarm, answers.time_is_over)
    with Sandbox(exercise, job["text"]) as sandbox:  # first of all: what is right is not in its memory
        verdict = _judged(exercise, job, sandbox, stage)
        verdict.printed = sandbox.text_printed()
    return verdict.as_dict()


def _judged(exercise: Exercise, job: dict, sandbox: Sandbox, stage: Callable[[str], None]) -> Verdict:
    stage("computing the expected results")
    sandbox.begin_to_load()  # the compiler works meanwhile
    cases = list(exercise.cases(np.random.default_rng(SEED)))
    expected = [_expected(exercise, case.inputs) for case in cases]
    solution = ""
    if exercise.measured or exercise.goals or exercise.large:
        solution = catalogue.piece(exercise.name).solution
    ours = measuring.compile_ours(exercise, solution) if exercise.language == "cuda" and job.get("measure") else None
    stage("compiling your kernel" if exercise.is_kernel else "loading your answer")
    if broken := sandbox.load().raised:
        return diagnosis.not_loaded(exercise, broken, job)
    outcomes, explain = [], job.get("explain", True)
    for number, (case, want) in enumerate(zip(cases, expected, strict=True), 1):
        stage(f"trying case {number} of {len(cases)}: {case.label}")
        outcomes.append(_try(exercise, sandbox, case, want))
        if outcomes[-1].error and outcomes[-1].error.kind in LAST:
            break
        if not explain and not outcomes[-1].right:
            break
    verdict = diagnosis.verdict_on(exercise, job, outcomes, len(cases))
    failing = next((i for i, outcome in enumerate(outcomes) if not outcome.right), None)
    if failing is not None and explain:
        kept_something = failing and _is_unexplained(verdict, outcomes[failing])
        if kept_something and _right_alone(exercise, job["text"], cases[failing], expected[failing]):
            verdict.why = (
                "By itself this case is right, and after the cases before it is wrong: your code keeps something between calls. "
                "Look for a default argument, a variable outside of the function, or an input that is changed."
            )
        elif _is_plain(verdict, outcomes[failing]) or _tells_values(verdict, outcomes[failing]):
            stage("looking for the cause")
            _look_for_cause(exercise, job["text"], verdict, sandbox, outcomes, cases, expected)
        if job.get("values"):
            _keep_values(outcomes[failing], job["values"])
        return verdict
    stage("counting")
    if ours is not None:
        ours.join()
    _measure(exercise, job, verdict, sandbox, outcomes, cases, solution if job.get("measure") else "")
    if verdict.passed and (words := _not_your_own(exercise, job["text"], sandbox)):
        verdict.passed, verdict.why = False, words
    if verdict.passed and exercise.language == "cuda" and (words := kernel_source.double_literal(job["text"])):
        verdict.notes.append(words)
    return verdict


def _measure(exercise: Exercise, job: dict, verdict: Verdict, sandbox: Sandbox, outcomes, cases, solution: str) -> None:
    """The numbers of an answer whose cases are right. For them it runs on more than the cases hold, and may fail there."""
    broken = measuring.measure(exercise, verdict, sandbox, outcomes, cases, solution)
    if broken is None:
        verdict.notes += filter(None, [slowness.note(exercise, sandbox, solution)])
        return
    said = messages.of_error(broken, exercise, job.get("known", ()))
    if broken.kind == "StillRunning":
        said = f"your code was still running after {exercise.seconds:g} seconds: the measurement runs more than the cases do."
    verdict.passed = False
    verdict.why = f"All cases are right. Then, while your code was measured: {said[0].lower()}{said[1:]}"


def _is_unexplained(verdict: Verdict, failing: Outcome) -> bool:
    return not (verdict.recognised or failing.complaint or (failing.error and failing.error.kind in LAST))


def _is_plain(verdict: Verdict, failing: Outcome) -> bool:
    """Whether the verdict shows what is wrong, and does not say why."""
    if verdict.recognised or failing.issues or (failing.error and failing.error.kind not in messages.BARE):
        return False
    return bool(failing.error) or (failing.difference is not None and verdict.why == f"{failing.difference.says}.")


def _tells_values(verdict: Verdict, failing: Outcome) -> bool:
    """Whether the verdict says how the values are wrong, and no more."""
    if verdict.recognised or failing.issues or failing.error or failing.complaint or failing.changed:
        return False
    return not re.search(r"^Line \d|That was the case:", verdict.why)


def _look_for_cause(
    exercise: Exercise, text: str, verdict: Verdict, sandbox: Sandbox, outcomes, cases, expected
) -> None:
    def right(result: Any, changed: list[int], number: int) -> bool:
        wanted, may_change = expected[number]
        if any(i not in may_change for i in changed):
            return False
        if exercise.compared and compare.difference(result, wanted, exercise.tolerance) is not None:
            return False
        return not (exercise.check and _check(exercise, result, cases[number].inputs))

    def all_right(changed: str) -> bool:
        with Sandbox(exercise, changed) as other:
            other.begin_to_load()
            return not other.load().raised and all(
                _try(exercise, other, case, want).right for case, want in zip(cases, expected, strict=True)
            )

    def nearness(result: Any, changed: list[int], number: int) -> float:
        return 1.0 if right(result, changed, number) else _nearness(exercise, result, outcomes[number])

    failing = next(outcome for outcome in outcomes if not outcome.right)
    piece = catalogue.piece(exercise.name)
    solution = piece.solution
    words = repairs.cause(text, sandbox, outcomes, cases, right)
    words = words or kernel_repairs.cause(exercise, text, piece, sandbox, outcomes, cases, right, all_right)
    wrong = [i for i, outcome in enumerate(outcomes) if not outcome.right]

    def parted() -> str:
        if exercise.language == "wgsl" or failing.error or failing.issues or len(outcomes) < len(cases):
            return ""
        if exercise.language == "cuda":
            return diagnosis.told(parting.of_kernel, text, piece, sandbox, wrong, cases)
        return diagnosis.told(parting.of_python, text, solution, sandbox, wrong, cases, right)

    if not _is_plain(verdict, failing) and not kernel_causes.ONLY_WHERE.match(verdict.why):
        # It is known how the values are wrong; where the mistake is comes after it.
        verdict.why = f"{verdict.why} {words or parted()}".strip()
        return
    words = words or repairs.kin(exercise, solution, sandbox, outcomes, cases)
    words = words or diagnosis.two_at_once(exercise, Seen(text, failing, outcomes))
    words = words or diagnosis.partly(exercise, Seen(text, failing, outcomes))
    if not words and exercise.language == "python" and len(outcomes) == len(cases):
        near = [_nearness(exercise, outcome.got, outcome) for outcome in outcomes]
        words = two_repairs.cause(text, sandbox, wrong, cases, right, nearness, near, some=not failing.error)
    if not words and _is_plain(verdict, failing):
        words = python_source.unused(text, solution, exercise.defines) or features.of_flags(outcomes)
        which = (
            ""
            if words
            else diagnosis.told(features.of_cases, outcomes, diagnosis.inputs_of(exercise, len(failing.inputs)))
        )
        words = " ".join(filter(None, [words, which, parted()]))
    elif not words:  # it is known in which cases the values are wrong
        verdict.why = f"{verdict.why} {parted()}".strip()
    if words:
        verdict.why = f"{verdict.why} {words}" if failing.error else words


def _nearness(exercise: Exercise, result: Any, outcome: Outcome) -> float:
    """Which fraction of a result's parts is right, at most 0.9 if it is not the whole; 1 of an outcome that is right."""
    if result is outcome.got and outcome.right:
        return 1.0
    wanted = outcome.expected
    if not isinstance(wanted, tuple) or not isinstance(result, tuple | list) or len(result) != len(wanted):
        return 0.0
    parts = [compare.difference(a, b, exercise.tolerance) is None for a, b in zip(result, wanted, strict=True)]
    return 0.9 * sum(parts) / max(1, len(parts))


def _right_alone(exercise: Exercise, text: str, case, want: tuple) -> bool:
    """Whether a failing case of a Python answer is right in a process that has seen no other case."""
    if exercise.is_kernel or not starts_at_once():
        return False
    with Sandbox(exercise, text) as alone:
        alone.begin_to_load()
        return not alone.load().raised and _try(exercise, alone, case, want).right


def _not_your_own(exercise: Exercise, text: str, sandbox: Sandbox) -> str:
    """A sentence where a right answer leaves the work to the course's finished piece."""
    if sandbox.borrowed:
        used = sandbox.borrowed[0]
        what = "uses" if used.startswith("the text of") else "calls"
        return f"The results are right, but this {what} ours: {used}. The task is to write it yourself."
    return kernel_source.includes_ours(exercise, text) if exercise.is_kernel else ""


def _expected(exercise: Exercise, inputs: tuple) -> Any:
    """What is right, and which inputs a right answer changes."""
    if not exercise.compared:
        return None, ()
    given = copy.deepcopy(inputs)
    with answers.quiet():
        if exercise.is_kernel:
            return exercise.reference(*given), ()
        result = answers.call(exercise, exercise.reference or answers.ours(exercise), given)
    return copy.deepcopy(compare.plain(result)), compare.changed(inputs, given)


def _try(exercise: Exercise, sandbox: Sandbox, case, want: tuple) -> Outcome:
    expected, may_change = want
    outcome = Outcome(case.label, copy.deepcopy(case.inputs), expected)
    before = None
    for seed in sandbox.runs:
        done = sandbox.call(case.inputs, seed)
        outcome.reports = done.reports or outcome.reports
        if done.raised:
            outcome.error = done.raised
            break
        got = done.result
        outcome.got = got if isinstance(got, tuple | list | dict) else compare.plain(got)
        if exercise.compared:
            found = compare.difference(got, expected, exercise.tolerance)
            outcome.difference = compare.named(found, exercise.results)
        if exercise.check and outcome.difference is None:
            outcome.complaint = _check(exercise, got, case.inputs)
        if before is not None and seed > 1 and not outcome.complaint and compare.difference(got, before, 0.0):
            outcome.complaint = (
                "Two runs on the same inputs give different results: they depend on the order of the threads."
            )
        before = outcome.got
        outcome.changed = [i for i in done.changed if i not in may_change]
        if exercise.is_kernel or outcome.right:  # of Python it is where a result lies, which matters if it is right
            outcome.complaint = outcome.complaint or done.complaint
        if not outcome.right:
            break
    if outcome.changed and outcome.right:
        outcome.complaint = heuristics.changed_inputs(outcome, diagnosis.inputs_of(exercise, len(outcome.inputs)))
    return outcome


def _check(exercise: Exercise, got: Any, inputs: tuple) -> str:
    """What the exercise's own check says; a result that it cannot even look at is of the wrong kind."""
    try:
        return exercise.check(got, *copy.deepcopy(inputs)) or ""
    except Exception as error:
        kind = "nothing" if got is None else f"{compare.text(got, 80)}, of type {compare.kind_of(got)}"
        return f"Your code returns {kind}, which is not what the task asks for ({type(error).__name__}: {error})."


def _keep_values(failing: Outcome, file: str) -> None:
    """Leave the failing case for `course.last_case()`; what cannot be stored is left as text."""

    def storable(value: Any) -> Any:
        try:
            pickle.dumps(value)
            return value if type(value).__module__ in ("builtins", "numpy") else repr(value)
        except Exception:
            return repr(value)

    values = {"label": failing.label, "inputs": storable(failing.inputs), "expected": storable(failing.expected),
              "got": storable(failing.got)}  # fmt: skip
    Path(file).write_bytes(pickle.dumps(values))
