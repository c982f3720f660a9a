"""Every exercise is proved: blank fails, solution and variants pass, wrong answers are refused with their own sentences."""

import pytest

from course_lib.coach import catalogue, client, verify
from course_lib.coach.exercise import Changed, ExerciseError, Wrong
from course_lib.devices.webgpu import adapter

from .conftest import piece


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue.names())
def test_an_exercise_is_proved(judge, name):
    if catalogue.load(name).language == "wgsl" and adapter.problem():
        pytest.skip(f"no WGSL can run here: {adapter.problem()}")
    for trial in verify.trials(name):
        measure = trial.kind != "blank"
        assert verify.faults(trial, client.judged(name, trial.text, measure=measure, judge=judge)) == []


def test_a_proof_that_fails_says_what(judge):
    solution = piece("repeated_axes").solution
    passed = client.judged("repeated_axes", solution, judge=judge)
    refused = client.judged("repeated_axes", "def repeated_axes(a, b): return 7", judge=judge)
    broken = client.judged("repeated_axes", "def", judge=judge)

    def said(kind, verdict, says=""):
        return "".join(verify.faults(verify.Trial("repeated_axes", kind, solution, says), verdict))

    assert said("solution", passed) == said("right", passed) == said("blank", refused) == ""
    assert "should pass" in said("right", refused)
    assert "passes, and should not" in said("wrong", passed) and "passes, and should not" in said("blank", passed)
    assert "should say 'this'" in said("wrong", refused, "this")
    assert "must load" in said("blank", broken)


def test_a_change_that_does_not_fit_is_refused():
    with pytest.raises(ExerciseError, match="stands 0 times"):
        Changed(("not there", "x")).of("text")
    with pytest.raises(ExerciseError, match="stands 2 times"):
        Changed(("t", "x")).of("text")


def test_two_equal_texts_are_refused(monkeypatch):
    exercise = catalogue.load("repeated_axes")
    doubled = [*exercise.wrong, Wrong(exercise.wrong[0].answer, "something else")]
    monkeypatch.setattr(catalogue, "load", lambda name: __import__("dataclasses").replace(exercise, wrong=doubled))
    with pytest.raises(ExerciseError, match="the same"):
        verify.trials("repeated_axes")


def test_a_proof_neither_reads_nor_writes_what_the_learner_has(mine):
    (mine / "answers").mkdir(parents=True)
    (mine / "answers/walk_back.py").write_text("rubbish")
    (mine / "progress.json").write_text("{")
    assert verify.verify(["walk_back"]) == []
    assert sorted(path.name for path in mine.rglob("*")) == ["answers", "progress.json", "walk_back.py"]
