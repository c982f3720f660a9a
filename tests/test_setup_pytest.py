"""What conftest.py promises: peers only with --peers, a sentence on skips and on the reader's notebooks, the summary last."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent

SAMPLE = """
import os
import pytest

@pytest.mark.peers
def test_peer():
    pass

@pytest.mark.skip(reason="the moon is not full")
def test_skipped():
    pass

def test_threads_are_few():
    assert os.environ["OPENBLAS_NUM_THREADS"]
"""


def run(folder: Path, *words: str) -> list[str]:
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    peers: x\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:nbval", *words],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return (ran.stdout + ran.stderr).strip().splitlines()


def test_skips_are_counted_in_a_sentence_and_the_summary_comes_last(tmp_path):
    for words in ((), ("-n", "1")):
        lines = run(tmp_path, *words)
        sentence = next(line for line in lines if "skipped:" in line)
        assert sentence.startswith("2 tests were skipped: ")
        assert "1 because: compares with PyTorch" in sentence
        assert "1 because: the moon is not full" in sentence
        assert re.search(r"1 passed, 2 skipped in ", lines[-1])


def test_where_a_test_failed_it_says_which_notebooks_are_the_readers(tmp_path):
    failing = """
from course_lib.coach import update

update.changed_notebooks = lambda: CHANGED

def test_fails():
    assert not CHANGED, "and so it fails"
"""
    for changed in ([], ["notebooks/03_neural_networks.ipynb"]):
        (tmp_path / "test_failing.py").write_text(failing.replace("CHANGED", repr(changed)))
        said = [line for line in run(tmp_path) if line.startswith("Not as they came")]
        assert len(said) == len(changed) and all(changed[0] in line and "course update" in line for line in said)


def test_peers_run_when_asked_for_and_are_never_missing_in_silence(tmp_path):
    lines = run(tmp_path, "--peers")
    assert re.search(r"2 passed, 1 skipped", lines[-1]) or any("--peers needs" in line for line in lines)
