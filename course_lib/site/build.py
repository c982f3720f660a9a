"""`course site build`: the whole web edition as one folder of static files.

Promises: everything comes from this repository and from packages of npm and PyPI; no notebook is run; the folder works on any
static host, under any path. What it is made from is hashed: without a change nothing is made again.
"""

from __future__ import annotations

import gzip
import json
import shutil
import time
from pathlib import Path

from course_lib import paths
from course_lib.paths import ROOT
from course_lib.site import chapters, first, npm, offline, pages, staging
from course_lib.site.links import Links

OUT = ROOT / ".cache" / "site" / "site"


def build(out: Path | None = None, run: Path | None = None, repository: str = "", compiler: bool = True) -> Path:
    """Build the site into the folder `out`; returns it.

    run: folder of a trained run, whose model then writes on a page of the site. repository: address of the course on a service
    for Git, where links to files lead that are no pages. compiler: with what compiles CUDA C++ in the page.
    Raises SiteError where Node is missing or a page has a link that leads nowhere.
    """
    paths.need_clone()
    out, began = Path(out or OUT), time.monotonic()
    work = paths.cache("site")
    made = work / "pages"
    stage, static = work / "stage", work / "static"
    for folder in (stage, static):
        shutil.rmtree(folder, ignore_errors=True)
    stage.mkdir(), static.mkdir()
    links = Links(_pages(), repository)
    sources(stage, links, run is not None)
    npm.bundle(static / "site")
    npm.formula_style(static / "katex")
    for name in ("site.css",):
        shutil.copyfile(npm.PAGE / name, static / "site" / name)
    _say("sources and scripts", began)
    shutil.rmtree(made, ignore_errors=True)
    warnings = pages.make(stage, static, made, work / "doctrees")
    if warnings:
        raise npm.SiteError("Sphinx complains:\n" + "\n".join(warnings[:20]))
    _say("pages", began)
    links.copy(made)
    for name in ("objects.inv", ".buildinfo"):
        (made / name).unlink(missing_ok=True)
    if run is not None:
        from course_lib.web.export import export

        export(run, made / "writing")
    else:
        print("No page on which a model writes: give a trained run by --run runs/small.")
    if compiler:
        from course_lib.site import engine

        engine.build(made)
        _say("compiler", began)
    offline.write(made)
    if out.exists():
        shutil.rmtree(out)
    shutil.copytree(made, out)
    print(sizes(out))
    _say(f"all of it, in {out}", began)
    return out


def sources(stage: Path, links: Links, writing: bool) -> None:
    """Everything that Sphinx reads, into the folder `stage`."""
    (stage / "_extra").mkdir(parents=True)
    (stage / "exercises").mkdir()
    known: dict[str, str] = {}
    for page in links.pages:
        if page.endswith(".ipynb"):
            for name in staging.notebook(ROOT / page, stage, links):
                known[name] = links.pages[page].removesuffix(".ipynb") + f".html#exercise-{name}"
    glossary = (ROOT / "notebooks/glossary.md").read_text(encoding="utf-8")
    (stage / "notebooks/glossary.md").write_text(links.rewrite(glossary, "notebooks/glossary.md"), encoding="utf-8")
    stems = [Path(page).stem for page in links.pages if page.startswith("exercises/") and page.endswith(".ipynb")]
    texts = {
        "index.md": first.index(links, writing), "play.md": first.play(), "storage.md": first.storage(),
        "exercises/index.md": first.exercises_index(stems),
    }  # fmt: skip
    for name, text in texts.items():
        (stage / name).write_text(text, encoding="utf-8")
    (stage / "_extra/exercises.json").write_text(json.dumps(known), encoding="utf-8")


def _pages() -> dict[str, str]:
    """The repository's files that become pages -> where they are staged."""
    lectures = [f"notebooks/{row.stem}.ipynb" for rows in chapters.parts().values() for row in rows]
    lectures += ["notebooks/maths.ipynb", "notebooks/glossary.md"]
    tasks = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "exercises").glob("[0-9]*.ipynb"))]
    return {page: page for page in [*lectures, *tasks]} | {"README.md": "index.md", "exercises/README.md": "exercises/index.md"}


def sizes(out: Path) -> str:
    """What each part weighs, as files and as a host sends them (gzip)."""
    parts: dict[str, list[int]] = {}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            where = path.relative_to(out).as_posix()
            part = where.split("/")[0] if "/" in where else "first pages"
            content = path.read_bytes()
            total = parts.setdefault(part, [0, 0, 0])
            packed = content if path.suffix in (".png", ".woff2", ".gz", ".br") else gzip.compress(content, 6)
            total[0], total[1], total[2] = total[0] + 1, total[1] + len(content), total[2] + len(packed)
    rows = [f"{name:<14} {count:>5} files {size / 1e6:>7.1f} MB {packed / 1e6:>7.1f} MB gzip" for name, (count, size, packed) in parts.items()]
    return "\n".join(rows)


def _say(what: str, began: float) -> None:
    print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)
