"""Judges one answer: the reference first, then the answer, case by case, then its numbers. Runs in a process of its own.

`judge(job)` never raises for what an answer does; it gives a Verdict as a dict. What only the outside can see (a process that
ended, or never does) is the client's part.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import importlib
import linecache
import pickle
import signal
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.coach import catalogue, compare, regions
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Fault, Outcome, Seen
from course_lib.coach.verdict import Count, Trial, Verdict

SEED = 20


class StillRunning(KeyboardInterrupt):
    """The time is over. Not an Exception, so that an answer's `except Exception` does not swallow it."""


def judge(job: dict, stage: Callable[[str], None] = lambda words: None) -> dict:
    """The Verdict on `job["text"]` as an answer to `job["name"]`.

    job: name, text, known (names that the learner's notebook knows), values (a file for the failing case, or ""),
    measure (whether to compare counters with our solution's). stage is told what is being done.
    """
    exercise = catalogue.load(job["name"])
    cases = list(exercise.cases(np.random.default_rng(SEED)))
    stage("computing what is expected")
    expected = [_expected(exercise, case.inputs) for case in cases]
    solution = ""
    if exercise.measured or exercise.goals:
        solution = regions.pieces(catalogue.source(exercise.chapter))[exercise.name].solution
    ours = _compile_ours(exercise, solution) if exercise.language == "cuda" and job.get("measure") else None

    file = f"{exercise.name}{exercise.suffix}"
    signal.signal(signal.SIGALRM, _time_is_over)
    try:
        try:
            if exercise.language == "cuda":
                stage("compiling your kernel")
                answer = load_answer(exercise, job["text"])
                answer.kernel.compiled(checked=True)
            signal.setitimer(signal.ITIMER_REAL, exercise.seconds)
            if exercise.language == "python":
                stage("loading your answer")
                answer = load_answer(exercise, job["text"])
            outcomes = []
            for number, (case, want) in enumerate(zip(cases, expected, strict=True), 1):
                stage(f"trying case {number} of {len(cases)}: {case.label}")
                outcomes.append(_try(exercise, answer, case, want, file))
                if outcomes[-1].error and outcomes[-1].error.kind == "StillRunning":
                    break
        except BaseException as error:  # even SystemExit: the answer ran while it was loaded
            return _not_loaded(exercise, fault(error, file, job["text"]), job)
        verdict = _verdict(exercise, job, outcomes, len(cases))
        if not any(not outcome.right for outcome in outcomes):
            stage("counting")
            if ours is not None:
                ours.join()
            try:
                _measure(exercise, verdict, answer, outcomes, cases, solution if job.get("measure") else "")
            except BaseException as error:  # the answer runs once more to be measured, on more than the cases hold
                verdict.passed = False
                broken = _said(fault(error, file, job["text"]), exercise, job)
                if isinstance(error, StillRunning):
                    broken = f"your code was still running after {exercise.seconds:g} seconds, for more is asked of it there."
                verdict.why = f"The cases are right. Then, while it was measured: {broken}"
        elif job.get("values"):
            _keep_values(next(outcome for outcome in outcomes if not outcome.right), job["values"])
        return verdict.as_dict()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def load_answer(exercise: Exercise, text: str) -> Any:
    """What an answer's text defines: a function or class, or a Watched kernel. Raises whatever the text raises."""
    if exercise.language == "cuda":
        from course_lib.coach import kernels

        return kernels.load(text, exercise)
    file = f"{exercise.name}.py"
    namespace: dict[str, Any] = {"__name__": exercise.name, "__file__": file}
    exec(exercise.prelude, namespace)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    if exercise.defines not in namespace:
        raise NameError(f"Your cell defines nothing named {exercise.defines}: keep that name, it is what is called.")
    return namespace[exercise.defines]


def resolve(target: str) -> tuple[Any, str]:
    """The module or class that holds a target "a.b.c", and the name in it."""
    parts = target.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            holder: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            holder = getattr(holder, part)
        return holder, parts[-1]
    raise ImportError(f"There is no module in {target!r}.")


def fault(error: BaseException, file: str, text: str) -> Fault:
    """An exception as the learner should read it: kind, message, and the last line of theirs that led to it."""
    line = None
    if isinstance(error, SyntaxError) and error.filename == file:
        line = error.lineno
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        line = frames[-1].lineno if frames else getattr(error, "line", None)
    lines = text.splitlines()
    code = lines[line - 1].strip() if line and 0 < line <= len(lines) else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, KeyError):
        message = f"there is no key {message}"
    return Fault(type(error).__name__, message or "no message", line, code)


def _time_is_over(signum, frame) -> None:
    raise StillRunning("still running")


def _expected(exercise: Exercise, inputs: tuple) -> Any:
    """What is right, and which inputs a right answer changes."""
    if not exercise.compared:
        return None, ()
    given = copy.deepcopy(inputs)
    with _quiet():
        if exercise.language == "cuda":
            return exercise.reference(*given), ()
        function = exercise.reference
        if function is None:
            holder, name = resolve(exercise.target)
            function = getattr(holder, name)
        result = _call(exercise, function, given)
    return copy.deepcopy(compare.plain(result)), _changed(inputs, given)


def _changed(before: tuple, after: tuple) -> tuple[int, ...]:
    return tuple(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if compare.difference(b, a, 0.0))


def _call(exercise: Exercise, answer: Any, inputs: tuple) -> Any:
    return exercise.call(answer, *inputs) if exercise.call else answer(*inputs)


def _try(exercise: Exercise, answer: Any, case, want: tuple, file: str) -> Outcome:
    expected, may_change = want
    outcome = Outcome(case.label, copy.deepcopy(case.inputs), expected)
    seeds = (0, 1) if exercise.language == "cuda" else (0,)
    for seed in seeds:  # threads in order, then in a shuffled one
        given = copy.deepcopy(case.inputs)
        if seeds != (0,):
            answer.seed, answer.reports = seed, []
        try:
            got = _call(exercise, answer, given)
            outcome.got = got if isinstance(got, tuple | list | dict) else compare.plain(got)
            if exercise.compared:
                found = compare.difference(got, expected, exercise.tolerance)
                outcome.difference = compare.named(found, exercise.results)
            if exercise.check and outcome.difference is None:
                outcome.complaint = _check(exercise, got, case.inputs)
            outcome.changed = [i for i in _changed(case.inputs, given) if i not in may_change]
        except BaseException as error:
            outcome.error = fault(error, file, _text_of(file))
        if seeds != (0,):
            outcome.reports = answer.reports
        if not outcome.right:
            break
    if outcome.changed and outcome.right:
        from course_lib.coach import facts

        outcome.complaint = facts.changed_inputs(outcome)
    return outcome


def _check(exercise: Exercise, got: Any, inputs: tuple) -> str:
    """What the exercise's own check says; a result that it cannot even look at is of the wrong kind."""
    try:
        return exercise.check(got, *copy.deepcopy(inputs)) or ""
    except Exception as error:
        kind = "nothing" if got is None else f"{compare.text(got, 80)}, of type {type(got).__name__}"
        return f"Your code gives back {kind}: that is not what the task asks for ({type(error).__name__}: {error})."


@contextlib.contextmanager
def _quiet():
    """Warnings of what is not the learner's are not shown to the learner."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _text_of(file: str) -> str:
    return "".join(linecache.cache[file][2]) if file in linecache.cache else ""


def _not_loaded(exercise: Exercise, broken: Fault, job: dict) -> dict:
    outcome = Outcome("your cell", (), error=broken)
    verdict = _verdict(exercise, job, [outcome], 1)
    verdict.trial.label, verdict.loaded = "", False
    return verdict.as_dict()


def _verdict(exercise: Exercise, job: dict, outcomes: list[Outcome], cases: int) -> Verdict:
    failing = next((outcome for outcome in outcomes if not outcome.right), None)
    verdict = Verdict(exercise.name, exercise.title, exercise.language, failing is None)
    if failing is None:
        verdict.why = "The one case is right." if cases == 1 else f"All {cases} cases are right."
        return verdict
    seen = Seen(job["text"], failing, outcomes)
    verdict.why, verdict.recognised = _why(exercise, seen, job)
    verdict.trial = _trial(exercise, failing)
    verdict.issues = [str(issue) for issue in failing.issues]
    verdict.report = _report(failing)
    verdict.right_cases = sum(outcome.right for outcome in outcomes)
    verdict.cases = cases
    return verdict


def _why(exercise: Exercise, seen: Seen, job: dict) -> tuple[str, bool]:
    """The sentence that comes first, and whether a cause was recognised."""
    from course_lib.coach import facts, faults

    for mistake in exercise.mistakes:
        if mistake.when is not None and _holds(mistake.when, seen):
            return mistake.says, True
        if mistake.like is not None and _gives_the_same(exercise, mistake.like, seen.outcomes):
            return mistake.says, True
    failing = seen.failing
    if failing.error:
        return _said(failing.error, exercise, job), False
    if failing.issues:
        return faults.of_issue(failing.issues[0], seen), False
    if failing.complaint:
        return failing.complaint, False
    return facts.about(failing, exercise.tolerance) or f"{failing.difference.says}.", False


def _said(broken: Fault, exercise: Exercise, job: dict) -> str:
    from course_lib.coach import faults

    return faults.sentence(broken, exercise, job.get("known", ()))


def _gives_the_same(exercise: Exercise, like: Callable, outcomes) -> bool:
    """Whether a wrong function explains every result: the same values, the same kind of exception."""
    told_apart = False
    for outcome in outcomes:
        given = copy.deepcopy(outcome.inputs)
        try:
            with _quiet():
                result = like(*given) if exercise.language == "cuda" else _call(exercise, like, given)
        except Exception as error:
            if outcome.error is None or outcome.error.kind != type(error).__name__:
                return False
            continue
        if outcome.error or compare.difference(outcome.got, result, exercise.tolerance):
            return False
        told_apart = told_apart or not outcome.right
    return told_apart


def _holds(when: Callable[[Seen], bool], seen: Seen) -> bool:
    """Whether a cause was detected; a question that the result gives no answer to (an index into None, say) means no."""
    try:
        return bool(when(seen))
    except Exception:
        return False


def _trial(exercise: Exercise, failing: Outcome) -> Trial:
    from course_lib.coach import pictures

    inputs = [compare.text(value) for value in failing.inputs]
    call = f"{exercise.defines}({', '.join(inputs)})"
    plain_call = exercise.language == "python" and exercise.call is None and len(call) < 90 and "\n" not in call
    trial = Trial(failing.label, [call] if plain_call else inputs, plain_call)
    if exercise.compared and failing.inputs:
        trial.expected = compare.text(failing.expected)
    if failing.error:
        trial.line, trial.code = failing.error.line, failing.error.code
    elif failing.inputs:
        trial.got = compare.text(failing.got)
    if failing.difference:
        trial.difference = failing.difference.says
        trial.picture = pictures.cells(failing.difference, exercise.tolerance)
    return trial


def _report(outcome: Outcome) -> str:
    """What the simulator counted, line by line, in the last launch of a case."""
    return str(dataclasses.replace(outcome.reports[-1], issues=[], not_checked=[])) if outcome.reports else ""


def _compile_ours(exercise: Exercise, solution: str) -> threading.Thread | None:
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


def _measure(exercise: Exercise, verdict: Verdict, answer: Any, outcomes, cases, solution: str) -> None:
    """Fill in the numbers; a goal that is missed turns a passed verdict."""
    if exercise.language == "cuda":
        if not exercise.measured:
            return
        from course_lib.coach import kernels

        place = next(i for i, case in enumerate(cases) if case.label == exercise.measured)
        reports = outcomes[place].reports
        our_reports: list = []
        if solution:
            ours = load_answer(exercise, solution)
            ours.seed = answer.seed
            _call(exercise, ours, copy.deepcopy(cases[place].inputs))
            our_reports = ours.reports
        verdict.report = _report(outcomes[place])
        mine, theirs = kernels.counters(reports), kernels.counters(our_reports)
        verdict.counts = [Count(name, number, theirs.get(name)) for name, number in mine.items()]
        verdict.measured = exercise.measured
        subject, our_subject = reports, our_reports
        verdict.not_measured = sorted({what for report in reports for what in report.not_checked})
    elif exercise.goals:
        subject, our_subject = answer, load_answer(exercise, solution) if solution else None
    for goal in exercise.goals:
        number = goal.counts(subject)
        count = Count(goal.name, number, goal.counts(our_subject) if our_subject else None, goal.at_most)
        verdict.counts = [c for c in verdict.counts if c.name != goal.name] + [count]
        if count.missed and verdict.passed:
            verdict.passed = False
            verdict.why = (
                f"The results are right, and the goal is not reached: {goal.name}: {number:.4g}, at most {goal.at_most:.4g} "
                "is asked for."
            )
            if exercise.language == "cuda":
                verdict.why += kernels.costliest(reports, goal.name)
            seen = Seen("", outcomes[-1], outcomes)
            for mistake in exercise.mistakes:
                if mistake.when is not None and _holds(mistake.when, seen):
                    verdict.why, verdict.recognised = mistake.says, True
                    break


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
