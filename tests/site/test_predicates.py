"""The questions by which known mistakes are recognised: the page answers each as Python does, of things seen that are made up."""

import json
import random
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.coach import catalogue
from course_lib.coach.diagnosis import holds
from course_lib.coach.exercise import Mistake, Wrong, answer_text
from course_lib.cuda.runtime import KINDS
from course_lib.site import engine, exported_cases, predicates

TRIES = 12
PAGE = """
const { holds } = await import(process.argv[1]);
const { readFileSync } = await import("node:fs");
const answers = JSON.parse(readFileSync(0, "utf8")).map(({ when, seen }) => seen.map(({ number, kinds, ...more }) =>
  holds(when, number, { ...more, kinds: new Set(kinds) })));
console.log(JSON.stringify(answers));
"""


def words_of(tree) -> list[str]:
    """The strings in a tree or among its facts."""
    if isinstance(tree, str):
        return [tree]
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    return [word for one in inside for word in words_of(one)]


def issue(rnd: random.Random, words: list[str], lines: list[str]) -> SimpleNamespace:
    """Something that the checker might have told."""
    arrays = [word for word in words if word.isidentifier()] + ["x", "y"]
    where = f"element {rnd.choice([-1, 3, 64])} of '{rnd.choice(arrays)}'"
    message = f"a {rnd.choice(['read', 'write'])} of 4 bytes at {where}, {rnd.choice(words)}"
    line, other = rnd.randrange(len(lines)), rnd.randrange(len(lines))
    return SimpleNamespace(
        kind=rnd.choice([word for word in words if word in KINDS] or KINDS), line=line + 1, other_line=other + 1, message=message,
        block=(rnd.randrange(3), rnd.randrange(2), 0), thread=(rnd.randrange(64), 0, 0), count=rnd.choice([1, 2]),
        source=lines[line].strip(), other_source=lines[other].strip(),
    )  # fmt: skip


def seen_in_page(seen: SimpleNamespace, number: int) -> dict:
    renamed = {"other_line": "otherLine", "other_source": "otherSource"}
    issues = [{renamed.get(key, key): value for key, value in vars(one).items()} for one in seen.issues]
    told = {"text": seen.text, "kinds": sorted(seen.kinds), "issues": issues, "difference": seen.failing.difference}
    return {"number": number, **told}


@pytest.fixture(scope="module")
def questions():
    """Of all exercises in CUDA C++: name, mistake, the exported question, what was seen, and what Python says of it."""
    rnd, found = random.Random(0), []
    for name in exported_cases.exercises_in("cuda"):
        exercise, solution = catalogue.load(name), catalogue.piece(name).solution
        mistakes = [one for one in exercise.wrong if one.when]
        if not mistakes:
            continue
        texts = [solution, *(answer_text(one.answer, solution) for one in exercise.wrong if isinstance(one, Wrong))]
        with np.errstate(all="ignore"):
            cases = [
                (case, exercise.reference(*case.inputs) if exercise.compared else None)
                for case in exercise.cases(np.random.default_rng(exported_cases.SEED))
            ]
        for mistake in mistakes:
            if not (when := predicates.export(mistake, cases)):
                continue
            words, tried = words_of(when["tree"]) + words_of(when["facts"]), []
            for _ in range(TRIES):
                number, text = rnd.randrange(len(cases)), rnd.choice(texts)
                case, expected = cases[number]
                issues = [issue(rnd, words, text.split("\n")) for _ in range(rnd.randrange(3))]
                kinds = {one.kind for one in issues}
                seen = SimpleNamespace(
                    inputs=case.inputs, expected=expected, label=case.label, text=text, issues=issues, kinds=kinds,
                    error="", failing=SimpleNamespace(difference=rnd.choice([None, {"says": "2 elements are wrong"}])),
                )  # fmt: skip
                tried.append((seen, number, holds(mistake.when, seen)))
            found.append((name, mistake, when, tried))
    return found


def test_most_questions_are_exported_and_answered_as_python_does(questions):
    if problem := engine.missing():
        pytest.skip(problem)
    jobs = [
        {"when": when, "seen": [seen_in_page(seen, number) for seen, number, _ in tried]}
        for _, _, when, tried in questions
    ]
    module = (engine.MODULES / "predicates.mjs").as_uri()
    command = ["node", "--input-type=module", "-e", PAGE, module]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    wrong = [
        (name, mistake.says, seen.text, seen.issues, seen.label, python)
        for (name, mistake, _, tried), answers in zip(questions, said, strict=True)
        for (seen, _, python), page in zip(tried, answers, strict=True)
        if python != page
    ]
    assert not wrong, (len(wrong), wrong[0])
    both = sum(len({python for _, _, python in tried}) == 2 for _, _, _, tried in questions)
    assert len(questions) > 190 and both > 75


@pytest.mark.parametrize(
    "when",
    [
        lambda seen: np.isnan(seen.got).all(),
        lambda seen: seen.reports and "race" in seen.kinds,
        lambda seen: seen.label == "one" and seen.inputs[0] > 1,
        lambda seen: (lambda: "race")() in seen.kinds,
    ],
    ids=["results", "counters", "nothing of the answer", "a call of a lambda"],
)
def test_what_a_page_cannot_know_is_left_out(when):
    assert predicates.export(Mistake("says", when=when), []) is None


def test_the_page_looks_at_each_goal():
    """An answer that misses one must not pass there."""
    left_out = []
    for name in catalogue.names():
        exercise = catalogue.load(name)
        if exercise.language == "cuda":
            for goal in exercise.goals:
                exported_cases._goal(goal, left_out)
    assert not left_out
