"""Firefox without a window, driven by Marionette, the protocol that it brings: no other program stands between.

A message is "length:JSON": [0, number, command, parameters] there, [1, number, error, value] back; the commands are those of
WebDriver (https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html).
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PATIENCE = 180  # seconds: the machine may be busy


def program() -> str | None:
    """Where Firefox is, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One window with a profile of its own. Ended by `close`."""

    def __init__(self, path: str):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (Path(self.profile.name) / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        command = [path, "--headless", "--marionette", "--no-remote", "--profile", self.profile.name]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = self._connected(port)
        self.answers, self.sent = self.connection.makefile("rb"), 0
        self._answer()  # it says which protocol it speaks
        self.command("WebDriver:NewSession", capabilities={"alwaysMatch": {}})
        self.command("WebDriver:SetTimeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)

    def _connected(self, port: int) -> socket.socket:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def _answer(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            if not (digit := self.answers.read(1)):
                raise RuntimeError("Firefox has ended, without an answer.")
            length += digit
        return json.loads(self.answers.read(int(length[:-1])))

    def command(self, name: str, **parameters: Any) -> Any:
        """One command's value. Raises RuntimeError with what Firefox says."""
        self.sent += 1
        message = json.dumps([0, self.sent, name, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, value = self._answer()
        if error:
            raise RuntimeError(error["message"])
        return value

    def open(self, address: str) -> None:
        self.command("WebDriver:Navigate", url=address)

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of an async function with `given`, a list, returns in the page."""
        names = "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
        ends = "(value) => done({ value }), (error) => done({ error: String(error) })"
        wrapped = f"{names} (async () => {{ {script} }})().then({ends})"
        told = self.command("WebDriver:ExecuteAsyncScript", script=wrapped, args=list(arguments))["value"]
        if "error" in told:
            raise RuntimeError(told["error"])
        return told.get("value")

    def close(self) -> None:
        self.command("Marionette:Quit", flags=["eForceQuit"])
        self.process.wait(PATIENCE)
        self.connection.close()
        self.profile.cleanup()
