"""The service worker: after a first visit the site works without a network, and never shows a mixture of two editions.

Promises: sw.js holds the hash of each file. A file is kept under its hash, and given only where the hash is that of the worker's
edition. If the network has another content than the worker knows, there is a newer edition: from then on the worker steps aside
until the new one takes over.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from course_lib.site import npm

EDITION = "edition.json"  # asked for before a large file is fetched, so that it is not kept
LEFT_OUT = ("sw.js", ".nojekyll", EDITION)


def write(out: Path, made_from: str) -> str:
    """Write sw.js into the finished site; returns the edition, a hash over all files. made_from: what to note beside it."""
    files = {
        path.relative_to(out).as_posix(): (hashlib.sha256(content := path.read_bytes()).hexdigest()[:24], len(content))
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in LEFT_OUT
    }
    edition = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:12]
    text = (npm.PAGE / "sw.js").read_text(encoding="utf-8")
    head = f"const EDITION = {json.dumps(edition)};\nconst FILES = {json.dumps(files, separators=(',', ':'))};\n"
    (out / "sw.js").write_text(head + text, encoding="utf-8")
    (out / EDITION).write_text(json.dumps({"edition": edition, "made_from": made_from}), encoding="utf-8")
    (out / ".nojekyll").touch()  # or GitHub Pages would leave out folders that begin with _
    return edition
