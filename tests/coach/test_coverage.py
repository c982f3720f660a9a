"""Every op of the contract and every idea of the glossary is exercised, and the page that says where is true."""

import re

import pytest

from course_lib import devices
from course_lib.coach import catalogue
from course_lib.cuda import contents, source
from tests.coach import coverage

# What runs no kernel, or only one that is read (decode.cu): an exercise runs it, and that is all.
ONLY_RUN = {"view", "empty", "from_numpy", "to_numpy", "synchronize", "cache_append", "cache_attention"}

counted = pytest.mark.skipif(
    "simulator" not in devices.available_devices(),
    reason="there is no C++ compiler, so there is no simulator whose launches could be counted",
)


@counted
@pytest.mark.parametrize("op", coverage.ops())
def test_an_op_is_built_in_an_exercise(op):
    if op in ONLY_RUN:
        assert coverage.run()[op], f"No exercise runs {op}."
    else:
        assert coverage.built()[op], f"No exercise builds {op} or a kernel of {sorted(coverage.launches()[op])}."


@counted
def test_every_op_is_looked_at():
    """69 names: if one is added, it is a case of test_ops.py or of STORAGE, and so its launches are known."""
    assert len(coverage.ops()) >= 69
    silent = {op for op in coverage.ops() if not coverage.launches()[op]}
    assert silent <= ONLY_RUN, f"Nobody knows the kernels of {silent - ONLY_RUN}: add a case to op_cases.py."


@pytest.mark.parametrize("word", coverage.words())
def test_a_word_of_the_glossary_is_exercised(word):
    assert coverage.about()[word], f"No task, hint or verdict names {word!r}: say it where it is practised."


@pytest.mark.parametrize("path", contents.files(), ids=lambda path: path.stem)
def test_the_table_of_kernels_says_truly_what_is_built(path):
    """Built: an exercise takes one of its kernels for its solution, or the lecture of its chapter makes one of that name."""
    chapter = contents.header(path.read_text(encoding="utf-8")).fields["Chapter"]
    sources = "".join(file.read_text(encoding="utf-8") for file in catalogue.SOLUTIONS.glob("*.py"))
    taken = re.findall(rf"^# include kernels/{path.name} (\w+)", sources, re.M)
    taken += [name for name in catalogue.names() if catalogue.load(name).target == f"kernel:{path.name}"]
    if "not built" in chapter:
        assert not taken, f"{path.name}: an exercise builds {taken[0]}."
    else:
        lecture = next((coverage.ROOT / "notebooks").glob(f"{chapter.split(',')[0]}_*.ipynb")).read_text(
            encoding="utf-8"
        )
        named = [name for name in source.kernels(source.find(path)) if re.search(rf"\b{name}\b", lecture)]
        assert taken or named, f"{path.name}: neither an exercise nor the lecture builds any of it."


def test_a_word_that_no_task_names_is_found_missing(monkeypatch):
    monkeypatch.setattr(coverage, "words", lambda: ["kernel", "flux capacitor"])
    found = coverage.about.__wrapped__()
    assert found["kernel"] and not found["flux capacitor"]


@counted
def test_an_op_that_no_exercise_builds_is_found_missing(monkeypatch):
    others = [name for name in catalogue.names() if name != "cast"]
    monkeypatch.setattr(catalogue, "names", lambda chapter="": others)
    found = coverage.built.__wrapped__()
    assert not found["cast"] and found["where"] == ["where", "fill"]


@counted
def test_the_page_is_what_the_exercises_say():
    assert coverage.PAGE.read_text(encoding="utf-8") == coverage.page(), "python tests/coach/coverage.py"
