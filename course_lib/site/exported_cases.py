"""The cases of the exercises in CUDA C++ and WGSL as data, for the page that judges without Python.

What is right, and what known mistakes give, is computed here by the exercises' own references (coach/exercise.py); the page
launches a kernel with the same arrays and compares. Which arrays, says an exercise's `call` to a recorder (recorder.py).

Left out: goals that count something of their own, and mistakes recognised by what predicates.py cannot read. Where a result
is computed from the arrays by `call` in ways that the recorder does not know, or is checked by a function of Python, `unjudged`
says so: the page then tells what the checker sees, and lets nobody pass. Of WGSL the page sees values alone, so that known
mistakes are those that show in them; the constants and includes that a text is compiled with are exported, too.
"""

import inspect
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.coach import answers, catalogue, shaders
from course_lib.coach.builder import tasks
from course_lib.coach.exercise import Case, Exercise, Wrong
from course_lib.coach.judge import SEED
from course_lib.coach.shared_cases import bfloat16_bits
from course_lib.cuda import memory
from course_lib.devices.webgpu import source
from course_lib.site import packing, predicates
from course_lib.site.recorder import Recorder, ShaderRecorder, encoded, is_placed

EXAMPLES = 12  # elements by which a known mistake is recognised, in each case
COUNTED = (
    "sectors",
    "requests",
    "bank_wavefronts",
    "idle_lanes",
    "bytes_moved",
)  # of coach/kernels.py, and of judge.mjs


def names(exercise: Exercise) -> list[str]:
    """The kernels of an exercise that are compiled, the first for a plain launch."""
    plain = [exercise.defines] if "" in exercise.instances or not exercise.instances else []
    return plain + [one if "<" in one else f"{exercise.defines}<{one}>" for one in filter(None, exercise.instances)]


@answers.quiet()  # what a known mistake computes overflows, or divides by zero
def export(name: str) -> dict:
    """All that the page needs to judge answers to an exercise in CUDA C++ or WGSL."""
    exercise, piece = catalogue.load(name), catalogue.piece(name)
    left_out: list[str] = []
    unjudged = "its result is checked by a function of Python" if exercise.check else ""
    cases = list(exercise.cases(np.random.default_rng(SEED)))
    known = [wrong for wrong in exercise.wrong if isinstance(wrong, Wrong) and wrong.like]
    entries: list[dict] = []
    expected_of: list[tuple[Case, Any]] = []
    for case in cases:
        launches, place = _recorded(exercise, case.inputs)
        expected = exercise.reference(*_copies(case.inputs)) if exercise.compared else None
        looked = [one for one in _pairs(place, expected) if one[0]] if exercise.compared else []
        if exercise.compared and not is_placed(place):
            unjudged = "its result is computed from the arrays in Python"
        results = [{**where, "expected": encoded(_as(where, want))} for where, want in looked]
        likes = [_examples(wrong, case.inputs, place, looked) for wrong in known]
        expected_of.append((case, expected))
        entries.append({"label": case.label, "launches": launches, "results": results, "likes": likes})
    goals = [_goal(goal, left_out) for goal in exercise.goals]
    return {
        "name": name, "title": exercise.title, "kernels": names(exercise), "given": exercise.given, "cases": entries,
        "tolerance": exercise.tolerance, "seconds": exercise.seconds, "measured": exercise.measured,
        "goals": [goal for goal in goals if goal], "mistakes": list(_mistakes(exercise, expected_of)),
        "hints": list(exercise.hints), "results": list(exercise.results), "solution": piece.solution,
        "left_out": left_out, "unjudged": unjudged, **(_shaders(exercise) if exercise.language == "wgsl" else {}),
    }  # fmt: skip


def _shaders(exercise: Exercise) -> dict:
    """What a text in WGSL is compiled with: the constants of each kernel, and the files that it may include."""
    given = {name: shaders.constants(name.partition("<")[2].removesuffix(">")) for name in names(exercise)}
    return {
        "fronts": {name: "".join(source.constant(*one) for one in of.items()) for name, of in given.items()},
        "includes": {
            path.name: path.read_text(encoding="utf-8") for path in (source.KERNELS / "include").glob("*.wgsl")
        },
        "unwritten": int(memory.UNWRITTEN),
    }


def _recorded(exercise: Exercise, inputs: tuple) -> tuple[list[dict], Any]:
    """The launches of a case, and where its result lies."""
    made = ShaderRecorder if exercise.language == "wgsl" else Recorder
    recorder = made(exercise.defines, names(exercise)[0])
    place = recorder.place(recorder.result_of(exercise.call, *_copies(inputs)))
    if exercise.compared and not is_placed(place):
        filled = made(exercise.defines, names(exercise)[0], fill=True)
        place = filled.place(filled.result_of(exercise.call, *_copies(inputs)))
    return recorder.launches, place


def _as(where: dict, values: Any) -> np.ndarray:
    """Expected values as they lie in an array of the device."""
    if where["dtype"] == "bfloat16":
        return bfloat16_bits(np.asarray(values, np.float32))
    return np.asarray(values, dtype=where["dtype"])


def write(folder: Path, wanted: Sequence[str] | None = None) -> dict[str, int]:
    """Write cases/NAME.json.xz for each exercise in CUDA C++ or WGSL, or for those wanted, and exercises.json, the list.
    Gives the bytes of each."""
    cases = folder / "cases"
    cases.mkdir(exist_ok=True)
    sizes, listed, tasks_of = {}, [], cache(lambda chapter: tasks(catalogue.source(chapter)))
    for name in exercises_in("cuda", "wgsl") if wanted is None else wanted:
        exercise, piece = catalogue.load(name), catalogue.piece(name)
        content = json.dumps(export(name), separators=(",", ":"), allow_nan=False).encode()
        sizes[name] = packing.store(content, cases, f"{name}.json")
        listed.append({"name": name, "chapter": exercise.chapter, "title": exercise.title, "language": exercise.language,
                       "blank": piece.blank, "task": tasks_of(exercise.chapter).get(name, "")})  # fmt: skip
    (folder / "exercises.json").write_text(json.dumps(listed))
    return sizes


def exercises_in(*wanted: str) -> list[str]:
    """Names of all exercises in these languages, "cuda" and "wgsl", in the order of the course."""
    languages = catalogue.languages()
    return [name for name in catalogue.names() if languages.get(name) in wanted]


def _mistakes(exercise: Exercise, cases: list[tuple[Case, Any]]):
    """Known mistakes in their order: {says, like}, the number of its results in each case, or {says, when}."""
    likes = 0
    for mistake in exercise.wrong:
        if mistake.when:
            if exercise.language == "cuda" and (when := predicates.export(mistake, cases)):
                yield {"says": mistake.says, "when": when}
        elif isinstance(mistake, Wrong) and mistake.like:
            yield {"says": mistake.says, "like": likes}
            likes += 1


def _goal(goal, left_out: list[str]) -> dict | None:
    """A goal by what it counts."""
    counts = goal.counts
    count = counts.__qualname__.split(".")[0] if counts.__module__ == "course_lib.coach.kernels" else ""
    if count not in COUNTED:
        left_out.append(f"the goal {goal.name!r}")
        return None
    return {"name": goal.name, "count": count, **inspect.getclosurevars(counts).nonlocals, "atMost": goal.at_most}


def _examples(wrong: Wrong, inputs: tuple, place: Any, looked: list) -> list | None:
    """What a known mistake gives in some elements of each result: [indices, values]; None where it gives what is right."""
    try:
        found = [one for _, one in _pairs(place, wrong.like(*_copies(inputs)))]
        found = [one for one, (where, _) in zip(found, _pairs(place, None), strict=False) if where]
    except Exception:  # a mistake that shows in other cases only raises where it cannot be computed
        return None
    examples, other = [], False
    for mistaken, (where, right) in zip(found, looked, strict=True):
        a, b = _as(where, mistaken).ravel(), _as(where, right).ravel()
        if a.shape != b.shape:
            return None
        differ = np.flatnonzero(~((a == b) | ((a != a) & (b != b))))
        other |= len(differ) > 0
        some = np.unique(np.concatenate([_spread(differ), _spread(np.arange(len(a)))]))
        examples.append([some.tolist(), encoded(a[some])])
    return examples if other else None


def _spread(numbers: np.ndarray) -> np.ndarray:
    """At most EXAMPLES of them, from the first to the last."""
    return (
        numbers[np.linspace(0, len(numbers) - 1, min(len(numbers), EXAMPLES)).astype(int)] if len(numbers) else numbers
    )


def _pairs(place: Any, values: Any):
    """Each place with its value."""
    if isinstance(place, list):
        for one, value in zip(place, values if values is not None else [None] * len(place), strict=False):
            yield from _pairs(one, value)
    else:
        yield place, values


def _copies(inputs: tuple) -> list:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
