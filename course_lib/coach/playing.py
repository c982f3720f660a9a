"""`course.play()`: the learner's kernel on a case of its exercise, to step through."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from course_lib.coach import answering, answers, catalogue, judge, kernels
from course_lib.coach.exercise import ExerciseError
from course_lib.cuda import CompileError, KernelError


class _Launched(Exception):
    """The first launch of a case: its player."""

    def __init__(self, player: Any):
        super().__init__()
        self.player = player


class _Played(kernels.Watched):
    """Launched as a Kernel is; the first launch is played, and ends the case."""

    def _launch(self, kernel, grid, block, args, shared_mem: int = 0, **options: Any) -> None:
        from course_lib import plots

        raise _Launched(plots.play(kernel, grid, block, args, shared_mem))


def play(name: str, label: str = "") -> Any:
    """The newest answer's first launch on the case called `label`, or else on the first case that is small enough.

    Raises ExerciseError with a sentence where there is nothing to play.
    """
    exercise = catalogue.load(name)
    if exercise.language != "cuda":
        raise ExerciseError(f"{name} is no CUDA kernel: course.play() shows what the threads of a kernel do.")
    watched = kernels.load(answering.kept(name), exercise)
    answer = _Played(watched.instances, watched.timeout, {})
    cases = list(exercise.cases(np.random.default_rng(judge.SEED)))
    why = "its cases launch no kernel."
    for case in sorted(cases, key=lambda case: case.label != label):
        try:
            answers.call(exercise, answer, copy.deepcopy(case.inputs))
        except _Launched as launched:
            return launched.player
        except CompileError:
            raise ExerciseError("Your kernel does not compile yet: run its cell, which says why.") from None
        except (ValueError, KernelError) as error:
            why = str(error)
    raise ExerciseError(f"No case of {name} can be played: {why}")
