"""The built site in Chromium: the first screen and an exercise with the real engine; answers, words, players, no network."""

from __future__ import annotations

import io
import re
import shutil
import time
import zipfile

import pytest
from site_visit import PATIENCE, Served

from course_lib.coach import catalogue
from course_lib.coach.exercise import Wrong, answer_text
from course_lib.site import offline

pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
pytestmark = pytest.mark.slow


def test_the_first_page_is_light_and_a_stranger_sees_the_race(visit):
    """Nothing large before a touch; then the compiler comes, with a bar; the race is named by its lines; one line fixes it."""
    shown = visit(fake=False, service_workers="block")
    loaded = []
    shown.page.on("response", lambda answer: loaded.append((answer.url, len(answer.body()))))
    page = shown.open()
    page.wait_for_load_state("networkidle")
    total = sum(size for _, size in loaded)
    assert total < 300_000, sorted(loaded, key=lambda one: -one[1])[:5]
    assert not [url for url, _ in loaded if "/engine/" in url]
    page.locator(".exercise .go").click()
    page.locator(".loading progress").wait_for()
    page.locator(".verdict.wrong").wait_for()
    said = page.locator(".verdict").inner_text()
    assert "race, line 4 and line 5" in said or "race, line 5 and line 4" in said
    assert "__shared__ 'board'" in said
    page.get_by_role("button", name="line 5").click()
    page.keyboard.press("Home")
    page.keyboard.insert_text("__syncthreads();\n    ")
    page.keyboard.press("Control+Enter")
    page.locator(".verdict.right").wait_for()
    assert "Right" in page.locator(".headline").inner_text()
    assert shown.said == []


def test_the_engine_judges_an_exercise_in_the_page(visit):
    """A wrong answer of the catalogue is refused with the words that it is refused with natively; ours passes."""
    exercise, piece = catalogue.load("scale"), catalogue.piece("scale")
    wrong = next(one for one in exercise.wrong if isinstance(one, Wrong) and one.like)
    shown = visit(fake=False, service_workers="block")
    page = shown.open("notebooks/04_first_kernel.html")
    box = "#exercise-scale"
    shown.write(box, answer_text(wrong.answer, piece.solution))
    page.keyboard.press("Control+Enter")
    page.locator(f"{box} .verdict.wrong").wait_for()
    assert wrong.says in page.locator(f"{box} .headline").inner_text()
    assert page.locator(f"{box} summary", has_text="Our solution").count() == 0
    shown.write(box, piece.solution)
    page.keyboard.press("Control+Enter")
    page.locator(f"{box} .verdict.right").wait_for()
    assert piece.solution.strip() in page.locator(f"{box} details pre").first.text_content()
    assert shown.said == []


def test_each_run_has_a_worker_of_its_own_which_fetches_nothing_of_the_compiler_again(visit):
    """Memory that a run has taken goes with its worker, the one after a stopped run too; compiled modules are handed on."""
    shown, workers, fetched = visit(fake=False, service_workers="block"), [], []
    page = shown.open("play.html")
    page.on("worker", lambda worker: workers.append(worker))
    page.on("request", lambda request: request.url.endswith(".xz") and fetched.append(request.url))
    go = page.locator(".exercise .go")
    for runs in (1, 2):
        go.click()
        page.get_by_text("add ran, and nothing wrong was seen.").wait_for()
        assert len(workers) == runs + 1, "one for this run, one that waits for the next"
        page.locator(".exercise-result").evaluate("box => box.replaceChildren()")
    head = "__global__ void add(const float* x, const float* y, float* z, int n)"
    shown.write(".exercise", head + " { for (;;) z[0] += 1; }")
    go.click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped. Your text is kept.").wait_for()
    shown.write(
        ".exercise", head + " { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i]; }"
    )
    go.click()
    page.get_by_text("add ran, and nothing wrong was seen.").wait_for()
    assert len(fetched) == len(set(fetched)) > 5
    assert shown.said == []


def test_an_answer_is_judged_kept_and_taken_along(visit):
    shown = visit(service_workers="block")
    page = shown.open("notebooks/04_first_kernel.html")
    box = "#exercise-scale"
    page.locator(f"{box} .go").click()
    verdict = page.locator(f"{box} .verdict")
    verdict.wait_for()
    assert "Not yet: y is wrong." in verdict.inner_text() and "three numbers" in verdict.inner_text()
    hint = page.locator(f"{box} .hints button")
    hint.click()
    assert "the first hint" in page.locator(f"{box} .hints").inner_text()
    assert "the second hint" not in page.locator(f"{box} .hints").inner_text()
    text = "__global__ void scale(const float* x, float* y, float s, int n) {\n    int i = blockIdx.x;\n}\n"
    shown.write(box, text)
    page.keyboard.press("Shift+Enter")
    page.locator(f"{box} .verdict.right").wait_for()
    assert page.locator(f"{box} summary", has_text="Our solution").is_visible()

    page = shown.open("notebooks/04_first_kernel.html")  # as after a restart of the browser
    page.locator(f"{box} .exercise-text").click()
    page.locator(f"{box} .cm-content").wait_for()
    assert "blockIdx" in page.locator(f"{box} .cm-content").inner_text()
    assert page.locator(f"{box} .cm-lineNumbers .cm-gutterElement").last.inner_text() == "3"  # no empty line at the end
    assert page.locator(f"{box} .exercise-state").inner_text() == "passed"

    page = shown.open("storage.html")
    page.get_by_text("1 kept, 1 of them passed").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as files").click()
    content = download.value.path().read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        assert files.namelist() == ["answers/scale.cu"]  # the names of exercises/mine/answers
        assert files.read("answers/scale.cu").decode() == text
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Erase the answers").click()
    page.get_by_text("The answers are erased.").wait_for()
    assert "None so far" in page.locator("[data-storage]").inner_text()
    page.set_input_files("#take", [
        {"name": "answers.zip", "mimeType": "application/zip", "buffer": content},
        {"name": "copy.py", "mimeType": "text/x-python", "buffer": b"def copy(): ..."},
        {"name": "letter.odt", "mimeType": "", "buffer": b"dear"},
    ])  # fmt: skip
    page.get_by_text("2 answers were taken. Not taken, since they are no answers: letter.odt.").wait_for()
    assert shown.said == []


def test_a_run_can_be_stopped_and_the_keyboard_gets_out_of_the_editor(visit):
    shown = visit(service_workers="block")
    page = shown.open("notebooks/04_first_kernel.html")
    page.locator("#exercise-scale pre").focus()
    page.keyboard.press("Enter")
    editor = page.locator("#exercise-scale .cm-content")
    editor.wait_for()
    page.wait_for_function("document.activeElement.classList.contains('cm-content')")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('cm-content')"), "Tab indents"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check"
    shown.write("#exercise-scale", "for ever")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped. Your text is kept.").wait_for()
    assert editor.inner_text() == "for ever" and shown.said == []


def test_words_are_explained_where_they_stand(visit):
    shown = visit(service_workers="block")
    page = shown.open("notebooks/04_first_kernel.html")
    link = page.locator("a.term", has_text="kernel").first
    link.focus()
    meaning = page.get_by_role("tooltip")
    meaning.wait_for()
    assert meaning.inner_text().startswith("kernel ") and "GPU" in meaning.inner_text()
    page.keyboard.press("Escape")
    assert meaning.count() == 0
    assert shown.said == []


def test_players_of_lectures_are_alive(visit):
    shown = visit(service_workers="block")
    page = shown.open("notebooks/06_reductions.html")
    player = page.locator(".course-player").first
    before = player.locator(".said").inner_text()
    player.get_by_role("button", name="next step").click()
    assert before.startswith("Step 1 of") and player.locator(".said").inner_text().startswith("Step 2 of")
    assert shown.said == []


def test_free_play_reads_a_launch_and_tells_what_it_does_not_understand(visit):
    shown = visit(service_workers="block")
    page = shown.open("play.html")
    page.fill(
        "#launch",
        "grid 2 3\nblock 8\nshared 64\nx = int32 2x2: 1 2 3 4  # a matrix\ny = float32 5: range\nz = float32 3: empty\n"
        "a = -1.5\n",
    )
    page.locator(".exercise .go").click()
    page.get_by_text("add ran, and nothing wrong was seen.").wait_for()
    launched = page.evaluate("launched")
    assert launched["kernel"] == "add" and launched["grid"] == [2, 3] and launched["block"] == [8]
    assert launched["sharedBytes"] == 64
    x, y, z, a = launched["args"]
    assert x == {"name": "x", "dtype": "int32", "shape": [2, 2], "values": [1, 2, 3, 4]}
    assert y["values"] == [0, 1, 2, 3, 4] and z["empty"] is True and a == -1.5
    for line, words in (
        ("x = float32 3: 1 2", "it has 3 numbers, and 2 are given"),
        ("x = float31 3", "float31 is none of"),
        ("hello", "write grid 4"),
    ):
        page.fill("#launch", f"grid 1\n{line}")
        page.locator(".exercise .go").click()
        page.get_by_text(re.compile(f"Line 2 of the launch.*{words}")).wait_for()
    assert shown.said == []


def test_it_works_without_a_network_after_a_first_visit(visit, site):
    shown = visit()
    page = shown.open()
    page.evaluate("navigator.serviceWorker.ready")
    wanted = sum(
        1 for path in site.rglob("*.*") if path.is_file() and not path.relative_to(site).parts[0].startswith("engine")
    )
    kept = "async () => (await (await caches.open((await caches.keys())[0])).keys()).length"
    until = time.monotonic() + PATIENCE / 1000
    while page.evaluate(kept) < wanted - len(offline.LEFT_OUT) and time.monotonic() < until:
        page.wait_for_timeout(200)
    shown.context.set_offline(True)
    page.goto(shown.address + "notebooks/08a_tiles.html")
    assert page.locator("h1").inner_text().startswith("08a")
    page.locator("article img").first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('article img').naturalWidth > 0")
    page.goto(shown.address + "index.html")
    assert page.locator("h1").inner_text().startswith("From a first kernel")


def test_a_newer_edition_is_never_mixed_with_an_older_one(visit, site, tmp_path):
    """A page that was not kept comes from the host, with the style of the host; the reader is told, and one press brings
    it all."""
    own = tmp_path / "site"
    own.mkdir()
    for name in ("main.js", "site.css"):
        (own / name).write_bytes((site / "_static/site" / name).read_bytes())
    for path in (site / "_static/site").glob("part-*.js"):
        shutil.copy(path, own)

    def edition(number: int) -> None:
        for name in ("index", "second"):
            (own / f"{name}.html").write_text(
                f'<html lang="en" data-content_root="./"><title>x</title><link rel="stylesheet" href="style.css">'
                f"<p>edition {number}</p>"
                '<script type="module" src="main.js"></script></html>'
            )
        (own / "style.css").write_text(f"p {{ opacity: 0.{number} }}")
        offline.write(own, "")

    edition(1)
    served = Served(own, tmp_path / "around")
    shown = visit(served=served)
    seen = "[document.querySelector('p').textContent, getComputedStyle(document.querySelector('p')).opacity]"
    page = shown.open()
    page.evaluate("navigator.serviceWorker.ready")
    page.wait_for_function("navigator.serviceWorker.controller")
    page.reload()  # through the worker, which keeps page and style
    assert page.evaluate(seen) == ["edition 1", "0.1"]
    edition(2)
    seen_after = []
    for path in ("second.html", "index.html", "second.html"):
        page.goto(shown.address + path)
        seen_after.append(tuple(page.evaluate(seen)))
    assert set(seen_after) <= {("edition 1", "0.1"), ("edition 2", "0.2")}
    page.get_by_role("button", name="Reload").click()
    page.wait_for_function("document.querySelector('p')?.textContent === 'edition 2'")
    assert page.evaluate(seen) == ["edition 2", "0.2"]
    served.close()


def test_values_of_wgsl_are_judged_by_the_browsers_own_webgpu(visit):
    """Ours is right, and not passed, as nothing watches it; a wrong answer is refused as natively, a faulty text by its line."""
    shown = visit(service_workers="block")
    page = shown.open("exercises/18_webgpu.html")
    if not page.evaluate("navigator.gpu?.requestAdapter().then(Boolean)"):
        pytest.skip("this Chromium has no WebGPU")
    for name in ("bias_gelu_wgsl", "softmax_wgsl"):  # includes and several groups; constants and several kernels
        ours, box, said = catalogue.piece(name).solution, f"#exercise-{name}", []
        wrong = next(one for one in catalogue.load(name).wrong if isinstance(one, Wrong) and one.like)
        for text in (ours, answer_text(wrong.answer, ours), f"{ours}\nlet x = ;"):
            shown.write(box, text)
            page.keyboard.press("Control+Enter")
            page.locator(f"{box} .go:enabled").wait_for()
            said.append(page.locator(f"{box} .verdict").inner_text())
        coloured = page.locator(f"{box} .cm-line span").all_inner_texts()
        assert {"fn", "let", "f32"} <= set(coloured)
        right, refused, faulty = said
        assert (
            right.startswith("All values are right") and f"course check {name}" in right and "Our solution" not in right
        )
        assert wrong.says in refused
        assert f"line {len(ours.splitlines()) + 1}" in faulty
    assert shown.said == []
