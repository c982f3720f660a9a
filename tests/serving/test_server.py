"""serving/app.py over real connections: what is asked for is written, what is wrong is said, what is left is freed."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from course_lib import generation
from course_lib.generation import Choice
from course_lib.serving.app import Limits
from course_lib.serving.protocol import Writer
from course_lib.serving.server import application, is_loopback
from tests.serving.conftest import served

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"


CLIENT = httpx.Client(
    verify=False, timeout=60, limits=httpx.Limits(max_connections=100)
)  # a client of its own takes 30 ms


def post(address, path, **body):
    return CLIENT.post(address + path, json=body)


def events(response) -> list[dict]:
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def wait_until(true, seconds=20.0):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def test_a_completion_is_what_the_model_writes(address, model, tokenizer):
    _, url = address
    answer = post(url, COMPLETIONS, prompt="Once upon", max_tokens=12, temperature=0.7, seed=3, n=2, echo=True).json()
    choice = Choice(0.7)
    for i, got in enumerate(answer["choices"]):
        ((ids, ended),) = generation.complete(model, tokenizer, [tokenizer.encode("Once upon")], 12, choice, [3 + i])
        assert got["index"] == i and got["finish_reason"] == ("stop" if ended else "length")
        assert got["text"] == "Once upon" + tokenizer.decode(ids[: len(ids) - ended])
    assert answer["usage"]["prompt_tokens"] == len(tokenizer.encode("Once upon"))
    assert answer["object"] == "text_completion" and answer["model"] == "tiny"


def test_a_stream_has_the_same_text_in_pieces(address):
    _, url = address
    asked = {"prompt": ["Once", "The"], "max_tokens": 9, "temperature": 0.0}
    whole = post(url, COMPLETIONS, **asked).json()
    response = post(url, COMPLETIONS, **asked, stream=True, stream_options={"include_usage": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    found = ["", ""]
    *pieces, last = events(response)
    for piece in pieces:
        found[piece["choices"][0]["index"]] += piece["choices"][0]["text"]
    assert found == [choice["text"] for choice in whole["choices"]]
    assert last["usage"] == whole["usage"] and last["choices"] == []


def test_a_chat_is_answered(address, tokenizer):
    _, url = address
    turns = [{"role": "user", "content": "Write."}, {"role": "assistant", "content": "No."}]
    asked = {"messages": [*turns, {"role": "user", "content": [{"type": "text", "text": "Please."}]}], "temperature": 0}
    whole = post(url, CHAT, **asked, max_completion_tokens=5).json()
    pieces = events(post(url, CHAT, **asked, max_tokens=5, stream=True))
    assert pieces[0]["choices"][0]["delta"]["role"] == "assistant"
    text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces)
    assert text == whole["choices"][0]["message"]["content"] and whole["object"] == "chat.completion"
    refused = post(url, CHAT, messages=[{"role": "system", "content": "Be kind."}])
    assert refused.status_code == 400 and "knows no system messages" in refused.json()["error"]["message"]


def test_a_stop_string_ends_a_text_and_is_not_shown(address):
    server, url = address
    text = post(url, COMPLETIONS, prompt="Once", max_tokens=20, temperature=0).json()["choices"][0]["text"]
    stop = text[5:8]
    asked = {"prompt": "Once", "max_tokens": 20, "temperature": 0, "stop": ["never there", stop]}
    choice = post(url, COMPLETIONS, **asked).json()["choices"][0]
    assert choice["text"] == text[: text.index(stop)] and choice["finish_reason"] == "stop"
    pieces = events(post(url, COMPLETIONS, **asked, stream=True))
    assert "".join(piece["choices"][0]["text"] for piece in pieces) == choice["text"]
    wait_until(lambda: server.service.engine.pool.held == 0)


def test_a_writer_holds_back_what_may_become_a_stop_string(tokenizer):
    writer, shown = Writer(tokenizer, ("abc",)), []
    for letter in "xababdabc!":
        shown.append(writer.add(tokenizer.encode(letter)[0], last=False))
        if writer.stopped:
            break
    assert "".join(shown) == "xababd" and shown[1] == "" and writer.stopped
    writer = Writer(tokenizer, ("abc",))
    assert writer.add(tokenizer.encode("a")[0], last=False) == "" and writer.add(None, last=True) == "a"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"prompt": "a", "temperature": -1}, "temperature is -1; it must be from 0 to 2."),
        ({"prompt": "a", "temperature": "hot"}, "temperature is a string; it must be a number."),
        ({"prompt": "a", "max_tokens": 2.5}, "max_tokens is a number; it must be a whole number."),
        ({"prompt": "a", "n": True}, "n is a boolean; it must be a whole number."),
        ({"prompt": "a", "n": 99}, "1 to 16 texts"),
        ({"prompt": "a", "logprobs": 3}, "This server has no logprobs: leave it out."),
        ({"prompt": "a", "promt": "b"}, "There is no field 'promt' in this request."),
        ({"prompt": 7}, "prompt is a string, a list of strings"),
        ({"prompt": [1, -1]}, "A token of the prompt is not one of"),
        ({"prompt": ["a"] * 17}, "There are 17 prompts"),
        ({"prompt": "\ud800"}, "half of a surrogate pair"),
        ({"prompt": "a " * 5000}, "cannot fit this model's context"),
        ({"prompt": [5] * 64}, "The prompt has 65 tokens, and this model reads 64 at most"),
        ({"prompt": "a", "stop": ["x"] * 5}, "stop is a string, or a list of at most 4"),
        ({"prompt": "a", "stream": 1}, "stream is a number; it must be true or false."),
        ({"prompt": "a", "stream_options": [1]}, "stream_options is an object"),
        ({"prompt": "a", "user": 5}, "user is a number; it must be a string."),
        ([1], "The body is a list; it must be a JSON object."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(address, body, words):
    content = json.dumps(body)  # with a surrogate as JSON can say it
    response = CLIENT.post(address[1] + COMPLETIONS, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 400 and words in response.json()["error"]["message"]


def test_what_is_no_request_at_all(address):
    _, url = address
    as_json = {"content-type": "application/json"}
    for content in (b"", b"{", b"[" * 50_000, b'{"n": ' + b"9" * 9999 + b"}", b"\xff\xfe", b'{"prompt": NaN}'):
        assert CLIENT.post(url + COMPLETIONS, content=content, headers=as_json).status_code == 400
    assert CLIENT.post(url + COMPLETIONS, content=b"x" * (2 << 20), headers=as_json).status_code == 413
    assert CLIENT.post(url + COMPLETIONS, content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    assert CLIENT.get(url + COMPLETIONS).status_code == 405 and CLIENT.get(url + "/v2").status_code == 404
    other_site = CLIENT.get(url + "/v1/models", headers={"host": "evil.example"})
    assert other_site.status_code == 403 and "answers to localhost" in other_site.json()["error"]["message"]


def test_a_token_is_asked_for_where_there_is_one(model, tokenizer, monkeypatch):
    with served(model, tokenizer, token="secret") as (server, url):
        for headers, status in (
            ({}, 401),
            ({"authorization": "Bearer wrong"}, 401),
            ({"authorization": "Bearer secret"}, 200),
        ):
            assert CLIENT.get(url + "/v1/models", headers=headers).status_code == status
        monkeypatch.delenv("COURSE_API_TOKEN", raising=False)
        for host in ("0.0.0.0", "192.168.1.5", "example.org", "::"):
            assert not is_loopback(host)
            with pytest.raises(ValueError, match="set COURSE_API_TOKEN"):
                application(server.service, tokenizer, "tiny", host)
        assert application(server.service, tokenizer, "tiny", "::1").token is None
        monkeypatch.setenv("COURSE_API_TOKEN", "long")
        assert application(server.service, tokenizer, "tiny", "0.0.0.0").token == "long"


def test_64_users_get_their_own_texts_and_a_full_queue_says_when_to_come_back(model, tokenizer):
    def ask(number):
        return post(url, COMPLETIONS, prompt="Once", max_tokens=10, temperature=1, seed=number, user=str(number))

    with served(model, tokenizer, batch=16) as (server, url), ThreadPoolExecutor(64) as users:
        answers = list(users.map(ask, range(64)))
        for number in range(0, 64, 4):
            ((ids, ended),) = generation.complete(
                model, tokenizer, [tokenizer.encode("Once")], 10, Choice(1.0), [number]
            )
            assert answers[number].json()["choices"][0]["text"] == tokenizer.decode(ids[: len(ids) - ended])
        assert server.service.engine.pool.held == 0
        metrics = CLIENT.get(url + "/metrics").text
        assert 'course_responses_total{code="200"} 64' in metrics
        assert "course_first_token_seconds_count 64" in metrics and "course_pages_held 0" in metrics
    with served(model, tokenizer, batch=1, queue=2) as (server, url), ThreadPoolExecutor(12) as users:
        found = list(users.map(ask, range(12)))
        refused = [response for response in found if response.status_code == 429]
        assert refused and all(int(response.headers["retry-after"]) >= 1 for response in refused)
        assert "are waiting already" in refused[0].json()["error"]["message"]
        assert {response.status_code for response in found} == {200, 429}
        assert ask(1).status_code == 200


def test_a_client_that_hangs_up_frees_its_pages(model, tokenizer):
    """Before the first token, after one, in a stream and while it waits for the whole."""
    slow = {"prompt": "Once", "max_tokens": 60, "temperature": 1, "n": 16}
    with served(model, tokenizer, batch=16) as (server, url):
        engine, step = server.service.engine, server.service.engine.step
        engine.step = lambda: (time.sleep(0.03), step())  # else all may be written before a busy machine hears of it
        for stream in (True, False):
            for read in (0, 1, 900):
                body = json.dumps(slow | {"stream": stream}).encode()
                with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as raw:
                    head = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                    if read and stream:
                        raw.recv(read)
                    else:
                        wait_until(lambda: engine.busy or engine.steps)
                wait_until(lambda: not engine.busy and engine.pool.held == 0)
        assert server.metrics.hang_ups >= 1
        assert post(url, COMPLETIONS, prompt="Once").status_code == 200


def test_a_reader_who_takes_nothing_holds_no_page(model, tokenizer):
    with served(model, tokenizer, limits=Limits(stall=0.5)) as (server, url):
        with CLIENT.stream(
            "POST", url + COMPLETIONS, json={"prompt": "Once", "max_tokens": 50, "stream": True}
        ) as response:
            wait_until(lambda: server.service.engine.steps >= 2)
            wait_until(lambda: not server.service.engine.busy and server.service.engine.pool.held == 0)
            assert response.read().endswith(b"data: [DONE]\n\n")


def test_time_limits(model, tokenizer):
    with served(model, tokenizer, limits=Limits(answering=0.0, reading=0.2)) as (server, url):
        late = post(url, COMPLETIONS, prompt="Once", max_tokens=50)
        assert late.status_code == 504 and "more than 0 s" in late.json()["error"]["message"]

        def drip():
            yield b"{"
            time.sleep(0.6)
            yield b"}"

        slow = CLIENT.post(url + COMPLETIONS, content=drip(), headers={"content-type": "application/json"})
        assert slow.status_code == 408
        wait_until(lambda: server.service.engine.pool.held == 0)


def test_a_step_that_fails_is_told_and_the_next_request_is_served(model, tokenizer, monkeypatch):
    with served(model, tokenizer) as (server, url):
        engine = server.service.engine

        def fail(additions):
            raise MemoryError("no more")

        with monkeypatch.context() as patched:
            patched.setattr(engine.paged, "logits", fail)
            broken = post(url, COMPLETIONS, prompt="Once")
            assert broken.status_code == 500 and "try again" in broken.json()["error"]["message"]
            assert "try again" in events(post(url, COMPLETIONS, prompt="Once", stream=True))[0]["error"]["message"]
        assert post(url, COMPLETIONS, prompt="Once").status_code == 200 and engine.pool.held == 0


def test_while_it_stops_what_runs_ends_and_nothing_new_is_taken(model, tokenizer):
    with served(model, tokenizer) as (server, url), ThreadPoolExecutor(2) as users:
        long = users.submit(post, url, COMPLETIONS, prompt="Once", max_tokens=40)
        wait_until(lambda: server.service.engine.steps > 0)
        server.service.stop(20.0)
        assert long.result().status_code == 200
        refused = post(url, COMPLETIONS, prompt="Once")
        assert refused.status_code == 503 and "about to stop" in refused.json()["error"]["message"]
