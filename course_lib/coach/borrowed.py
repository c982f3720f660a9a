"""Does an answer call what the task asks it to write? The library has it, under one name or several.

Looked at is who calls, while the answer runs: what counts is that one of the learner's lines leads to our function, or opens a
file that the solution stands in. A copy of our text is not found.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from types import CodeType
from typing import Any

from course_lib.coach import answers
from course_lib.coach.exercise import Exercise
from course_lib.paths import ROOT

TOLD = ("solutions", "tests/coach/right", "course_lib")  # folders whose files tell what is right
# Without one of these words in it a text has no way to the library but by what the task gives it.
_WAYS = re.compile(r"course_lib|\b(?:import|exec|eval|sys|globals|locals|vars|open|getattr|gc)\b|__\w+__")


class Watch:
    """`with watch: ...` notes in `names` which of our finished pieces the learner's lines call."""

    def __init__(self, exercise: Exercise, text: str, file: str):
        self.file, self.names = file, []
        name = re.split(r"[.:]", exercise.target)[-1]
        ways = _WAYS.search(text) or ("course_lib" in exercise.given and f".{name}" in text)
        needed = ways and exercise.language == "python"  # a kernel has no way to call Python
        self.ours: dict[CodeType, str] = dict(_pieces(exercise)) if needed else {}  # to watch takes time
        self.active, self.told = False, tuple(f"{ROOT / folder}{os.sep}" for folder in TOLD)
        if needed:
            sys.addaudithook(self._opened)

    def loaded(self, exercise: Exercise, answer: Any) -> None:
        """Look at an answer itself: it may be ours under its own name, or a subclass of it."""
        ours = answers.ours(exercise)
        if ours is not None and (answer is ours or (isinstance(answer, type) and ours in answer.__mro__)):
            self._note(exercise.target)

    def __enter__(self) -> None:
        self.active = True
        if self.ours:
            threading.setprofile(self._called)  # virtual ranks are threads
            sys.setprofile(self._called)

    def __exit__(self, *_: Any) -> None:
        self.active = False
        if self.ours:
            if sys.getprofile() != self._called:
                self._note("sys.setprofile, which watches who calls what")
            sys.setprofile(None)
            threading.setprofile(None)

    def _called(self, frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in self.ours:
            above = frame.f_back
            while above is not None and above.f_code.co_filename != self.file:
                above = above.f_back
            if above is not None:
                self._note(self.ours[frame.f_code])

    def _opened(self, event: str, details: tuple) -> None:
        """A hook for all that Python does; it cannot be taken off."""
        if event != "open" or not self.active or not isinstance(details[0], str | bytes):
            return
        path = os.path.realpath(os.fsdecode(details[0]))
        if path.startswith(self.told) and path.endswith((".py", ".ipynb")) and self._by_the_learner():
            self._note(f"the text of {os.path.relpath(path, ROOT)}, which it reads")

    def _by_the_learner(self) -> bool:
        """Whether one of their lines opens a file, and no `import` does that for them."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.file:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return False
            frame = frame.f_back
        return frame is not None

    def _note(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)


def _pieces(exercise: Exercise) -> Iterator[tuple[CodeType, str]]:
    """The code of all that does what the task asks for, with the name that a learner knows it by."""
    target = answers.ours(exercise)
    if isinstance(target, type):
        for name, function in vars(target).items():
            if code := getattr(function, "__code__", None):
                yield code, f"{exercise.target}.{name}"
    elif code := getattr(target, "__code__", None):
        yield code, exercise.target
    if code := getattr(exercise.reference, "__code__", None):
        yield code, "the exercise's own reference"
    kind, _, op = exercise.target.partition(":")
    if kind == "op":
        from course_lib.devices import ops

        for device in ("reference", "cpu", "simulator"):
            function = getattr(ops(device), op, None)
            while function is not None:
                if code := getattr(function, "__code__", None):
                    yield code, f'ops("{device}").{op}'
                function = getattr(function, "__wrapped__", None)
