"""The HTTP server as an ASGI application: OpenAI's completions and chat completions, /v1/models, /health, /metrics.

Promises: whatever comes in, the answer is JSON with a sentence in it, or a stream that ends; a client that hangs up frees its
pages at the next step; nothing grows with the number of requests. A reader who is slow holds no page: the text is written at the
engine's pace and waits in memory, at most a context of it, for `stall` seconds at a time.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from course_lib.serving import protocol
from course_lib.serving.job import Job, Refused
from course_lib.serving.metrics import TYPE, Metrics
from course_lib.serving.protocol import BadRequest
from course_lib.serving.service import Full, Service, Stopping
from course_lib.tokenizer import Tokenizer

HERE = ("localhost", "127.0.0.1", "[::1]")
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Limits:
    """What one request may take. Seconds, and bytes of a body."""

    body: int = 1 << 20
    reading: float = 10.0  # until the body is there
    answering: float = 300.0  # until the answer is there, the queue included
    stall: float = 30.0  # until a piece of a stream is taken


LIMITS = Limits()


class Server:
    """The application for one service. token: what clients must show, or None; hosts: names that the Host header may have, or
    None for any."""

    def __init__(
        self, service: Service, tokenizer: Tokenizer, model: str, token: str | None = None,
        hosts: tuple[str, ...] | None = HERE, limits: Limits = LIMITS,
    ):  # fmt: skip
        self.service, self.tokenizer, self.model, self.limits = service, tokenizer, model, limits
        self.token, self.hosts, self.metrics = token, hosts, Metrics()
        self.longest = max(len(tokenizer.token_bytes(token)) for token in range(tokenizer.vocab_size))
        self.made = int(time.time())
        routes = {
            "/v1/completions": (self.complete, "POST"),
            "/v1/chat/completions": (self.complete, "POST"),
            "/v1/models": (self.models, "GET"),
            "/health": (self.health, "GET"),
            "/metrics": (self.show_metrics, "GET"),
        }
        self.app = Starlette(
            routes=[Route(path, self._guarded(work), methods=[method]) for path, (work, method) in routes.items()],
            exception_handlers={HTTPException: self._no_route},
        )

    async def _no_route(self, request: Request, error: Exception) -> Response:
        message = f"There is nothing at {request.method} {request.url.path[:100]}: this server has POST /v1/completions and more."
        return self._json(protocol.error(message, "invalid_request_error"), getattr(error, "status_code", 404))

    def _json(self, content: dict, status: int = 200, headers: dict | None = None) -> Response:
        self.metrics.responses[status] += 1
        return JSONResponse(content, status, headers)

    def _guarded(self, work: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def run(request: Request) -> Response:
            try:
                self._check_caller(request)
                return await work(request)
            except Refused as refused:
                return self._json(refused.content, refused.status, refused.headers)
            except ClientDisconnect:
                self.metrics.hang_ups += 1
                return Response(status_code=499)  # nobody reads it

        return run

    def _check_caller(self, request: Request) -> None:
        """A page of the internet that a browser of this machine shows must not reach a server without a token."""
        host = request.headers.get("host", "").rpartition(":")
        host = host[0] if host[0] and not host[2].endswith("]") else "".join(host)
        if self.hosts is not None and host.lower() not in self.hosts:
            raise Refused(403, f"This server answers to {', '.join(self.hosts)} only, not to {host[:100]!r}.")
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.token is not None and not hmac.compare_digest(given.encode(), self.token.encode()):
            raise Refused(
                401, "This server requires its token: send the header Authorization: Bearer TOKEN.", "authentication_error",
                **{"WWW-Authenticate": "Bearer"},
            )  # fmt: skip

    async def models(self, request: Request) -> Response:
        """The one model."""
        own = {"id": self.model, "object": "model", "created": self.made, "owned_by": "you"}
        return self._json({"object": "list", "data": [own]})

    async def health(self, request: Request) -> Response:
        """That the server is alive."""
        return self._json({"status": "ok", "running": self.service.running, "waiting": self.service.waiting})

    async def show_metrics(self, request: Request) -> Response:
        """For Prometheus."""
        return PlainTextResponse(self.metrics.text(self.service), media_type=TYPE)

    async def _body(self, request: Request):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # what a browser sends to another site without asking that site has another type
            raise Refused(415, f"The body must be of the type application/json, not {kind[:100] or 'nothing'}.")
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.limits.reading):
                async for part in request.stream():
                    size += len(part)
                    if size > self.limits.body:
                        raise Refused(413, f"A body has {self.limits.body:,} bytes at most.")
                    parts.append(part)
        except TimeoutError:
            raise Refused(408, f"The body did not arrive within {self.limits.reading:g} s.") from None
        try:
            return json.loads(b"".join(parts))
        except (ValueError, RecursionError):
            raise Refused(400, "The body is not JSON.") from None

    async def complete(self, request: Request) -> Response:
        """A completion, or a chat's."""
        body = await self._body(request)
        is_chat = request.url.path.endswith("/chat/completions")
        try:
            asked = protocol.read(body, is_chat, self.tokenizer, self.service.engine.context, self.longest)
            job = Job(self.service, asked)
        except BadRequest as error:
            raise Refused(400, str(error), param=error.param) from None
        except ValueError as error:  # the engine's: it can never be served
            raise Refused(400, str(error)) from None
        except Full as error:
            raise Refused(429, str(error), "rate_limit_error", **{"Retry-After": str(error.seconds)}) from None
        except Stopping as error:
            raise Refused(503, str(error), "server_error", **{"Retry-After": "10"}) from None
        name = f"{'chatcmpl' if is_chat else 'cmpl'}-{secrets.token_hex(12)}"
        if asked.stream:
            return Stream(self, job, name)
        try:
            return await until_gone(request.receive, self._whole(job, name))
        finally:
            job.cancel()  # of no effect on what has ended

    async def _whole(self, job: Job, name: str) -> Response:
        asked = job.asked
        texts = [asked.echo[i // asked.texts] for i in range(asked.count)]
        ends: list[str] = [""] * asked.count
        try:
            async with asyncio.timeout(self.limits.answering):
                async for index, piece, why in job.pieces(self.tokenizer, self.metrics):
                    texts[index] += piece
                    ends[index] = why or ""
        except TimeoutError:
            raise Refused(504, f"The answer took more than {self.limits.answering:g} s.", "server_error") from None
        usage = protocol.counted(asked.prompts, job.written)
        return self._json(protocol.answer(asked, name, int(time.time()), self.model, texts, ends, usage))


class Stream(Response):
    """Server-sent events, an event for each piece."""

    media_type = "text/event-stream"

    def __init__(self, server: Server, job: Job, name: str):
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]  # not known
        self.server, self.job, self.name = server, job, name

    async def __call__(self, scope, receive, send) -> None:
        """Send the events. Where the reader is gone or takes nothing, the last one is missing, and the connection is closed."""
        self.server.metrics.responses[200] += 1
        try:
            await until_gone(receive, self._send_all(send))
        except (ClientDisconnect, TimeoutError, OSError):
            self.server.metrics.hang_ups += 1
        finally:
            self.job.cancel()

    async def _send_all(self, send) -> None:
        stall = self.server.limits.stall

        async def send_bytes(data: bytes, more: bool = True) -> None:
            await asyncio.wait_for(send({"type": "http.response.body", "body": data, "more_body": more}), stall)

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async with asyncio.timeout(self.server.limits.answering):
                async for data in self._events():
                    await send_bytes(data)
        except Refused as refused:
            await send_bytes(_line(refused.content))
        await send_bytes(DONE, more=False)

    async def _events(self) -> AsyncIterator[bytes]:
        job, asked, server = self.job, self.job.asked, self.server
        made = int(time.time())
        fresh = set(range(asked.count))
        async for index, piece, why in job.pieces(server.tokenizer, server.metrics):
            first = index in fresh
            fresh.discard(index)
            piece = asked.echo[index // asked.texts] + piece if first else piece
            yield _line(protocol.event(asked, self.name, made, server.model, index, piece, why, first))
        if asked.usage:
            last = protocol.event(asked, self.name, made, server.model, 0, "", None, False)
            yield _line(last | {"choices": [], "usage": protocol.counted(asked.prompts, job.written)})


def _line(content: dict) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"


async def until_gone(receive: Callable[[], Awaitable[dict]], work: Awaitable):
    """The result of `work`; it is cancelled, and ClientDisconnect raised, when the client hangs up before."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(gone())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise ClientDisconnect
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
