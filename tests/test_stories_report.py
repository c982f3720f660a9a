"""Grades of stories whose faults are known, and copied runs that were put there on purpose."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import stories
from course_lib.stories_report import grade_texts, longest_copied


def test_true_stories_get_full_marks():
    texts = list(stories.write(seed=99, count=20))
    grade = grade_texts(texts, 1.0, training=list(stories.write(seed=1, count=50)))
    assert (grade.well_formed, grade.possible, grade.wrong_facts, grade.ended) == (1, 1, 0, 1)
    assert grade.whole == 0 and 2 <= grade.copied < 60


def test_faults_count_for_what_they_are():
    good = list(stories.write(seed=99, count=4))
    spoiled = stories.spoil(good[0], Random(0), "name")
    grade = grade_texts([good[1], spoiled, "The the cat.", None], 0.7, training=good[1:2])
    assert (grade.well_formed, grade.possible, grade.ended, grade.whole) == (0.5, 0.25, 0.75, 1)
    assert grade.wrong_facts >= 0.5 and grade.copied == len(good[1].split())
    assert math.isnan(grade_texts(["no story"], 1.0).wrong_facts)
    assert "wholly possible  25%" in str(grade)


words = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_the_longest_copied_run_by_brute_force(texts, training):
    def runs(group):
        return {tuple(t.split()[a:b]) for t in group for a in range(13) for b in range(a, len(t.split()) + 1)}

    assert longest_copied(texts, training) == max(len(run) for run in runs(texts) & runs(training))


def test_the_texts_of_a_corpus_come_back(tmp_path, monkeypatch):
    from course_lib import data
    from course_lib.stories_report import training_texts

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    corpus = data.prepare("stories", vocab_size=300, context=32, stories=30)
    assert training_texts(corpus) == list(stories.write(seed=0, count=30, first=256))
    (tmp_path / "plain.txt").write_text("words and words " * 2000)
    with pytest.raises(ValueError, match="no documents"):
        training_texts(data.prepare(text=tmp_path / "plain.txt", vocab_size=300, context=32))
