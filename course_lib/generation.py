"""Let a model write: token by token, with a cache of keys and values, one text as a stream or many at once.

    for piece in generate(model, tokenizer, "Once upon a time", tokens=200, temperature=0.7): print(piece, end="")
    texts = generate_many(model, tokenizer, count=300, tokens=256, temperature=0.7)

A text begins with the end token, as every document in training does, then the prompt. The same seed gives the same
tokens with and without the cache, up to rounding: two tokens that are equally likely to the last bit may be exchanged.

Limit: a model sees `context` tokens. When they are full, the last half of them stays and everything before is forgotten,
so a text longer than the context loses its beginning, and one step in half a context costs as much as reading half of it.
A model of recurrences alone forgets nothing that way: its cache has one size, and it reads on.
"""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Real

import numpy as np

from course_lib import sampling
from course_lib.model import GPT
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer


@dataclass(frozen=True)
class Choice:
    """How the next token is chosen. Raises ValueError for settings that choose nothing.

    temperature: 0 always takes the likeliest token, 1 the model's own probabilities. top_k, top_p: None switches them off.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, Real | None):
                raise TypeError(f"{name} is {value!r}, a {type(value).__name__}; it must be a number.")
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature is {self.temperature}; it must be 0 or more (usual: 0.5 to 1.2).")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}; it must be at least 1, so that a token is left to choose.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it must be above 0 and at most 1.")

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Logits (R, V) -> probabilities (R, V): temperature first, then top-k, then top-p."""
        chances = sampling.softmax(logits, self.temperature)  # (R, V)
        if self.top_k is not None:
            chances = sampling.top_k_filter(chances, self.top_k)
        if self.top_p is not None:
            chances = sampling.top_p_filter(chances, self.top_p)
        return chances


def generate(
    model: GPT,
    tokenizer: Tokenizer,
    prompt: str | list[int] = "",
    tokens: int = 256,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    use_cache: bool = True,
    stop_at_end: bool = True,
) -> Iterator[str]:
    """The text after `prompt`, in pieces as they come: at most `tokens` tokens, up to the end token if `stop_at_end`.

    prompt: text, or ids, special tokens among them if there are; the end token that begins every text stands before it.
    A character whose bytes are spread over several tokens comes when it is complete. Raises ValueError for bad settings.
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(
            f"generate() takes a model, its tokenizer, then the beginning of the text: generate(model, tokenizer, 'Once'). "
            f"The tokenizer given is a {type(tokenizer).__name__}."
        )
    choice = Choice(temperature, top_k, top_p)
    ids = prompt if isinstance(prompt, list) else tokenizer.encode(prompt)
    stream = _tokens(model, tokenizer, [ids], tokens, choice, [seed], use_cache)
    return _pieces(stream, tokenizer, stop_at_end)


def generate_many(
    model: GPT,
    tokenizer: Tokenizer,
    count: int,
    prompt: str = "",
    tokens: int = 256,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    batch: int = 64,
) -> list[str | None]:
    """`count` whole texts, each up to its end token; None for one that has no end after `tokens` tokens.

    Text i is drawn with seed + i, so it does not depend on how many there are. `batch` texts are written at a time.
    """
    choice = Choice(temperature, top_k, top_p)
    prompts = [tokenizer.encode(prompt)] * count
    written = complete(model, tokenizer, prompts, tokens, choice, [seed + i for i in range(count)], batch)
    return [prompt + tokenizer.decode(ids[:-1]) if ended else None for ids, ended in written]


def complete(
    model: GPT,
    tokenizer: Tokenizer,
    prompts: Sequence[list[int]],
    tokens: int,
    choice: Choice,
    seeds: Sequence[int],
    batch: int = 64,
) -> list[tuple[list[int], bool]]:
    """What follows each prompt, up to its end token; and whether that came within `tokens` tokens.

    prompts: ids, without the end token that stands before every text. Those of one length are read `batch` at a time.
    """
    written: list[list[int]] = [[] for _ in prompts]
    ended = np.zeros(len(prompts), bool)
    by_length = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    for _, same in groupby(by_length, key=lambda i: len(prompts[i])):
        alike = list(same)
        for first in range(0, len(alike), batch):
            rows = np.array(alike[first : first + batch])
            chosen = [prompts[i] for i in rows]
            for new in _tokens(model, tokenizer, chosen, tokens, choice, [seeds[i] for i in rows], True):  # (R,)
                for row in np.flatnonzero(~ended[rows]):
                    written[rows[row]].append(int(new[row]))
                ended[rows] |= new == tokenizer.end_id
                if ended[rows].all():
                    break
    return list(zip(written, ended.tolist(), strict=True))


def _tokens(
    model: GPT,
    tokenizer: Tokenizer,
    prompts: Sequence[list[int]],
    tokens: int,
    choice: Choice,
    seeds: Sequence[int],
    use_cache: bool,
) -> Iterator[np.ndarray]:
    """The next token of every row (R,), `tokens` times. The prompts have one length."""
    if tokens < 0:
        raise ValueError(f"tokens is {tokens}; it must be 0 or more.")
    context = model.config.context
    known = min(tokenizer.vocab_size, model.config.vocab_size)  # a model may have room for more ids than there are
    generators = [np.random.default_rng(seed) for seed in seeds]
    seen = np.array([[tokenizer.end_id, *ids][-context:] for ids in prompts], np.int32)  # (R, T)
    fresh = seen  # what the cache does not hold yet
    cache = model.new_cache() if use_cache else None
    endless = cache is not None and model.config.unbounded
    model.eval()
    for _ in range(tokens):
        with no_grad():  # not around the yield: the caller's own tape must not stand still meanwhile
            logits = model(seen) if cache is None else model(fresh, cache=cache)  # (R, T, V)
            last = logits[:, -1].numpy()[:, :known]  # (R, V)
        uniform = np.array([generator.random() for generator in generators])  # (R,)
        new = sampling.draw(choice.probabilities(last), uniform).astype(np.int32)  # (R,)
        yield new
        fresh = new[:, None]
        if endless:
            continue
        seen = np.concatenate([seen, fresh], 1)
        if seen.shape[1] > context:
            seen = seen[:, -(context // 2 or 1) :]
            fresh, cache = seen, model.new_cache() if use_cache else None


def _pieces(stream: Iterator[np.ndarray], tokenizer: Tokenizer, stop_at_end: bool) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for new in stream:
        token = int(new[0])
        if token == tokenizer.end_id:
            if stop_at_end:
                break
            yield decoder.decode(b"", final=True) + "\n\n"
            decoder.reset()
        elif piece := decoder.decode(tokenizer.token_bytes(token)):
            yield piece
    if rest := decoder.decode(b"", final=True):
        yield rest
