"""The exceptions of this room, each a sentence for a person."""

import traceback
from pathlib import Path

HOUSE = str(Path(__file__).resolve().parents[1])


class KernelError(RuntimeError):
    """A kernel could not be launched, or did something that a GPU would not survive. Names the kernel."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows (IPython asks for it): the learner's own lines and the sentence, not the way between."""
        frames = traceback.extract_tb(self.__traceback__)
        own = [f for f in frames if not f.filename.startswith(HOUSE) and "site-packages" not in f.filename]
        return [*(f"line {frame.lineno}: {frame.line}" for frame in own), "", f"{type(self).__name__}: {self}"]


class CompileError(KernelError):
    """The kernel's text did not compile. `.log` is the compiler's whole message, `.line` the first faulty line or None."""

    def __init__(self, message: str, log: str = "", line: int | None = None):
        super().__init__(message)
        self.log = log
        self.line = line
        self.in_entries = False  # the fault lies in the name that was asked for, not in the text


class ArgumentError(KernelError, TypeError, ValueError):
    """An argument does not fit its parameter; nothing was launched."""
