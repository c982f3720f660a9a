"""`course verify`: proves that the exercises are what they say.

For each: its definition is whole; the blank fails, kindly; the solution passes and so do at least two right variants, which
stand in tests/coach/right/; at least three wrong answers are refused, each with exactly its sentence, or with the generic one
that it names. Nothing of the learner's is read or written.

`course verify --mutants` tries the cases themselves: each mutant of a solution (mutation.py) must be refused, or be listed in
tests/coach/survivors/ with the reason why it may pass.
"""

from __future__ import annotations

import os
import runpy
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_lib.coach import catalogue, client, mutation, regions
from course_lib.coach import verdict as verdicts
from course_lib.coach.exercise import Changed, ExerciseError, Wrong, answer_text
from course_lib.coach.verdict import Verdict
from course_lib.paths import ROOT

RIGHT = ROOT / "tests/coach/right"  # a file for each chapter, which holds RIGHT: name of an exercise -> right answers
SURVIVORS = ROOT / "tests/coach/survivors"  # likewise, SURVIVORS: name -> {"line -> line": why this mutant may pass}
KILLED, NOT_LOADED, LISTED, SURVIVED = "killed", "not loaded", "listed", "survived"


@dataclass(frozen=True)
class Proof:
    """One text to be judged, and what must come of it. kind: blank, solution, right or wrong. says, generic: as in Wrong."""

    name: str
    kind: str
    text: str
    says: str = ""
    generic: str = ""


def run(wanted: list[str]) -> int:
    """Verify the named exercises or chapters, all if none are named. Prints the counts; returns an exit status."""
    began = time.monotonic()
    names = _named(wanted)
    failures = verify(names)
    for sentence in failures:
        print(sentence)
    tried = [name for name in names if _is_judged(name)]
    kinds = Counter(proof.kind for name in tried for proof in proofs(name)) if not failures else {}
    core = sum(catalogue.load(name).core for name in names)
    kinds_of = Counter(catalogue.load(name).language for name in names)
    print(f"{len(names)} exercises ({core} core, {len(names) - core} stretch; {kinds_of['cuda']} in CUDA C++, "
          f"{kinds_of['wgsl']} in WGSL), "
          f"{time.monotonic() - began:.0f} s.")  # fmt: skip
    if len(tried) < len(names):
        print(f"The {kinds_of['wgsl']} exercises in WGSL were not tried. {_not_judged()}")
    if not RIGHT.is_dir():
        print(f"The right variants were not tried: {RIGHT.relative_to(ROOT)} is not here.")
    if failures:
        print(f"{len(failures)} failures.")
        return 1
    print(f"{kinds['blank']} blanks fail, {kinds['solution']} solutions and {kinds['right']} right variants pass, "
          f"{kinds['wrong']} wrong answers are refused, each with its sentence.")  # fmt: skip
    return 0


def _named(wanted: list[str]) -> list[str]:
    return [
        name for one in wanted for name in (catalogue.names(one) or [catalogue.load(one).name])
    ] or catalogue.names()


def verify(names: list[str]) -> list[str]:
    """What is wrong with these exercises, one sentence for each fault."""
    found, to_try = [], []
    for name in names:
        try:
            found += catalogue.load(name).complaints()
            if _is_judged(name):
                to_try += proofs(name)
        except ExerciseError as error:
            found.append(f"{name}: {error}")

    def one(proof: Proof, judge: client.Judge) -> list[str]:
        try:
            verdict = client.judged(proof.name, proof.text, measure=proof.kind != "blank", judge=judge)
        except ExerciseError as error:
            return [f"{proof.name}, {proof.kind}: {error}"]
        return failures_of(proof, verdict)

    with closing(_with_judges(one, to_try)) as said:
        for sentences in said:
            found += sentences
    return found


def _with_judges(work: Callable[[Any, client.Judge], Any], items: Sequence) -> Iterator:
    """work(item, judge) of each item, in order, by as many judges at once as there are processors."""
    judges = [client.Judge() for _ in range(min(os.cpu_count() or 1, 8))]
    free = list(judges)

    def one(item: Any) -> Any:
        judge = free.pop()
        try:
            return work(item, judge)
        finally:
            free.append(judge)

    pool = ThreadPoolExecutor(len(judges))
    try:
        yield from pool.map(one, items)
    finally:  # at Ctrl-C what is queued is dropped, and what is being judged ends with its judge
        pool.shutdown(wait=False, cancel_futures=True)
        for judge in judges:
            judge.stop()


def run_mutants(wanted: list[str]) -> int:
    """Judge all mutants of the named exercises or chapters. Prints a table of the chapters and what survived; an exit status."""
    names = [name for name in _named(wanted) if _is_judged(name)]
    trials = [(name, mutant) for name in names for mutant in mutants_of(name)]
    counts: dict[str, Counter] = {}
    survivors = []
    with closing(_with_judges(lambda trial, judge: fate(*trial, judge), trials)) as said:
        for (name, mutant), what in zip(trials, tqdm(said, total=len(trials), unit=" mutants"), strict=True):
            counts.setdefault(catalogue.load(name).chapter, Counter())[what] += 1
            if what == SURVIVED:
                survivors.append(f"{name}, line {mutant.line} ({mutant.kind}): {mutant.change}")
    print("\n".join([*survivors, table(counts)]))
    return bool(survivors)


def table(counts: dict[str, Counter]) -> str:
    """How many mutants of each chapter were tried, and what became of them. One that does not compile could not be killed."""
    columns = ("tried", KILLED, NOT_LOADED, LISTED, SURVIVED)
    lines = [f"chapter  {' '.join(f'{column:>10}' for column in columns)}   killed of those that could be"]
    for chapter, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        numbers = (count.total(), *(count[what] for what in columns[1:]))
        share = count[KILLED] / max(1, count[KILLED] + count[SURVIVED])
        lines.append(f"{chapter:8} {' '.join(f'{number:10,}' for number in numbers)}   {share:.1%}")
    return "\n".join(lines)


def mutants_of(name: str) -> list[mutation.Mutant]:
    """The mutants of an exercise's solution."""
    exercise = catalogue.load(name)
    return mutation.mutants(exercise, catalogue.piece(name))


def fate(name: str, mutant: mutation.Mutant, judge: client.Judge | None = None) -> str:
    """What becomes of a mutant: killed, not loaded (it does not compile), listed (it may pass, and why is known) or survived."""
    if mutant.change in allowed(name):
        return LISTED
    try:
        verdict = client.judged(name, mutant.text, measure=False, judge=judge, explain=False)
    except ExerciseError:  # it broke the judge: nothing passed
        return KILLED
    return SURVIVED if verdict.passed else KILLED if verdict.loaded else NOT_LOADED


def allowed(name: str) -> dict[str, str]:
    """The mutants of an exercise that may pass, "line -> line", each with its reason."""
    return _listed(SURVIVORS / f"{catalogue.load(name).chapter}.py", "SURVIVORS").get(name, {})


def _not_judged() -> str:
    """Why this machine cannot judge WGSL; empty if it can."""
    from course_lib.coach import shaders

    return shaders.problem()


def _is_judged(name: str) -> bool:
    return catalogue.load(name).language != "wgsl" or not _not_judged()


def proofs(name: str) -> list[Proof]:
    """Everything that is judged to prove one exercise. Raises ExerciseError if a text of it cannot be made."""
    exercise = catalogue.load(name)
    piece = catalogue.piece(name)
    texts = [Proof(name, "blank", piece.blank), Proof(name, "solution", piece.solution)]
    texts += [Proof(name, "right", answer_text(right, piece.solution)) for right in variants(name)]
    texts += [
        Proof(name, "wrong", answer_text(wrong.answer, piece.solution), wrong.says, wrong.generic)
        for wrong in exercise.wrong
        if isinstance(wrong, Wrong)
    ]
    bodies = [regions.comparable(proof.text) for proof in texts]
    if len(set(bodies)) < len(bodies):
        raise ExerciseError("two of its texts (blank, solution, right, wrong) are the same.")
    return texts


def variants(name: str) -> list[str | Changed]:
    """Right answers that are written differently; none where the tests are not. Raises ExerciseError if there are too few."""
    if not RIGHT.is_dir():
        return []
    file = RIGHT / f"{catalogue.load(name).chapter}.py"
    found = _listed(file, "RIGHT").get(name, [])
    if len(found) < 2:
        raise ExerciseError(f"{file.relative_to(ROOT)} holds {len(found)} right answers to it; two are the least.")
    return found


@cache
def _listed(file: Path, variable: str) -> dict[str, Any]:
    return runpy.run_path(str(file))[variable] if file.exists() else {}


def failures_of(proof: Proof, verdict: Verdict) -> list[str]:
    """What is wrong with a verdict."""
    shown = "\n    ".join(verdicts.text(verdict).splitlines())
    where = f"{proof.name}, {proof.kind}"
    if proof.kind in ("solution", "right"):
        return [] if verdict.passed else [f"{where}: should pass:\n    {shown}\n  Judged was:\n{proof.text}"]
    if verdict.passed:
        return [f"{where}: passes, and should not:\n{proof.text}"]
    if proof.kind == "blank":
        kind = verdict.failing is not None and verdict.loaded
        return [] if kind else [f"{where}: must load, and fail at its smallest case:\n    {shown}"]
    said = verdict.why == proof.says if proof.says else proof.generic in verdict.why and not verdict.recognised
    if not said:
        wanted = proof.says or proof.generic
        return [f"{where}: should say {wanted!r} first, and says:\n    {shown}\n  Judged was:\n{proof.text}"]
    return []
