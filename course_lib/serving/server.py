"""`course serve-api`: a run behind HTTP until Ctrl-C.

Promises: on the loopback address unless told otherwise, and never on another without a token (COURSE_API_TOKEN); connections
are limited; Ctrl-C or SIGTERM lets what is being written end, for half a minute.
Limit: one process, no TLS: in front of the open internet stands a proxy that has it, which also ends connections that send their
headers slowly (uvicorn sets them no time).
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
from pathlib import Path

import uvicorn

from course_lib.serving import quantised
from course_lib.serving.app import HERE, LIMITS, Limits, Server
from course_lib.serving.drafts import Draft, Lookup, SmallModel
from course_lib.serving.engine import Engine
from course_lib.serving.service import Service
from course_lib.tokenizer import Tokenizer

TOKEN = "COURSE_API_TOKEN"  # a variable, since a command line can be read by every user of the machine
LOOKUP = "lookup"  # a draft that is no run: what followed in the same text
GRACE = 30  # seconds for what is being written when the server is told to stop


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def application(service: Service, tokenizer, model: str, host: str = "127.0.0.1", limits: Limits = LIMITS) -> Server:
    """The application for an address. Raises ValueError where it needs a token and there is none."""
    token = os.environ.get(TOKEN) or None
    if token is None and not is_loopback(host):
        raise ValueError(
            f"{host} can be reached from other machines, so the server needs a token there: set {TOKEN} to a long random text, "
            "which clients send as their API key. Without one it serves --host 127.0.0.1."
        )
    return Server(service, tokenizer, model, token, None if token else HERE, limits)


def configured(server: Server, host: str, port: int) -> uvicorn.Server:
    """uvicorn with our limits. At most as many connections as can be served, queued and refused with a sentence."""
    service = server.service
    most = 2 * (service.engine.batch + service.queue) + 64
    return uvicorn.Server(
        uvicorn.Config(
            server.app, host, port, log_level="warning", access_log=False, limit_concurrency=most, timeout_keep_alive=10,
            timeout_graceful_shutdown=GRACE, h11_max_incomplete_event_size=1 << 16, lifespan="off", http="h11", ws="none",
        )
    )  # fmt: skip


def make_draft(source: str, tokenizer: Tokenizer, device: str, batch: int) -> Draft:
    """What proposes tokens: LOOKUP, or the model of a run. Raises CheckpointError, and ValueError for a run with other tokens."""
    if source == LOOKUP:
        return Lookup(tokenizer.vocab_size)
    model, of_draft, _ = quantised.load(source, device)
    if of_draft.to_json() != tokenizer.to_json():
        raise ValueError(
            f"The model in {source} has other tokens than the one that is served, so it cannot draft for it: train it on the "
            f"same text with a vocabulary of {tokenizer.vocab_size}, or take --draft {LOOKUP}."
        )
    return SmallModel(model, tokenizer.vocab_size, batch)


def serve(
    folder: str, device: str, host: str, port: int, batch: int, queue: int, pages: int | None, cache: str,
    draft: str | None,
) -> None:  # fmt: skip
    """Serve a run, or a quantised file, until it is told to stop. Raises ValueError and CheckpointError."""
    model, tokenizer, _ = quantised.load(folder, device)
    name = Path(folder).resolve().name
    drafts = None if draft is None else make_draft(draft, tokenizer, device, batch)
    engine = Engine(model, tokenizer, batch, max(128, batch), pages, cache=cache, draft=drafts)
    with Service(engine, queue) as service:
        server = application(service, tokenizer, name, host)
        running = configured(server, host, port)
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind((host, port))
                listening.listen()
            except OSError as error:
                raise ValueError(
                    f"Port {port} of {host} is not to be had ({error.strerror}): choose another, --port N."
                ) from None
            shown = f"[{host}]" if ":" in host else host
            print(
                f"{name} is served at   http://{shown}:{listening.getsockname()[1]}/v1\n"
                f"OpenAI's clients reach it there as their base_url. {batch} texts at once, {queue} in the queue, a cache of "
                f"{engine.paged.bytes / 1e6:.1f} MB. Ctrl-C stops.",
                flush=True,
            )
            signal.signal(
                signal.SIGTERM, lambda *_: None
            )  # uvicorn handles it, and sends it once more when it has ended
            with contextlib.suppress(KeyboardInterrupt):
                running.run(sockets=[listening])
        service.stop(GRACE)
    print("Stopped.")
