"""A right answer that would slow a training down says so in its verdict: its time on one larger case, beside that of ours."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import numpy as np

from course_lib.coach import answers
from course_lib.coach.exercise import Exercise
from course_lib.coach.sandbox import Sandbox

TIMES, NOTICED = 50, 0.02  # as slow as ours, and seconds: below both nothing is said


def note(exercise: Exercise, sandbox: Sandbox, solution: str) -> str:
    """One sentence if an answer in Python takes far longer than our solution on the exercise's `large` case; else nothing."""
    if exercise.large is None or not solution:
        return ""
    case = exercise.large(np.random.default_rng(0))
    ours = answers.load_answer(exercise, solution)
    our_seconds = min(_seconds(exercise, ours, case.inputs) for _ in range(3))
    done = sandbox.call(case.inputs, seed=0)  # not coming to its end is no fault: the cases, which count, are over
    if done.seconds < max(NOTICED, TIMES * our_seconds):
        return ""
    took = f"{'more than ' if done.raised else ''}{1000 * done.seconds:,.0f} ms"
    return (
        f"Right, and slow: {case.label} takes {took} here, and {1000 * our_seconds:.3g} ms with ours. The model does it in every "
        "step of its training. A loop of Python takes one element at a time; an operation of NumPy on whole arrays takes all."
    )


def _seconds(exercise: Exercise, function: Callable, inputs: tuple) -> float:
    given, began = copy.deepcopy(inputs), time.perf_counter()
    answers.call(exercise, function, given)
    return time.perf_counter() - began
