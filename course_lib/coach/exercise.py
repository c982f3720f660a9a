"""What an exercise is: the words in which an author writes one. CONTRIBUTING.md shows how, on one page.

Everything about one exercise but its task and its solution stands in `coach/exercises/NN/NAME.py`, in a variable `exercise`.
The task and the solution stand in `solutions/NN_topic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class ExerciseError(ValueError):
    """An exercise is not written as it must be, or there is none of that name; a sentence for its author or the learner."""


class Refused(Exception):
    """Raised by an exercise's `call` that sees what the task forbids, such as the given list returned as a new one: a sentence
    for the learner, which is the verdict."""


@dataclass(frozen=True, init=False)
class Case:
    """One trial of an answer. label: what is special about it, in words. inputs: NumPy arrays, numbers, text, lists, dicts.

    Each run gets a copy of the inputs of its own. `call` makes of them what the answer takes (Tensors, for instance).
    """

    label: str
    inputs: tuple

    def __init__(self, label: str, *inputs: Any):
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "inputs", inputs)


@dataclass(frozen=True)
class Goal:
    """A number that an answer is measured by, shown beside ours and the learner's earlier tries; smaller is better.

    counts: for kernels (list of Reports, one for each launch) -> number, or None where this machine's compiler cannot tell;
        for Python (answer) -> number. at_most: what it must reach; None in an open challenge.
    """

    name: str
    counts: Callable[[Any], float | None]
    at_most: float | None = None


@dataclass(frozen=True, init=False)
class Changed:
    """The solution with some pieces replaced; each must stand there exactly once."""

    edits: tuple[tuple[str, str], ...]

    def __init__(self, *edits: tuple[str, str]):
        object.__setattr__(self, "edits", edits)

    def of(self, solution: str) -> str:
        """The changed text. Raises ExerciseError if a piece is not there, or there twice."""
        text = solution
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ExerciseError(
                    f"The piece {old!r} stands {text.count(old)} times in the solution; once is needed."
                )
            text = text.replace(old, new)
        return text


def answer_text(answer: str | Changed, solution: str) -> str:
    """An author's answer as text."""
    return (answer.of(solution) if isinstance(answer, Changed) else answer).strip("\n")


@dataclass(frozen=True)
class Mistake:
    """A cause that no wrong answer stands for, and the sentence that is said when it is recognised.

    when: (Seen) -> bool, see outcome.py: what was got, expected, raised and reported in the smallest failing case. One that looks
        at `got`, or at no fact at all, must hold in all failing cases where it is not None, and in two at least: one may be a
        coincidence.
    once: why the smallest failing case alone proves it, where it does.
    """

    says: str
    when: Callable[[Any], bool]
    once: str = ""


@dataclass(frozen=True)
class Wrong:
    """A plausible wrong answer. Give `says`, the sentence that it is refused with, or `generic`.

    The same sentence is said to every answer that gives the same results in all cases. In Python the wrong answer itself is
    run to find that out.
    like: for kernels, which would have to be compiled: a function of a case's inputs in NumPy that gives those results.
    when, once: as in a Mistake, in place of comparing results.
    generic: what must stand in a sentence that was not written for this exercise. Nothing is recognised by this answer.
    also: another form of a mistake, whose sentence another wrong answer has.
    """

    answer: str | Changed
    says: str = ""
    like: Callable | None = None
    when: Callable[[Any], bool] | None = None
    generic: str = ""
    also: bool = False
    once: str = ""


@dataclass(frozen=True, repr=False)
class Exercise:
    """One exercise. Everything that a Case's inputs are handed to comes after the learner's answer was loaded.

    title: what the learner does. minutes: 5 to 20; with 2 to 4 it is short, for the lecture: one hint, two wrong answers.
    core: part of the chapter's 40 to 60 minutes; else it is a stretch.
    cases: (random) -> Cases, the smallest first; `random` is a NumPy generator with a fixed seed.
    defines: the name that the answer defines: a function, a class, or a kernel.
    instances: the template arguments of the instances that are judged, ("4", "1") or ("32, 4, 2",), if the kernel is a template;
        in WGSL the constants that the text is given, ("CAUSAL=False", "CAUSAL=True"). "lane_sums<8>" is a kernel of `given`,
        in WGSL "sums_twice<>", and "" the learner's where that is no template.
    target: what the answer replaces in the library. "course_lib.autograd.topological_order" is an attribute of a module or
        class, "op:gelu_forward" an entry of the tables of ops (NumPy arrays), "kernel:unary.cu" a kernel of that file,
        "wgsl:gelu.wgsl" an entry point of that one.
        "" if its answer is only looked at.
    reference: what is right. Python: called as the answer is; None stands for the target itself. Kernels: takes a case's inputs
        and gives what `call` gives. Computed in another process than the answer.
    call: (answer, *inputs) -> result. Default for Python: answer(*inputs). It runs where the answer runs, so that a result is
        plain data (plain.py): of another object it returns what is to be looked at, and of what is forbidden it raises
        Refused. Needed for CUDA, where `answer` is launched
        as a Kernel is, answer(grid, block, args), and for WGSL: answer(groups, x=x, y=y, n=n), as a Shader of course_lib/wgsl.
    check: (result, *inputs) -> a sentence if the result is wrong, else None. With or, if `compared` is False, instead of
        the comparison with the reference.
    results: names of the entries of a result that is a tuple, ("dx", "dweight"): verdicts speak of `dx`, not of `result[0]`.
    given: Python lines that run before the answer, so that it need not import; the task says which names they bring. `np` and
        `math` are always there. CUDA and WGSL: lines behind it, kernels that call a function of it; its line numbers stay.
    tolerance: allowed error of a number, relative to the larger of 1 and the expected number.
    measured: label of the case whose counters are shown (kernels). goals: numbers that must be reached, or are remembered.
    hints: three, each nearer; the last is nearly code. example: a worked example of the same idea with another aim.
    wrong: at least three plausible wrong answers, and further mistakes, in the order in which they are recognised: the first
        that explains an answer speaks.
    flops: operations of the measured case by the formula, an fma as 2. With them `course.versions` draws the learner's versions
        of an open challenge under a roofline.
    large: for Python: (random) -> a Case as large as the model's, on which a right answer is timed beside ours. Only one that
        takes far longer is told so.
    seconds: longest time for all cases together; compiling does not count.
    challenge: an open one: it passes when right, and asks for another try.
    test_out: one of the three of its part of the course, each of another chapter, that tell whether one may skip the lectures.
    """

    title: str
    minutes: int
    defines: str
    cases: Callable[[np.random.Generator], Iterable[Case]]
    hints: tuple[str, ...]
    wrong: Sequence[Wrong | Mistake]
    example: str = ""
    core: bool = True
    language: str = "python"
    target: str = ""
    reference: Callable | None = None
    call: Callable | None = None
    check: Callable[..., str | None] | None = None
    compared: bool = True
    given: str = ""
    results: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    tolerance: float = 1e-5
    measured: str = ""
    goals: Sequence[Goal] = ()
    flops: float = 0.0
    large: Callable[[np.random.Generator], Case] | None = None
    seconds: float = 6.0
    challenge: bool = False
    test_out: bool = False
    name: str = field(default="", compare=False)  # of the file, filled in by the catalogue
    chapter: str = field(default="", compare=False)  # of the folder: "02", "08a"

    def __repr__(self) -> str:
        return f"<exercise {self.name} of chapter {self.chapter}: {self.title}>"  # hints and answers are not for a look

    @property
    def prelude(self) -> str:
        """What runs before an answer in Python."""
        return f"import math\n\nimport numpy as np\n{self.given}"

    @property
    def suffix(self) -> str:
        """The ending of a file with an answer."""
        return {"python": ".py", "cuda": ".cu", "wgsl": ".wgsl"}[self.language]

    @property
    def is_short(self) -> bool:
        """Whether it is one to do while reading."""
        return self.minutes < 5

    @property
    def is_kernel(self) -> bool:
        """Whether it is compiled, and launched by many threads."""
        return self.language in ("cuda", "wgsl")

    def complaints(self) -> list[str]:
        """What is missing or out of bounds, one sentence for each."""
        found = []
        if self.language not in ("python", "cuda", "wgsl"):
            found.append(f"language is {self.language!r}; it is 'python', 'cuda' or 'wgsl'.")
        if not 2 <= self.minutes <= 20:
            found.append(f"it takes {self.minutes} minutes; 2 to 20 are a sitting.")
        if self.is_short and self.core:
            found.append("it is short, so it cannot be core.")
        if len(self.hints) != (1 if self.is_short else 3):
            found.append(f"it has {len(self.hints)} hints; three are needed, one if it takes less than 5 minutes.")
        if not self.is_short and not self.example.strip():
            found.append("it has no worked example.")
        answers = [wrong for wrong in self.wrong if isinstance(wrong, Wrong)]
        sentences = [wrong.says or wrong.generic for wrong in answers if not wrong.also]
        if len(sentences) < (2 if self.is_short else 3):
            found.append(
                f"its wrong answers are refused with {len(sentences)} sentences; three are the least, two if short."
            )
        if len(set(sentences)) < len(sentences):
            found.append("two of its wrong answers are refused with the same sentence.")
        if any(wrong.also and wrong.says not in sentences for wrong in answers):
            found.append("a wrong answer is `also` of a mistake whose sentence no other has.")
        found += filter(None, map(self._complaint, answers))
        if self.is_kernel and self.call is None:
            found.append("it needs `call`, which launches the kernel.")
        if self.compared and self.reference is None and (self.is_kernel or self.target[:3] in ("", "op:")):
            found.append("it needs a `reference`, for its target cannot serve as one.")
        if not self.compared and self.check is None:
            found.append("it is not compared, so it needs a `check`.")
        return [f"Exercise {self.name}: {sentence}" for sentence in found]

    def _complaint(self, wrong: Wrong) -> str:
        """What is missing in a wrong answer, "" if nothing is."""
        ways = (wrong.like is not None) + (wrong.when is not None)
        if bool(wrong.says) == bool(wrong.generic):
            return f"{wrong.says!r}: a wrong answer needs either `says` or `generic`."
        if wrong.generic and ways:
            return f"{wrong.generic!r} is generic: `like` and `when` would not be asked."
        if wrong.like and not self.is_kernel:
            return f"{wrong.says!r}: `like` is for kernels; here the wrong answer itself is run."
        if wrong.says and (ways > 1 or (self.is_kernel and not ways)):
            return f"{wrong.says!r} needs either `like` or `when`."
        return ""
