"""Downloads, over a real connection to this machine itself: complete and checked, or a sentence and nothing left."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from course_lib.data import DownloadError, downloads

TEXT = b"To be, or not to be.\n" * 1000


class Handler(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        Handler.asked += 1
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        self.wfile.write(TEXT[: len(TEXT) // 2] if self.path == "/broken" else TEXT)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Handler.asked = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def offer(monkeypatch, url: str, sha256: str | None) -> None:
    monkeypatch.setitem(downloads.SOURCES, "play", downloads.Source(url, "play.txt", "21 kB", sha256))


@pytest.mark.parametrize("sha256", [hashlib.sha256(TEXT).hexdigest(), None])
def test_a_file_is_fetched_once(server, monkeypatch, sha256, capsys):
    offer(monkeypatch, f"{server}/play", sha256)
    assert downloads.fetch("play", progress=True).read_bytes() == TEXT
    assert "21.0k" in capsys.readouterr().err  # the bar
    assert downloads.fetch("play").read_bytes() == TEXT
    assert Handler.asked == 1


@pytest.mark.parametrize(
    ("place", "sha256", "words"),
    [
        ("/play", "0" * 64, "its checksum differs"),
        ("/missing", None, "the server answered 404"),
        ("/broken", None, "broke off"),
        ("/broken", hashlib.sha256(TEXT).hexdigest(), "broke off"),
    ],
)
def test_a_failed_download_leaves_nothing_and_says_what_to_do(server, monkeypatch, tmp_path, place, sha256, words):
    offer(monkeypatch, server + place, sha256)
    with pytest.raises(DownloadError, match=words) as raised:
        downloads.fetch("play")
    for expected in ("Try the same command again", str(tmp_path / "downloads" / "play.txt"), "--corpus stories"):
        assert expected in str(raised.value)
    assert list((tmp_path / "downloads").iterdir()) == []
    offer(monkeypatch, f"{server}/play", None)
    assert downloads.fetch("play").read_bytes() == TEXT  # the next try succeeds


def test_no_connection_is_a_sentence(server, monkeypatch):
    offer(monkeypatch, "http://127.0.0.1:9/play", None)  # nobody listens there
    with pytest.raises(DownloadError, match="no connection"):
        downloads.fetch("play")


def test_a_file_put_there_by_hand_is_used_if_it_is_the_right_one(server, monkeypatch, tmp_path):
    offer(monkeypatch, f"{server}/play", hashlib.sha256(TEXT).hexdigest())
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "play.txt").write_bytes(TEXT)
    assert downloads.fetch("play").read_bytes() == TEXT
    assert Handler.asked == 0
    (tmp_path / "downloads" / "play.txt").write_bytes(b"something else")
    assert downloads.fetch("play").read_bytes() == TEXT
    assert Handler.asked == 1
