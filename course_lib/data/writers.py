"""How each kind of corpus becomes token files, in a folder given: tokenizer.json, then

    stories, tinystories    train.bin and validation.bin: END document END document END
    plain text              tokens.bin: END file END file END, of which windows.py's caller holds out the last tenth

Stories have nats.npz as well: -log P of each held-out story.
"""

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.data import story_tokens, texts, token_file
from course_lib.tokenizer import END_OF_TEXT, Tokenizer

VALIDATION_STORIES = 256  # stories 0 to 255; the training stories follow
TOKENIZER_STORIES = 10_000  # the tokenizer reads so many, however many are trained on: runs of any length share it
TOKENIZER_BYTES = 10_000_000  # and so much of any other text
HELD_OUT = 0.1  # the last tenth of a plain text


def write_stories(folder: Path, count: int, vocab_size: int, progress: bool) -> None:
    """Our own stories, `count` of them to train on; none of the held-out ones is among them."""
    from course_lib import stories

    seed = story_tokens.SEED
    held_out = dict(stories.write_with_log_probability(seed, VALIDATION_STORIES))  # text -> log P
    sample = list(stories.write(seed, TOKENIZER_STORIES, first=VALIDATION_STORIES))
    tokenizer = _train(folder, sample, vocab_size, progress)

    def ids() -> Iterator[Any]:
        yield [tokenizer.end_id]
        with _bar(None, progress, count) as bar:
            for told, part in story_tokens.parts(folder / "tokenizer.json", VALIDATION_STORIES, count):
                yield part
                bar.update(told)

    token_file.write(folder / "train.bin", ids(), tokenizer.vocab_size)
    token_file.write(folder / "validation.bin", _documents(tokenizer, held_out), tokenizer.vocab_size)
    np.savez(folder / "nats.npz", nats=[-log_probability for log_probability in held_out.values()])


def write_documents(folder: Path, train: Path, validation: Path, vocab_size: int, progress: bool) -> None:
    """Two files of documents with `<|endoftext|>` between them."""
    sample = "".join(texts.beginning([train], TOKENIZER_BYTES))
    tokenizer = _train(folder, texts.documents([sample], END_OF_TEXT), vocab_size, progress)
    for path, name in ((train, "train.bin"), (validation, "validation.bin")):
        documents = _bar(texts.documents(texts.chunks(path), END_OF_TEXT), progress)
        token_file.write(folder / name, _documents(tokenizer, documents), tokenizer.vocab_size)


def write_text(folder: Path, files: list[Path], vocab_size: int, progress: bool) -> None:
    """Any text files. The tokenizer never sees the part that is held out."""
    size = int((1 - HELD_OUT) * sum(path.stat().st_size for path in files))
    tokenizer = _train(folder, texts.beginning(files, min(size, TOKENIZER_BYTES)), vocab_size, progress)

    def ids() -> Iterator[list[int]]:
        yield [tokenizer.end_id]
        for path in files:
            yield from tokenizer.encode_iter(_bar(texts.chunks(path), progress))
            yield [tokenizer.end_id]

    token_file.write(folder / "tokens.bin", ids(), tokenizer.vocab_size)


def _train(folder: Path, sample: Iterable[str], vocab_size: int, progress: bool) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a vocabulary that stops early is told in the corpus's notes
        tokenizer = Tokenizer.train(sample, vocab_size, progress=progress)
    tokenizer.save(folder / "tokenizer.json")
    return tokenizer


def _documents(tokenizer: Tokenizer, documents: Iterable[str]) -> Iterator[list[int]]:
    yield [tokenizer.end_id]
    for document in documents:
        yield [*tokenizer.encode(document), tokenizer.end_id]


def _bar(parts: Iterable[str] | None, progress: bool, total: int | None = None) -> Any:
    from tqdm import tqdm

    return tqdm(parts, "encoding", total, unit=" texts", disable=not progress)
