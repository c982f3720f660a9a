"""Each page of the built site: no dead link, no violation of axe's rules in light and dark, no scrolling sideways on a phone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from course_lib.site import npm

pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
pytestmark = pytest.mark.slow
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# Light text on white, which is right in the dark; a picture without words, and a button.
FAULTS = """document.querySelector("article").insertAdjacentHTML("beforeend",
  '<p style="color: #aaa">pale</p><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><ul><li><button></button></li></ul>')"""
PHONE, DESK = {"width": 360, "height": 780}, {"width": 1200, "height": 800}


class Page(HTMLParser):
    """Where a page's links and files lead, and the places in it that a link may name."""

    def __init__(self, text: str):
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs) -> None:
        given = dict(attrs)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.leads.append(given["href"])
        if tag == "link" and "canonical" not in given.get("rel", "") and given.get("href"):
            self.loads.append(given["href"])
        if tag in ("img", "script", "iframe") and given.get("src"):
            self.loads.append(given["src"])


def test_no_link_is_dead_and_no_page_loads_from_elsewhere(site):
    pages = {path.relative_to(site).as_posix(): Page(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 50
    dead = []
    for name, page in pages.items():
        for link in page.leads + page.loads:
            if re.match(r"https?:|mailto:|data:", link):
                dead += [f"{name} loads {link}"] if link in page.loads and not link.startswith("data:") else []
                continue
            target, place = urldefrag(urljoin(f"http://x/{name}", link))
            path = unquote(target.removeprefix("http://x/").split("?")[0])
            path = path + "index.html" if path == "" or path.endswith("/") else path
            if not (site / path).is_file():
                dead.append(f"{name} -> {link}")
            elif place and path in pages and unquote(place) not in pages[path].places:
                dead.append(f"{name} -> {link}: no such place")
    assert not dead, dead[:20]


def test_every_page_keeps_the_rules_and_fits_a_phone(visit, site):
    """No violation of WCAG 2.1 A and AA by axe, on each page in light and dark; at 360 pixels none scrolls sideways.

    Axe takes seconds for a page, so that what is made alike is looked at once for the whole site: rules.js. A fault that is put
    into a page at the end shows that it still looks.
    """
    axe = (npm.packages() / "node_modules/axe-core/axe.min.js").read_text()
    rules = f"{axe}\n{{{Path(__file__).with_name('rules.js').read_text()}}}"
    wrong, shown = [], visit(fake=False, service_workers="block", color_scheme="light", viewport=PHONE)

    def complaints(page) -> list[str]:
        """Of the page as it is, in the other colours too. What is known is gone from it afterwards."""
        page.evaluate(f"{rules}; rules.look()")
        page.emulate_media(color_scheme="dark")
        page.evaluate("rules.look(); rules.takeOut()")
        found = [f"dark, {what}" for what in page.evaluate("rules.complaints", RULES)]
        page.emulate_media(color_scheme="light")
        return found + page.evaluate("rules.pale()")

    for path in sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html")):
        page = shown.open(path)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
            wrong.append(f"{path} is {width} pixels wide on a phone")
        page.set_viewport_size(DESK)
        wrong += [f"{path}, {what}" for what in complaints(page)]
        page.set_viewport_size(PHONE)
    assert not wrong, wrong[:20]
    page = shown.open()
    page.evaluate(FAULTS)
    assert sorted({what.split(":")[0] for what in complaints(page)}) == [
        "color-contrast",
        "dark, button-name",
        "dark, image-alt",
    ]
    assert shown.said == []
