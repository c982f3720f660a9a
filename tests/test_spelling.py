"""The prose that learners read is spelled right, in British English: chapters, exercises, alt texts, glossary, README and more.

A word passes if an English dictionary knows it (pyspellchecker), if it is British where Britain and America differ
(codespell's table), or if it stands in tests/spelling.txt, the words of our own field. codespell's list of known misspellings
is asked as well, because a dictionary made from much text holds a few of them.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import nbformat
import pytest
from spellchecker import SpellChecker

from course_lib.coach import catalogue

ROOT = Path(__file__).resolve().parent.parent
OURS = Path(__file__).with_name("spelling.txt")
TEXTS = [
    *[path for folder in ("notebooks", "exercises", "solutions") for path in sorted((ROOT / folder).glob("*.ipynb"))],
    ROOT / "notebooks" / "glossary.md",
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
NO_PROSE = re.compile(  # code, formulas, HTML tags, targets of links, addresses, indented lines of a terminal
    r"""```.*?```|`(?:[^`\n]|\n(?!\s*\n))*`  # a lone ` reaches no further than its paragraph
    |\$\$.*?\$\$|\$[^$\n]*\$
    |<[^<>\s][^<>]*>|\]\([^)\n]*\)|https?://\S+  # "x < y" opens no tag
    |^[ ]{4}[^\n]*$""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# British as well: for a computer's program, for what is told
AMERICAN_TOO = set("program story stories biased writable".split())
# Ops, options, headers, titles
NAMES = set("sanitizer sanitize synchronize optimizer optimizations authorization".split())


def table(name: str) -> dict[str, str]:
    """One of codespell's files, lines of the form `word->what it should be`."""
    lines = (files("codespell_lib") / "data" / name).read_text(encoding="utf-8").splitlines()
    return {wrong.lower(): right for wrong, arrow, right in (line.partition("->") for line in lines) if arrow}


@cache
def dictionaries():
    """English words, British words, American words with the British ones, misspellings with the right words, our words."""
    british = table("dictionary_en-GB_to_en-US.txt")
    american = {there.strip(" ,").lower(): here for here, there in british.items()}
    ours = set(OURS.read_text(encoding="utf-8").split())
    return SpellChecker(language="en"), set(british), american, table("dictionary.txt"), ours


def fault(word: str) -> str | None:
    """What is wrong with a word, as a sentence, or None."""
    english, british, american, misspelled, ours = dictionaries()
    plain = re.sub(r"['’]s$", "", word)
    small = plain.lower().replace("’", "'")
    if {word, plain, small} & ours:
        return None
    if small in misspelled:
        return f"{word}: perhaps {misspelled[small]}"
    if small in american and small not in AMERICAN_TOO:
        return f"{word}: that is American, we write {american[small]}"
    if small in british or small in english:
        return None
    return f"{word}: no dictionary knows it. Correct it, or add it to tests/spelling.txt"


def prose(path: Path) -> str:
    if path.suffix == ".md":
        return NO_PROSE.sub(" ", path.read_text(encoding="utf-8"))
    notebook = nbformat.read(path, as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    pictures = [output.metadata.get("image/png", {}) for cell in notebook.cells for output in cell.get("outputs", [])
                if "metadata" in output]  # fmt: skip
    return NO_PROSE.sub(" ", "\n\n".join([*texts, *(picture.get("alt", "") for picture in pictures)]))


CODE = re.compile(r"\S*[_=\[\](){}*/<>\"]\S*|\w+\.\w+\S*")  # hints and sentences hold code without marks
COMMENT = re.compile(r"(?:^|\s)(?:#|//) +(.*)$", re.MULTILINE)
NO_SENTENCE = re.compile(
    r"\w\|\w|\w;\w|\A\s*(import|from \S+ import) \w", re.MULTILINE
)  # patterns, CSS, C++ and Python in a string
NOTEBOOKS = [path for path in TEXTS if path.suffix == ".ipynb"]
# What the stories say is no prose of ours: it has the tests of the grammar
ROOMS = sorted(
    {path.relative_to(ROOT / "course_lib").parts[0] for path in (ROOT / "course_lib").rglob("*.py")} - {"stories"}
)


def without_code(text: str) -> str:
    return " ".join(CODE.sub(" ", NO_PROSE.sub(" ", text)).split())


def comments(path: Path) -> str:
    """What the comments in the code cells of a notebook say, one in each line."""
    notebook = nbformat.read(path, as_version=4)
    lines = [line for cell in notebook.cells if cell.cell_type == "code" for line in COMMENT.findall(cell.source)]
    return "\n".join(map(without_code, lines))


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of all strings of more than three words in a file, docstrings too; "…" stands for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    filled = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {part for node in filled for part in node.values}
    texts = [
        (node.lineno, "".join(part.value if isinstance(part, ast.Constant) else " … " for part in node.values))
        for node in filled
    ]
    texts += [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts
    ]
    for line, text in texts:
        plain = without_code(text)
        if len(plain.split()) > 3 and not NO_SENTENCE.search(text):
            yield line, plain


@cache
def said_in(room: str) -> list[tuple[str, str]]:
    """Where and what: the sentences that are written in a room of course_lib, a folder or a file."""
    place = ROOT / "course_lib" / room
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [(f"{path.relative_to(ROOT)}:{line}", text) for path in paths for line, text in sentences(path)]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_prose_is_spelled_right(path):
    words = set(WORD.findall(prose(path)))
    assert len(words) > 100, "the text was not found"
    faults = sorted(filter(None, map(fault, words)), key=str.lower)
    assert not faults, "\n".join(faults)


def known_faults(text: str) -> list[str]:
    """The words of a text that are known misspellings, or American. Names and code, which no dictionary has, pass."""
    _, _, american, misspelled, ours = dictionaries()
    words = {word.lower() for word in WORD.findall(text)} - AMERICAN_TOO - ours
    return sorted(word for word in words if word in misspelled or word in american)


@pytest.mark.parametrize("chapter", sorted({catalogue.load(name).chapter for name in catalogue.names()}))
def test_what_the_coach_says_holds_no_known_misspelling(chapter):
    exercises = [catalogue.load(name) for name in catalogue.names(chapter)]
    said = [text for one in exercises for text in (one.title, *one.hints, *(wrong.says for wrong in one.wrong))]
    text = without_code("\n\n".join(said))
    assert len(set(WORD.findall(text))) > 50, "the sentences were not found"
    assert known_faults(text) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_comments_of_a_notebook_hold_no_known_misspelling(path):
    assert known_faults(comments(path)) == []


@pytest.mark.parametrize("room", ROOMS)
def test_what_the_library_says_holds_no_known_misspelling(room):
    found = {where: faults for where, text in said_in(room) if (faults := sorted({*known_faults(text)} - NAMES))}
    assert found == {}


@pytest.mark.parametrize(
    "code",
    ["    make test\n", "`make", "if 1 < x", "5 $", "```\nmake\n```", "`a\nb`", "<br>", "[link](a.md)", "$\\alpha$"],
    ids=["indented", "lone mark", "less than", "dollar", "fence", "over two lines", "tag", "target", "formula"],
)
def test_prose_after_what_is_no_prose_is_read(code):
    assert "recieve" in WORD.findall(NO_PROSE.sub(" ", f"First words.\n\n{code}\n\nrecieve `x` > 3 $y$\n"))


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("recieve", "receive"),
        ("tensro", "spelling.txt"),
        ("color", "colour"),
        ("Optimizer", "optimiser"),
        ("neighbor's", "neighbour"),
    ],
)
def test_a_misspelled_word_is_found(word, says):
    assert says in fault(word)


@pytest.mark.parametrize("word", ["receive", "colours", "doesn't", "doesn’t", "Model’s", "program", "GPT's", "softmax"])
def test_a_right_word_passes(word):
    assert fault(word) is None


def test_the_sentences_of_a_file_are_its_docstrings_and_strings_with_what_is_filled_in(tmp_path):
    """Neither short texts nor patterns nor code; a text that stands in several pieces is one."""
    path = tmp_path / "said.py"
    path.write_text(
        '''"""What this file is for."""
def f(x):
    raise ValueError(f"{x} rows were " "asked for, not"
                     f" {x:>3} of them: see `f(x)`.")
SHORT, PATTERN, CODE = "three words only", "one or other|not one of them", "import numpy as np and more"
''',
        encoding="utf-8",
    )
    assert sorted(sentences(path)) == [
        (1, "What this file is for."),
        (3, "… rows were asked for, not … of them: see ."),
    ]


def test_the_comments_of_a_notebook_are_read(tmp_path):
    cells = [nbformat.v4.new_code_cell("x = 3  # a word of recieve\n# more: `code`\n    // and C++"),
             nbformat.v4.new_markdown_cell("# no comment")]  # fmt: skip
    path = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert comments(path) == "a word of recieve\nmore:\nand C++"
    assert known_faults(comments(path)) == ["recieve"]


def test_our_own_words_are_in_order_and_no_dictionary_has_them():
    english, british, *_ = dictionaries()
    lines = OURS.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines), key=lambda word: (word.lower(), word))
    assert not [word for word in lines if word.islower() and (word in english or word in british)]
