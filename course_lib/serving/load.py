"""Users who wait for their texts: what they see of an engine. No HTTP, no threads, one clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.generation import Choice
from course_lib.serving.engine import Engine
from course_lib.serving.texts import Request


@dataclass
class Seen:
    """What users saw. Seconds."""

    first: list[float] = field(default_factory=list)  # from a request to its first token
    between: list[float] = field(default_factory=list)  # between two tokens of a text
    tokens: int = 0
    seconds: float = 0.0

    @property
    def throughput(self) -> float:
        """Tokens per second, of all users together."""
        return self.tokens / self.seconds

    def percentiles(self) -> dict[str, tuple[float, float, float]]:
        """p50, p95 and p99 of the time to the first token and of that between tokens, in milliseconds."""
        named = {"first": self.first, "between": self.between}
        return {name: tuple(1e3 * np.percentile(times, (50, 95, 99))) for name, times in named.items()}


def serve(engine: Engine, users: int, prompts: Sequence[list[int]], tokens: int, choice: Choice) -> Seen:
    """`users` people share out the prompts; each sends the next one when the text before has ended (a closed loop)."""
    seen, left = Seen(), deque(enumerate(prompts))
    began = time.perf_counter()

    def send(user: int) -> None:
        if not left:
            return
        number, ids = left.popleft()
        last = time.perf_counter()
        fresh = True

        def tell(index: int, token: int | None, why: str | None) -> None:
            nonlocal last, fresh
            now = time.perf_counter()
            (seen.first if fresh else seen.between).append(now - last)
            last, fresh = now, False
            seen.tokens += 1
            if why is not None:
                send(user)

        engine.submit(Request(ids, tokens, choice, [number], client=str(user), tell=tell))

    for user in range(users):
        send(user)
    while engine.busy:
        engine.step()
    seen.seconds = time.perf_counter() - began
    return seen
