"""What a server must survive: malformed requests of every kind, disconnects at any byte, being killed, many requests in a row.

1,000 malformed requests, 500 disconnects and 10,000 requests: python -m tests.serving.test_faults
"""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.generation import Choice
from course_lib.serving import quantised
from course_lib.serving.engine import Engine
from course_lib.serving.server import make_draft
from course_lib.serving.texts import Request
from course_lib.tokenizer import Tokenizer
from tests.serving.test_server import CHAT, CLIENT, COMPLETIONS, wait_until

pytestmark = pytest.mark.slow

FIELDS = ("prompt messages max_tokens max_completion_tokens temperature top_p top_k n seed stop stream stream_options user echo "
          "logprobs best_of model role content type text").split()  # fmt: skip
WORDS = ["user", "assistant", "text"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["user", "text"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=9,
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6) | JSON


def check_answer(url: str, path: str, body) -> int:
    """An answer of the server, or a refusal with a sentence in it."""
    content = body if isinstance(body, bytes) else json.dumps(body)
    response = CLIENT.post(url + path, content=content, headers={"content-type": "application/json"})
    if response.status_code == 200:
        assert b"choices" in response.content or b"[DONE]" in response.content
    else:
        assert response.status_code in (400, 413), response.text
        assert re.search(r"\w+ .*[.)]$", response.json()["error"]["message"])
    return response.status_code


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from([COMPLETIONS, CHAT]), body=BODIES)
def test_any_json_gets_an_answer_or_a_sentence(address, path, body):
    check_answer(address[1], path, body)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=40))
def test_any_bytes_get_a_sentence(address, body):
    check_answer(address[1], COMPLETIONS, body)


def hang_up(url: str, cut: int, read: int) -> None:
    """Send the first `cut` bytes of a request, read that many of the answer, and leave without a word."""
    body = json.dumps({"prompt": "Once", "max_tokens": 30, "stream": read % 2 == 0}).encode()
    head = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=5) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of a good-bye
        raw.sendall((head.encode() + body)[:cut])
        if cut >= len(head) + len(body):
            raw.recv(read)


def disconnect(server, url: str, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(count):
        hang_up(url, int(random.choice([random.integers(1, 220), 999])), int(random.integers(1, 3000)))
    wait_until(lambda: not server.service.engine.busy and server.service.engine.pool.held == 0)
    assert CLIENT.post(url + COMPLETIONS, json={"prompt": "Once"}).status_code == 200


def test_a_client_may_leave_at_any_byte(address):
    disconnect(*address, count=40, seed=0)


@pytest.fixture(scope="module")
def folder(model, tokenizer, tmp_path_factory):
    """A trained model in 4 bits, as `course export --quantise int4` leaves it."""
    path = tmp_path_factory.mktemp("run") / "last.safetensors"
    facts = {"step": 40, "config": model.config.to_dict(), "tokenizer": tokenizer.to_json(), "settings": {}}
    quantised.save(path, quantised.weights(model.state(), "int4"), facts)
    return path.parent


def start(folder, *more):
    """A server as a process of its own, over a cache of 8 bits, and its address."""
    command = [
        sys.executable,
        "-m",
        "course_lib.cli",
        "serve-api",
        "--run",
        str(folder),
        "--port",
        "0",
        "--device",
        "cpu",
        "--cache",
        "int8",
        *more,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    return process, re.search(r"(http://\S+)/v1", process.stdout.readline())[1]


def test_the_command_serves_is_killed_and_starts_again_and_stops_when_told(folder):
    """What it writes is what the engine writes by itself; the second time, with itself as a draft that is never wrong."""
    model, tokenizer, _ = quantised.load(folder)
    asked = {"prompt": "Once", "temperature": 0, "max_tokens": 9}
    engine, request = Engine(model, tokenizer, cache="int8"), Request(tokenizer.encode("Once"), 9, Choice(0.0), [0])
    engine.submit(request)
    while engine.busy:
        engine.step()
    written = [token for token in request.written[0] if token != tokenizer.end_id]
    process, url = start(folder)
    try:
        first = CLIENT.post(url + COMPLETIONS, json=asked).json()["choices"]
        assert first[0]["text"] == tokenizer.decode(written)
    finally:
        process.kill()
        process.wait()
    process, url = start(folder, "--draft", str(folder))
    try:
        assert CLIENT.post(url + COMPLETIONS, json=asked).json()["choices"] == first
        counts = dict(re.findall(r"^course_(\w+) (\d+)$", CLIENT.get(url + "/metrics").text, re.M))
        assert int(counts["drafted_tokens_total"]) >= int(counts["accepted_tokens_total"]) > 0
        assert int(counts["cache_bytes"]) == engine.paged.bytes
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0 and "Stopped." in process.stdout.read()
    finally:
        process.kill()
        process.wait()


def test_a_draft_with_other_tokens_is_refused(folder, text):
    with pytest.raises(
        ValueError, match=r"other tokens than the one that is served.*vocabulary of 300.*--draft lookup"
    ):
        make_draft(str(folder), Tokenizer.train(text, 300), "cpu", 1)


def main() -> None:
    """The long form, with memory before and after: run once in a while, not by pytest."""
    from course_lib import stories
    from course_lib.tuning import chat
    from tests.serving.conftest import served, train

    text = "\n".join(stories.write(0, 60))
    tokenizer = chat.with_turns(Tokenizer.train(text, 320))
    with served(train(text, tokenizer), tokenizer) as (server, url):
        seen: dict[int, int] = {}

        @settings(max_examples=1000, deadline=None, database=None)
        @given(path=st.sampled_from([COMPLETIONS, CHAT]), body=BODIES | st.binary(max_size=40))
        def malformed(path, body):
            status = check_answer(url, path, body)
            seen[status] = seen.get(status, 0) + 1

        malformed()
        print(f"malformed requests by status: {seen}")
        disconnect(server, url, 500, 1)
        print("500 disconnects: every page is free")
        began = time.monotonic()
        for count in range(10_001):
            if count % 2000 == 0:
                pages = int(open("/proc/self/statm").read().split()[1])  # resident
                print(
                    f"{count:6} requests, {pages * resource.getpagesize() / 2**20:.1f} MiB, {time.monotonic() - began:.0f} s",
                    flush=True,
                )
            body = {"prompt": f"Once {count % 97}", "max_tokens": 2, "seed": count, "stream": count % 3 == 0}
            assert CLIENT.post(url + COMPLETIONS, json=body).status_code == 200
        assert server.service.engine.pool.held == 0


if __name__ == "__main__":
    main()
