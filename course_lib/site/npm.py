"""Packages of npm: pinned by page/package-lock.json with their hashes, installed below .cache, bundled by esbuild.

Promises: nothing is installed or built inside the repository; a second build finds the packages where they are.
Raises SiteError with a sentence where Node or npm is missing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from course_lib import paths

PAGE = Path(__file__).resolve().parent / "page"
ENTRIES = ("main.js",)


class SiteError(RuntimeError):
    """The site could not be built, and what to do about it."""


def packages() -> Path:
    """The folder that holds node_modules, by the lock file of today; installed if it is not there yet."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SiteError(
                f"The site needs {program}, and there is none on PATH. Install Node 20 or newer (Debian: apt-get install nodejs "
                "npm), then build again."
            )
    lock = (PAGE / "package-lock.json").read_bytes() + (PAGE / "package.json").read_bytes()
    folder = paths.cache("site") / f"npm-{hashlib.sha256(lock).hexdigest()[:12]}"
    with paths.alone("npm"):
        if (folder / "node_modules").is_dir():
            return folder
        aside = folder.with_name(f".{folder.name}")
        shutil.rmtree(aside, ignore_errors=True)  # of an installation that was killed
        aside.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(PAGE / name, aside / name)
        run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
            aside,
            "install the packages of the page",
        )
        aside.rename(folder)
    return folder


def run(command: list[str], folder: Path, what: str, **settings) -> str:
    """What a program printed. Raises SiteError with the end of what it complained of."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **settings)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise SiteError(f"Could not {what}: `{command[0]}` ended with status {done.returncode}.\n{said}")
    return done.stdout


def bundle(out: Path) -> None:
    """The page's modules into the folder `out`: one file for each entry, what several share in pieces, small."""
    _esbuild(
        out,
        [str(PAGE / name) for name in ENTRIES],
        splitting=True,
        external=["*/engine/engine.mjs"],
        chunkNames="part-[hash]",
    )


def decoder(file: Path) -> None:
    """What undoes xz, as one module."""
    _esbuild(file.parent, {file.stem: "xz-decompress"}, outExtension={".js": file.suffix})


def _esbuild(out: Path, entries: list[str] | dict[str, str], **more: Any) -> None:
    """Bundle modules into the folder `out`."""
    made = packages()
    build = {
        "entryPoints": entries, "bundle": True, "format": "esm", "minify": True, "outdir": str(out), "target": "es2022",
        "legalComments": "linked", "nodePaths": [str(made / "node_modules")], "logLevel": "warning", **more,
    }  # fmt: skip
    code = f"import esbuild from 'esbuild'; await esbuild.build({json.dumps(build)})"
    run(["node", "--input-type=module", "-e", code], made, "bundle the page's modules")


class Formulas:
    """LaTeX -> HTML by KaTeX, in one Node for all formulas."""

    CODE = """
import katex from "katex"; import readline from "node:readline";
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { tex, block } = JSON.parse(line);
  let answer;
  try { answer = { html: katex.renderToString(tex, { displayMode: block, output: "htmlAndMathml", strict: false }) }; }
  catch (error) { answer = { error: String(error.message) }; }
  console.log(JSON.stringify(answer));
}"""

    def __init__(self) -> None:
        self.node: subprocess.Popen | None = None

    def render(self, tex: str, block: bool) -> str:
        """Raises SiteError for a formula that KaTeX cannot read."""
        if self.node is None:
            command = ["node", "--input-type=module", "-e", self.CODE]
            pipe = subprocess.PIPE
            self.node = subprocess.Popen(command, cwd=packages(), stdin=pipe, stdout=pipe, text=True)
        self.node.stdin.write(json.dumps({"tex": tex, "block": block}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise SiteError(f"KaTeX cannot read the formula {tex!r}: {answer['error']}")
        return answer["html"]

    def close(self) -> None:
        """End Node."""
        if self.node is not None:
            self.node.stdin.close()
            self.node.wait()
            self.node = None


def formula_style(out: Path) -> None:
    """KaTeX's style and its fonts (woff2 alone, which every browser of today reads)."""
    source = packages() / "node_modules/katex/dist"
    (out / "fonts").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "katex.min.css", out / "katex.min.css")
    for font in (source / "fonts").glob("*.woff2"):
        shutil.copyfile(font, out / "fonts" / font.name)
