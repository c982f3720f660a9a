"""An answer that passed once and is wrong now does not go in; one that is right is judged once and remembered."""

import pytest

from course_lib.coach import answering, client, state, swapping
from course_lib.coach.verdict import Verdict

from .conftest import piece


@pytest.fixture(autouse=True)
def back(judge, monkeypatch):
    monkeypatch.setattr(client, "_judge", judge)
    yield
    swapping.remove()


def passed(name: str, text: str = "") -> state.Try:
    state.save(name, text or piece(name).solution, Verdict(name, "", "python", True))
    return state.passing(name)


def test_a_right_answer_goes_in_and_is_judged_once(monkeypatch):
    passed("topological_order")
    assert swapping.use(steps=0).yours == 1
    monkeypatch.setattr(client, "judged", lambda *_, **__: pytest.fail("it was judged again"))
    assert swapping.use(steps=0).yours == 1


@pytest.mark.parametrize("name, old, new", [
    ("block_forward", "self.norm2", "self.norm1"), ("topological_order", "return", "return []  #"),
    ("merge", "return", "raise SystemExit(3)  #"),
])  # fmt: skip
def test_one_that_was_edited_since_falls_back_with_a_sentence(name, old, new):
    kept = passed(name)
    assert swapping.use(steps=0).yours == 1
    kept.path.write_text(kept.text.replace(old, new))
    swaps = swapping.use(steps=0)
    assert swaps.yours == 0 and "it no longer passes: " in str(swaps)
    assert swaps.snapshot()["replaced"].keys() == {name} and swaps.snapshot()["answers"] == {}


def test_a_wrong_one_of_which_it_is_only_said_that_it_passed_is_found_out():
    passed("block_forward", piece("block_forward").solution.replace("self.norm2", "self.norm1"))
    assert swapping.use(steps=0).yours == 0


@pytest.mark.parametrize("changed", ["exercise", "library"])
def test_it_is_judged_again_when_what_it_was_judged_by_has_changed(changed, monkeypatch):
    kept = passed("topological_order")
    assert answering.recheck("topological_order", kept.text) == ""
    asked = []
    monkeypatch.setattr(
        client, "judged", lambda name, *_, **__: asked.append(name) or Verdict(name, "", "python", True)
    )
    if changed == "exercise":
        monkeypatch.setattr(answering.catalogue, "fingerprint", lambda name: "another")
    else:
        monkeypatch.setattr(answering, "library", lambda: "another")
    assert answering.recheck("topological_order", kept.text) == "" and asked == ["topological_order"]


def test_one_that_cannot_be_judged_here_stays_out(monkeypatch):
    passed("topological_order")
    unjudged = Verdict("topological_order", "", "python", False, "There is no adapter.", judged=False)
    monkeypatch.setattr(client, "judged", lambda *_, **__: unjudged)
    swaps = swapping.use(steps=0)
    assert swaps.yours == 0 and "could not be judged again: There is no adapter." in str(swaps)
