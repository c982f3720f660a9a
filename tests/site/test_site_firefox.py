"""The built site in Firefox: the engine, its workers and its coroutines are not Chromium's alone."""

import pytest

from course_lib.coach import catalogue
from tests.site import firefox

pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
pytestmark = pytest.mark.slow

CHECKED = """
const [name] = given, box = document.querySelector(name), until = Date.now() + 170_000;
box.querySelector(".go").click();
while (!box.querySelector(".verdict") && Date.now() < until) await new Promise((go) => setTimeout(go, 100));
return box.querySelector(".verdict").innerText;
"""


@pytest.fixture(scope="module")
def browser():
    path = firefox.program()
    if path is None:
        pytest.skip("there is no Firefox on PATH (Debian: apt-get install firefox-esr)")
    made = firefox.Firefox(path)
    yield made
    made.close()


def test_a_race_is_told_in_firefox(browser, served):
    browser.open(served.address)
    said = browser.run(CHECKED, ".exercise")
    assert "race, line 4 and line 5" in said or "race, line 5 and line 4" in said


def test_a_solution_passes_in_firefox_and_the_blank_does_not(browser, served):
    page, piece = served.address + "notebooks/04_first_kernel.html", catalogue.piece("scale")
    browser.open(page)
    assert "Passed." not in browser.run(CHECKED, "#exercise-scale")
    place = "`course ${new URL('..', location.href).pathname} scale`"
    browser.run(
        f"localStorage.setItem({place}, JSON.stringify({{ text: given[0], language: 'cuda' }}))", piece.solution
    )
    browser.open(page)
    assert browser.run(CHECKED, "#exercise-scale").startswith("Passed.")
