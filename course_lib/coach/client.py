"""How one talks to the judging process: `judged(name, text)` gives a Verdict, whatever the answer does."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection

from course_lib import paths
from course_lib.coach import catalogue
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.sandbox import COMPILE
from course_lib.coach.sandboxed import BUSY
from course_lib.coach.verdict import Verdict, from_dict

SLOW = 1.0  # seconds after which the learner is told what is being done
LOAD = 900.0  # seconds that loading the library may take, on a busy machine where it must be compiled first


class Judge:
    """One warm process. It is started at the first job, and anew when the library's files have changed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.stamp = 0.0
        self.turn = threading.Lock()

    def start(self) -> None:
        """Start the process if it does not run, without waiting for it."""
        stamp = _newest(paths.LIBRARY)
        if self.process is not None and self.process.poll() is None and stamp == self.stamp:
            return
        self.stop()
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        self.stamp = stamp
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course_lib.coach.warm"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=paths.ROOT,
            env=environment, start_new_session=True,
        )  # fmt: skip
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.stdin.close()
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None
        atexit.unregister(self.stop)

    def ask(self, job: dict, stage: Callable[[str], None] | None = None) -> dict:
        """The last message about a job. stage: told what is being done once this takes long."""
        with self.turn:
            self.start()
            try:
                self.process.stdin.write((json.dumps(job) + "\n").encode())
                self.process.stdin.flush()
                return self._listen(job, stage)
            except BaseException:  # Ctrl-C too: what it says next would belong to this job
                self.stop()
                raise

    def _listen(self, job: dict, stage: Callable[[str], None] | None) -> dict:
        began, doing, told, rest = time.monotonic(), "loading the library", "", b""
        reader = self.process.stdout.fileno()
        while True:
            waited = time.monotonic() - began
            if stage and waited >= SLOW and doing != told:
                stage(doing)
                told = doing
            if waited > LOAD + job["seconds"] + 10:
                self.stop()
                return {"broken": "the judging process does not answer"}
            if not select.select([reader], [], [], 0.1)[0]:
                continue
            data = os.read(reader, 1 << 16)
            if not data:
                self.stop()
                return {"broken": "the judging process has ended"}
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if message.get("job") != job["number"]:
                    continue  # of a job before, which nobody waits for any more
                if "stage" not in message:
                    return message
                doing = message["stage"]


def _newest(folder: str | os.PathLike) -> float:
    """When a Python file below it last changed. Each verdict asks, and pathlib's rglob takes three times as long."""
    with os.scandir(folder) as listed:
        found = list(listed)
    times = [one.stat().st_mtime for one in found if one.name.endswith(".py")]
    return max([0.0, *times, *(_newest(one) for one in found if one.is_dir() and one.name != "__pycache__")])


_judge = Judge()


def warm_up() -> None:
    """Start the judging process now, so that the first verdict need not wait for it."""
    _judge.start()


def judged(
    name: str,
    text: str,
    known: Collection[str] = (),
    values: str = "",
    measure: bool = True,
    stage: Callable[[str], None] | None = None,
    judge: Judge | None = None,
    explain: bool = True,
) -> Verdict:
    """The Verdict on a text as an answer to an exercise. Raises ExerciseError if the exercise itself is at fault.

    explain: False ends at the first case that fails, where nobody asks why.
    """
    exercise = catalogue.load(name)
    job = {"name": exercise.name, "text": text, "known": sorted(known), "values": values, "measure": measure,
           "explain": explain, "seconds": BUSY * exercise.seconds + (COMPILE if exercise.is_kernel else 0),
           "number": secrets.token_hex(8)}  # fmt: skip
    message = (judge or _judge).ask(job, stage)
    if "verdict" in message:
        verdict = from_dict(message["verdict"])
        if verdict.name != exercise.name:
            raise ExerciseError(
                f"The verdict that came is on {verdict.name}, not on {exercise.name}: nothing was recorded. Run the cell again."
            )
        return verdict
    trace = message.get("trace", "") if os.environ.get("COURSE_TRACEBACK") else ""
    raise ExerciseError(
        f"The exercise {name} could not be judged, and that is our fault, not yours: {message['broken']}. "
        f"Please report it. Your answer is kept.{chr(10) + trace if trace else ''}"
    )
