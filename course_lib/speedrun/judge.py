"""The judge of a speedrun: starts an entry's process, keeps the clock from outside, asks it about stories."""

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import data, paths, progress
from course_lib.speedrun import scoring
from course_lib.speedrun.scoring import EntryError, Score

LOADING = 300.0  # seconds: a busy machine may have to compile the loops first
ANSWERING = 120.0  # seconds for one batch of stories


def judge(path: Path, seconds: float, seed: int, stories: int = 40_000, judged: int = scoring.STORIES) -> Score:
    """Train an entry for at most `seconds` and score it. stories: to train on. judged: freshly written ones.

    Raises EntryError where it does not count, FileNotFoundError; Ctrl-C ends the entry's process too.
    """
    if path.is_dir():
        raise FileNotFoundError(
            f"{path} is a folder; an entry is one file of Python: course speedrun {path / 'entry.py'}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no entry {path}. To write one: course speedrun --new {path}")
    reference = prepare({**scoring.REFERENCE, "stories": stories})
    try:
        with EntryProcess(path) as entry:
            entry.prepare(seconds, seed, stories)
            entry.train(seconds)
            print(f"The time is over. Judging by {judged} stories, in some 20 seconds.", flush=True)
            return scoring.score(entry, scoring.held_out(seed, judged), reference)
    except EntryError as error:
        raise EntryError(f"{path.name} does not count. {error}") from None


def prepare(corpus: dict) -> data.Corpus:
    """The stories, with a bar where somebody waits for them."""
    return data.prepare("stories", progress=sys.stderr.isatty(), **corpus)


class EntryProcess:
    """The process of an entry, and what it can be asked: a scoring.Entry."""

    def __init__(self, path: Path):
        self.path = path
        self.end_id, self.spelling = 0, []

    def __enter__(self) -> "EntryProcess":
        self.link, theirs = Pipe()
        command = [sys.executable, "-m", "course_lib.speedrun.process", str(theirs.fileno()), str(self.path.resolve())]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", cwd=paths.ROOT, start_new_session=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        theirs.close()
        self.printer = threading.Thread(target=self._print, daemon=True)
        self.printer.start()
        return self

    def __exit__(self, *error: Any) -> None:
        """Ends it, with whatever it has started."""
        self.link.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.printer.join(5)

    def _print(self) -> None:
        from tqdm import tqdm

        for line in self.process.stdout:
            tqdm.write(line.rstrip("\n"), file=sys.stdout)

    def receive(self, seconds: float, doing: str, bar: Any = None) -> Any:
        """What it says next; `doing`: what it does meanwhile. Raises EntryError."""
        began = time.monotonic()
        while not self.link.poll(min(0.5, max(0.0, began + seconds - time.monotonic()))):
            spent = time.monotonic() - began
            if spent >= seconds:
                raise EntryError(f"It was still {doing} after {seconds:.0f} seconds.")
            if bar is not None:
                bar.set_postfix_str(f"{progress.duration(seconds - spent)} left", refresh=False)
                bar.update(spent - bar.n)
        try:
            said = self.link.recv()
        except (EOFError, ConnectionResetError):
            raise EntryError(f"Its process ended {self._ending()}.") from None
        if isinstance(said, RuntimeError):
            raise EntryError(str(said))
        return said

    def _ending(self) -> str:
        code = self.process.wait()
        return f"by the signal {signal.Signals(-code).name}" if code < 0 else f"by itself, with exit status {code}"

    def prepare(self, seconds: float, seed: int, stories: int) -> None:
        """Have the corpus that it asks for ready before the clock starts."""
        corpus = self.receive(LOADING, "loading") | {"stories": stories}
        prepare(corpus)
        self.link.send({"corpus": corpus, "seconds": seconds, "seed": seed})
        self.receive(LOADING, "opening the corpus")

    def train(self, seconds: float) -> None:
        """Let it train, with a bar of the time, then ask for its tokens."""
        from tqdm import tqdm

        form = "{percentage:3.0f}% {bar}{postfix}"
        often = 0.2 if sys.stderr.isatty() else 20
        with tqdm(total=seconds, bar_format=form, mininterval=often, dynamic_ncols=True, leave=False) as bar:
            self.link.send("go")
            self.receive(seconds, "training (a loop asks the time, and ends a second early)", bar)
        tokens = self.receive(ANSWERING, "telling its tokens")
        self.end_id, self.spelling = tokens["end_id"], tokens["spelling"]

    def encode(self, texts: list[str]) -> list[list[int]]:
        self.link.send(("encode", texts))
        return self.receive(ANSWERING, "encoding the stories")

    def scores(self, idx: np.ndarray) -> np.ndarray:
        self.link.send(("scores", idx))
        return self.receive(ANSWERING, "computing scores")
