"""Sphinx with MyST-NB and the theme Furo: staged sources -> pages.

Furo, since it is light (styles and script: 62 kB, 14 kB as gzip), asks no other host for anything, and has dark and light, phone
and print.
Formulas are KaTeX's, made while building: a page needs no script for them, and no other host.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from docutils import nodes

from course_lib.site import npm
from course_lib.web.export import PAGE

TITLE = "From a first kernel to a language model"
SETTINGS = {
    "project": TITLE,
    "html_title": TITLE,
    "author": "the authors of the course",
    "language": "en",
    "extensions": ["myst_nb", "course_lib.site.pages"],
    "html_theme": "furo",
    "html_favicon": str(PAGE / "icon.svg"),
    "html_math_renderer": "katex",
    "html_css_files": ["katex/katex.min.css", "site/site.css"],
    "html_js_files": [("site/main.js", {"type": "module"})],
    "exclude_patterns": ["_extra"],
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_permalinks_icon": "#",
    "html_theme_options": {"navigation_with_keys": False},
    "html_baseurl": "",
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "myst_enable_extensions": ["dollarmath"],
    "myst_heading_anchors": 4,
    "myst_heading_slug_func": "course_lib.site.pages.slug",
    "myst_update_mathjax": False,
    "pygments_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
    "highlight_language": "ipython3",
    # what a notebook may hold and a Sphinx page need not: a level of heading left out; output that is no Python
    "suppress_warnings": ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"],
}
formulas = npm.Formulas()


def slug(title: str) -> str:
    """The anchor of a heading as JupyterLab makes it, which the chapters' links use."""
    return title.replace(" ", "-")


def make(source: Path, static: Path, out: Path, kept: Path) -> list[str]:
    """Render the staged folder `source` into `out`; returns Sphinx's warnings.

    static: what goes into _static. kept: Sphinx's cache.
    """
    from sphinx.application import Sphinx

    said, warned = io.StringIO(), io.StringIO()
    # A file, since Sphinx knows the settings of a theme only once it has read all that is given beside a file.
    (source / "conf.py").write_text(
        "from course_lib.site.pages import SETTINGS\n\nglobals().update(SETTINGS)\n", encoding="utf-8"
    )
    settings = {"html_static_path": [str(static)], "html_extra_path": [str(source / "_extra")]}
    try:
        app = Sphinx(str(source), str(source), str(out), str(kept), "html", settings, status=said, warning=warned)
        app.build()
    finally:
        formulas.close()
    tidy(out)
    return [line for line in re.sub(r"\x1b\[[\d;]*m", "", warned.getvalue()).splitlines() if line.strip()]


def tidy(out: Path) -> None:
    """What the theme and MyST-NB write that a screen reader would stumble over: a heading without a level, a button whose name
    is not what stands on it."""
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = text.replace('<p class="caption" role="heading">', '<p class="caption">')
        page.write_text(text.replace('<summary aria-label="Toggle hidden content">', "<summary>"), encoding="utf-8")


def _inline(writer, node: nodes.math) -> None:
    writer.body.append(f'<span class="formula">{formulas.render(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def _block(writer, node: nodes.math_block) -> None:
    writer.body.append(
        f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formulas.render(node.astext(), block=True)}</div>'
    )
    raise nodes.SkipNode


def _foot(app, page: str, template: str, context: dict, tree) -> None:
    """The theme's links in the foot, whose addresses are those of each page."""
    link = {"name": "Licences", "url": context["pathto"]("licences"), "html": "Licences", "class": ""}
    context["theme_footer_icons"] = [link]


def setup(app) -> dict:
    """Sphinx's hook of an extension."""
    app.connect("html-page-context", _foot)
    app.add_html_math_renderer("katex", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
