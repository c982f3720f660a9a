"""`course site build`: the whole web edition as one folder of static files.

Promises: everything comes from this repository and from packages of npm and PyPI; no notebook is run; the folder works on any
static host, under any path. What it is made from is hashed: without a change nothing is made again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import time
from pathlib import Path

import numpy as np

from course_lib import paths
from course_lib.paths import ROOT
from course_lib.plots import player
from course_lib.site import chapters, engine, first, licences, npm, offline, packing, pages, staging
from course_lib.site.links import Links
from course_lib.web.export import export

OUT = ROOT / ".cache" / "site" / "site"
# What a site is made of. Notebooks' outputs are in them; the library is what expected results come from.
MADE_OF = ("README.md", "notebooks", "exercises", "solutions", "kernels", "course_lib")


def build(out: Path | None = None, run: Path | None = None, repository: str = "", compiler: bool = True) -> Path:
    """Build the site into the folder `out`; returns it.

    run: folder of a trained run, whose model then writes on a page of the site. repository: address of the course on a service
    for Git, where links to files lead that are no pages. compiler: with what compiles CUDA C++ in the page.
    Raises SiteError where Node is missing, a page is faulty, or `out` holds something else.
    """
    paths.need_clone()
    out = Path(out or OUT)
    if out.exists() and any(out.iterdir()) and not (out / offline.EDITION).is_file():
        raise npm.SiteError(f"{out} holds something that is no web edition of the course. Give a new folder by --out.")
    with paths.alone("site"):
        made_from = _fingerprint(run, repository, compiler)
        if (out / offline.EDITION).is_file() and json.loads((out / offline.EDITION).read_text())[
            "made_from"
        ] == made_from:
            print(f"{out} is up to date.")
            return out
        made = _make(run, repository, compiler)
        offline.write(made, made_from)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)
    print(sizes(out))
    print(f"The site lies in {out}. To look at it: course site serve {out}")
    return out


def _make(run: Path | None, repository: str, compiler: bool) -> Path:
    """Everything but the service worker, in a folder of the cache."""
    began, work = time.monotonic(), paths.cache("site")
    stage, static, made = work / "stage", work / "static", work / "pages"
    for folder in (stage, static, made):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    links = Links(_pages(), repository)
    sources(stage, links, run is not None)
    npm.bundle(static / "site")
    (static / "site" / "player.txt").write_text(player.template("launch.js"), encoding="utf-8")
    npm.formula_style(static / "katex")
    shutil.copyfile(npm.PAGE / "site.css", static / "site" / "site.css")
    _say("sources and scripts", began)
    if warnings := pages.make(stage, static, made, work / "doctrees"):
        raise npm.SiteError("Sphinx complains:\n" + "\n".join(warnings[:20]))
    links.copy(made)
    licences.write(made)
    for name in ("objects.inv", ".buildinfo"):
        (made / name).unlink(missing_ok=True)
    _say("pages", began)
    if run is not None:
        export(run, made / "writing")
    else:
        print("No page on which a model writes: give a trained run by --run runs/small.")
    if compiler:
        with np.errstate(all="ignore"):  # known mistakes overflow on purpose
            engine.build(made)
        _say("compiler", began)
    return made


def _fingerprint(run: Path | None, repository: str, compiler: bool) -> str:
    """Changes when anything does that the site is made from."""
    digest = hashlib.sha256(json.dumps([repository, compiler]).encode())
    files = [
        path
        for name in MADE_OF
        for path in sorted((ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name])
    ]
    files += sorted(Path(run).glob("*.safetensors")) if run is not None else []
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts and "mine" not in path.relative_to(path.anchor).parts:
            digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


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
        "exercises/index.md": first.exercises_index(stems), "licences.md": licences.page(links),
    }  # fmt: skip
    for name, text in texts.items():
        (stage / name).write_text(text, encoding="utf-8")
    (stage / "_extra/exercises.json").write_text(json.dumps(known), encoding="utf-8")


def _pages() -> dict[str, str]:
    """The repository's files that become pages -> where they are staged."""
    lectures = [f"notebooks/{row.stem}.ipynb" for rows in chapters.parts().values() for row in rows]
    lectures += ["notebooks/maths.ipynb", "notebooks/glossary.md"]
    tasks = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "exercises").glob("[0-9]*.ipynb"))]
    return {page: page for page in [*lectures, *tasks]} | {
        "README.md": "index.md",
        "exercises/README.md": "exercises/index.md",
    }


def sizes(out: Path) -> str:
    """What each part weighs, as files and as a host sends them (gzip)."""
    parts: dict[str, list[int]] = {}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            where = path.relative_to(out).as_posix()
            part = where.split("/")[0] if "/" in where else "first pages"
            content = path.read_bytes()
            total = parts.setdefault(part, [0, 0, 0])
            packed = content if path.suffix in (".png", ".woff2", packing.SUFFIX) else gzip.compress(content, 6)
            total[0], total[1], total[2] = total[0] + 1, total[1] + len(content), total[2] + len(packed)
    rows = [
        f"{name:<14} {count:>5} files {size / 1e6:>7.1f} MB {packed / 1e6:>7.1f} MB gzip"
        for name, (count, size, packed) in parts.items()
    ]
    return "\n".join(rows)


def _say(what: str, began: float) -> None:
    print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)
