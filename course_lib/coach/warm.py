"""The judging process, kept warm: `python -m course_lib.coach.warm`. It has the library loaded and waits for jobs.

Each line on its stdin is a job (see judge.py) as JSON, with a number drawn at random. It is judged in a process of its own: a
copy of this one by fork, or, where a fork of a loaded process is not safe (macOS), one that was started ahead of time. The answer
runs in yet another one (sandbox.py). On stdout come lines of JSON, each with the job's number: {"stage": words} while it works,
and at the end {"verdict": ...} or {"broken": why}.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from course_lib import guard
from course_lib.coach import catalogue, sandbox

PATIENCE = 8.0  # seconds after those of a job: the judge ends an answer itself, and it is judged what came of it
OURS = 60.0  # seconds that we may take before the answer's own begin


def preload() -> None:
    """Import what answers need, before the first of them comes."""
    import numpy.random  # noqa: F401  (else NumPy imports it at the first number drawn)

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
    if sandbox.FRESH:  # no job is known yet
        _import_wgpu()


def main() -> None:
    """Serve jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the notebook's Ctrl-C is the client's to handle
    preload()
    spare = _fresh() if sandbox.FRESH else None
    for line in sys.stdin:
        if sandbox.FRESH:
            process, spare = spare, None
            reader = process.stdout.fileno()
            process.stdin.write(line.encode())
            process.stdin.close()
            spare = _fresh()
            _follow(json.loads(line), process.pid, reader, process.wait)
            process.stdout.close()
        else:
            job = json.loads(line)
            rehearse(job["name"])
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                sys.stdin.close()
                run(job, writer)
            os.close(writer)
            _follow(job, pid, reader, lambda pid=pid: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os.close(reader)


def rehearse(name: str) -> None:
    """Do here, once, what each job of such an exercise would begin with: its copies by fork then find it done."""
    with contextlib.suppress(Exception):  # whatever it is, the job will say it
        prepare = {"cuda": _compile_something, "wgsl": _import_wgpu}
        prepare.get(catalogue.load(name).language, bool)()
    gc.freeze()  # no copy looks through what is here for what could be freed, nor copies the pages it lies in to do so


@functools.cache
def _compile_something() -> None:
    """Load the simulator, learn the compiler's flags, and see that the precompiled header is whole: a look at all of it."""
    from course_lib import cuda, native
    from course_lib.cuda import build

    build.prepare()
    cuda.Kernel('extern "C" __global__ void nothing(float* x) { x[0] = 0.0f; }', "nothing").compiled(checked=True)
    native.find_compiler().translate(("-march=native",))


def _import_wgpu() -> None:
    """It takes longer than all the rest: not where no exercise in WGSL is judged."""
    with contextlib.suppress(Exception):  # not installed, or without what it needs: the verdict says so
        from course_lib.devices.webgpu import c_types

        c_types.learn()  # threads start only when an adapter is asked for


def fresh() -> None:
    """The body of a process that was started ahead of time: load everything, then wait for the one job."""
    preload()
    sandbox.prepare()
    if line := sys.stdin.readline():  # else the notebook has ended, and no job will come
        run(json.loads(line), os.dup(1))


def _fresh() -> subprocess.Popen:
    code = "from course_lib.coach import warm; warm.fresh()"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def run(job: dict, writer: int) -> None:
    """Judge a job in this process and write to `writer`. Never returns."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    guard.end_with_parent()

    def send(message: dict) -> None:
        data = (json.dumps({**message, "job": job.get("number")}) + "\n").encode()
        while data:
            data = data[os.write(writer, data) :]

    from course_lib.coach.judge import judge

    try:
        began = time.monotonic()
        verdict = judge(job, lambda words: send({"stage": words}))
        verdict["seconds"] = time.monotonic() - began
        send({"verdict": verdict})
    except BaseException as error:  # a fault of the exercise, or of ours
        import traceback

        send({"broken": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()})
    os._exit(0)


def _follow(job: dict, pid: int, reader: int, wait_for: Callable[[], int]) -> None:
    """Pass on what a job's process writes, until it ends. wait_for: gives its exit status.

    The seconds of an answer are counted there (sandbox.py); here it is only seen to that there is an end.
    """
    deadline = time.monotonic() + OURS + job["seconds"] + PATIENCE
    rest, done = b"", False
    why = "the process that judges it did not come to an end"
    while not done and select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        data = os.read(reader, 1 << 16)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            sys.stdout.write(line.decode() + "\n")
            done = done or line.startswith((b'{"verdict"', b'{"broken"'))
        sys.stdout.flush()
        if not data:
            why = "the process that judges it has ended"
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    status = wait_for()
    if not done:
        print(json.dumps({"broken": f"{why} ({status})", "job": job.get("number")}), flush=True)


if __name__ == "__main__":
    main()
