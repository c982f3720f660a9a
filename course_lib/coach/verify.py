"""`course verify`: proves that the exercises are what they say.

For each: its definition is whole; the blank fails, kindly; the solution passes and so do at least two right variants, which
stand in tests/coach/right/; at least three wrong answers are refused, each with exactly its sentence, or with the generic one
that it names. Nothing of the learner's is read or written.
"""

from __future__ import annotations

import os
import runpy
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.coach import catalogue, client, regions
from course_lib.coach import verdict as verdicts
from course_lib.coach.exercise import Changed, ExerciseError, Wrong, answer_text
from course_lib.coach.verdict import Verdict
from course_lib.paths import ROOT

RIGHT = ROOT / "tests/coach/right"  # a file for each chapter, which holds RIGHT: name of an exercise -> right answers


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
    names = [
        name for one in wanted for name in (catalogue.names(one) or [catalogue.load(one).name])
    ] or catalogue.names()
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
    judges = [client.Judge() for _ in range(min(os.cpu_count() or 1, 8))]
    free = list(judges)

    def one(proof: Proof) -> list[str]:
        judge = free.pop()
        try:
            verdict = client.judged(proof.name, proof.text, measure=proof.kind != "blank", judge=judge)
        except ExerciseError as error:
            return [f"{proof.name}, {proof.kind}: {error}"]
        finally:
            free.append(judge)
        return failures_of(proof, verdict)

    with ThreadPoolExecutor(len(judges)) as pool:
        for sentences in pool.map(one, to_try):
            found += sentences
    for judge in judges:
        judge.stop()
    return found


def _not_judged() -> str:
    """Why this machine cannot judge WGSL; empty if it can."""
    from course_lib.coach import shaders

    return shaders.problem()


def _is_judged(name: str) -> bool:
    return catalogue.load(name).language != "wgsl" or not _not_judged()


def proofs(name: str) -> list[Proof]:
    """Everything that is judged to prove one exercise. Raises ExerciseError if a text of it cannot be made."""
    exercise = catalogue.load(name)
    piece = regions.pieces(catalogue.source(exercise.chapter)).get(name)
    if piece is None:
        raise ExerciseError(f"{catalogue.source(exercise.chapter).name} holds no solution to it.")
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
    found = _variants(file).get(name, [])
    if len(found) < 2:
        raise ExerciseError(f"{file.relative_to(ROOT)} holds {len(found)} right answers to it; two are the least.")
    return found


@cache
def _variants(file: Path) -> dict[str, list[str | Changed]]:
    return runpy.run_path(str(file))["RIGHT"] if file.exists() else {}


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
