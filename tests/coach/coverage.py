"""What is exercised where: every op of the contract and every idea of the glossary, with the exercises that practise it.

    python tests/coach/coverage.py        writes exercises/README.md anew

Found by running, not by lists that somebody keeps:
- an exercise builds an op if its answer is put in the place of that op, or of a kernel that the op launches (the cases of
  test_ops.py are rehearsed on the simulator, and the launches written down);
- an exercise runs an op if its solution, or what its cases need around it, calls the op while the cases are judged;
- an exercise is about an idea if its title, task, hints or the sentences for its mistakes name the word of the glossary.
A word that is named is not yet a word understood: the third kind is the weakest of the three, and the page says so.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), *([] if __package__ else [str(ROOT)])]

import op_cases  # noqa: E402

from course_lib import devices  # noqa: E402
from course_lib.coach import answers, builder, catalogue, judge  # noqa: E402
from course_lib.devices.gpu import launching  # noqa: E402

PAGE = ROOT / "exercises" / "README.md"
SHOWN = 4  # exercises that a row of the page names

# Forms of a word that the glossary has in another form.
FORMS = {
    "broadcasting": "broadcast(?:s|ed|ing)?", "coalescing": "coalesc(?:ed|es|ing)",
    "floor": r"(?<!math\.)floor",
    "recomputation": "(?:recompute[sd]?|computed? again)",
    "memorisation": "(?:memoris(?:e|es|ed|ation)|by heart)", "saturated": "saturate[sd]?",
}  # fmt: skip

# Ops of storage, which op_cases.py leaves to other tests. X: an array (6, 8); XX: two of them.
X, XX = object(), object()
STORAGE = [
    ("cast", X, "int32"), ("copy", X), ("full", (3,), 2.0), ("concatenate", XX, 1), ("concatenate", XX, 0),
    ("strided_copy", X, (4, 6), (1, 8), 2), ("strided_copy", X, (6, 4), (8, 1)), ("strided_write", X, X, (1, 6)),
]  # fmt: skip


def ops() -> list[str]:
    """The names of the contract, in the order of the simulator's table."""
    return [name for name in vars(devices.ops("simulator")) if name != "name"]


@functools.cache
def launches() -> dict[str, set[str]]:
    """Op -> the kernels that it launches, "gelu.cu gelu_forward", over all cases of test_ops.py. Nothing is computed."""
    table, found = devices.ops("simulator"), defaultdict(set)

    def counted(name):
        def run(*args, **options):
            with launching.counting() as counts:
                result = getattr(table, name)(*args, **options)
            found[name].update(counts)
            return result

        return run

    counting = SimpleNamespace(name=table.name, **{name: counted(name) for name in ops()})
    with launching.rehearsing(), np.errstate(all="ignore"):
        for case in op_cases.CASES:
            inputs = [op_cases.on_device(table, value, np.float32) for value in case.make_inputs()]
            outputs, backward = case.run(counting, *inputs)
            if backward is not None:
                count = len(inspect.signature(backward).parameters)
                given = case.make_gradients([table.to_numpy(y) for y in outputs[:count]])
                backward(*(op_cases.on_device(table, dy, np.float32) for dy in given))
        x = table.from_numpy(np.zeros((6, 8), np.float32))
        for op, *given in STORAGE:
            getattr(counting, op)(*(x if value is X else [x, x] if value is XX else value for value in given))
    return found


@functools.cache
def built() -> dict[str, list[str]]:
    """Op -> the exercises whose answer takes its place, or that of a kernel of it."""
    found = defaultdict(list)
    for name in catalogue.names():
        exercise = catalogue.load(name)
        kind, _, place = exercise.target.partition(":")
        for op in ops():
            if (kind == "op" and place == op) or (kind == "kernel" and f"{place} {exercise.defines}" in launches()[op]):
                found[op].append(name)
    return found


@functools.cache
def run() -> dict[str, list[str]]:
    """Op -> the Python exercises that call it while their solution is judged."""
    found = defaultdict(list)
    for name in catalogue.names():
        exercise = catalogue.load(name)
        if exercise.language == "python":
            for op in sorted(_called(exercise)):
                found[op].append(name)
    return found


def _called(exercise) -> set[str]:
    called: set[str] = set()
    solution = catalogue.piece(exercise.name).solution
    with contextlib.ExitStack() as stack, answers.quiet():
        for device in ("reference", "cpu"):
            table = devices.ops(device)
            for op in ops():
                own = getattr(table, op)

                def noted(*args, own=own, op=op, **options):
                    called.add(op)
                    return own(*args, **options)

                setattr(table, op, noted)
                stack.callback(setattr, table, op, own)
        answer = answers.load_answer(exercise, solution)
        for case in exercise.cases(np.random.default_rng(judge.SEED)):
            answers.call(exercise, answer, copy.deepcopy(case.inputs))
    return called


def words() -> list[str]:
    """The words of the glossary."""
    return re.findall(r"^### (.+)$", (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8"), re.M)


@functools.cache
def tasks() -> dict[str, str]:
    """Exercise -> the text of its task, over all chapters."""
    return {name: task for source in catalogue.SOLUTIONS.glob("*.py") for name, task in builder.tasks(source).items()}


@functools.cache
def about() -> dict[str, list[str]]:
    """Word of the glossary -> the exercises whose title, task, hints or sentences name it."""
    texts, written = {}, tasks()
    for name in catalogue.names():
        exercise, task = catalogue.load(name), written[name]
        said = (exercise.title, task, *exercise.hints, *(wrong.says for wrong in exercise.wrong))
        texts[name] = re.sub(r"\s+", " ", " ".join(said))
    found = {}
    for word in words():
        form = FORMS.get(word, re.escape(word).replace("y", "(?:y|ies)") if word.endswith("y") else re.escape(word))
        pattern = re.compile(rf"(?<![\w-]){form}(?:s|es)?(?![\w])", re.I)
        found[word] = [name for name in catalogue.names() if pattern.search(texts[name])]
    return found


OPENING = """\
# The exercises

{exercises} exercises, {kernels} of them in CUDA C++ and {shaders} in WGSL. The notebooks of this folder are made from
solutions/NN_topic.py; `make lab` copies them to exercises/mine/, where your answers live. Here is what is practised where.
This page is made by `python tests/coach/coverage.py`, and a test keeps it true.

## Every operation

An exercise *builds* an operation if your answer takes the place of it, or of a kernel that it launches. It *runs* one that its
solution calls.

| operation | built in | run in |
|---|---|---|"""


def page() -> str:
    """exercises/README.md"""
    names = catalogue.names()
    kernels, shaders = (sum(catalogue.load(name).language == kind for name in names) for kind in ("cuda", "wgsl"))
    lines = [OPENING.format(exercises=len(names), kernels=kernels, shaders=shaders)]
    lines += [f"| `{op}` | {_listed(built()[op])} | {_listed(run()[op])} |" for op in ops()]
    lines += [
        "",
        "## Every word of the glossary",
        "",
        "The exercises whose task, hints or verdicts name it.",
        "",
        "| word | exercises |",
        "|---|---|",
    ]
    lines += [
        f"| [{word}](../notebooks/glossary.md#{word.replace(' ', '-')}) | {_listed(found)} |"
        for word, found in about().items()
    ]
    return "\n".join(lines) + "\n"


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"{catalogue.load(name).chapter} {name}" for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
