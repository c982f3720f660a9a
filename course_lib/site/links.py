"""Where a link of a notebook leads on the site.

Promises: a page of the course leads to its page; any other file of the repository to `--repository URL`, or, without that, to a
copy of the file in the site, as text. A link to what is not there is an error of the build, not of the reader.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.paths import ROOT

# [words](target): words may hold one level of brackets. Code in backticks is left alone by `rewrite`.
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.S)
COPIES = "files"


@dataclass
class Links:
    """Rewrites the links of pages. pages: repository paths that the site has as pages -> their staged paths.

    copied: the files that pages have linked to, which the site must then hold as COPIES/path.txt.
    """

    pages: dict[str, str]
    repository: str = ""
    copied: set[str] = field(default_factory=set)

    def rewrite(self, text: str, page: str) -> str:
        """A Markdown text of the repository's file `page`, with links that hold on the site."""
        kept: list[str] = []

        def keep(match: re.Match) -> str:
            kept.append(match[0])
            return f"\0{len(kept) - 1}\0"

        hidden = CODE.sub(keep, text)
        moved = LINK.sub(lambda match: self.link(match[1], match[2], page), hidden)
        return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], moved)

    def link(self, words: str, target: str, page: str) -> str:
        """One link, in Markdown, or in HTML where it leads to no page. Raises ValueError where there is no such file."""
        if re.match(r"[a-z]+:|#", target):
            return f"[{words}]({target})"
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        path = path.replace("exercises/mine/", "exercises/")
        here = posixpath.dirname(self.pages[page])
        if path in self.pages:
            return f"[{words}]({posixpath.relpath(self.pages[path], here or '.')}{'#' + anchor if anchor else ''})"
        if not (ROOT / path).exists():
            raise ValueError(f"{page} links to {target}, and the repository has no {path}.")
        return f'<a href="{self.elsewhere(path, here)}">{words}</a>'

    def elsewhere(self, path: str, here: str) -> str:
        """The address of a file or folder that is no page, as seen from the folder `here` of the site."""
        if self.repository:
            return f"{self.repository.rstrip('/')}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"
        if (ROOT / path).is_dir():
            path = next((f"{path}/{name}" for name in ("README.md",) if (ROOT / path / name).is_file()), "README.md")
        self.copied.add(path)
        return posixpath.relpath(f"{COPIES}/{path}.txt", here or ".")

    def copy(self, out: Path) -> None:
        """Put the files that were linked to into the site."""
        for path in sorted(self.copied):
            target = out / COPIES / f"{path}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / path).read_bytes())
