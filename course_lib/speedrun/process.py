"""Where an entry runs: a process of its own, which has the training stories and no door to the grammar.

    python -m course_lib.speedrun.process FD ENTRY      started by judge.py, with one end of a Pipe as file descriptor FD

Limit: the door is closed to what happens by accident. An entry that means to cheat is caught by who reads it.
"""

import sys
import traceback
from importlib.abc import MetaPathFinder
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from course_lib import data
from course_lib.tensor import no_grad


class Closed(MetaPathFinder):
    """Refuses to import the grammar."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "course_lib.stories" or name.startswith("course_lib.stories."):
            raise ImportError(
                "course_lib.stories, which knows the probability of every story, is closed to an entry: it learns from the "
                "training stories alone, which are in `corpus`."
            )


def closed_prepare(*given: Any, **more: Any) -> None:
    """Stands for data.prepare, which could bring more stories."""
    raise ValueError("data.prepare is closed to an entry: train on the corpus that `train` is given.")


def main(link: Connection, path: Path) -> None:
    """Load an entry, train it when the judge says so, then answer until the judge hangs up."""
    sys.meta_path.insert(0, Closed())
    prepare, data.prepare = data.prepare, closed_prepare
    entry = sys.modules["entry"] = ModuleType("entry")
    entry.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(entry))
    if not callable(getattr(entry, "train", None)):
        raise NameError("It defines no function train(corpus, seconds, seed).")
    link.send({"vocab_size": getattr(entry, "VOCAB_SIZE", 2048), "context": getattr(entry, "CONTEXT", 192)})
    order = link.recv()
    corpus = prepare("stories", seed=order["seed"], **order["corpus"])
    link.send("ready")
    link.recv()
    trained = entry.train(corpus, order["seconds"], order["seed"])
    link.send("trained")
    answer(link, *_unpacked(trained))


def _unpacked(trained: Any) -> tuple[Any, Any]:
    if not isinstance(trained, tuple) or len(trained) != 2:
        raise TypeError(f"train() returned a {type(trained).__name__}; expected two things: return model, tokenizer")
    return trained


@no_grad()
def answer(link: Connection, model: Any, tokenizer: Any) -> None:
    """First the tokens, before any story is seen; then ids for texts, and scores for ids."""
    if hasattr(model, "eval"):
        model.eval()
    spelling = [bytes(tokenizer.token_bytes(token)) for token in range(tokenizer.vocab_size)]
    link.send({"end_id": int(tokenizer.end_id), "spelling": spelling})
    while True:
        question, asked = link.recv()
        if question == "encode":
            link.send([[int(token) for token in tokenizer.encode(text)] for text in asked])
        else:
            scores = model(asked)
            link.send(np.asarray(scores.numpy() if hasattr(scores, "numpy") else scores, np.float32))


def complaint(error: BaseException, path: Path) -> str:
    """An exception as a sentence, with the line of the entry that led to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    lines = [error.lineno] if isinstance(error, SyntaxError) else [frame.lineno for frame in frames]
    where = f" in line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{where}: {error}"


if __name__ == "__main__":
    link, path = Connection(int(sys.argv[1])), Path(sys.argv[2])
    try:
        main(link, path)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the judge has closed the connection
    except BaseException as error:
        link.send(RuntimeError(complaint(error, path)))
