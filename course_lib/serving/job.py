"""One HTTP request and the texts that the engine writes for it: between the event loop and the engine's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from course_lib.serving import protocol, texts
from course_lib.serving.metrics import Metrics
from course_lib.serving.protocol import Asked
from course_lib.serving.service import Service
from course_lib.tokenizer import Tokenizer


class Refused(Exception):
    """A response other than the one that was asked for."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error", param=None, **headers: str):
        self.status, self.content, self.headers = status, protocol.error(message, kind, param), headers


class Job:
    """What one HTTP request asked of the engine: events of its texts as they come, on the event loop."""

    def __init__(self, service: Service, asked: Asked):
        self.service, self.asked = service, asked
        self.began = time.perf_counter()
        self.events: asyncio.Queue = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def teller(first: int) -> Callable[[int, int | None, str | None], None]:
            def tell(index: int, token: int | None, why: str | None) -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self.events.put_nowait, (first + index, token, why))

            return tell

        self.requests = []
        for number, ids in enumerate(asked.prompts):
            first = number * asked.texts  # text i of all is drawn with seed + i
            seeds = range(asked.seed + first, asked.seed + first + asked.texts)
            self.requests.append(texts.Request(ids, asked.tokens, asked.choice, seeds, asked.client, teller(first)))
        service.submit(*self.requests)

    def cancel(self) -> None:
        """Nobody waits for what is left."""
        for request in self.requests:
            self.service.cancel(request)

    async def pieces(self, tokenizer: Tokenizer, metrics: Metrics) -> AsyncIterator[tuple[int, str, str | None]]:
        """(text, piece, why it ended or None), until all have ended. Raises Refused if the engine failed."""
        asked = self.asked
        writers = [protocol.Writer(tokenizer, asked.stop) for _ in range(asked.count)]
        last = [self.began] * asked.count
        left = set(range(asked.count))
        fresh = set(left)
        metrics.prompt_tokens += sum(map(len, asked.prompts))
        while left:
            index, token, why = await self.events.get()
            if index not in left:
                continue
            if why in (texts.FAILED, texts.CANCELLED):
                raise Refused(500, "The server failed while it wrote this text: try again.", "server_error")
            now = time.perf_counter()
            (metrics.first_token if index in fresh else metrics.between_tokens).observe(now - last[index])
            fresh.discard(index)
            last[index] = now
            metrics.written_tokens += 1
            piece = writers[index].add(token, last=why is not None)
            if writers[index].stopped:
                why = texts.STOP
                self._stop(index)
            if why:
                left.discard(index)
            if piece or why:
                yield index, piece, why

    def _stop(self, index: int) -> None:
        """A stop string came: a request ends if all its texts have, and the others go on."""
        request = self.requests[index // self.asked.texts]
        request.stopped.add(index % self.asked.texts)
        self.service.wake()

    @property
    def written(self) -> int:
        return sum(len(ids) for request in self.requests for ids in request.written)
