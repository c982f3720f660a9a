"""Answers, tries and progress survive whatever happens to them."""

import json
import multiprocessing
import os
import subprocess
import sys

import pytest

from course_lib.coach import answering, catalogue, client, helping, pictures, regions, state
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.verdict import Count, Verdict
from course_lib.paths import ROOT

from .conftest import piece

NAME = "repeated_axes"


def verdict(passed: bool, **numbers) -> Verdict:
    counts = [Count(name, number) for name, number in numbers.items()]
    return Verdict(NAME, "title", "python", passed, counts=counts)


@pytest.fixture
def answered(judge, monkeypatch):
    monkeypatch.setattr(client, "_judge", judge)
    return lambda text, **more: answering.answer(NAME, text, **more)


def test_every_try_is_kept_and_the_last_passing_one_counts(mine):
    for text, passed in (("one", False), ("two", True), ("three", True), ("four", False), ("four", False)):
        state.save(NAME, text, verdict(passed))
    assert [path.name for path in sorted((mine / "tries" / NAME).iterdir())] == [
        "0001-not-yet.py", "0002-passed.py", "0003-passed.py", "0004-not-yet.py",
    ]  # fmt: skip
    assert state.passing(NAME).text == "three\n" and state.answer_file(NAME).read_text() == "four\n"


def test_a_blank_is_never_kept_and_says_kindly_what_is_asked(answered, mine):
    blank = answered(piece(NAME).blank + "\n\n")
    assert blank.blank and not blank.passed and blank.word == "Blank"
    assert "Nothing is written here yet" in blank.why and blank.failing.expected
    assert not (mine / "answers").exists() and state.tries(NAME) == []
    assert regions.comparable("  \n" + piece(NAME).blank) == regions.comparable(piece(NAME).blank)


def test_a_planted_fault_left_as_it_was_shows_itself(judge, monkeypatch):
    monkeypatch.setattr(client, "_judge", judge)
    blank = answering.answer("backward_pass", piece("backward_pass").blank)
    assert blank.blank and "Gradients along different paths add up" in blank.why


def test_the_next_line_to_type_is_said(answered):
    wrong = answered("def repeated_axes(shape, to):\n    return ()")
    assert wrong.next == 'course.hint("repeated_axes")'
    assert (
        answered("def repeated_axes(shape, to):\n    return ()", where=answering.TERMINAL).next
        == "course hint repeated_axes"
    )
    right = answered(piece(NAME).solution)
    assert "the exercise topological_order" in right.next
    assert "Next: the exercise topological_order</div>" in pictures.html(right), "nothing to type"
    assert "Next: <code>course.hint(&quot;repeated_axes&quot;)</code></div>" in pictures.html(wrong)


def test_an_answer_is_kept_even_if_judging_is_interrupted(monkeypatch, mine):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "judged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answering.answer(NAME, "half an answer")
    assert (mine / "answers" / f"{NAME}.py").read_text() == "half an answer\n"


@pytest.mark.parametrize("damage", ["", "{", "[1, 2]", '{"repeated_axes": 3}', "\0\0\0"])
def test_a_damaged_progress_file_is_set_aside_and_passes_are_still_known(mine, damage):
    state.save(NAME, "good", verdict(True))
    (mine / "progress.json").write_text(damage)
    assert state.passing(NAME).text == "good\n"
    state.note(NAME, hints=1)
    assert state.noted(NAME)["hints"] == 1
    kept = list(mine.glob("progress-damaged-*.json"))
    assert [path.read_text() for path in kept] == [damage]
    assert "[x] repeated_axes" in helping.progress()


def test_two_damages_within_a_second_are_both_kept(mine, monkeypatch):
    monkeypatch.setattr(state.time, "strftime", lambda form: "now")
    for damage in ("{", "[", b"\xff".decode("latin-1")):
        (state.folder() / "progress.json").write_text(damage, encoding="latin-1")
        state.note(NAME, hints=1)
    kept = sorted(path.read_bytes() for path in mine.glob("progress-damaged-*.json"))
    assert kept == [b"[", b"{", b"\xff"] and state.noted(NAME) == {"hints": 1}


def test_an_answer_that_is_no_utf8_is_a_sentence(mine):
    state.save(NAME, "good", verdict(True))
    one = state.passing(NAME).path
    for path in (state.answer_file(NAME), one):
        path.write_bytes(b"# caf\xe9\npass\n")
        with pytest.raises(ExerciseError, match="no text in UTF-8: line 1 holds the byte 0xe9"):
            answering.kept(NAME) if path != one else state.passing(NAME).text
    state.save(NAME, "good", verdict(True))
    assert state.passing(NAME).text == "good\n" and state.passing(NAME).path != one, "a new try, which can be read"


def test_the_folder_may_move(mine, monkeypatch, tmp_path):
    state.save(NAME, "good", verdict(True))
    state.note(NAME, hints=2)
    mine.rename(tmp_path / "moved")
    monkeypatch.setenv("COURSE_MINE", str(tmp_path / "moved"))
    assert state.passing(NAME).text == "good\n" and state.noted(NAME)["hints"] == 2


def _save_many(number: int) -> None:
    for i in range(20):
        state.save(NAME, f"text {number} {i}", verdict(False, steps=float(i)))
        state.note("backward_pass", **{f"n{number}": i})


def test_two_notebooks_at_once_lose_nothing(mine):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    processes = [context.Process(target=_save_many, args=(number,)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    texts = sorted(one.text.strip() for one in state.tries(NAME))
    assert texts == sorted(f"text {number} {i}" for number in range(3) for i in range(20))
    assert [one.number for one in state.tries(NAME)] == list(range(1, 61))
    assert state.noted("backward_pass") == {"n0": 19, "n1": 19, "n2": 19}
    assert json.loads((mine / "progress.json").read_text())


def test_a_reset_keeps_the_old_answer(mine):
    state.save(NAME, "good", verdict(True))
    title, blank, _ = helping.reset(NAME)
    assert "set-aside/" in title and piece(NAME).blank in blank
    assert state.passing(NAME) is None and state.tries(NAME) == []
    assert [path.read_text() for path in mine.glob(f"set-aside/*/{NAME}.py")] == ["good\n"]
    assert len(list(mine.glob("set-aside/*/tries/*.py"))) == 1
    assert "no answer yet" in helping.reset(NAME)[0]


def test_an_answer_under_a_name_that_no_exercise_has_stops_nothing_and_is_kept(mine):
    (mine / "answers").mkdir(parents=True)
    (mine / "tries" / "old_name").mkdir(parents=True)
    kept = mine / "answers/old_name.py", mine / "tries/old_name/0001-passed.py", mine / ".last_exercise"
    for path in kept:
        path.write_text("old_name")
    (mine / "progress.json").write_text('{"old_name": {"hints": 2}}')
    with pytest.raises(ExerciseError, match="Say which exercise"):
        state.last()
    assert "old_name" not in helping.progress() and f"[ ] {NAME}" in helping.progress()
    state.save(NAME, "good", verdict(True))
    assert state.passing(NAME) is not None and all(path.read_text() == "old_name" for path in kept)
    assert state.noted("old_name") == {"hints": 2}


def test_an_answer_that_passes_no_more_does_not_count_until_it_passes_again(mine):
    state.save(NAME, "good", verdict(True))
    state.rejudged(NAME, state.passing(NAME), passed=False)
    assert state.passing(NAME) is None and state.answer_file(NAME).read_text() == "good\n"
    state.save(NAME, "good", verdict(True))
    assert state.passing(NAME).number == 2


def test_hints_come_one_by_one_and_then_a_worked_example():
    exercise = catalogue.load(NAME)
    titles, said, _ = zip(*(helping.hint(NAME) for _ in range(6)), strict=True)
    for text, hint in zip(said, exercise.hints, strict=False):
        assert hint in text
    assert said[3] == said[4] == said[5] == exercise.example.strip("\n")
    assert "worked example" in titles[3] and "last hint" not in titles[3]
    assert titles[4] == titles[5] and titles[4].startswith("That was the last hint. Next: ")
    assert f'course.solution("{NAME}")' in titles[4]
    assert f"course solution {NAME}" in helping.hint(NAME, answering.TERMINAL)[0]


def test_a_short_exercise_has_one_hint_and_promises_no_more():
    short = "row_and_column"
    assert catalogue.load(short).is_short
    (title, said, _), (after, again, code), same = (helping.hint(short) for _ in range(3))
    assert title.endswith("hint 1 of 1") and said == again == catalogue.load(short).hints[0]
    assert after.startswith("That was the last hint. Next: ") and after.endswith("The hint once more") and not code
    assert f'course.solution("{short}")' in after and same == (after, again, code)


def test_a_solution_before_a_pass_is_asked_for_twice_and_remembered(answered):
    assert "once more" in helping.solution(NAME)[1]
    assert helping.solution(NAME)[1] == piece(NAME).solution
    assert "solution was shown" in helping.progress()
    again = answered(piece(NAME).solution)
    assert again.passed and any("solution of the course" in note for note in again.notes)


def test_after_a_pass_the_solution_is_shown_at_once_and_nothing_is_held_against_anybody():
    state.save(NAME, "good", verdict(True))
    assert helping.solution(NAME)[1] == piece(NAME).solution
    assert not state.noted(NAME).get("solution_shown")


def test_progress_counts_minutes_by_core_and_stretch():
    before = helping.progress()
    minutes = catalogue.load(NAME).minutes
    left = sum(catalogue.load(name).minutes for name in catalogue.names("02") if catalogue.load(name).core)
    assert f"02 autograd: {left} minutes of core left" in before
    state.save(NAME, "good", verdict(True))
    assert f"02 autograd: {left - minutes} minutes of core left" in helping.progress()


def test_numbers_of_earlier_tries_are_shown_beside_the_newest(judge, monkeypatch):
    monkeypatch.setattr(client, "_judge", judge)
    solution = piece("scale").solution
    answering.answer("scale", solution)
    again = answering.answer("scale", solution + "\n// once more")
    assert all(count.earlier == [count.yours] for count in again.counts) and again.counts


def test_a_report_holds_answer_verdict_and_machine_and_no_private_path(answered, monkeypatch):
    answered(f"# {ROOT}/secret\ndef repeated_axes(shape, to):\n    return ()")
    _, text, _ = helping.report(NAME)
    assert "return ()" in text and "Not yet: Where was it repeated?" in text and "This machine has" in text
    assert str(ROOT) not in text and os.path.expanduser("~") + "/" not in text
    assert helping.without_paths("/home/anna/x and /Users/bob/y") == "/home/NAME/x and /Users/NAME/y"


def test_the_last_failing_case_can_be_played_with(answered):
    from course_lib import course

    answered("def repeated_axes(shape, to):\n    return ()")
    case = course.last_case()
    assert (case.inputs, case.expected, case.got) == (((4,), (3, 4)), (0,), ())


def test_a_word_without_its_parentheses_says_what_to_type():
    from course_lib import course

    assert "course.hint()" in repr(course.hint) and "The next hint; after" in repr(course.hint)
    assert course.hint.__doc__.startswith("The next hint; after")


def test_no_name_means_the_last_exercise(answered):
    with pytest.raises(ExerciseError, match="Say which exercise"):
        state.last()
    answered(piece(NAME).solution)
    assert state.last() == NAME


def test_what_an_answer_defines_stands_for_its_name():
    from course_lib.cuda import Kernel

    def kernel(name, template="", instance=""):
        return Kernel(f"{template}__global__ void {name}(float* y) {{}}", name + instance)

    assert state.last(kernel("scale")) == "scale" == state.last()
    assert state.last(kernel("matmul_shared_tiles", "template <int T> ", "<8>")) == "matmul_shared_tiles"
    state.last("scale_device_scalar")
    assert state.last(kernel("scale")) == "scale_device_scalar", (
        "its answer too defines `scale`, and it is the last one"
    )

    def linear_backward():
        pass

    assert state.last(linear_backward) == "linear_backward"
    for thing in (5, None, ["scale"]):
        with pytest.raises(ExerciseError, match=r'in quotes, as in course.hint\("scale"\)'):
            state.last(thing)
    with pytest.raises(ExerciseError, match="no exercise named 'mine'"):
        state.last(kernel("mine"))


def test_the_terminal_says_the_same_words(mine):
    (mine / "answers").mkdir(parents=True)
    (mine / "answers" / f"{NAME}.py").write_text("def repeated_axes(shape, to):\n    return ()\n")

    def course(*words):
        return subprocess.run(
            [sys.executable, "-m", "course_lib.cli", *words], cwd=ROOT, capture_output=True, text=True
        )

    checked = course("check", NAME)
    assert checked.returncode == 1 and checked.stdout.startswith("Not yet: Where was it repeated? (repeated_axes)")
    assert "Next: course hint repeated_axes" in checked.stdout
    assert "hint 1 of 3" in course("hint").stdout
    assert "[ ] repeated_axes" in course("status").stdout and "1 try" in course("status").stdout
    lost = course("check", "no_such_thing")
    assert lost.returncode == 1 and "There is no exercise named 'no_such_thing'" in lost.stderr
    assert "Traceback" not in lost.stderr


def test_the_versions_of_a_challenge_are_drawn_under_a_roofline():
    from course_lib.coach import versions

    with pytest.raises(ExerciseError, match="has passed yet"):
        versions.picture("outer_product")
    with pytest.raises(ExerciseError, match=r"scale counts no bytes to draw under a roofline. These do: outer_product"):
        versions.picture("scale")
    for number, moved in enumerate((131_072, 65_536 + 8192), 1):
        text = f"{piece('outer_product').solution}// {number}"
        counts = [Count("bytes of global memory moved", float(moved))]
        state.save("outer_product", text, Verdict("outer_product", "", "cuda", True, counts=counts))
    assert versions.moved_bytes("outer_product") == {"1": 131_072, "2 (newest)": 73_728}
    drawn = versions.picture("outer_product")
    assert "version 1 does 0.12 for each byte" in drawn.alt and "version 2 (newest) does 0.22" in drawn.alt


def test_every_challenge_that_counts_bytes_has_its_versions_drawn():
    from course_lib.coach import kernels

    for name in catalogue.names():
        exercise = catalogue.load(name)
        if exercise.challenge and kernels.BYTES in [goal.name for goal in exercise.goals]:
            assert exercise.flops > 0, name


@pytest.mark.parametrize(
    "use", [lambda: state.save("add_bias", "text"), lambda: state.last("add_bias")], ids=["save", "last"]
)
def test_a_folder_that_may_not_be_written_is_a_sentence(monkeypatch, use):
    def refuses(path, content):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(state.paths, "write_whole", refuses)
    with pytest.raises(ExerciseError, match=r"cannot be kept: Permission denied .*`chmod -R u[+]rwX .*mine`"):
        use()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_after_a_chmod_is_the_same_sentence(mine):
    mine.mkdir()
    mine.chmod(0o500)
    with pytest.raises(ExerciseError, match="cannot be kept"):
        state.save("add_bias", "text")
    mine.chmod(0o700)
