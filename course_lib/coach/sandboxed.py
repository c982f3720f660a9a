"""The process that an answer runs in. It holds nothing that is right: no expected value, no comparison.

It takes requests from its one connection, runs the answer, and sends plain data back: see sandbox.py for the other end.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import guard, paths
from course_lib.coach import answers, borrowed, catalogue, compare, kernel_source, plain, steps
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import RaisedError

TOKEN = 16  # bytes before each message: of this job, drawn at random
HEAD = TOKEN + 8
LOST = 71  # exit status: the connection is gone, which an answer has closed
BUSY = 4  # times an exercise's seconds may pass by the clock, on a busy machine
EACH = 0.03  # seconds of a changed text: most that take longer never end
EACH_LAUNCH = 0.5  # the same of a changed kernel, by the clock
FAILED = "Failed"  # kind of a RaisedError: this process could not begin, which is no fault of an answer


@dataclass
class Done:
    """What came of a request. changed: numbers of inputs that were altered. complaint: of what only this process can see.
    seconds: of the answer's own."""

    result: Any = None
    raised: RaisedError | None = None
    reports: list = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    complaint: str = ""
    borrowed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def fresh(connection: int) -> None:
    """The body of a process that was started ahead of time."""
    serve(socket.socket(fileno=connection))


def serve(connection: socket.socket) -> None:
    """Answer the requests of one job until the connection is closed. Never returns."""
    try:
        guard.end_with_parent()
        if os.getpid() != os.getsid(0):
            os.setsid()  # so that whatever an answer starts can be ended with it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for alarm in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(alarm, answers.time_is_over)
        token, job = receive(connection)
        for number in map(int, os.listdir("/dev/fd")):
            if number > 2 and number != connection.fileno():
                with contextlib.suppress(OSError):  # the one that the list was read through
                    os.close(number)
        try:
            runner = Runner(**job)
        except Exception as error:
            send(connection, token, {"raised": RaisedError(FAILED, f"{type(error).__name__}: {error}")})
            raise
        while True:
            asked, request = receive(connection)
            if asked != token:
                break
            send(connection, token, vars(runner.do(**request)))
    except OSError:
        os._exit(LOST)
    finally:
        _flush()
        os._exit(0)


def send(connection: socket.socket, token: bytes, message: Any) -> None:
    """One message: the job's token, the length, the data."""
    data = pickle.dumps(message, protocol=5)
    connection.sendall(token + len(data).to_bytes(8, "little"))
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[bytes, Any]:
    """The next message of the judge, with its token. Raises EOFError when the judge is gone."""
    head = _exactly(connection, HEAD)
    return head[:TOKEN], pickle.loads(_exactly(connection, int.from_bytes(head[TOKEN:], "little")))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(min(1 << 20, count - len(data)))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the answer has closed it, or printed more than fits
            stream.flush()


class Runner:
    """One answer, under its limits. printed: a file for what it prints. folder: where it may write."""

    def __init__(self, name: str, text: str, printed: str, folder: str):
        self.exercise: Exercise = catalogue.load(name)
        self.text, self.file = text, f"{self.exercise.name}{self.exercise.suffix}"
        self.answer, self.last = None, None
        self.marked: dict[str, Any] = {}  # kernels whose values are looked at, by their texts
        self.switchable: Any = None  # the text and kernel of many changes, once they were asked for
        # of processor time, so that other programs cost an answer nothing; a kernel's threads share all cores
        self.left = self.exercise.seconds * ((os.cpu_count() or 1) if self.exercise.is_kernel else 1)
        descriptor = os.open(printed, os.O_WRONLY | os.O_APPEND)
        for number in (1, 2):
            os.dup2(descriptor, number)
        sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace")
        sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace")
        sys.stdin = open(os.devnull)
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        writable = [Path(folder), Path("/dev")]
        if self.exercise.is_kernel:  # compiled here
            answers.launched(self.exercise)
            writable += [paths.cache("native"), paths.cache("answers")]
        if self.exercise.language == "wgsl":
            # To compile is most of a verdict. Mesa's driver keeps the result, where it may write.
            writable.append(paths.cache("shaders"))
            os.environ["MESA_SHADER_CACHE_DIR"] = str(writable[-1])
        self.watch = borrowed.Watch(self.exercise, text, self.file)
        guard.limit(self.exercise.seconds)
        guard.shut_off(writable)

    def do(self, what: str, **more: Any) -> Done:
        """Load the answer, call it with inputs, or count a goal; whatever it does, there is something to send."""
        done, left = Done(), self.left
        try:
            getattr(self, f"_{what}")(done, **more)
        except BaseException as error:  # even SystemExit
            try:
                done.raised = answers.raised(error, self.file, self.text)
            except BaseException:  # out of memory, or an exception that cannot be printed
                done.raised = RaisedError(type(error).__name__, "no message")
        done.borrowed, done.seconds = list(self.watch.names), left - self.left
        _flush()
        return done

    def _load(self, done: Done) -> None:
        if self.exercise.is_kernel:
            self.answer = answers.load_answer(self.exercise, self.text)
            self.answer.compile()
            return
        with self._timed(), self.watch:
            self.answer = answers.load_answer(self.exercise, self.text)
        self.watch.loaded(self.exercise, self.answer)

    def _call(self, done: Done, inputs: tuple, seed: int) -> None:
        exercise, given = self.exercise, copy.deepcopy(inputs)
        if exercise.is_kernel:
            self.answer.seed, self.answer.reports, self.answer.overwritten = seed, [], []
        try:
            with self._timed(), self.watch:
                got = answers.call(exercise, self.answer, given)
        finally:
            if exercise.is_kernel:
                done.reports = self.answer.reports
        done.result = plain.as_plain(got)
        done.changed = compare.changed(inputs, given)
        if exercise.is_kernel and self.answer.overwritten:
            done.complaint = kernel_source.overwritten(self.answer.overwritten)
        elif exercise.target.startswith("op:"):
            done.complaint = self._shared(got, given)

    def _others(self, done: Done, texts: list[str], inputs: tuple, seconds: float) -> None:
        """Other texts in the answer's place, each on its own copy of the inputs."""
        found: list = []
        with self._unheard() as began:
            for text in texts:
                if time.process_time() - began > seconds:
                    break
                given = copy.deepcopy(inputs)
                signal.setitimer(signal.ITIMER_PROF, EACH)
                try:
                    with answers.quiet():
                        got = answers.call(self.exercise, answers.load_answer(self.exercise, text), given)
                        result = (plain.as_plain(got), compare.changed(inputs, given))
                except BaseException:  # whatever it is, this text is not the one that is looked for
                    result = None
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                found.append(result)
        done.result = found

    def _steps(self, done: Done, texts: list[str], inputs: tuple, seconds: float) -> None:
        """Which numbers each of these texts computes on its way."""
        with self._aside(seconds):
            done.result = steps.recorded(self.exercise, texts, inputs)

    def _kernel_steps(self, done: Done, texts: list[tuple[str, int]], inputs: tuple, seconds: float) -> None:
        """The same of marked kernels (kernel_steps.py), each with the number of its sites."""
        from course_lib.coach import kernel_steps

        done.result = []
        for text, sites in texts:
            watched = self.marked[text] = self.marked.get(text) or answers.load_answer(self.exercise, text)
            kernel_steps.forget(watched)
            with self._aside(seconds):
                answers.call(self.exercise, watched, copy.deepcopy(inputs))
                done.result.append(kernel_steps.recorded(watched, sites))

    def _instead(
        self, done: Done, text: str, other: str, pairs: list[tuple[int, int]], inputs: tuple, seconds: float
    ) -> None:
        """What a text gives with another text's values at one of its sites, for each pair of sites."""
        done.result = []
        with self._aside(seconds):
            for found in steps.instead(self.exercise, text, other, pairs, inputs):
                done.result.append(found and (plain.as_plain(found[0]), compare.changed(inputs, found[1])))

    @contextlib.contextmanager
    def _aside(self, seconds: float) -> Iterator[None]:
        """What is not the answer's own run, for so many seconds of processor time."""
        with self._unheard():
            with contextlib.suppress(BaseException):  # what is there by then is used
                signal.setitimer(signal.ITIMER_PROF, seconds)
                yield
            signal.setitimer(signal.ITIMER_PROF, 0)

    @contextlib.contextmanager
    def _unheard(self) -> Iterator[float]:
        """What is printed here goes nowhere. The time, which began at what this gives, is taken from the answer's."""
        began = time.process_time()
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            yield began
        self.left -= time.process_time() - began

    def _switched(self, done: Done, text: str, numbers: list[int], inputs: tuple, seconds: float) -> None:
        """A kernel of many changes (slips/kernel_edits.py), with each of these in force: its result where nothing is wrong."""
        if self.switchable is None or self.switchable[0] != text:
            watched = answers.load_answer(self.exercise, text)
            watched.compile()
            watched.timeout = EACH_LAUNCH
            self.switchable = text, watched
        watched = self.switchable[1]
        found: list = []
        with self._unheard() as began:
            for number in numbers:
                if found and time.process_time() - began > seconds:
                    break
                given = copy.deepcopy(inputs)
                watched.switch(number)
                try:
                    with answers.quiet():
                        got = answers.call(self.exercise, watched, given)
                    clean = not any(report.issues for report in watched.reports)
                    result = (plain.as_plain(got), compare.changed(inputs, given)) if clean else None
                except Exception:  # whatever it is, this change is not the one that is looked for
                    result = None
                found.append(result)
        done.result = found

    def _shared(self, got: Any, given: tuple) -> str:
        """A sentence if a result is no new array: if it lies in the memory of an input, or of the result before."""
        new = [one for one in (got if isinstance(got, tuple | list) else (got,)) if isinstance(one, np.ndarray)]
        inputs = [one for one in given if isinstance(one, np.ndarray)]
        before, self.last = self.last or [], new
        if any(np.shares_memory(a, b) for a in new for b in inputs):
            return "The result lies in the memory of an input: who changes the one later changes the other. Return a new array."
        if any(np.shares_memory(a, b) for a in new for b in before):
            return (
                "The result lies in the memory of the result before: the next call overwrites it. Return a new array."
            )
        return ""

    def _goal(self, done: Done, number: int) -> None:
        with self._timed(), self.watch:
            done.result = plain.as_plain(self.exercise.goals[number].counts(self.answer))

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """The answer's own time: what is left of its seconds, and BUSY times as much by the clock, for one that only waits."""
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, max(self.left, 0.001))
        signal.setitimer(signal.ITIMER_REAL, BUSY * max(self.left, 0.001))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.left -= time.process_time() - began
