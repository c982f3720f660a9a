"""What others wrote of the site's files, and under which licence: the page "Licences", and the texts beside it.

Promises: each text is read, while the site is built, from the package that brought the file. npm's packages are those of
page/package-lock.json, by its hashes. clang's package holds no texts, so those of LLVM and wasi-libc are taken from PyPI's
ziglang, which brings the same libraries. licences.lock.json says which bytes the texts of PyPI's packages must be, as no list
holds the hashes of their wheels.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path

from course_lib.paths import ROOT
from course_lib.site import npm
from course_lib.site.links import Links

LOCK = Path(__file__).with_name("licences.lock.json")
FOLDER = "licences"
# npm's packages that leave nothing in the editor's bundle, _static/site, and what they are for instead
ELSEWHERE = {"katex": r"_static/katex/", "xz-decompress": r"engine/xz\.mjs"}
PYPI = {
    "furo": r"_static/(scripts|styles)/|_static/(debug|skeleton)\.css",
    "sphinx": r"_static/(basic\.css|doctools\.js|documentation_options\.js|searchtools\.js|sphinx_highlight\.js|language_data\.js"
    r"|(file|minus|plus)\.png)",
    "snowballstemmer": r"_static/(base|english)-stemmer\.js",
    "myst-nb": r"_static/mystnb\..*\.css",
    "pygments": r"_static/pygments\.css",
    "accessible-pygments": r"_static/pygments\.css",
}
TEXT = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.I)


@dataclass(frozen=True)
class Component:
    """A package that files of the site come from. files: a pattern of their paths; texts: name -> licence."""

    name: str
    version: str
    licence: str
    files: str
    texts: dict[str, str]

    @property
    def file(self) -> str:
        """Where its text lies in the site."""
        return f"{FOLDER}/{re.sub(r'[^a-z0-9]+', '-', self.name.lower()).strip('-')}.txt"


def components() -> list[Component]:
    """All that the site holds of others. Raises SiteError where a package or a text is missing."""
    return [*_compiler(), *_of_npm(), *[_of_pypi(name) for name in PYPI]]


def write(out: Path) -> None:
    """Write the texts into the site."""
    for one in components():
        file = out / one.file
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = (f"{name}\n{'=' * len(name)}\n\n{text.strip()}\n" for name, text in one.texts.items())
        file.write_text("\n\n".join(parts), encoding="utf-8")


def page(links: Links) -> str:
    """The page "Licences"."""
    rows = "\n".join(
        f'| {one.name} | {one.version} | {one.licence} | <a href="{one.file}">text</a> |' for one in components()
    )
    own = links.rewrite("[its licence](LICENSE)", "README.md")
    return f"""# Licences

The course is free software, and its texts may be shared: {own}. The site also holds work of others.

| package | version | licence | |
|---|---|---|---|
{rows}
"""


def _compiler() -> list[Component]:
    """clang's package, and the libraries that it brings and that the simulator is linked with."""
    lock, clang = json.loads(LOCK.read_text()), json.loads((LOCK.with_name("clang.lock.json")).read_text())
    spec = importlib.util.find_spec(lock["package"])
    if spec is None:
        raise npm.SiteError(
            f"The licences of clang's libraries are read from the package {lock['package']}, which is not installed: "
            ".venv/bin/python -m pip install -c constraints.txt '.[site]'"
        )
    base, texts = Path(spec.submodule_search_locations[0]), {}
    for name, digest in lock["texts"].items():
        content = (base / name).read_bytes() if (base / name).is_file() else b""
        texts[name] = _checked(lock["package"], name, content, digest)
    llvm = {name: text for name, text in texts.items() if "libc/" not in name}
    libc = {name: text for name, text in texts.items() if "libc/" in name}
    version, files = clang["version"], r"engine/(clang/|simulator\.wasm)"
    return [
        Component("clang, wasm-ld, libc++, compiler-rt", version, "Apache-2.0 WITH LLVM-exception", files, llvm),
        Component("wasi-libc, with musl", f"as in {version}", "MIT, Apache-2.0 and others", files, libc),
    ]


def _of_npm() -> list[Component]:
    """The packages of page/package-lock.json that the site holds something of."""
    modules, found = npm.packages() / "node_modules", []
    lock = json.loads((npm.PAGE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, entry in lock.items():
        name = path.removeprefix("node_modules/")
        if not path or (entry.get("dev") and name not in ELSEWHERE):
            continue
        files = [file for file in sorted((modules / name).iterdir()) if TEXT.search(file.name)]
        texts = {file.name: file.read_text(encoding="utf-8") for file in files}
        if not texts and entry["license"] == "MIT":  # the notice stands in the code alone
            main = json.loads((modules / name / "package.json").read_text(encoding="utf-8"))["main"]
            notice = re.match(r"/\*!(.*?)\*/", (modules / name / main).read_text(encoding="utf-8"), re.S)
            texts = {"notice": re.sub(r"^ \* ?", "", notice[1], flags=re.M) + "\n" + _mit()} if notice else {}
        where = ELSEWHERE.get(name, r"_static/site/.*\.js")
        found.append(_whole(Component(name, entry["version"], entry["license"], where, texts)))
    return found


def _of_pypi(name: str) -> Component:
    package, digests = importlib.metadata.distribution(name), json.loads(LOCK.read_text())["pypi"][name]
    texts = {}
    for file in package.files or []:
        if TEXT.search(str(file)):
            texts[file.name] = _checked(name, file.name, file.locate().read_bytes(), digests.get(file.name, ""))
    said = [
        line.rsplit(" :: ", 1)[1] for line in package.metadata.get_all("Classifier") if line.startswith("License ::")
    ]
    words = (
        package.metadata.get("License-Expression")
        or next(iter(said), "")
        or package.metadata.get("License")
        or "see the text"
    )
    return _whole(Component(name, package.version, words.removesuffix(" License"), PYPI[name], texts))


def _checked(package: str, name: str, content: bytes, digest: str) -> str:
    """A text of a licence. Raises SiteError unless its SHA-256 is the one that was written down."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise npm.SiteError(
            f"{name} of the package {package} is not the text that {LOCK.name} names. If that package is newer, read the text, "
            f"and write down its SHA-256 there."
        )
    return content.decode()


def _whole(component: Component) -> Component:
    if not component.texts:
        raise npm.SiteError(f"The package {component.name} holds no text of its licence, {component.licence}.")
    return component


def _mit() -> str:
    """The words of the MIT licence, which are the course's too."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    begin = text.index("Permission is hereby granted")
    return text[begin : text.index("SOFTWARE.", begin) + len("SOFTWARE.")]
