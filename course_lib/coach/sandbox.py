"""The judge's end of the process that an answer runs in: it asks, waits no longer than it must, and reads data alone.

    with Sandbox(exercise, text) as sandbox:
        done = sandbox.load()
        done = sandbox.call(inputs, seed=0)

The process is a copy of this one by fork, made before anything right is computed here; where a fork of a loaded process is not
safe (macOS), one that was started ahead of time. Each message begins with a token drawn for this job: what an answer writes into
the connection itself is noticed, and ends it.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from course_lib.coach import answers, plain, sandboxed
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import ENDED, FORGED, KILLED, RaisedError
from course_lib.coach.sandboxed import BUSY, FAILED, Done

PATIENCE = 2.0  # seconds after an exercise's own, when only a kill from outside helps
COMPILE = 60.0  # seconds that a C++ compiler may take, on a busy machine
MOST = 512 << 20  # bytes of one message
PRINTED = 4000  # letters of what the learner printed that are shown
LINES = 60  # of it: a loop that prints does not fill the page

FRESH = platform.system() == "Darwin"
_spare: _Process | None = None


class _Process:
    """A process with a connection to it: forked, or started ahead."""

    def __init__(self, fresh: bool):
        ours, theirs = socket.socketpair()
        self.connection, self.pid = ours, 0
        self.child: subprocess.Popen | None = None
        if fresh:
            code = f"from course_lib.coach import sandboxed, warm; warm.preload(); sandboxed.fresh({theirs.fileno()})"
            self.child = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            self.pid = self.child.pid
        else:
            self.pid = os.fork()
            if self.pid == 0:
                ours.close()
                sandboxed.serve(theirs)
        theirs.close()

    def ends(self, seconds: float) -> bool:
        """Whether it comes to its end by itself within these seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.child is not None:
                if self.child.poll() is not None:
                    return True
            elif os.waitid(
                os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT
            ):  # macOS has no waitid, and no forks here
                return True
            time.sleep(0.002)
        return False

    def end(self) -> int:
        """Kill it, with all that it started; its exit status, negative for a signal."""
        self.connection.close()
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        if self.child is not None:
            return self.child.wait()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def starts_at_once() -> bool:
    """Whether one more process for an answer costs no more than a fork."""
    return not FRESH


def prepare() -> None:
    """Start a process ahead of the next job, where they are not forked."""
    global _spare
    if FRESH and _spare is None:
        _spare = _Process(fresh=True)


class NotCompiled(Exception):
    """A kernel of many changes does not compile. line: the first faulty one, or None."""

    def __init__(self, line: int | None):
        super().__init__(f"line {line}")
        self.line = line


class Sandbox:
    """The process of one answer; see above. runs: the seeds that a case is tried with."""

    def __init__(self, exercise: Exercise, text: str):
        global _spare
        self.exercise = exercise
        self.runs = answers.launched(exercise).Watched.runs if exercise.is_kernel else (0,)
        self.borrowed: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="course-answer-"))
        self.token = secrets.token_bytes(sandboxed.TOKEN)
        self.printed = self.folder.with_suffix(".printed")  # beside it: the answer may add to it, and not replace it
        self.printed.touch()
        self.process: _Process | None = _spare or _Process(FRESH)
        _spare = None
        job = {"name": exercise.name, "text": text, "printed": str(self.printed), "folder": str(self.folder)}
        sandboxed.send(self.process.connection, self.token, job)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: Any) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.printed.unlink(missing_ok=True)

    def begin_to_load(self) -> None:
        """Let it load and compile the answer while something else is done here; `load` waits for it."""
        self._ask("load")

    def load(self) -> Done:
        """The answer, loaded; its own lines outside of functions have run."""
        return self._reply(COMPILE if self.exercise.is_kernel else None)

    def call(self, inputs: tuple, seed: int) -> Done:
        """The answer, called with a copy of a case's inputs."""
        self._ask("call", inputs=inputs, seed=seed)
        return self._reply()

    def goal(self, number: int) -> Done:
        """What a goal of a Python exercise counts."""
        self._ask("goal", number=number)
        return self._reply()

    def others(self, texts: list[str], inputs: tuple, seconds: float) -> tuple[list[tuple | None], float]:
        """What other texts give for a case in place of the answer: (result, numbers of changed inputs), None for an exception;
        of those that were reached in so many seconds of processor time. And the seconds that it took."""
        self._ask("others", texts=texts, inputs=inputs, seconds=seconds)
        done = self._reply(10 * BUSY * seconds + PATIENCE)
        return (done.result, done.seconds) if isinstance(done.result, list) else ([], seconds)

    def steps(self, texts: list[str], inputs: tuple, seconds: float) -> list[tuple[list, list]]:
        """The sites of these texts, and the different numbers that were seen at each; [] if one does not get through."""
        self._ask("steps", texts=texts, inputs=inputs, seconds=seconds)
        done = self._reply(10 * BUSY * seconds + PATIENCE)
        return done.result if isinstance(done.result, list) and len(done.result) == len(texts) else []

    def kernel_steps(self, texts: list[tuple[str, int]], inputs: tuple, seconds: float) -> list[list]:
        """The numbers at each site of these marked kernels, which come with their count; [] if one does not get through."""
        self._ask("kernel_steps", texts=texts, inputs=inputs, seconds=seconds)
        done = self._reply(2 * COMPILE + 10 * BUSY * seconds)
        return done.result if isinstance(done.result, list) and len(done.result) == len(texts) else []

    def instead(
        self, text: str, other: str, pairs: list[tuple[int, int]], inputs: tuple, seconds: float
    ) -> tuple[list[tuple | None], float]:
        """What a text gives for a case with another text's values at one of its sites, for each pair, as far as it got; and the
        seconds that it took."""
        self._ask("instead", text=text, other=other, pairs=pairs, inputs=inputs, seconds=seconds)
        done = self._reply(10 * BUSY * seconds + PATIENCE)
        return (done.result, done.seconds) if isinstance(done.result, list) else ([], seconds)

    def switched(
        self, text: str, numbers: list[int], inputs: tuple, seconds: float
    ) -> tuple[list[tuple | None], float]:
        """The same of a kernel of many changes, by the numbers of these. Raises NotCompiled."""
        self._ask("switched", text=text, numbers=numbers, inputs=inputs, seconds=seconds)
        done = self._reply(COMPILE + 10 * BUSY * seconds)
        if done.raised and done.raised.kind == "CompileError":
            raise NotCompiled(done.raised.line)
        return (done.result, done.seconds) if isinstance(done.result, list) else ([], seconds)

    def text_printed(self) -> str:
        """What the answer printed, cut to a length that can be read."""
        if not self.printed.exists():  # where nothing is shut off, the answer may have removed it
            return ""
        size = self.printed.stat().st_size
        with self.printed.open("rb") as file:
            text = file.read(4 * PRINTED).decode(errors="replace")
        shown = "\n".join(text[:PRINTED].split("\n")[:LINES])
        cut = len(shown) < len(text) or size > 4 * PRINTED
        return shown + (f"\n... ({size:,} bytes in all)" if cut else "")

    def _ask(self, what: str, **more: Any) -> None:
        if self.process is not None:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is gone: the reply says so
                sandboxed.send(self.process.connection, self.token, {"what": what, **more})

    def _reply(self, seconds: float | None = None) -> Done:
        """What comes back; for what cannot come back, Done with a RaisedError that says why."""
        if self.process is None:
            return Done(raised=RaisedError(ENDED, "it ran no longer"))
        # its own alarm comes first, after its seconds in all
        deadline = time.monotonic() + (BUSY * self.exercise.seconds + PATIENCE if seconds is None else seconds)
        try:
            done = Done(**self._receive(deadline))
        except TimeoutError:
            self._end()
            return Done(raised=RaisedError(KILLED, f"{self.exercise.seconds:g}"))
        except (EOFError, ConnectionResetError):
            ended = self.process.ends(1.0)  # else it has closed the connection, and goes on
            status = self._end()
            by_itself = ended and status != sandboxed.LOST
            return Done(raised=RaisedError(ENDED, str(status)) if by_itself else RaisedError(FORGED, ""))
        except (plain.NotPlain, TypeError):
            self._end()
            return Done(raised=RaisedError(FORGED, ""))
        if done.raised and done.raised.kind == FAILED:
            raise RuntimeError(f"the process for the answer could not begin: {done.raised.message}")
        self.borrowed = done.borrowed
        return done

    def _receive(self, deadline: float) -> dict:
        head = self._exactly(sandboxed.HEAD, deadline)
        size = int.from_bytes(head[sandboxed.TOKEN :], "little")
        if head[: sandboxed.TOKEN] != self.token or size > MOST:
            raise plain.NotPlain
        message = plain.loads(self._exactly(size, deadline))
        if select.select([self.process.connection], [], [], 0)[0] and self.process.connection.recv(1, socket.MSG_PEEK):
            raise plain.NotPlain  # more than was asked for
        return message

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.process.connection], [], [], wait)[0]:
                raise TimeoutError
            piece = self.process.connection.recv(min(1 << 20, count - len(data)))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _end(self) -> int:
        process, self.process = self.process, None
        return process.end() if process is not None else 0
