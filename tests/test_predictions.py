"""A reader's number beside the measured one: which words are said, in text and HTML; and every chapter asks what it measures."""

import ast
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import predictions
from course_lib.predictions import Outcome, measured, predict, verdict

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
ASKED = re.compile(r"^(.+): put your number in place of the dots", re.MULTILINE)
SHOWN = re.compile(r"^(.+): measured \S+\.$")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(predictions, "_said", {})


@pytest.mark.parametrize(
    ("said", "value", "words"),
    [
        (4, 4, "right"),
        (240, 238, "right, within 5 %"),
        (4, 4.2, "right, within 5 %"),
        (0, 0, "right"),
        (4, 32, "eight times as many"),
        (4, 8, "twice as many"),
        (4, 8.2, "about twice as many"),
        (8, 4, "half as many"),
        (32, 4, "eight times fewer"),
        (12, 16, "1.3 times as many"),
        (16, 12, "1.3 times fewer"),
        (1, 27, "27 times as many"),
        (1, 1_327_104, "1,327,104 times as many"),
        (0, 16_384, "16,384 more"),
        (2, 0, "2 fewer"),
        (-1, 2.5, "3.5 more"),
    ],
)
def test_the_ratio_is_put_into_words(said, value, words):
    assert verdict(said, value) == words


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9))
def test_right_means_within_five_per_cent_and_more_means_more(said, value):
    words = verdict(said, value)
    assert words.startswith("right") == (abs(said - value) <= 0.05 * value)
    if not words.startswith("right"):
        as_many = words.endswith("as many") and "half" not in words
        assert as_many == (value > said)


def test_a_prediction_is_kept_and_shown_beside_the_measurement(capsys):
    predict("sectors", 4)
    measured("sectors", np.float64(32))
    assert capsys.readouterr().out.splitlines() == [
        "sectors: you say 4. Now measure.",
        "sectors: you said 4; measured 32: eight times as many.",
    ]


@pytest.mark.parametrize("number", [4, 4.0, np.int64(4), np.float32(4), 8 / 2])
def test_any_kind_of_number_will_do(capsys, number):
    predict("sectors", number)
    measured("sectors", 4)
    assert capsys.readouterr().out.endswith("sectors: you said 4; measured 4: right.\n")


def test_without_a_prediction_only_the_value_is_shown(capsys):
    measured("sectors", 32)
    assert capsys.readouterr().out == "sectors: measured 32.\n"


def test_dots_ask_for_a_number_and_take_back_an_earlier_one(capsys):
    predict("sectors", 4)
    predict("sectors", ...)
    measured("sectors", 32)
    *_, asked, shown = capsys.readouterr().out.splitlines()
    assert ASKED.match(asked)[1] == "sectors" and SHOWN.match(shown)[1] == "sectors"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x4", "'x4' is text"),
        (None, "None is not a number"),
        (True, "True is not a number"),
        ([4, 8], "[4, 8] is not a number"),
        (np.zeros(9000), "is not a number"),
        (4j, "4j is not a number"),
        (float("nan"), "nan is not finite"),
    ],
)
def test_what_is_no_number_gets_a_sentence_and_is_not_kept(capsys, value, why):
    predict("sectors", value)
    measured("sectors", 32)
    sentence, shown = capsys.readouterr().out.splitlines()
    assert why in sentence and "such as 4" in sentence and len(sentence) < 200
    assert shown == "sectors: measured 32."


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_327_104, "1,327,104"), (0.0625, "0.0625"), (4.0, "4"), (38_400.5, "38,400"), (2 / 3, "0.6667")],
)
def test_numbers_are_written_as_a_reader_writes_them(value, text):
    assert repr(Outcome("x", value, None)) == f"x: measured {text}."


@pytest.mark.parametrize("said", [None, 0, 4, 32])
def test_html_says_the_same_words_and_colour_stands_only_beside_them(said):
    outcome = Outcome("bytes <moved> & read", 32, said)
    html = outcome._repr_html_()
    assert re.sub(r"<[^>]+>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == repr(outcome)
    assert html.count("<b>") == (said is not None)


# In the chapters


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_asks_for_each_number_that_it_measures_before_it_does(path):
    """And measures all that it asks for."""
    open_questions: list[str] = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                open_questions += ASKED.findall(output.text)
            elif shown := SHOWN.match(output.get("data", {}).get("text/plain", "")):
                assert shown[1] in open_questions, f"{shown[1]} is measured, but was not asked for"
                open_questions.remove(shown[1])
    assert not open_questions, f"asked for, and never measured: {open_questions}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_prediction_is_stored_filled_in(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "predict(" in cell.source:
            for call in ast.walk(ast.parse(cell.source)):
                if isinstance(call, ast.Call) and getattr(call.func, "id", None) == "predict":
                    assert [ast.unparse(argument) for argument in call.args[1:]] == ["..."], ast.unparse(call)
