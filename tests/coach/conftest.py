"""Each test of the coach has a folder of answers of its own, and no test touches the learner's."""

import pytest

from course_lib.coach import catalogue, client, regions


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_MINE", str(tmp_path / "mine"))
    return tmp_path / "mine"


@pytest.fixture(scope="session")
def judge():
    """One warm judging process for all tests of a worker."""
    judge = client.Judge()
    yield judge
    judge.stop()


def piece(name: str) -> regions.Piece:
    return regions.pieces(catalogue.source(catalogue.load(name).chapter))[name]
