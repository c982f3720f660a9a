"""From a name or a path to batches. Prepared once, then found in the cache.

What is prepared lies in a folder of `.cache/data`, named by everything it depends on, the answers of a learner that
tokenize included. It is written aside and renamed, so two processes may prepare the same corpus at once, and a killed one
leaves nothing half done under that name. A damaged folder is noticed by its checksums and prepared again.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from course_lib import paths
from course_lib.data import bigram, downloads, texts, token_file, windows, writers
from course_lib.tokenizer import Tokenizer, TokenizerError, replaced

NAMES = ("stories", "tinystories", "shakespeare")
LAYOUT = 1  # counts up when the same settings would prepare something else, so that old folders are not used
VALIDATION_ROWS = 256  # at most so many windows, where no floor asks for whole documents


@dataclass
class Corpus:
    """A corpus that is ready to train on.

    train:       batches for training: `train.batch(step, batch_size)`
    validation:  fixed windows: `validation.batches(batch_size)`
    notes:       what a person should know about how it was prepared, one sentence each
    """

    name: str
    tokenizer: Tokenizer
    train: windows.Training
    validation: windows.Validation
    context: int
    documents: int | None = None  # to train on; None for plain text
    notes: list[str] = field(default_factory=list)

    @property
    def floor(self) -> float | None:
        """The least validation loss that any model can have, in nats per token; None if nobody knows it."""
        return self.validation.floor

    def describe(self) -> str:
        """A few lines for a person."""
        documents = "" if self.documents is None else f"{self.documents:,} documents, "
        lines = [
            f"{self.name}: {documents}{len(self.train.tokens):,} tokens to train on; "
            f"{self.validation.scored:,} other tokens to validate on",
            f"vocabulary: {self.tokenizer.vocab_size:,} tokens; windows of {self.context} tokens",
        ]
        if self.floor is not None:
            lines.append(f"floor: {self.floor:.4f} nats per token, the entropy of the text: no model can do better")
        return "\n".join(lines + self.notes)


def bigram_loss(corpus: Corpus) -> float:
    """The validation loss, in nats per token, of guessing each token from the one before it alone, by counting."""
    return bigram.bigram_loss(corpus.train.tokens, corpus.validation, corpus.tokenizer.vocab_size)


def prepare(
    corpus: str = "stories",
    text: str | os.PathLike | None = None,
    vocab_size: int = 4096,
    context: int = 256,
    seed: int = 0,
    stories: int = 40_000,
    progress: bool = False,
) -> Corpus:
    """Get a corpus ready: find it in the cache, or make it, learn its vocabulary and encode it.

    corpus:      "stories" (written here, of known entropy), "tinystories" or "shakespeare" (downloaded)
    text:        a UTF-8 file or a folder of them, instead of a named corpus
    vocab_size:  ids of the tokenizer; fewer if the text has not enough to merge (a note says so)
    context:     T, tokens per window
    seed:        of the order of the training windows; the corpus itself does not depend on it
    stories:     how many stories to train on
    progress:    show bars

    Raises ValueError or OSError with a sentence: an unknown name, no UTF-8, too little text, a failed download.
    """
    if context < 1 or stories < 1:
        raise ValueError(f"context is {context} and stories is {stories}: both must be at least 1")
    name = corpus if text is None else str(text)
    content, write = _recipe(corpus, text, stories, progress)
    settings = json.dumps([LAYOUT, content, vocab_size, *replaced()])
    folder = paths.cache("data") / f"{Path(name).resolve().stem}-{hashlib.sha256(settings.encode()).hexdigest()[:16]}"
    write = partial(write, vocab_size=vocab_size, progress=progress)
    for _ in range(2):  # another process may find the same damage, and sweep away what we have just made
        try:
            _make(folder, write)
            return _open(folder, name, context, seed)
        except (token_file.DamagedFile, TokenizerError, FileNotFoundError) as error:
            warnings.warn(f"a prepared corpus was damaged and is made again ({error})", stacklevel=2)
            with _aside(folder) as aside, contextlib.suppress(FileNotFoundError):
                folder.rename(aside / "damaged")
    _make(folder, write)
    return _open(folder, name, context, seed)


def _recipe(corpus: str, text: str | os.PathLike | None, stories: int, progress: bool) -> tuple[list, Callable]:
    """What the prepared files depend on, and the function that writes them into a folder."""
    if text is not None or corpus == "shakespeare":
        files = [downloads.fetch(corpus, progress)] if text is None else texts.files(text)
        if not any(path.stat().st_size for path in files):
            raise texts.TextError(f"{text} is empty: there is no text in it to train on")
        return [_digest(path) for path in files], partial(writers.write_text, files=files)
    if corpus == "stories":
        grammar = sorted((paths.LIBRARY / "stories").rglob("*.py"))
        return [stories, *map(_digest, grammar)], partial(writers.write_stories, count=stories)
    if corpus == "tinystories":
        train, validation = (downloads.fetch(part, progress) for part in ("tinystories", "tinystories-validation"))
        sizes = [path.stat().st_size for path in (train, validation)]  # a checksum of 2 GB would take seconds each time
        return sizes, partial(writers.write_documents, train=train, validation=validation)
    raise ValueError(f"there is no corpus {corpus!r}: choose {', '.join(NAMES)}, or give the path of a text")


@contextlib.contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder beside `folder`, removed at the end with all that is still in it."""
    aside = Path(tempfile.mkdtemp(prefix=".preparing-", dir=folder.parent))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    if folder.exists():
        return
    with _aside(folder) as aside:
        (aside / "new").mkdir()
        write(aside / "new")
        try:
            (aside / "new").rename(folder)
        except OSError:
            if not folder.exists():  # else another process was quicker, and its folder is as good
                raise


def _open(folder: Path, name: str, context: int, seed: int) -> Corpus:
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    end, notes = tokenizer.end_id, []
    if tokenizer.vocab_size < tokenizer.requested_vocab_size:
        notes.append(
            f"The vocabulary stops at {tokenizer.vocab_size:,} of {tokenizer.requested_vocab_size:,}: "
            "every pre-token is one token by then."
        )
    if yours := [answer.split()[0] for answer in replaced()]:
        notes.append(f"The text was tokenized by code of yours: {', '.join(yours)}.")
    if (folder / "tokens.bin").exists():
        tokens = token_file.read(folder / "tokens.bin")
        split = int((1 - writers.HELD_OUT) * len(tokens))
        train = windows.Training(_enough(tokens[:split], name, context), context, seed)
        validation = windows.spread(tokens[split:], context, VALIDATION_ROWS)
        return Corpus(name, tokenizer, train, validation, context, None, notes)

    tokens, held_out = token_file.read(folder / "train.bin"), token_file.read(folder / "validation.bin")
    starts, held_starts = (token_file.positions(part, end)[:-1] for part in (tokens, held_out))
    train = windows.Training(_enough(tokens, name, context), context, seed, starts)
    validation = windows.spread(held_out, context, VALIDATION_ROWS, held_starts)
    if name == "stories":
        whole, longer = windows.whole_documents(held_out, held_starts, _nats(folder / "nats.npz"), context)
        if longer > len(held_starts) / 2:
            notes.append(
                f"{longer} of {len(held_starts)} held-out stories are longer than a window of {context} tokens, so there "
                "is no floor to compare with: it is known per whole story. Use a larger context or vocabulary."
            )
        else:
            validation = whole
            if longer:
                notes.append(f"{longer} of {len(held_starts)} held-out stories are longer than a window and left out.")
    return Corpus(name, tokenizer, train, validation, context, len(starts), notes)


def _enough(tokens: np.ndarray, name: str, context: int) -> np.ndarray:
    if len(tokens) <= context + 1:
        raise texts.TextError(
            f"{name} leaves {len(tokens):,} tokens to train on, too few for a window of {context} tokens and its "
            "targets: give more text, or choose a smaller context"
        )
    return tokens


def _nats(path: Path) -> np.ndarray:
    try:
        with np.load(path) as archive:  # a zip file, so it has checksums
            return archive["nats"]
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError) as error:
        raise token_file.DamagedFile(f"{path} is damaged: {error}") from None


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
