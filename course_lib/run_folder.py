"""The folder of a run: metrics.jsonl, last.safetensors, best.safetensors, mine.json where answers of the learner took part
(whose.py), and one process at a time that writes to it.

Promises: a run is never overwritten by another; whatever happens, the folder holds a checkpoint to go on from, once the
first is written; the log ends at the step of that checkpoint when a run goes on.
"""

import fcntl
import json
import os
import shlex
import time
from contextlib import suppress
from pathlib import Path

from course_lib import checkpoint, metrics, paths, whose
from course_lib.checkpoint import CheckpointError

LAST, BEST = "last.safetensors", "best.safetensors"
SOONEST = 5.0  # seconds between two checkpoints, at least
SHARE = 0.02  # of the time goes into writing them, at most


class FolderError(RuntimeError):
    """A folder that cannot take this run, and what to do."""


class RunFolder:
    """`with RunFolder(path, resume) as folder:` claims the folder; `folder.saved` is the checkpoint to go on from."""

    def __init__(self, path: Path, resume: bool):
        self.path, self.resume = path, resume
        self.saved: checkpoint.Checkpoint | None = None
        self.handle: int | None = None
        self.log_file = None
        self.saved_at, self.took = 0.0, 0.0  # the last checkpoint: when it was written, and how long that took

    def __enter__(self) -> "RunFolder":
        try:
            if not self.resume:
                self.path.mkdir(parents=True, exist_ok=True)
            self.handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            raise FolderError(f"There is no folder {self.path}, so there is no run in it to resume.") from None
        except OSError as error:
            raise FolderError(f"{self.path} cannot be the folder of a run: {error.strerror}.") from None
        try:
            self._claim()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception) -> None:
        for close in (self.log_file.close if self.log_file else None, lambda: os.close(self.handle)):
            if close:
                with suppress(OSError):
                    close()

    def _claim(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free again however this process ends
        except BlockingIOError:
            raise FolderError(
                f"Another training is writing to {self.path} right now. Wait for it, or stop it."
            ) from None
        except OSError:
            pass  # some network drives know no locks
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise FolderError(f"The folder {self.path} may not be written to. Give another --out.")
        last, log = self.path / LAST, self.path / metrics.NAME
        if self.resume:
            self.saved = self._load(last)
        elif last.exists() or (log.exists() and log.stat().st_size):
            raise FolderError(
                f"{self.path} already holds a run. To go on with it: {self.command()}. To begin a new one, give another "
                "--out, or delete that folder first."
            )

    def _load(self, last: Path) -> checkpoint.Checkpoint:
        if not last.exists():
            raise FolderError(
                f"{self.path} holds no {LAST}: no run was started there, or it was stopped before its first checkpoint. "
                "Start it without --resume."
            )
        try:
            return checkpoint.load(last)
        except CheckpointError as error:
            raise CheckpointError(f"{error} {self._rescue()}") from None

    def _rescue(self) -> str:
        """What to do when the last checkpoint cannot be read."""
        best = self.path / BEST
        try:
            step = checkpoint.load(best).facts["step"]
        except CheckpointError:
            return f"No other checkpoint in {self.path} can be read, so the run has to start again in a new folder."
        return (
            f"{best} is whole, from step {step}. To go on from there: "
            f"cp {shlex.quote(str(best))} {shlex.quote(str(self.path / LAST))}, then {self.command()}"
        )

    def command(self) -> str:
        """What to type to go on."""
        mine = " --mine" if (self.path / whose.NAME).exists() else ""
        return f"course train --out {shlex.quote(str(self.path))} --resume{mine}"

    def open_log(self, step: int) -> list[metrics.Record]:
        """Cut the log back to `step` and open it; returns the records that it keeps."""
        path = self.path / metrics.NAME
        self.log_file = metrics.open_at(path, step)
        return metrics.read(path)

    def log(self, record: metrics.Record) -> None:
        """Add a line to the log."""
        try:
            metrics.write(self.log_file, record)
        except OSError as error:
            raise FolderError(
                f"{self.path / metrics.NAME} could not be written: {error.strerror}. The last checkpoint is untouched. "
                f"Make room, then go on with: {self.command()}"
            ) from None

    def save_due(self) -> bool:
        """Whether it is time for a checkpoint: often, but taking a small fraction of the time."""
        return time.monotonic() - self.saved_at > max(SOONEST, self.took / SHARE)

    def save(self, run) -> None:
        """Write the last checkpoint of a training.Run, and let the best be the same file if this is the best."""
        start = time.monotonic()
        if self.log_file is not None:
            os.fsync(self.log_file.fileno())  # after a power cut the log must reach at least as far as the checkpoint
        try:
            run.save(self.path / LAST)
            self.finish_saving(run)
        except CheckpointError as error:
            raise CheckpointError(f"{error} Then go on with: {self.command()}") from None
        self.saved_at = time.monotonic()
        self.took = self.saved_at - start

    def finish_saving(self, run) -> None:
        """What belongs beside the last checkpoint; a kill may have come between that and this."""
        if run.best is not None and run.best_step == run.done:
            checkpoint.keep(self.path / LAST, self.path / BEST)
        if (record := run.tally.record(run.done)) is not None:
            try:
                paths.write_whole(self.path / whose.NAME, json.dumps(record, indent=1) + "\n")
            except OSError as error:
                raise CheckpointError(f"{self.path / whose.NAME} could not be written: {error.strerror}.") from None
