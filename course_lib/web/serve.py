"""`course serve`: an exported page over HTTP, for this machine alone.

Promises: it listens on 127.0.0.1 and nowhere else, names each type of file as browsers want it, and has nothing kept by the
browser, so that a page exported again is seen at the next reload. Ctrl-C ends it quietly.
"""

from __future__ import annotations

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from course_lib import lab
from course_lib.web import export

FIRST_PORT = 8700
# The system's own table may know .js as something that browsers refuse to run.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wgsl": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".safetensors": "application/octet-stream",
}


class Handler(SimpleHTTPRequestHandler):
    """Files of one folder; a request is not worth a line."""

    extensions_map = TYPES | {"": "application/octet-stream"}

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_) -> None:
        pass


def server(folder: Path, port: int = 0, handler: type[Handler] = Handler) -> ThreadingHTTPServer:
    """A server of the folder that is bound but does not answer yet; port 0 takes any that is free."""
    made = ThreadingHTTPServer(("127.0.0.1", port), partial(handler, directory=str(folder)))
    made.daemon_threads = True
    return made


def serve(folder: str | Path, browser: bool = True) -> None:
    """Serve an exported page until Ctrl-C. Raises ExportError for a folder that holds none."""
    folder = Path(folder)
    if not export.is_page(folder):
        raise export.ExportError(
            f"{folder} holds no page of this course. To make one: course export --run DIR --to web {folder}"
        )
    until_stopped(folder, "model", browser)


def until_stopped(folder: Path, what: str, browser: bool = True) -> None:
    """Serve a folder until Ctrl-C, and say where. what: one word for what lies there."""
    opens = browser and lab.has_browser()
    with server(folder, lab.free_port(FIRST_PORT)) as running:
        address = f"http://127.0.0.1:{running.server_port}/"
        print(
            f"The {what} is at   {address}\n"
            f"{'Your browser opens there in a moment.' if opens else 'Open this address in a browser.'} Leave this terminal "
            "open; Ctrl-C stops it.",
            flush=True,
        )
        if opens:
            webbrowser.open(address)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print("\nStopped.")
