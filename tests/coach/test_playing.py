"""`course.play()`: the learner's kernel on a failing case, to step through."""

import pytest

from course_lib import course
from course_lib.coach import answering, playing, state
from course_lib.coach.exercise import ExerciseError
from tests.coach.conftest import piece


def test_a_verdict_offers_to_watch_the_failing_case_and_the_race_is_marked(capsys):
    solution = piece("row_max").solution
    racy = solution.replace("__syncthreads();", "")
    assert racy != solution
    verdict = answering.answer("row_max", racy)
    assert not verdict.passed and verdict.playable
    assert verdict.next == 'course.hint("row_max"), or course.play("row_max") to watch this case'
    player = course.play("row_max")
    assert any("race" in step.mark for step in player.steps)


def test_in_a_terminal_there_is_nothing_to_watch():
    verdict = answering.answer("scale", piece("scale").solution.replace("s *", "2.0f *"), where="terminal")
    assert not verdict.passed and verdict.next == "course hint scale"


def test_what_cannot_be_played_is_said_in_a_sentence(capsys):
    with pytest.raises(ExerciseError, match="no CUDA kernel"):
        playing.play("backward_pass")
    state.save("transpose", piece("transpose").solution)
    with pytest.raises(ExerciseError, match="at most 128 threads; this launch has 1024"):
        playing.play("transpose")
    state.save("scale", "__global__ void scale(")
    assert course.play("scale") is None
    assert "does not compile yet" in capsys.readouterr().out
    assert course.play("gather_rows") is None
    assert "There is no answer to gather_rows yet" in capsys.readouterr().out
