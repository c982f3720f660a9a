"""The cases of the exercises in CUDA C++ as data, for the page that judges without Python.

What is right, and what known mistakes give, is computed here by the exercises' own references (coach/exercise.py); the page
launches a kernel with the same arrays and compares. An exercise's `call` runs with a recorder in place of the kernel, which notes
the launches and computes nothing: its result says which of the arrays are looked at.

Left out: goals that count something of their own, and sentences on mistakes that are recognised by a predicate. Where a result
is computed from the arrays by `call`, checked by a function of Python, or lies behind pointers in a structure, `unjudged` says
so: the page then tells what the checker sees, and lets nobody pass.
"""

import base64
import gzip
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.coach import catalogue
from course_lib.coach.builder import tasks
from course_lib.coach.exercise import Exercise, Wrong
from course_lib.coach.judge import SEED

EXAMPLES = 12  # elements by which a known mistake is recognised, in each case
COUNTED = (
    "sectors",
    "requests",
    "bank_wavefronts",
    "idle_lanes",
    "bytes_moved",
)  # of coach/kernels.py, and of judge.mjs
POISON = np.uint32(0xFFFEFFFE)  # what an array of `empty` holds: runtime/memory.h


class Recorder:
    """Called in place of a kernel: notes the launches."""

    def __init__(self, exercise: Exercise):
        self.exercise = exercise
        self.roots: list[np.ndarray] = []
        self.known: list[bytes] = []
        self.launches: list[dict] = []
        self.pointers = False  # whether a structure by value holds any, which have 4 bytes in the page

    def __call__(self, grid, block, args, shared_mem: int = 0, **options: Any) -> None:
        self._launch(names(self.exercise)[0], grid, block, args, shared_mem)

    def instance(self, arguments: str):
        """One instance of a template."""
        given = arguments if "<" in arguments else f"{self.exercise.defines}<{arguments}>"
        name = given if arguments else self.exercise.defines
        return lambda grid, block, args, shared_mem=0, **options: self._launch(name, grid, block, args, shared_mem)

    def _launch(self, name: str, grid, block, args, shared: int) -> None:
        written: list[dict] = []
        given = [self._argument(value, written) for value in args]
        self.launches.append(
            {
                "kernel": name,
                "grid": _three(grid),
                "block": _three(block),
                "shared": int(shared),
                "args": given,
                "set": written,
            }
        )

    def _argument(self, value: Any, written: list[dict]) -> Any:
        if value is None:
            return None
        if isinstance(value, np.void | np.ndarray) and value.dtype.names and not value.shape:  # a structure by value
            self.pointers |= any(value.dtype[field].base == np.uint64 for field in value.dtype.names or ())
            return {"struct": _encoded(np.asarray(value))}
        if not isinstance(value, np.ndarray):
            return {"number": _number(value.item() if isinstance(value, np.generic) else value)}
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        number = next((i for i, one in enumerate(self.roots) if one is root or np.shares_memory(one, root)), None)
        if number is None:
            number = len(self.roots)
            self.roots.append(root)
            self.known.append(b"")
        content = root.tobytes()
        if content != self.known[number]:
            self.known[number] = content
            written.append({"array": number, **_content(root)})
        return {"array": number, "offset": _address(value) - _address(self.roots[number])}

    def place(self, result: Any) -> Any:
        """Where a result of `call` lies: an array, or a list of them; None where it is none of the arrays."""
        if isinstance(result, tuple | list):
            return [self.place(one) for one in result]
        if not isinstance(result, np.ndarray) or not result.flags.c_contiguous:
            return None
        for number, root in enumerate(self.roots):
            if result.size and np.shares_memory(root, result):
                return {"array": number, "offset": _address(result) - _address(root), "dtype": result.dtype.name,
                        "shape": list(result.shape)}  # fmt: skip
        return None


def names(exercise: Exercise) -> list[str]:
    """The kernels of an exercise that are compiled, the first for a plain launch."""
    plain = [exercise.defines] if "" in exercise.instances or not exercise.instances else []
    return plain + [one if "<" in one else f"{exercise.defines}<{one}>" for one in filter(None, exercise.instances)]


def export(name: str) -> dict:
    """All that the page needs to judge answers to an exercise in CUDA C++."""
    exercise, piece = catalogue.load(name), catalogue.piece(name)
    left_out: list[str] = []
    unjudged = "its result is checked by a function of Python" if exercise.check else ""
    cases = list(exercise.cases(np.random.default_rng(SEED)))
    known = [wrong for wrong in exercise.wrong if isinstance(wrong, Wrong) and wrong.like]
    entries = []
    for case in cases:
        recorder = Recorder(exercise)
        place = recorder.place(exercise.call(recorder, *_copies(case.inputs)))
        expected = exercise.reference(*_copies(case.inputs)) if exercise.compared else None
        looked = [one for one in _pairs(place, expected) if one[0]] if exercise.compared else []
        if exercise.compared and len(looked) < len(list(_pairs(place, expected))):
            unjudged = "its result is computed from the arrays in Python"
        if recorder.pointers:
            unjudged = "its arguments are structures with pointers, which are shorter in a page"
        results = [{**where, "expected": _encoded(np.asarray(want, dtype=where["dtype"]))} for where, want in looked]
        likes = [_examples(wrong, case.inputs, place, looked) for wrong in known]
        entries.append({"label": case.label, "launches": recorder.launches, "results": results, "likes": likes})
    goals = [_goal(goal, left_out) for goal in exercise.goals]
    return {
        "name": name, "title": exercise.title, "kernels": names(exercise), "given": exercise.given, "cases": entries,
        "tolerance": exercise.tolerance, "seconds": exercise.seconds, "measured": exercise.measured,
        "goals": [goal for goal in goals if goal], "mistakes": [wrong.says for wrong in known], "hints": list(exercise.hints),
        "results": list(exercise.results), "solution": piece.solution, "left_out": left_out, "unjudged": unjudged,
    }  # fmt: skip


def write(folder: Path, wanted: Sequence[str] | None = None) -> dict[str, int]:
    """Write cases/NAME.json.gz for each exercise in CUDA C++, or for those wanted, and exercises.json, the list. Gives the
    bytes of each."""
    cases = folder / "cases"
    cases.mkdir(exist_ok=True)
    sizes, listed = {}, []
    for name in cuda_exercises() if wanted is None else wanted:
        exercise, piece = catalogue.load(name), catalogue.piece(name)
        packed = gzip.compress(json.dumps(export(name), separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)
        (cases / f"{name}.json.gz").write_bytes(packed)
        sizes[name] = len(packed)
        listed.append({"name": name, "chapter": exercise.chapter, "title": exercise.title, "language": "cuda",
                       "blank": piece.blank, "task": tasks(catalogue.source(exercise.chapter)).get(name, "")})  # fmt: skip
    (folder / "exercises.json").write_text(json.dumps(listed))
    return sizes


def cuda_exercises() -> list[str]:
    """Names of all exercises in CUDA C++, in the order of the course."""
    languages = catalogue.languages()
    return [name for name in catalogue.names() if languages.get(name) == "cuda"]


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
        a, b = np.asarray(mistaken, dtype=where["dtype"]).ravel(), np.asarray(right, dtype=where["dtype"]).ravel()
        if a.shape != b.shape:
            return None
        differ = np.flatnonzero(~((a == b) | ((a != a) & (b != b))))
        other |= len(differ) > 0
        some = np.unique(np.concatenate([_spread(differ), _spread(np.arange(len(a)))]))
        examples.append([some.tolist(), _encoded(a[some])])
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


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _three(size) -> list[int]:
    return [*map(int, np.atleast_1d(size)), 1, 1][:3]


def _number(value: float | int) -> float | int | str:
    """As JavaScript reads it: what JSON cannot hold, or JavaScript would round, as text."""
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def _content(array: np.ndarray) -> dict:
    """An array's bytes; what `empty` has left is not stored."""
    words = np.frombuffer(array.tobytes()[: array.nbytes // 4 * 4], np.uint32)
    if len(words) and (words == POISON).all():
        return {"empty": array.nbytes}
    return {"zeros": array.nbytes} if not any(array.tobytes()) else {"bytes": _encoded(array)}


def _encoded(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
