"""What learners compare their kernels with: its comments say the field's words, as tests/test_terms.py says of prose."""

from __future__ import annotations

import re

import pytest

from course_lib.cuda.source import KERNELS
from tests.test_terms import faults

FILES = sorted(path for path in KERNELS.rglob("*") if path.suffix in (".cu", ".cuh", ".wgsl"))
HOMELY = re.compile(
    r"\b(neighbours?|nobody|whoever|turned|take turns|pass(es)? by|(?<!in )places?|shares? of|hand(s|ed)? over|look(s|ed)? at"
    r"|wants?)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_comments_of_a_kernel_say_the_fields_words(path):
    comments = " ".join(re.findall(r"//(.*)", path.read_text(encoding="utf-8")))
    found = [comments[max(0, match.start() - 30) : match.end() + 30] for match in HOMELY.finditer(comments)]
    assert not found + faults(comments)


@pytest.mark.parametrize("text", ["N neighbours of a row", "nobody reads it", "two slices take turns"])
def test_a_homely_word_is_found(text):
    assert HOMELY.search(text)


def test_in_place_is_a_term():
    assert not HOMELY.search("in place: p *= 1")
