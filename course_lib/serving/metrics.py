"""What a server counts, in the text format of Prometheus (version 0.0.4). Called from one thread, the event loop's."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from course_lib.serving.service import Service

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # upper bounds of a histogram's buckets
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """How many observations fell into each bucket."""

    def __init__(self) -> None:
        self.counts, self.total = [0] * (len(SECONDS) + 1), 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    def lines(self, name: str) -> list[str]:
        found, below = [], 0
        for bound, count in zip((*SECONDS, "+Inf"), self.counts, strict=True):
            below += count
            found.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return [*found, f"{name}_sum {self.total:.6f}", f"{name}_count {below}"]


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self.responses: Counter[int] = Counter()  # by status code
        self.prompt_tokens = self.written_tokens = self.hang_ups = 0
        self.first_token, self.between_tokens = Histogram(), Histogram()

    def text(self, service: Service) -> str:
        """All of them, and what the engine is doing now."""
        engine = service.engine
        lines = []

        def add(kind: str, name: str, help: str, *values: str) -> None:
            lines.extend([f"# HELP course_{name} {help}", f"# TYPE course_{name} {kind}", *values])

        def number(kind: str, name: str, help: str, value: float) -> None:
            add(kind, name, help, f"course_{name} {value}")

        codes = [f'course_responses_total{{code="{code}"}} {count}' for code, count in sorted(self.responses.items())]
        add("counter", "responses_total", "HTTP responses by status code, those of this page not counted.", *codes)
        number("counter", "prompt_tokens_total", "Tokens of prompts.", self.prompt_tokens)
        number("counter", "written_tokens_total", "Tokens written.", self.written_tokens)
        number("counter", "hang_ups_total", "Requests whose client went away.", self.hang_ups)
        number("counter", "shared_tokens_total", "Tokens found in pages of earlier texts.", engine.shared)
        number("counter", "computed_tokens_total", "Tokens computed.", engine.computed)
        number("counter", "preempted_total", "Texts that gave their pages back and began again.", engine.preempted)
        number("counter", "drafted_tokens_total", "Tokens that a draft proposed.", engine.drafted)
        number("counter", "accepted_tokens_total", "Those of them that the model accepted.", engine.accepted)
        number("counter", "steps_total", "Passes of the model.", engine.steps)
        number("gauge", "running", "Texts that are being written.", service.running)
        number("gauge", "waiting", "Requests in the queue.", service.waiting)
        number("gauge", "pages_held", "Pages of the cache that some text holds.", engine.pool.held)
        number("gauge", "pages", "Pages of the cache.", engine.pool.count)
        number("gauge", "cache_bytes", "Bytes of all pages.", engine.paged.bytes)
        for name, help, histogram in (
            ("first_token_seconds", "From the request to its first token.", self.first_token),
            ("between_tokens_seconds", "Between two tokens of a text.", self.between_tokens),
        ):
            add("histogram", name, help, *histogram.lines(f"course_{name}"))
        return "\n".join(lines) + "\n"
