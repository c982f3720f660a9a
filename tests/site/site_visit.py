"""A built site, served under a path of its own, and a page over it that notes what it complains of or asks for elsewhere."""

from __future__ import annotations

import threading
from pathlib import Path

from course_lib.web import serve

PATIENCE = 180_000  # ms: the machine may be busy
PATH = "some/where/course/"  # no page may count on lying at the root

# What the page calls of engine.mjs, without a compiler: an answer with `blockIdx` passes.
FAKE_ENGINE = """
const issue = { kind: "race", line: 3, otherLine: 2, message: "two threads", block: [0, 0, 0], thread: [33, 0, 0] };
export class Engine {
  constructor({ onProgress }) { this.onProgress = onProgress; }
  async ready() { this.onProgress({ what: "Fetching the compiler", done: 5e6, total: 2e7, secondsLeft: 12 }); }
  async judge(name, text) {
    if (text.includes("for ever")) return new Promise((_, reject) => { this.reject = reject; });
    const passed = text.includes("blockIdx");
    return { passed, headline: passed ? "Passed." : "Not yet: y is wrong.", lines: [], counters: [],
      issues: passed ? [] : [issue],
      case: passed ? null : "three numbers", expected: passed ? null : "[1 2]", got: passed ? null : "[0 0]", compileErrors: [],
      hints: ["the first hint", "the second hint"], solution: passed ? "our text" : null, seconds: 0.5 };
  }
  async run(launch) {
    globalThis.launched = launch;
    return { arrays: {}, issues: [], counters: [], printed: "", error: null, compileErrors: [], seconds: 0 };
  }
  stop() { this.reject(new Error("The engine was stopped.")); }
}
"""


class Served:
    """A folder on this machine, below PATH. Closed by `close`."""

    def __init__(self, site: Path, around: Path, handler: type[serve.Handler] = serve.Handler):
        (around / PATH).parent.mkdir(parents=True)
        (around / PATH).symlink_to(site)
        self.server = serve.server(around, handler=handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/{PATH}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Visit:
    """A page of a browser that knows nothing yet. said: what it complained of, and requests that left the site."""

    def __init__(self, chromium, served: Served, fake: bool = True, **settings):
        self.address = served.address
        self.context = chromium.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.said: list[str] = []
        # A message of Playwright itself, which blocks the service worker where a test wants none.
        self.page.on("console", lambda m: "by Playwright" in m.text or self.said.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda r: r.url.startswith((self.address, "blob:", "data:")) or self.said.append(r.url))
        if fake:
            answer = {"body": FAKE_ENGINE, "content_type": "text/javascript"}
            self.context.route("**/engine/engine.mjs", lambda route: route.fulfill(**answer))

    def open(self, path: str = ""):
        self.page.goto(self.address + path)
        return self.page

    def write(self, box: str, text: str) -> None:
        """Type a text in the place of what an editor holds."""
        self.page.locator(f"{box} .exercise-text").click()
        self.page.locator(f"{box} .cm-content").focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def close(self) -> None:
        self.context.close()
