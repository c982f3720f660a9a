"""Whose code ran: what is added up, over resumes too, and in which words it is told."""

import json

import pytest

from course_lib import checkpoint, progress, training, whose
from course_lib.run_folder import LAST


@pytest.fixture(autouse=True)
def nobody():
    yield
    whose.register(None)


class Answers:
    """A source that counts as we tell it."""

    def __init__(self, operations=75):
        self.now = {"operations": operations, "seconds": 100.0, "yours": 40.0, "answers": {}, "replaced": {}}

    def call(self, name: str, calls: int, seconds: float) -> None:
        one = self.now["answers"].setdefault(name, {"calls": 0, "seconds": 0.0})
        one["calls"] += calls
        one["seconds"] += seconds
        self.now["yours"] += seconds
        self.now["seconds"] += 2 * seconds

    def __call__(self) -> dict:
        return json.loads(json.dumps(self.now))


def test_only_what_comes_after_the_start_counts_and_a_run_that_goes_on_adds_up():
    answers = Answers()
    answers.call("gelu", 7, 1.0)
    whose.register(answers)
    tally = whose.Tally("cpu")
    answers.call("gelu", 10, 3.0)
    answers.call("attend", 5, 1.0)
    first = tally.record(20)
    assert first["answers"] == {"gelu": {"calls": 10, "seconds": 3.0}, "attend": {"calls": 5, "seconds": 1.0}}
    assert (first["steps"], first["seconds"], first["yours"]) == (20, 8.0, 4.0)

    tally = whose.Tally("cpu")
    tally.go_on(first, 20)
    answers.call("gelu", 1, 1.0)
    second = tally.record(25)
    assert second["answers"]["gelu"]["calls"] == 11 and second["answers"]["attend"]["calls"] == 5
    assert (second["steps"], second["seconds"], second["yours"]) == (25, 10.0, 5.0)
    assert first["answers"]["gelu"]["calls"] == 10, "what a checkpoint holds stays as it is"


def test_a_run_that_goes_on_without_answers_keeps_what_was_counted():
    before = whose.NOTHING | {"operations": 9, "steps": 4, "answers": {"gelu": {"calls": 8, "seconds": 1.0}}}
    tally = whose.Tally("cpu")
    assert tally.record(3) is None and tally.going_on() == []
    tally.go_on(before, 6)
    assert tally.record(9) == before
    assert "4 of the 6 steps" in tally.going_on()[0] and "--mine" in tally.going_on()[0]


def test_where_a_gpu_computes_no_share_of_the_time_is_told():
    answers = Answers()
    whose.register(answers)
    tally = whose.Tally("cuda")
    answers.call("gelu", 3, 1.0)
    assert tally.record(1)["yours"] is None
    assert whose.sentences(tally.record(1)) == ["1 of 75 operations was yours; it was called 3 times."]


def test_the_words():
    answers = {f"answer {i}": {"calls": 38849, "seconds": 1.0} for i in range(31)}
    record = whose.NOTHING | {"operations": 75, "steps": 9, "seconds": 100.0, "yours": 38.0, "answers": answers}
    told = "31 of 75 operations were yours; they were called 1,204,319 times, 38 % of the time"
    assert whose.sentences(record) == [f"{told}."]
    assert whose.sentences(record, steps=9) == [f"{told}."]
    assert whose.sentences(record, steps=12) == [f"{told}, in 9 of 12 steps."]
    replaced = whose.sentences(record | {"replaced": {"gelu": "yours raised KeyError: 3"}})
    assert replaced == ["gelu: replaced by ours, because yours raised KeyError: 3", f"{told}."]
    idle = answers | {"a kernel": {"calls": 0, "seconds": 0.0}}
    assert whose.sentences(record | {"answers": idle}) == [f"{told}; 1 more of yours was in place and was not called."]
    assert whose.fraction(0.0) == "0 %" and whose.fraction(0.001) == "under 1 %"


def test_a_run_keeps_it_with_each_checkpoint_and_in_a_file(tmp_path):
    (tmp_path / "words.txt").write_text("the cat sat on the mat and the dog ran under the tree " * 60)
    answers = Answers()
    whose.register(answers)
    model = {"layers": 1, "heads": 2, "channels": 16, "context": 16, "vocab_size": 270}

    said = []

    class Calls(progress.Quiet):
        def say(self, line):
            said.append(line)

        def update(self, step, record, left):
            answers.call("gelu", 2, 0.5)

    settings = {"text": tmp_path / "words.txt", "device": "cpu", "steps": 6, "model": model, "validation_rows": 4}
    trained = training.train("micro", out=tmp_path / "run", display=Calls(), **settings)
    kept = checkpoint.load(tmp_path / "run" / LAST).facts["whose"]
    written = json.loads((tmp_path / "run" / whose.NAME).read_text())
    assert (
        kept["answers"] == written["answers"] == {"gelu": {"calls": 10, "seconds": 2.5}}
    )  # the last step's come later
    assert trained.mine["steps"] == 6
    assert said[-1].startswith("1 of 75 operations was yours; it was called 12 times, ")

    whose.register(None)
    plain = training.train("micro", out=tmp_path / "plain", display=progress.Quiet(), **settings)
    assert plain.mine is None and not (tmp_path / "plain" / whose.NAME).exists()
