"""One source: the notebooks in the repository are what the sources say, and no cell of them stops."""

import ast
import hashlib
import re

import nbformat
import numpy as np
import pytest

from course_lib import build
from course_lib.coach import builder, catalogue, copies, helping, regions, shared_cases
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.swaps import Swap

SOURCES = sorted(catalogue.SOLUTIONS.glob("*.py"))


def test_the_notebooks_are_what_the_sources_say():
    assert builder.build_all(write=False) == [], "course build"


def test_every_file_of_an_exercise_has_a_region_and_the_reverse():
    known = {name: path.parent.name for name, path in catalogue.files().items()}
    written = {name: source.stem.split("_")[0] for source in SOURCES for name in regions.pieces(source)}
    assert known == written


def test_names_are_used_once():
    stems = [path.stem for path in catalogue.FOLDER.glob("*/[a-z]*.py")]
    assert len(stems) == len(set(stems))


@pytest.mark.parametrize("name", catalogue.names())
def test_an_exercise_is_whole(name):
    assert catalogue.load(name).complaints() == []


@pytest.mark.parametrize("name", catalogue.names())
def test_a_sentence_stands_once_in_the_file_of_its_exercise(name):
    tree = ast.parse(catalogue.files()[name].read_text(encoding="utf-8"))
    literals = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    said = {text for wrong in catalogue.load(name).wrong for text in (wrong.says, wrong.once) if len(text) >= 25}
    assert not [text for text in said if literals.count(text) > 1], "name it once, and use the name"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_core_exercises_of_a_chapter_are_few_and_fit_a_sitting(source):
    core = [catalogue.load(name) for name in catalogue.names(source.stem.split("_")[0]) if catalogue.load(name).core]
    assert len(core) <= 4 and sum(exercise.minutes for exercise in core) <= 60


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_lecture_holds_three_exercises_or_more_and_all_short_ones(source):
    inside = catalogue.in_lecture(source)
    assert len(inside) >= 3
    assert all(name in inside for name in regions.pieces(source) if catalogue.load(name).is_short)


MINUTES = {5: "five", 10: "ten", 12: "twelve", 15: "fifteen", 20: "twenty"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_lecture_says_the_minutes_of_the_exercise_that_it_points_to(source):
    inside = catalogue.in_lecture(source)
    names = [name for name in regions.pieces(source) if name not in inside]
    text = (builder.LECTURES / f"{source.stem}.ipynb").read_text(encoding="utf-8")
    for number, said in re.findall(r"\[exercise (\d+)\]\([^)]*\)\*{0,2}\s*\((\w+) minutes", text):
        name = names[int(number) - 1]
        assert said == MINUTES[catalogue.load(name).minutes], f"exercise {number}, {name}"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_lecture_says_the_minutes_of_its_own_exercises_rounded_to_five(source):
    head = nbformat.read(builder.LECTURES / f"{source.stem}.ipynb", as_version=4).cells[0].source
    said = re.search(r"(?:,|and)\s+(\d+)\s+(?:more )?for\s+the\s+exercises", head)
    assert said and int(said[1]) == 5 * round(sum(catalogue.load(n).minutes for n in catalogue.in_lecture(source)) / 5)


def test_each_part_with_exercises_offers_three_that_test_out():
    for part, first, last in helping.PARTS:
        names = [name for name in catalogue.names() if first <= catalogue.load(name).chapter[:2] <= last]
        offered = [name for name in names if catalogue.load(name).test_out]
        chapters = {catalogue.load(name).chapter for name in names}
        assert len(offered) == min(3, len(chapters)), f"Part {part}: {offered}"  # a part of one chapter has one
        assert len({catalogue.load(name).chapter for name in offered}) == len(offered), "one of a chapter"


def test_a_part_ends_with_a_milestone():
    """The last chapter of each part, and Part III at the chapter that trains."""
    for chapter in ("03", "12", "16"):
        last = nbformat.read(
            builder.EXERCISES / catalogue.source(chapter).with_suffix(".ipynb").name, as_version=4
        ).cells[-1]
        assert last.source.startswith("course.milestone("), chapter


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_blank_notebook_gives_no_solution_away(source):
    blank = nbformat.read(builder.EXERCISES / f"{source.stem}.ipynb", as_version=4)
    lecture = nbformat.read(builder.LECTURES / f"{source.stem}.ipynb", as_version=4)
    found = [found for cell in blank.cells + lecture.cells if (found := build.exercise_of(cell))]
    bodies = dict(found)
    assert len(found) == len(bodies), "an exercise stands in the lecture or in the notebook of exercises"
    assert bodies.keys() == regions.pieces(source).keys()
    for name, body in bodies.items():
        assert regions.comparable(body) == regions.comparable(regions.pieces(source)[name].blank)
        assert regions.comparable(body) != regions.comparable(regions.pieces(source)[name].solution)


def test_an_appendix_is_folded_for_the_learner_and_holds_no_core_exercise(mine):
    copies.refresh()
    cells = nbformat.read(mine / "05_elementwise.ipynb", as_version=4).cells
    (heading,) = (i for i, cell in enumerate(cells) if cell.source.startswith("# Appendix"))
    folded = [found[0] for cell in cells[heading:] if (found := build.exercise_of(cell))]
    assert cells[heading].metadata["jp-MarkdownHeadingCollapsed"] is True
    assert not any(cell.source.startswith("# ") for cell in cells[heading + 1 :]), (
        "JupyterLab folds up to the next title"
    )
    in_view = set(catalogue.names("05")) - set(folded) - set(catalogue.in_lecture(catalogue.source("05")))
    assert len(in_view) <= 9 and not any(catalogue.load(name).core for name in folded)


def test_an_exercise_that_is_shown_gives_no_answer_away():
    exercise = catalogue.load("scale")
    assert repr(exercise) == "<exercise scale of chapter 04: One thread for each number>"
    assert len(repr(Swap(exercise))) < 250


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ExerciseError, match="Did you mean repeated_axes"):
        catalogue.load("repeated_axis")


def test_what_several_exercises_share_is_part_of_their_fingerprint():
    def own(name):
        return hashlib.sha256(catalogue.files()[name].read_bytes()).hexdigest()[:16]

    assert catalogue.fingerprint("scale") == own("scale")
    assert catalogue.fingerprint("rope_forward") != own("rope_forward")


def test_numbers_are_rounded_to_the_nearest_bfloat16_and_ties_to_even():
    x = np.concatenate([np.random.default_rng(0).normal(size=1000), [1.00390625, 1.01171875, -1.00390625, 0.0, 3e38]])
    x = x.astype(np.float32)
    got, below = shared_cases.bfloat16_bits(x), (x.view(np.uint32) >> 16).astype(np.uint16)  # below: cut, so towards 0
    error = [
        np.abs(shared_cases.of_bfloat16_bits(bits).astype(np.float64) - x) for bits in (below, below + np.uint16(1))
    ]
    even = np.where(below % 2 == 0, below, below + 1)
    np.testing.assert_array_equal(got, np.where(error[0] == error[1], even, below + (error[1] < error[0])))
    assert (error[0] == error[1]).sum() == 3


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda cells, place: cells.pop(place), "no cells `%%exercise scale`"),
        (
            lambda cells, place: cells.append(nbformat.v4.new_code_cell(cells[place].source)),
            "2 cells `%%exercise scale`",
        ),
        (lambda cells, place: cells[place].update(source="%%exercise smooth\n"), "not marked `lecture=true`"),
    ],
)
def test_a_lecture_without_its_exercise_or_with_too_many_is_refused(tmp_path, monkeypatch, change, says):
    source = catalogue.source("04")
    lecture = nbformat.read(builder.LECTURES / f"{source.stem}.ipynb", as_version=4)
    (place,) = (i for i, cell in enumerate(lecture.cells) if (build.exercise_of(cell) or [""])[0] == "scale")
    change(lecture.cells, place)
    nbformat.write(lecture, tmp_path / f"{source.stem}.ipynb")
    monkeypatch.setattr(builder, "LECTURES", tmp_path)
    with pytest.raises(ExerciseError, match=re.escape(says)):
        builder.lecture(source)


def test_building_twice_gives_the_same_bytes():
    first = [nbformat.writes(builder.notebook(source, solved)) for source in SOURCES for solved in (True, False)]
    regions.pieces.cache_clear()
    assert first == [
        nbformat.writes(builder.notebook(source, solved)) for source in SOURCES for solved in (True, False)
    ]


def test_an_exercise_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    (tmp_path / "02").mkdir()
    (tmp_path / "02/broken.py").write_text("exercise = ")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    with pytest.raises(ExerciseError, match=r"02/broken\.py cannot be loaded: SyntaxError"):
        catalogue.load("broken")
