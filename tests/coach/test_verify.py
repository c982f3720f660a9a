"""Every exercise is proved: blank fails, solution and variants pass, wrong answers are refused with their own sentences."""

import dataclasses
import zlib

import pytest

from course_lib import native
from course_lib.coach import catalogue, client, measuring, verify
from course_lib.coach.exercise import Changed, ExerciseError, Wrong
from course_lib.devices.webgpu import adapter

from .conftest import piece


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue.names())
def test_an_exercise_is_proved(judge, name):
    if catalogue.load(name).language == "wgsl" and adapter.problem():
        pytest.skip(f"no WGSL can run here: {adapter.problem()}")
    for trial in verify.proofs(name):
        verdict = client.judged(name, trial.text, measure=trial.kind != "blank", judge=judge)
        assert verify.failures_of(trial, verdict) == []
        if trial.kind == "solution" and (compiler := native.find_compiler()) and compiler.kind == "gcc":
            # such a goal would be asked of nobody, in silence; other compilers may count otherwise
            assert not [said for said in verdict.not_measured if measuring.BEYOND_REACH in said]


def test_a_proof_that_fails_says_what(judge):
    solution = piece("repeated_axes").solution
    passed = client.judged("repeated_axes", solution, judge=judge)
    refused = client.judged("repeated_axes", "def repeated_axes(a, b): return 7", judge=judge)
    broken = client.judged("repeated_axes", "def", judge=judge)

    def said(kind, verdict, says="", generic=""):
        return "".join(verify.failures_of(verify.Proof("repeated_axes", kind, solution, says, generic), verdict))

    assert said("solution", passed) == said("right", passed) == said("blank", refused) == ""
    assert "should pass" in said("right", refused)
    assert "passes, and should not" in said("wrong", passed) and "passes, and should not" in said("blank", passed)
    assert said("wrong", refused, refused.why) == said("wrong", refused, generic=refused.why[3:]) == ""
    assert "should say 'this'" in said("wrong", refused, "this") and "should say 'it'" in said(
        "wrong", refused, generic="it"
    )
    assert "should say" in said("wrong", refused, refused.why[3:]), "a sentence of its own is said whole"
    known = client.judged("repeated_axes", catalogue.load("repeated_axes").wrong[0].answer.of(solution), judge=judge)
    assert "should say" in said("wrong", known, generic=known.why), "what is recognised is not generic"
    assert "must load" in said("blank", broken)


def test_a_change_that_does_not_fit_is_refused():
    with pytest.raises(ExerciseError, match="stands 0 times"):
        Changed(("not there", "x")).of("text")
    with pytest.raises(ExerciseError, match="stands 2 times"):
        Changed(("t", "x")).of("text")


def test_two_equal_texts_are_refused(monkeypatch):
    exercise = catalogue.load("repeated_axes")
    doubled = [*exercise.wrong, Wrong(exercise.wrong[0].answer, "something else")]
    monkeypatch.setattr(catalogue, "load", lambda name: dataclasses.replace(exercise, wrong=doubled))
    with pytest.raises(ExerciseError, match="the same"):
        verify.proofs("repeated_axes")


@pytest.mark.parametrize(
    "name, wrong, says",
    [
        ("repeated_axes", Wrong("text"), "either `says` or `generic`"),
        ("repeated_axes", Wrong("text", "sentence", generic="piece"), "either `says` or `generic`"),
        ("repeated_axes", Wrong("text", generic="piece", when=bool), "would not be asked"),
        ("repeated_axes", Wrong("text", "sentence", like=abs), "`like` is for kernels"),
        ("scale", Wrong("text", "sentence"), "either `like` or `when`"),
        ("scale", Wrong("text", "sentence", like=abs, when=bool), "either `like` or `when`"),
        ("scale", Wrong("text", "sentence", when=bool), ""),
        ("repeated_axes", Wrong("text", "sentence", when=bool), ""),
        ("repeated_axes", Wrong("text", catalogue.load("repeated_axes").wrong[0].says), "the same sentence"),
        ("repeated_axes", Wrong("text", catalogue.load("repeated_axes").wrong[0].says, also=True), ""),
        ("repeated_axes", Wrong("text", "sentence", also=True), "whose sentence no other has"),
    ],
)
def test_a_wrong_answer_that_cannot_be_used_is_refused(name, wrong, says):
    exercise = catalogue.load(name)
    found = dataclasses.replace(exercise, wrong=[*exercise.wrong, wrong]).complaints()
    assert len(found) == bool(says) and all(says in sentence for sentence in found)


@pytest.mark.parametrize("name", catalogue.names())
def test_every_text_can_be_made(name):
    kinds = [trial.kind for trial in verify.proofs(name)]
    assert kinds.count("right") >= 2 and kinds.count("wrong") >= 3


def test_right_variants_stand_with_their_exercises():
    for file in verify.RIGHT.glob("*.py"):
        assert sorted(verify._listed(file, "RIGHT")) == sorted(catalogue.names(file.stem))


def test_right_variants_may_be_missing_altogether_but_not_in_part(monkeypatch):
    monkeypatch.setattr(verify, "RIGHT", verify.ROOT / "no such folder")
    assert verify.variants("repeated_axes") == []
    monkeypatch.setattr(verify, "RIGHT", verify.ROOT / "tests")
    with pytest.raises(ExerciseError, match=r"tests/02\.py holds 0 right answers"):
        verify.variants("repeated_axes")


def test_a_proof_neither_reads_nor_writes_what_the_learner_has(mine):
    (mine / "answers").mkdir(parents=True)
    (mine / "answers/backward_pass.py").write_text("rubbish")
    (mine / "progress.json").write_text("{")
    assert verify.verify(["backward_pass"]) == []
    assert sorted(path.name for path in mine.rglob("*")) == ["answers", "backward_pass.py", "progress.json"]


def chance(text: str) -> int:
    """A number by which to choose, the same on every machine, and whatever else there is to choose from."""
    return zlib.crc32(text.encode())


@pytest.mark.slow
@pytest.mark.parametrize("chapter", sorted({catalogue.load(name).chapter for name in catalogue.names()}))
def test_a_sample_of_mutants_is_refused_or_listed(judge, chapter):
    """`course verify --mutants` tries all of them."""
    names = [
        name for name in catalogue.names(chapter) if catalogue.load(name).language != "wgsl" or not adapter.problem()
    ]
    if not names:
        pytest.skip(f"no WGSL can run here: {adapter.problem()}")
    for name in sorted(filter(verify.mutants_of, names), key=chance)[:3]:
        mutant = min(verify.mutants_of(name), key=lambda mutant: chance(mutant.change))
        assert verify.fate(name, mutant, judge) != verify.SURVIVED, f"{name}: {mutant.change}"


def test_every_listed_survivor_is_a_mutant_with_a_reason():
    for name in catalogue.names():
        listed = verify.allowed(name)
        assert listed.keys() <= {mutant.change for mutant in verify.mutants_of(name)}, name
        assert all(len(reason) > 15 for reason in listed.values()), name
