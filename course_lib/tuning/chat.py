"""Turns of a conversation as tokens, and a model that has room for them.

    <|user|> prompt <|assistant|> answer <|endoftext|>

The first two are special tokens, which no text encodes to: a prompt cannot pretend to be an answer. A pretrained model and
its tokenizer get them behind all others, so every other id stays what it was.
"""

import numpy as np

from course_lib.generation import Choice, complete
from course_lib.model import GPT, GPTConfig
from course_lib.tokenizer import Tokenizer

USER, ASSISTANT = "<|user|>", "<|assistant|>"
TURNS = (USER, ASSISTANT)


def has_turns(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer knows who speaks."""
    return all(mark in tokenizer.special_tokens for mark in TURNS)


def with_turns(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer with the special tokens of the turns, unless it has them."""
    if has_turns(tokenizer):
        return tokenizer
    return Tokenizer(tokenizer.merges, (*tokenizer.special_tokens, *TURNS), byte_order=tokenizer.byte_order)


def with_room(model: GPT, tokenizer: Tokenizer, seed: int = 0) -> GPT:
    """The same model with an embedding for each id of a larger tokenizer.

    The new rows are the mean of those that are there and some noise, so that they begin as tokens like others. (Hewitt 2021)
    A model that had room for more ids than its tokenizer had, and has room still, is returned as it is.
    """
    missing = tokenizer.vocab_size - model.config.vocab_size
    if missing <= 0:
        return model
    config = GPTConfig(**model.config.to_dict() | {"vocab_size": tokenizer.vocab_size})
    grown, state = GPT(config, device=model.device), model.state()
    rows = state["tokens.weight"]  # (V, C)
    noise = np.random.default_rng(seed).normal(0.0, rows.std(), (missing, rows.shape[1]))  # (M, C)
    state["tokens.weight"] = np.concatenate([rows, (rows.mean(0) + noise).astype(rows.dtype)])  # (V + M, C)
    if "head_bias" in state:
        bias = state["head_bias"]  # (V,)
        state["head_bias"] = np.concatenate([bias, np.full(missing, bias.min(), bias.dtype)])  # (V + M,)
    grown.load_state(state)
    return grown


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """A prompt as it stands before its answer, the end token that begins every text included."""
    user, assistant = (tokenizer.special_id(mark) for mark in TURNS)
    return [tokenizer.end_id, user, *tokenizer.encode(prompt), assistant]


def answer_ids(tokenizer: Tokenizer, answer: str) -> list[int]:
    """An answer up to its end token."""
    return [*tokenizer.encode(answer), tokenizer.end_id]


def answer(
    model: GPT,
    tokenizer: Tokenizer,
    prompts: list[str],
    tokens: int = 256,
    temperature: float = 0.7,
    top_p: float | None = None,
    seed: int = 0,
    batch: int = 64,
) -> list[str | None]:
    """One answer to each prompt; None for one that has no end after `tokens` tokens. Prompt i is answered with seed + i."""
    choice = Choice(temperature, None, top_p)
    encoded = [prompt_ids(tokenizer, prompt)[1:] for prompt in prompts]  # generation begins with the end token itself
    seeds = [seed + i for i in range(len(prompts))]
    written = complete(model, tokenizer, encoded, tokens, choice, seeds, batch)
    return [tokenizer.decode(ids[:-1]) if ended else None for ids, ended in written]
