"""`course.versions(NAME)`: the learner's own versions of a kernel that is an open challenge, drawn under a roofline.

Promises: the bytes are those that were counted in each try; the operations are those of the formula. The roof is
that of one card, an H100: 3.35 TB/s and 67 TFLOP/s in float32 (NVIDIA H100 SXM data sheet), the one of chapter 05.
"""

from __future__ import annotations

from typing import Any

from course_lib.coach import answers, catalogue, state
from course_lib.coach.exercise import ExerciseError

BANDWIDTH, PEAK = 3.35e12, 67e12  # bytes and operations a second


def moved_bytes(name: str) -> dict[str, float]:
    """Bytes that each of the last passing versions moved, the oldest first."""
    moved = answers.launched(catalogue.load(name)).BYTES
    counted = [numbers.get(moved) for numbers in state.noted(name).get("counts", [])]
    return {f"{step}{' (newest)' * (step == len(counted))}": moved for step, moved in enumerate(counted, 1) if moved}


def picture(name: str) -> Any:
    """The versions as a picture. Raises ExerciseError where there is nothing to draw."""
    from course_lib import plots
    from course_lib.cuda.report import under_the_roof

    exercise = catalogue.load(name)
    if not exercise.flops:
        with_one = [other for other in catalogue.names() if catalogue.load(other).flops]
        raise ExerciseError(f"{name} counts no bytes to draw under a roofline. These do: {', '.join(with_one)}.")
    found = moved_bytes(name)
    if not found:
        raise ExerciseError(
            f'No version of {name} has passed yet. Pass it once, then call course.versions("{name}") again.'
        )
    placed = {
        f"version {step}": under_the_roof(exercise.flops, moved, BANDWIDTH, PEAK) for step, moved in found.items()
    }
    return plots.roofline(placed, title=f"Your versions: {exercise.title.removeprefix('Challenge: ')}")
