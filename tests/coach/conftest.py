"""Each test of the coach has a folder of answers of its own, and no test touches the learner's."""

import pytest

from course_lib.coach import catalogue, client


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_MINE", str(tmp_path / "mine"))
    return tmp_path / "mine"


@pytest.fixture(scope="session")
def judge():
    """One warm judging process for all tests of a worker."""
    judge = client.Judge()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_TRACEBACK", "1")  # a cause that could not be looked for is a failure here
        judge.start()
    yield judge
    judge.stop()


@pytest.fixture
def ask(judge):
    """The verdict on a text, as an answer to `repeated_axes` or the exercise that is named."""

    def asked(text, name="repeated_axes", **more):
        return client.judged(name, text, judge=judge, **more)

    return asked


piece = catalogue.piece
