"""From what the cases showed to a verdict: which sentence comes first, and the smallest failing case beside it."""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import signal
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from course_lib.coach import (
    answers,
    catalogue,
    compare,
    heuristics,
    kernel_causes,
    kernel_source,
    messages,
    patterns,
    pictures,
    two_mistakes,
)
from course_lib.coach.exercise import Exercise, Mistake, Wrong, answer_text
from course_lib.coach.outcome import Asked, Outcome, RaisedError, Seen
from course_lib.coach.verdict import FailingCase, Verdict
from course_lib.cuda.trace import PLAYED_THREADS

FACTS = {"text", "error", "kinds", "issues", "reports", "complaint"}  # of a Seen: no coincidence makes them
SECONDS = 2.0  # of processor time, for all wrong answers together: another program takes no cause away
WAITED = 5 * SECONDS  # by the clock, for one that only waits


def verdict_on(exercise: Exercise, job: dict, outcomes: list[Outcome], cases: int) -> Verdict:
    """The Verdict on cases that were tried, `cases` in all: its smallest failing one, and why."""
    failing = next((outcome for outcome in outcomes if not outcome.right), None)
    verdict = Verdict(exercise.name, exercise.title, exercise.language, failing is None)
    if failing is None:
        verdict.why = "The one case is right." if cases == 1 else f"All {cases} cases are right."
        return verdict
    seen = Seen(job["text"], failing, outcomes)
    verdict.why, verdict.recognised = why(exercise, seen, job)
    verdict.failing = _failing_case(exercise, failing)
    verdict.issues = [str(issue) for issue in failing.issues]
    verdict.report = report(failing)
    verdict.playable = exercise.language == "cuda" and any(
        math.prod(launched.block) <= PLAYED_THREADS for launched in failing.reports[:1]
    )
    verdict.right_cases = sum(outcome.right for outcome in outcomes)
    verdict.cases = cases
    return verdict


def not_loaded(exercise: Exercise, broken: RaisedError, job: dict) -> Verdict:
    """The same for a text that could not even be loaded."""
    outcome = Outcome("your cell", (), error=broken)
    verdict = verdict_on(exercise, job, [outcome], 1)
    verdict.failing.label, verdict.loaded = "", False
    return verdict


def why(exercise: Exercise, seen: Seen, job: dict) -> tuple[str, bool]:
    """The sentence that comes first, and whether a cause was recognised."""
    failing = seen.failing
    if exercise.language == "cuda" and not (failing.error and failing.error.kind == "CompileError"):
        # a kernel that was launched with another task's parameters can only go wrong: that comes before all that it did
        if words := kernel_source.other_parameters(exercise, seen.text):
            return words, False
    if words := recognised(exercise, seen):
        return words, True
    if words := heuristics.changed_inputs(failing, inputs_of(exercise, len(failing.inputs))):
        return words, False
    if failing.error:
        return messages.of_error(failing.error, exercise, job.get("known", ())), False
    if exercise.language == "cuda" and (words := kernel_source.slip(seen.text)):
        return words, False
    if failing.issues:
        return messages.of_issue(failing.issues[0], seen), False
    if failing.complaint:
        return failing.complaint, False
    for other in seen.outcomes:
        if other.error and messages.KEEP in (words := messages.of_error(other.error, exercise)):
            return f"{words} That was the case: {other.label}. Here the shapes fit by chance.", False
    names = inputs_of(exercise, len(failing.inputs))
    if exercise.is_kernel and (words := told(kernel_causes.of_values, exercise, seen, names)):
        return words, False
    words = heuristics.of_all(failing, seen.outcomes, exercise.tolerance)
    if not words and exercise.language == "python":
        words = told(patterns.of_values, seen.outcomes, names)
    return words or f"{failing.difference.says}.", False


def told(find: Callable[..., str], *given: Any) -> str:
    """What a look for a cause says. What came may be of any kind: if it cannot be looked at, the verdict goes without a cause.

    COURSE_TRACEBACK=1, as in the tests, shows what went wrong.
    """
    try:
        return find(*given)
    except Exception:
        if os.environ.get("COURSE_TRACEBACK"):
            raise
        return ""


def recognised(exercise: Exercise, seen: Seen) -> str:
    """The sentence of the first mistake that explains what was seen; "" if none does, or if it takes too long to find out."""
    return _first_that(lambda wrong: _explains(exercise, wrong, seen), exercise)


def partly(exercise: Exercise, seen: Seen) -> str:
    """The same of two mistakes at once: the first that explains most of the failing cases, said with their count."""
    failing = [outcome for outcome in seen.outcomes if not outcome.right and not outcome.error]
    explained: list[Outcome] = []

    def explains_most(wrong: Wrong | Mistake) -> bool:
        function = _function(exercise, wrong) if wrong.when is None else None
        if function is None or not all(_gives(exercise, function, o) for o in seen.outcomes if o.right):
            return False
        explained[:] = [outcome for outcome in failing if _gives(exercise, function, outcome)]
        others = [o for o in explained[1:] if compare.difference(o.inputs, explained[0].inputs, 0.0)]
        return bool(others) and 2 * len(explained) > len(failing) and any(o is seen.failing for o in explained)

    says = _first_that(explains_most, exercise)
    wrong = sum(not outcome.right for outcome in seen.outcomes)
    so = f"That is so in {len(explained)} of the {wrong} failing cases; in the others something else is wrong, too."
    return f"{says} {so}" if says else ""


def two_at_once(exercise: Exercise, seen: Seen) -> str:
    """The sentences of two mistakes that explain the failing cases together; "" if no two do."""
    said = [wrong for wrong in exercise.wrong if isinstance(wrong, Wrong) and wrong.says]
    known = [(wrong, function) for wrong in said if (function := _function(exercise, wrong)) is not None]

    def gives(k: int, outcome: Outcome) -> Any:
        return _result(exercise, known[k][1], outcome)

    def shows(k: int, outcome: Outcome) -> bool:
        when = known[k][0].when
        return when is None or holds(when, Seen(seen.text, outcome, seen.outcomes))

    sentences = [wrong.says for wrong, _ in known]
    find = partial(two_mistakes.says, sentences, gives, shows, seen.outcomes, exercise.tolerance)
    return _in_time(find, SECONDS / 2)


def _first_that(explains: Callable[[Wrong | Mistake], bool], exercise: Exercise) -> str:
    return _in_time(lambda: next((wrong.says for wrong in exercise.wrong if wrong.says and explains(wrong)), ""))


def _in_time(find: Callable[[], str], seconds: float = SECONDS) -> str:
    """What is found; "" if it takes too long."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITED)  # the answer's own seconds are over
    try:
        return find()
    except answers.StillRunning:
        return ""
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)


def _explains(exercise: Exercise, wrong: Wrong | Mistake, seen: Seen) -> bool:
    if wrong.when is not None:
        return proves(wrong, seen)
    if wrong.like is not None and not (seen.failing.difference or seen.failing.complaint):  # no wrong values
        return False
    function = _function(exercise, wrong)
    return function is not None and gives_the_same(exercise, function, seen.outcomes)


def _function(exercise: Exercise, wrong: Wrong) -> Callable | None:
    """What gives the results of a wrong answer; None if that cannot be loaded."""
    if wrong.like is not None:
        return wrong.like
    if exercise.is_kernel:
        return None
    try:
        return answers.load_answer(exercise, answer_text(wrong.answer, _solution(exercise.name)))
    except Exception:  # the learner's code may have filled the memory of this process
        return None


@cache
def _solution(name: str) -> str:
    return catalogue.piece(name).solution


def gives_the_same(exercise: Exercise, wrong: Callable, outcomes) -> bool:
    """Whether a wrong function explains every result: the same values, the same kind of exception. Errors alone prove nothing."""
    if not any(outcome.error is None and not outcome.right for outcome in outcomes):
        return False
    failing_first = sorted(outcomes, key=lambda outcome: outcome.right)  # there most are told apart at once
    return all(_gives(exercise, wrong, outcome) for outcome in failing_first)


def _result(exercise: Exercise, wrong: Callable, outcome: Outcome) -> Any:
    """What a wrong function gives for the inputs of a case."""
    given = copy.deepcopy(outcome.inputs)
    with answers.quiet():
        return wrong(*given) if exercise.is_kernel else answers.call(exercise, wrong, given)


def _gives(exercise: Exercise, wrong: Callable, outcome: Outcome) -> bool:
    """Whether a wrong function gives what came in one case."""
    try:
        result = _result(exercise, wrong, outcome)
    except Exception as error:
        return outcome.error is not None and outcome.error.kind == type(error).__name__
    return not outcome.error and not compare.difference(outcome.got, result, exercise.tolerance)


def proves(mistake: Wrong | Mistake, seen: Seen) -> bool:
    """Whether a cause was detected, by more than a coincidence: what it says of values it must say of all failing cases."""
    asked = Asked(seen)
    if not holds(mistake.when, asked):
        return False
    if seen.got is None and "got" in asked.looked_at and not asked.looked_at & {"error", "text"}:
        return False  # it asks about a result, and there is none: np.ndim(None) is 0, too
    if mistake.once or "outcomes" in asked.looked_at or ("got" not in asked.looked_at and asked.looked_at & FACTS):
        return True
    explained: list[tuple] = []  # inputs, each once
    for outcome in seen.outcomes:
        if outcome.right or outcome.error:
            continue
        try:
            answer = mistake.when(Seen(seen.text, outcome, seen.outcomes))
        except Exception:
            answer = None
        if answer is None:  # it cannot be asked about this case
            continue
        if not answer:
            return False
        if all(compare.difference(outcome.inputs, other, 0.0) for other in explained):
            explained.append(outcome.inputs)
    return len(explained) > 1


def holds(when: Callable[[Seen], bool], seen: Seen) -> bool:
    """Whether a cause was detected; a question that the result gives no answer to (an index into None, say) means no."""
    try:
        return bool(when(seen))
    except Exception:
        return False


def _failing_case(exercise: Exercise, failing: Outcome) -> FailingCase:
    inputs = [compare.text(value) for value in failing.inputs]
    call = f"{exercise.defines}({', '.join(inputs)})"
    plain_call = exercise.language == "python" and exercise.call is None and len(call) < 90 and "\n" not in call
    case = FailingCase(failing.label, [call] if plain_call else inputs, plain_call)
    case.names = [] if plain_call else list(inputs_of(exercise, len(inputs)))
    # Where only the simulator complains, what came is what was expected.
    only_issues = bool(failing.issues) and not failing.difference and not failing.complaint
    if exercise.compared and failing.inputs and not only_issues:
        case.expected = labelled(failing.expected, exercise.results)
    if failing.error:
        case.line, case.code = failing.error.line, failing.error.code
    elif failing.inputs and not only_issues:
        case.got = labelled(failing.got, exercise.results)
    if failing.difference:
        case.difference = failing.difference.says
        case.picture = pictures.cells(failing.difference, exercise.tolerance)
    return case


def labelled(value: Any, names: Sequence[str]) -> str:
    """A result as text; one of several parts with a line for each, which begins with its name."""
    if not names or not isinstance(value, tuple | list) or len(value) != len(names):
        return compare.text(value)
    parts = ((f"{name}: ", compare.text(part)) for name, part in zip(names, value, strict=True))
    return "\n".join(name + shown.replace("\n", "\n" + " " * len(name)) for name, shown in parts)


def inputs_of(exercise: Exercise, count: int) -> tuple[str, ...]:
    """What the inputs of a case are called where the exercise computes with them; () if that cannot be told."""
    from inspect import Parameter, signature

    for function, first in ((exercise.call, 1), (exercise.reference or answers.ours(exercise), 0)):
        if function is None:
            continue
        try:
            given = list(signature(function).parameters.values())[first : first + count]
        except (TypeError, ValueError):
            continue
        if len(given) == count and all(p.kind == Parameter.POSITIONAL_OR_KEYWORD for p in given):
            return tuple(p.name for p in given)
    return ()


def report(outcome: Outcome) -> str:
    """What was counted, line by line, in the last launch of a case that was watched."""
    return str(dataclasses.replace(outcome.reports[-1], issues=[], not_checked=[])) if outcome.reports else ""
