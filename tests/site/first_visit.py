"""A first visit as a stranger, in figures: cold cache, 20 Mbit/s, 40 ms; then warm verdicts. Not a test, as it takes minutes:

    python -m tests.site.first_visit [COUNT]

opens the built site in Chromium, runs the kernel of the first page, and judges COUNT solutions (20) from all chapters; then it
says what memory the page's process holds. The server itself is slow, so that the engine's worker is slowed too: 20 Mbit/s for
all answers together, each 40 ms late. Nothing is compressed on the way. Seconds of the clock depend on what else runs: the
processor's time of all of Chromium stands beside them.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from course_lib.coach import catalogue
from course_lib.site import build, exported_cases
from course_lib.web import serve
from tests.conftest import CHROMIUM
from tests.site.site_visit import Served, Visit

BYTES_PER_SECOND, LATENCY, PART = 20e6 / 8, 0.04, 1 << 14
JUDGE = """async ([base, name, text]) => {
  const { Engine } = await import(`${base}engine.mjs`);
  globalThis.engine ??= new Engine({ base });
  return engine.judge(name, text);
}"""


class Slow(serve.Handler):
    """One line for all answers: who sends takes its turn, and waits as long as its bytes take."""

    line, sent = threading.Lock(), 0
    throttled = True

    def do_GET(self) -> None:
        time.sleep(LATENCY if Slow.throttled else 0)
        super().do_GET()

    def copyfile(self, source, outputfile) -> None:
        while part := source.read(PART):
            with Slow.line:
                Slow.sent += len(part)
                time.sleep(len(part) / BYTES_PER_SECOND if Slow.throttled else 0)
            outputfile.write(part)


def main(count: int) -> None:
    """Prints the figures."""
    site = build.build()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as around:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM)
        served = Served(site, Path(around), Slow)
        visit = Visit(browser, served, fake=False, service_workers="block")
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        told = browser.new_browser_cdp_session()
        first_page(visit, told)
        Slow.throttled = False
        verdicts(visit, told, count)
        print(f"load of the machine: {os.getloadavg()[0]:.1f}; the page said: {visit.said or 'nothing'}")
        browser.close()
        served.close()


def spent(told) -> float:
    """Seconds of processor time of all of Chromium so far."""
    return sum(one["cpuTime"] for one in told.send("SystemInfo.getProcessInfo")["processInfo"])


def resident(told) -> float:
    """MB of memory of the page's process, the browser's program included; NaN where the system does not tell."""
    pages = [one["id"] for one in told.send("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"]
    status = [Path(f"/proc/{page}/status") for page in pages]
    found = [int(re.search(r"VmRSS:\s+(\d+) kB", one.read_text())[1]) * 1024 / 1e6 for one in status if one.exists()]
    return max(found, default=float("nan"))


def first_page(visit: Visit, told) -> None:
    """From the address to the first verdict."""
    began = time.monotonic()
    page = visit.open()
    page.wait_for_load_state("networkidle")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000")
    print(f"first sentence painted after {painted:.2f} s; {Slow.sent / 1e3:.0f} kB before any touch")
    touched, before, processor = time.monotonic(), Slow.sent, spent(told)
    page.locator(".exercise-text").click()
    page.locator(".loading").wait_for()
    page.locator(".loading").wait_for(state="detached")
    print(
        f"compiler ready {time.monotonic() - touched:.1f} s after the touch, with {spent(told) - processor:.1f} s of processor "
        f"time; {(Slow.sent - before) / 1e6:.1f} MB"
    )
    pressed = time.monotonic()
    page.locator(".exercise .go").click()
    page.locator(".verdict.wrong").wait_for()
    print(
        f"first verdict {time.monotonic() - pressed:.1f} s after Run, {time.monotonic() - began:.1f} s after the address"
    )


def verdicts(visit: Visit, told, count: int) -> None:
    """Solutions of every chapter, each judged once, the compiler being there."""
    names = exported_cases.exercises_in("cuda")
    chosen = [names[i] for i in np.linspace(0, len(names) - 1, count).astype(int)]
    rows, held, base = [], [], visit.address + "engine/"
    visit.page.evaluate(JUDGE, [base, chosen[0], catalogue.piece(chosen[0]).solution])
    for name in chosen:
        before = spent(told)
        verdict = visit.page.evaluate(JUDGE, [base, name, catalogue.piece(name).solution])
        rows.append((verdict["seconds"], spent(told) - before))
        held.append(resident(told))
        state = "passed" if verdict["passed"] else "not judged here" if verdict.get("undecided") else "REFUSED"
        print(f"  {name:<28} {rows[-1][0]:6.1f} s {rows[-1][1]:6.1f} s of processor time  {state}", flush=True)
    for what, percent in (("median", 50), ("90th percentile", 90)):
        clock, processor = np.percentile(rows, percent, axis=0)
        print(f"verdicts, {what} of {len(rows)}: {clock:.1f} s, {processor:.1f} s of processor time")
    print(f"memory of the page's process: {held[-1]:.0f} MB after the last verdict, at most {max(held):.0f} after one")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
