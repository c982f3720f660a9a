"""What becomes of notebooks and links on their way to the site, without Sphinx and without a browser."""

from __future__ import annotations

import ast
import html
import json
import re
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course_lib.coach import catalogue
from course_lib.paths import ROOT
from course_lib.site import chapters, first, offline
from course_lib.site.links import Links

build = pytest.importorskip("course_lib.site.build", reason="Sphinx and its friends come with make test PEERS=1")

PAGES = {"notebooks/a.ipynb": "notebooks/a.ipynb", "notebooks/glossary.md": "notebooks/glossary.md", "README.md": "index.md",
         "exercises/a.ipynb": "exercises/a.ipynb"}  # fmt: skip


def test_links_lead_to_pages_of_the_site():
    links = Links(PAGES)
    assert links.rewrite("[x](glossary.md#GPU)", "notebooks/a.ipynb") == "[x](glossary.md#GPU)"
    assert links.rewrite("[x](../exercises/mine/a.ipynb)", "notebooks/a.ipynb") == "[x](../exercises/a.ipynb)"
    assert links.rewrite("[x](notebooks/a.ipynb)", "README.md") == "[x](notebooks/a.ipynb)"
    assert links.rewrite("[x](https://a.b/c) [y](#z)", "README.md") == "[x](https://a.b/c) [y](#z)"
    assert not links.copied


def test_links_to_other_files_lead_to_a_copy_or_to_the_repository(tmp_path):
    links = Links(PAGES)
    said = links.rewrite("see [`scale`](../kernels/scale.cu).", "notebooks/a.ipynb")
    assert said == 'see <a href="../files/kernels/scale.cu.txt">`scale`</a>.'
    links.copy(tmp_path)
    assert (tmp_path / "files/kernels/scale.cu.txt").read_bytes() == (ROOT / "kernels/scale.cu").read_bytes()
    away = Links(PAGES, "https://host/course/")
    assert 'href="https://host/course/blob/main/kernels/scale.cu"' in away.rewrite("[x](kernels/scale.cu)", "README.md")
    assert 'href="https://host/course/tree/main/kernels"' in away.rewrite("[x](kernels)", "README.md")
    assert not away.copied


def test_a_link_that_leads_nowhere_is_told():
    with pytest.raises(ValueError, match=r"README.md links to kernels/none.cu"):
        Links(PAGES).rewrite("[x](kernels/none.cu)", "README.md")


def test_code_is_no_link():
    text = "`a[i](b)` and\n```\nrow[0](none.md)\n```"
    assert Links(PAGES).rewrite(text, "README.md") == text


def test_every_stored_chapter_is_in_a_part():
    rows = [row for rows in chapters.parts().values() for row in rows]
    assert [row.stem for row in rows] == sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    build.sources(folder, Links(build._pages()), writing=False)
    return folder


def test_every_exercise_stands_on_one_page(staged):
    known = json.loads((staged / "_extra/exercises.json").read_text())
    assert sorted(known) == sorted(catalogue.names())
    editors = [
        text for path in staged.rglob("*.ipynb") for text in re.findall(r'data-exercise=\\"(\w+)\\"', path.read_text())
    ]
    assert sorted(editors) == sorted(catalogue.names())


def test_texts_in_the_page_are_the_blanks_of_the_course(staged):
    shown = {}
    for path in staged.rglob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            for content in (
                output["data"].get("text/html", "") for output in cell.get("outputs", []) if "data" in output
            ):
                if found := re.search(r'data-exercise="(\w+)".*?<pre[^>]*>(.*)</pre>', content, re.S):
                    shown[found[1]] = html.unescape(re.sub(r"<[^>]+>", "", found[2])).strip()
    for name in catalogue.names():
        assert shown[name] == catalogue.piece(name).blank.strip(), name


def test_the_first_page_leads_to_a_model_only_where_the_site_holds_one():
    with_run, without = (first.index(Links(build._pages()), writing) for writing in (True, False))
    assert 'href="writing/index.html"' in with_run and "writing/" not in without


def test_pictures_become_files_and_keep_their_words(staged):
    stored = json.loads((ROOT / "notebooks/04_first_kernel.ipynb").read_text())
    words = [
        out["metadata"]["image/png"]["alt"]
        for cell in stored["cells"]
        for out in cell.get("outputs", [])
        if "image/png" in out.get("data", {})
    ]
    text = (staged / "notebooks/04_first_kernel.ipynb").read_text()
    assert words and "base64" not in text
    pictures = set(re.findall(r"\.\./pictures/(\w+\.png)", text))
    assert len(pictures) == len(set(words)) and all((staged / "_extra/pictures" / name).is_file() for name in pictures)


def test_the_edition_follows_the_content(tmp_path):
    (tmp_path / "a.html").write_text("one")
    edition = offline.write(tmp_path, "")
    assert offline.write(tmp_path, "other") == edition
    (tmp_path / "a.html").write_text("two")
    assert offline.write(tmp_path, "") != edition
    files = json.loads(re.search(r"const FILES = (.*);", (tmp_path / "sw.js").read_text())[1])
    assert list(files) == ["a.html"] and files["a.html"][1] == 3


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(RuntimeError, match="holds something that is no web edition"):
        build.build(tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_the_extra_of_the_site_brings_all_that_building_it_imports():
    """A workflow installs no more than that: each package that is imported is required, itself or by what is."""
    own = [ROOT / "course_lib/build.py", ROOT / "course_lib/coach/builder.py", *(ROOT / "course_lib/site").glob("*.py")]
    nodes = [node for path in own for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {one.name for node in nodes if isinstance(node, ast.Import) for one in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    packages = metadata.packages_distributions()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, brought = [*project["dependencies"], *project["optional-dependencies"]["site"]], set()
    while wanted:
        one = Requirement(wanted.pop())
        if (not one.marker or one.marker.evaluate({"extra": ""})) and (
            name := canonicalize_name(one.name)
        ) not in brought:
            brought.add(name)
            wanted += metadata.requires(name) or []
    used = {canonicalize_name(packages[top][0]) for name in names if (top := name.split(".")[0]) in packages}
    assert "jupytext" in used and used - {"language-model-course"} <= brought
