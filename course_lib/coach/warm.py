"""The judging process, kept warm: `python -m course_lib.coach.warm`. It has the library loaded and waits for jobs.

Each line on its stdin is a job (see judge.py) as JSON. The job runs in a process of its own: a copy of this one by fork, or,
where a fork of a loaded process is not safe (macOS), one that was started ahead of time. On stdout come lines of JSON:
{"stage": words} while it works, and at the end {"verdict": ...} or {"ended": signal or exit status} or {"timeout": true}.

Limits: an answer gets 2 GB (not enforced on macOS) and the seconds of its exercise, files of 64 MB, and no network is cut
off: this guards against accidents, not against an attacker.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

MEMORY, FILE_SIZE = 2 << 30, 64 << 20
PATIENCE = 3.0  # seconds after an exercise's own, when only a kill from outside helps
OURS = 60.0  # seconds that we may take before the answer's own begin
PRINTED = 4000  # letters of what the learner printed that are shown
LINES = 60  # of it: a loop that prints does not fill the page

FRESH = platform.system() == "Darwin"


def preload() -> None:
    """Import what answers need, before the first of them comes."""
    import numpy  # noqa: F401

    from course_lib import cuda, native
    from course_lib.coach import judge, kernels  # noqa: F401
    from course_lib.cuda import runtime
    from course_lib.devices import ops

    ops("reference")
    if native.find_compiler() is not None:
        cuda.Kernel  # noqa: B018  (loads the launch code; threads start only at a launch)
        # built here if they are not yet, not within the limits and the seconds of an answer
        runtime.path()
        ops("cpu")
    with contextlib.suppress(Exception):  # not installed, or without what it needs: the verdict says so
        import wgpu.backends.wgpu_native  # noqa: F401  (threads start only when an adapter is asked for)


def main() -> None:
    """Serve jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the notebook's Ctrl-C is the client's to handle
    preload()
    spare = _fresh() if FRESH else None
    for line in sys.stdin:
        if FRESH:
            process, spare = spare, None
            reader = process.stdout.fileno()
            process.stdin.write(line.encode())
            process.stdin.close()
            spare = _fresh()
            _follow(json.loads(line), process.pid, reader, process.wait)
            process.stdout.close()
        else:
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                sys.stdin.close()
                run(json.loads(line), writer)
            os.close(writer)
            _follow(json.loads(line), pid, reader, lambda pid=pid: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os.close(reader)


def fresh() -> None:
    """The body of a process that was started ahead of time: load everything, then wait for the one job."""
    preload()
    if line := sys.stdin.readline():  # else the notebook has ended, and no job will come
        run(json.loads(line), os.dup(1))


def _fresh() -> subprocess.Popen:
    code = "from course_lib.coach import warm; warm.fresh()"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def run(job: dict, writer: int) -> None:
    """Judge a job in this process and write to `writer`. Never returns."""
    if os.getpid() != os.getsid(0):
        os.setsid()  # so that whatever an answer starts can be ended with it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _limit()
    printed = tempfile.TemporaryFile()
    for number in (1, 2):
        os.dup2(printed.fileno(), number)
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace")
    sys.stdin = open(os.devnull)

    def send(message: dict) -> None:
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(writer, data) :]

    from course_lib.coach.judge import judge

    try:
        began = time.monotonic()
        verdict = judge(job, lambda words: send({"stage": words}))
        verdict["seconds"] = time.monotonic() - began
        verdict["printed"] = _printed(printed)
        send({"verdict": verdict})
    except BaseException as error:  # a fault of the exercise, or of ours
        import traceback

        send({"broken": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()})
    os._exit(0)


def _limit() -> None:
    for what, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_FSIZE, FILE_SIZE), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, hard))


def _printed(file: Any) -> str:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass  # the answer has closed it, or printed more than fits
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    text = file.read(4 * PRINTED).decode(errors="replace")
    shown = "\n".join(text[:PRINTED].split("\n")[:LINES])
    cut = len(shown) < len(text) or size > 4 * PRINTED
    return shown + (f"\n... ({size:,} bytes in all)" if cut else "")


def _follow(job: dict, pid: int, reader: int, wait_for: Callable[[], int]) -> None:
    """Pass on what a job's process writes, until it ends or its time is over. wait_for: gives its exit status.

    The first stage is ours: what is expected. The seconds of the answer begin with the second one.
    """
    deadline, stages = time.monotonic() + OURS, 0
    rest, done, late = b"", False, False
    while not done:
        wait = deadline - time.monotonic()
        if wait <= 0 or not select.select([reader], [], [], wait)[0]:
            late = True
            break
        data = os.read(reader, 1 << 16)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            sys.stdout.write(line.decode() + "\n")
            sys.stdout.flush()
            done = done or line.startswith((b'{"verdict"', b'{"broken"'))
            stages += line.startswith(b'{"stage"')
            if stages == 2 and line.startswith(b'{"stage"'):
                deadline = time.monotonic() + job["seconds"] + PATIENCE
        if not data:
            break
    try:
        os.killpg(pid, signal.SIGKILL)  # whatever is left of it
    except (ProcessLookupError, PermissionError):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    status = wait_for()
    if not done:
        print(json.dumps({"timeout": True} if late else {"ended": status}), flush=True)


if __name__ == "__main__":
    main()
