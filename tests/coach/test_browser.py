"""The loop in a real JupyterLab page: wrong, read why, right, restart, reload; in the light and in the dark theme."""

import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from contrast import lowest_contrast

from course_lib import environment, lab
from course_lib.coach import copies
from course_lib.paths import ROOT

from .conftest import piece

pytestmark = pytest.mark.slow
PATIENCE = 180_000  # ms: the machine may be busy
CUDA_WORDS = {"__global__", "const", "float"}  # to Python they are names like any other


@pytest.fixture
def server(tmp_path, mine):
    """JupyterLab over a folder of its own, with the copies in it and the configuration that the set-up writes."""
    copies.refresh()
    (tmp_path / "ipython/profile_default").mkdir(parents=True)
    environment.teach_ipython(tmp_path)
    lab.colour_exercises(tmp_path)
    (tmp_path / "etc/ipython/ipython_config.py").rename(tmp_path / "ipython/profile_default/ipython_config.py")
    port = lab.free_port(9300)
    line = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password=",
            f"--ServerApp.root_dir={tmp_path}",
            "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None", "--LabApp.extension_manager=readonly",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", f"--LabApp.user_settings_dir={tmp_path}/settings",
            f"--LabApp.workspaces_dir={tmp_path}/workspaces"]  # fmt: skip
    own = {"IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
           "JUPYTER_DATA_DIR": str(tmp_path / "share/jupyter"), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}  # fmt: skip
    process = subprocess.Popen(line, cwd=ROOT, env=os.environ | own, start_new_session=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=10)
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ready(page, base: str, notebook: str) -> None:
    page.goto(f"{base}/lab/tree/mine/{notebook}?reset", timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached", timeout=PATIENCE)


def cell(page, text: str):
    return page.locator(".jp-CodeCell").filter(has_text=text).first


def run(page, where) -> None:
    """Shift+Enter, once more where a busy page has not heard it: the cell's number must change."""
    before = where.locator(".jp-InputPrompt").first.inner_text()
    for _ in range(20):
        page.keyboard.press("Shift+Enter")
        for _ in range(20):
            if where.locator(".jp-InputPrompt").first.inner_text() != before:
                return
            page.wait_for_timeout(250)
        asked = page.locator(".jp-Dialog .jp-mod-accept")
        if asked.count():  # by a slow machine: for a kernel, while its own is still starting
            asked.first.click()
        where.locator(".cm-content").click()
    raise AssertionError("The page does not run the cell.")


def type_in(page, where, text: str) -> None:
    where.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def type_and_run(page, where, text: str) -> None:
    type_in(page, where, text)
    run(page, where)


def coloured(where, words: set[str]) -> set[str]:
    """All words of a cell that stand out, once `words` do: the page finds the language, and parses, in its own time."""
    spans = where.locator(".cm-line span")
    for word in words:
        spans.filter(has_text=word).first.wait_for(timeout=PATIENCE)
    return {text.strip() for text in spans.all_inner_texts()}


def verdict(page, where, word: str):
    """The judge's answer below a cell, which begins with `word`; where another came, what the cell shows is in the error."""
    where.locator(".jp-InputPrompt").filter(has_not_text="*").first.wait_for(timeout=PATIENCE)  # it has run
    where.locator('section[aria-label*=": "]').last.wait_for(timeout=PATIENCE)
    found = where.locator(f'section[aria-label^="{word}: "]')
    assert found.count(), f"no {word!r} in a cell that shows: {where.inner_text()}"
    return found


def test_wrong_read_why_right_restart_reload(chromium, server, mine):
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    shots = os.environ.get("COURSE_SCREENSHOTS")

    def shot(name: str) -> None:
        if shots:
            page.screenshot(path=f"{shots}/{name}.png")

    ready(page, server, "02_autograd.ipynb")
    exercise = cell(page, "%%exercise repeated_axes")
    wrong = "%%exercise repeated_axes\n" + piece("repeated_axes").solution.replace(
        " or (shape[axis - missing] == 1 and length != 1)", ""
    )
    type_and_run(page, exercise, wrong)
    words = verdict(page, exercise, "Not yet").inner_text()
    assert "An axis of length 1 can be repeated as well" in words
    assert "repeated_axes((3, 1), (3, 4))" in words and "(1,)" in words
    assert 'course.hint("repeated_axes")' in words
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_timeout(1500)
        exercise.scroll_into_view_if_needed()
        shot(f"wrong {theme}")
        ratio, text = lowest_contrast(page.locator("section[aria-label]").last)
        assert ratio >= 4.5, f"{theme}: contrast {ratio:.1f} at {text!r}"

    type_and_run(page, exercise, "%%exercise repeated_axes\n" + piece("repeated_axes").solution)
    assert "All 6 cases are right" in verdict(page, exercise, "Passed").inner_text()
    shot("right")
    assert (mine / "tries/repeated_axes/0002-passed.py").exists()

    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:restart-kernel') }")
    page.locator(".jp-Dialog-button.jp-mod-accept, .jp-Dialog-button.jp-mod-warn").last.click(timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached", timeout=PATIENCE)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(1000)
    ready(page, server, "02_autograd.ipynb")
    type_and_run(page, cell(page, "from course_lib import course"), "from course_lib import course\ncourse.progress()")
    page.get_by_text("[x] repeated_axes").first.wait_for(timeout=PATIENCE)
    type_and_run(
        page,
        cell(page, "%%exercise topological_order"),
        "%%exercise topological_order\n" + piece("topological_order").solution,
    )
    verdict(page, cell(page, "%%exercise topological_order"), "Passed")
    page.close()


def test_a_kernel_with_its_report_and_numbers(chromium, server):
    page = chromium.new_page(viewport={"width": 1280, "height": 1400})
    shots = os.environ.get("COURSE_SCREENSHOTS")
    ready(page, server, "04_first_kernel.ipynb")
    exercise = cell(page, "%%exercise smooth")
    exercise.locator(".cm-content").click()
    assert CUDA_WORDS <= coloured(exercise, CUDA_WORDS)
    run(page, exercise)  # as it is: the planted fault
    assert "out-of-bounds" in verdict(page, exercise, "Blank").inner_text()
    type_and_run(page, exercise, "%%exercise smooth\n" + piece("smooth").solution.replace("/ 3.0f", "/ 2.0f"))
    assert CUDA_WORDS <= coloured(exercise, CUDA_WORDS), "still, when it has run"
    assert "Every element is 1.5 times" in verdict(page, exercise, "Not yet").inner_text()
    assert exercise.locator("table[aria-label*='wrong cells']").count() == 1
    breaks = exercise.locator("section pre").evaluate_all("all => all.map(pre => getComputedStyle(pre).wordBreak)")
    assert breaks and set(breaks) == {"normal"}, "lines end between words"
    assert exercise.get_by_text("marked ≠").last.bounding_box()["height"] < 40, "the caption has room for one line"
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_timeout(1500)
        exercise.scroll_into_view_if_needed()
        if shots:
            page.screenshot(path=f"{shots}/kernel {theme}.png")
        ratio, text = lowest_contrast(page.locator("section[aria-label]").last)
        assert ratio >= 4.5, f"{theme}: contrast {ratio:.1f} at {text!r}"
    exercise = cell(page, "%%exercise add_bias")
    type_and_run(page, exercise, "%%exercise add_bias\n" + piece("add_bias").solution)
    words = verdict(page, exercise, "Passed").inner_text()
    assert "sectors for each request, reading global memory" in words and "at most 4" in words
    if shots:
        exercise.scroll_into_view_if_needed()
        page.screenshot(path=f"{shots}/numbers.png")

    own = page.locator(".jp-CodeCell").first
    assert CUDA_WORDS.isdisjoint(coloured(own, {"import"}))
    type_in(page, own, "%%exercise bias_gelu_wgsl\n" + piece("bias_gelu_wgsl").solution)
    assert {"fn", "let", "struct"} <= coloured(own, {"fn", "let", "struct"})
    type_in(page, own, "%%exercise scale\n__global__ void scale(const float* x) {")
    for line in ("if (true) {", "float y = x[0];", "}"):
        page.keyboard.press("Enter")
        page.keyboard.type(line)
    assert own.locator(".cm-line").all_inner_texts()[2:] == ["    if (true) {", "        float y = x[0];", "    }"]
    assert CUDA_WORDS <= coloured(own, CUDA_WORDS)
    type_and_run(page, own, "from course_lib import plots\nplots.attention_steps([[1]], [[1]], [[1]], ['a'])")
    own.get_by_label("time, in steps").focus(timeout=PATIENCE)
    page.keyboard.press("ArrowRight")
    assert own.get_by_role("status").inner_text().startswith("Step 2 of 3"), "the notebook leaves a player its keys"
    page.close()
