"""Requests and answers in the format of OpenAI's completions and chat completions, as far as a small model can follow it.

What is not supported is refused in a sentence rather than overlooked; `user`, `metadata` and `store` change nothing here. `top_k`
is taken too, which OpenAI has not. Nothing here knows HTTP.
"""

from __future__ import annotations

import codecs
import secrets
from dataclasses import dataclass
from typing import Any

from course_lib.generation import Choice
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat

COMMON = {"model", "max_tokens", "temperature", "top_p", "top_k", "n", "seed", "stop", "stream", "stream_options", "user",
          "metadata", "store"}  # fmt: skip
FIELDS = {False: COMMON | {"prompt", "echo"}, True: COMMON | {"messages", "max_completion_tokens"}}
NEUTRAL = {"logprobs": (None, False), "best_of": (None, 1), "presence_penalty": (None, 0), "frequency_penalty": (None, 0),
           "logit_bias": (None, {}), "suffix": (None, ""), "top_logprobs": (None, 0)}  # fmt: skip
STOPS, TOKENS = 4, 16  # stop strings at most; tokens if none are asked for, as OpenAI has it
MOST_PROMPTS = 16


class BadRequest(ValueError):
    """What is wrong with a request; `param` is the field."""

    def __init__(self, message: str, param: str | None = None):
        super().__init__(message)
        self.param = param


@dataclass(frozen=True)
class Asked:
    """A request that was understood. prompts: ids, without the end token. stop: strings that end a text."""

    chat: bool
    prompts: list[list[int]]
    texts: int  # after each prompt
    tokens: int
    choice: Choice
    seed: int
    stop: tuple[str, ...]
    stream: bool
    usage: bool  # as the last event of a stream
    echo: list[str]  # what stands before each prompt's texts
    client: str

    @property
    def count(self) -> int:
        """How many texts are to be written."""
        return len(self.prompts) * self.texts


def read(body: Any, is_chat: bool, tokenizer: Tokenizer, context: int, longest: int) -> Asked:
    """What a request asks for. Raises BadRequest. longest: bytes of the tokenizer's longest token.

    A text may go on until the model's context is full, if a chat's request sets no limit.
    """
    if not isinstance(body, dict):
        raise BadRequest(f"The body is {_kind(body)}; it must be a JSON object.")
    for name, value in body.items():
        if name in NEUTRAL and value not in NEUTRAL[name]:
            raise BadRequest(f"This server has no {name}: leave it out.", name)
        if name not in NEUTRAL and name not in FIELDS[is_chat]:
            raise BadRequest(f"There is no field {name[:50]!r} in this request.", name[:50])
    if is_chat:
        prompts, texts = [_messages(body, tokenizer, context * longest)], []
    else:
        prompts, texts = _prompts(body, tokenizer, context * longest)
    limit = _number(body, "max_tokens", None, 1, 1_000_000, whole=True)
    limit = limit or (_number(body, "max_completion_tokens", None, 1, 1_000_000, whole=True) if is_chat else None)
    try:
        choice = Choice(
            _number(body, "temperature", 1.0, 0, 2),
            _number(body, "top_k", None, 1, 1_000_000, whole=True),
            _number(body, "top_p", None, 0, 1),
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None
    seed = _number(body, "seed", None, -(2**63), 2**63 - 1, whole=True)
    stream, echo = _flag(body, "stream"), not is_chat and _flag(body, "echo")
    if echo and len(texts) != len(prompts):
        raise BadRequest("echo repeats a prompt that was given as text; this one was given as tokens.", "echo")
    options = body.get("stream_options") or {}
    if not isinstance(options, dict) or set(options) - {"include_usage", "include_obfuscation"}:
        raise BadRequest("stream_options is an object with the field include_usage.", "stream_options")
    client = body.get("user")
    if client is not None and not isinstance(client, str):
        raise BadRequest(f"user is {_kind(client)}; it must be a string.", "user")
    return Asked(
        is_chat, prompts, _number(body, "n", 1, 1, 128, whole=True), limit or (context if is_chat else TOKENS), choice,
        secrets.randbits(32) if seed is None else seed % 2**63, _stops(body), stream, bool(options.get("include_usage")),
        texts if echo else [""] * len(prompts), (client or "")[:64],
    )  # fmt: skip


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _number(body: dict, name: str, default: Any, low: float, high: float, whole: bool = False) -> Any:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise BadRequest(f"{name} is {_kind(value)}; it must be a {'whole ' * whole}number.", name)
    if not low <= value <= high:
        raise BadRequest(f"{name} is {value}; it must be from {low} to {high}.", name)
    return value


def _flag(body: dict, name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadRequest(f"{name} is {_kind(value)}; it must be true or false.", name)
    return bool(value)


def _stops(body: dict) -> tuple[str, ...]:
    stops = body.get("stop") or []
    stops = [stops] if isinstance(stops, str) else stops
    if (
        not isinstance(stops, list)
        or len(stops) > STOPS
        or not all(isinstance(x, str) and 0 < len(x) <= 200 for x in stops)
    ):
        raise BadRequest(f"stop is a string, or a list of at most {STOPS}, of 1 to 200 characters each.", "stop")
    return tuple(stops)


def _encoded(text: str, tokenizer: Tokenizer, most: int, param: str) -> list[int]:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRequest(f"{param} holds half of a surrogate pair, which is no character.", param) from None
    if size > most:  # found before it costs anything
        raise BadRequest(f"{param} has {size:,} bytes; more than {most:,} cannot fit this model's context.", param)
    return tokenizer.encode(text)


def _prompts(body: dict, tokenizer: Tokenizer, most: int) -> tuple[list[list[int]], list[str]]:
    """The prompts as tokens, and those that were given as text."""
    prompt = body.get("prompt", "")
    prompt = "" if prompt is None else prompt
    several = prompt if isinstance(prompt, list) and prompt and isinstance(prompt[0], str | list) else [prompt]
    if len(several) > MOST_PROMPTS:
        raise BadRequest(f"There are {len(several)} prompts; one request takes {MOST_PROMPTS} at most.", "prompt")
    found, texts = [], []
    for one in several:
        if isinstance(one, str):
            texts.append(one)
            found.append(_encoded(one, tokenizer, most, "prompt"))
        elif isinstance(one, list) and all(isinstance(token, int) and not isinstance(token, bool) for token in one):
            found.append(one)
        else:
            raise BadRequest(
                "prompt is a string, a list of strings, a list of tokens, or a list of such lists.", "prompt"
            )
    return found, texts


def _messages(body: dict, tokenizer: Tokenizer, most: int) -> list[int]:
    """A conversation as tokens, up to where the answer begins."""
    if not chat.has_turns(tokenizer):
        raise BadRequest(
            "This model goes on with texts, and was never taught to answer: use /v1/completions, or serve a fine-tuned run."
        )
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(one, dict) for one in messages):
        raise BadRequest("messages is a list of objects, one for each turn: at least one.", "messages")
    user, assistant = (tokenizer.special_id(mark) for mark in chat.TURNS)
    ids: list[int] = []
    for number, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if isinstance(content, list):
            content = "".join(
                str(p.get("text", "")) if isinstance(p, dict) and p.get("type") == "text" else "\0" for p in content
            )
        expected = ("user", "assistant")[number % 2]
        if role != expected:
            raise BadRequest(
                f"Message {number} is of the role {str(role)[:20]!r}; turns alternate, user first, so it must be {expected!r}. "
                "(This model knows no system messages.)", "messages",
            )  # fmt: skip
        if not isinstance(content, str) or "\0" in content:
            raise BadRequest(f"The content of message {number} must be text.", "messages")
        encoded = _encoded(content, tokenizer, most, "messages")
        ids += [user, *encoded] if role == "user" else [assistant, *encoded, tokenizer.end_id]
    if messages[-1]["role"] != "user":
        raise BadRequest("The last message must be the user's, so that there is something to answer.", "messages")
    return [*ids, assistant]


class Writer:
    """Tokens of one text as they come -> pieces that can be shown: whole characters, and nothing of a stop string."""

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...]):
        self.tokenizer, self.stop = tokenizer, stop
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.held = ""  # what may be the beginning of a stop string
        self.stopped = False

    def add(self, token: int | None, last: bool) -> str:
        """The next piece; `stopped` says that a stop string came. token: None if there is none. last: nothing follows."""
        data = b"" if token in (None, self.tokenizer.end_id) else self.tokenizer.token_bytes(token)
        self.held += self.decoder.decode(data, final=last)
        found = [at for at in map(self.held.find, self.stop) if at >= 0]
        if found:
            self.stopped = True
            piece, self.held = self.held[: min(found)], ""
            return piece
        kept = 0 if last else max((_overlap(self.held, stop) for stop in self.stop), default=0)
        piece, self.held = self.held[: len(self.held) - kept], self.held[len(self.held) - kept :]
        return piece


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of `text` are the beginning of `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if stop.startswith(text[-n:])), 0)


# Answers


def answer(asked: Asked, name: str, made: int, model: str, texts: list[str], why: list[str], usage: dict) -> dict:
    """The whole answer. made: seconds since 1970. why: the finish reason of each text."""
    choices = []
    for index, (text, reason) in enumerate(zip(texts, why, strict=True)):
        shown = {"message": {"role": "assistant", "content": text}} if asked.chat else {"text": text}
        choices.append({"index": index, **shown, "finish_reason": reason, "logprobs": None})
    kind = "chat.completion" if asked.chat else "text_completion"
    return {"id": name, "object": kind, "created": made, "model": model, "choices": choices, "usage": usage}


def event(asked: Asked, name: str, made: int, model: str, index: int, piece: str, why: str | None, first: bool) -> dict:
    """One event of a stream."""
    role = {"role": "assistant"} if first else {}
    shown = {"delta": role | ({"content": piece} if piece or first else {})} if asked.chat else {"text": piece}
    choice = {"index": index, **shown, "finish_reason": why, "logprobs": None}
    kind = "chat.completion.chunk" if asked.chat else "text_completion"
    return {"id": name, "object": kind, "created": made, "model": model, "choices": [choice]}


def counted(prompts: list[list[int]], written: int) -> dict:
    """The usage of a request."""
    read = sum(map(len, prompts))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def error(message: str, kind: str, param: str | None = None) -> dict:
    """An error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": kind, "param": param, "code": None}}
