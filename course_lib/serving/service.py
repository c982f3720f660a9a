"""An engine on a thread of its own, with a queue that has a limit.

Promises: `submit` returns at once; a step that fails ends the texts that were in it and no more; `stop` lets what runs end, for
a while. Limit: `Request.tell` is called on the engine's thread, and must be quick.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque

from course_lib.serving.engine import Engine
from course_lib.serving.texts import FAILED, Request


class Full(RuntimeError):
    """The queue is as long as it may be. `seconds`: when to try again."""

    def __init__(self, waiting: int, seconds: int):
        super().__init__(f"{waiting} requests are waiting already, and no more may: try again in {seconds} s.")
        self.seconds = seconds


class Stopping(RuntimeError):
    """No new requests: the server is about to end."""


class Service:
    """`with Service(engine) as service: service.submit(request)`."""

    def __init__(self, engine: Engine, queue: int = 64):
        self.engine, self.queue = engine, queue
        self._inbox: deque[Request] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._ends_at = float("inf")
        self._step_seconds = 0.0  # of the last steps, smoothed
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self.stop(0.0)

    @property
    def waiting(self) -> int:
        return len(self._inbox) + len(self.engine.waiting)

    @property
    def running(self) -> int:
        return len(self.engine.running)

    def submit(self, *requests: Request) -> None:
        """Queue them all, or none. Raises ValueError for one that can never be served, Full, and Stopping."""
        for request in requests:
            self.engine.check(request)
        with self._wake:
            if self._stopping:
                raise Stopping("The server is about to stop, and takes no new requests.")
            if self.waiting + len(requests) > self.queue:
                raise Full(self.waiting, self._seconds_until_room())
            self._inbox.extend(requests)
            self._wake.notify()

    def _seconds_until_room(self) -> int:
        """How long the texts that are being written take until one ends, about: half a context."""
        return max(1, round(self._step_seconds * self.engine.context / 2))

    def cancel(self, request: Request) -> None:
        """Nobody wants this any more."""
        request.stopped.update(range(len(request.seeds)))
        self.wake()

    def wake(self) -> None:
        """Something changed that the engine should look at."""
        with self._wake:
            self._wake.notify()

    def stop(self, seconds: float) -> None:
        """Take no new requests, and return when those that are there have ended, or after so many seconds."""
        with self._wake:
            self._stopping, self._ends_at = True, time.monotonic() + seconds
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        engine = self.engine
        while True:
            with self._wake:
                while not (self._inbox or engine.busy or self._stopping):
                    self._wake.wait()
                arrived = [self._inbox.popleft() for _ in range(len(self._inbox))]
                for request in arrived:
                    engine.submit(request)
            if self._stopping and (not engine.busy or time.monotonic() > self._ends_at):
                engine.abort(FAILED)
                return
            began = time.perf_counter()
            try:
                engine.step()
            except Exception:
                logging.getLogger(__name__).exception("A step failed, and every text that was being written with it.")
                engine.abort(FAILED)
            self._step_seconds += 0.1 * (time.perf_counter() - began - self._step_seconds)
