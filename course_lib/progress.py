"""How a run shows itself while it goes: a bar in a terminal, a few lines that renew themselves in a notebook.

A display has `say(line)`, `start(step, steps)`, `update(step, record, left)` and `stop()`. What a notebook keeps is what
stood there last, so a stored notebook holds the lines and the final figures, and no history of a bar.
"""

import os
import sys
import time
from typing import Any, Protocol


class Display(Protocol):
    """What training needs of a display.

    record: the newest of each figure (metrics.py), and `gap`, of the validation loss to its floor. left: seconds, or None.
    """

    bars: bool  # whether the preparation of a corpus may draw bars of its own

    def say(self, line: str) -> None: ...
    def start(self, step: int, steps: int) -> None: ...
    def update(self, step: int, record: dict[str, Any], left: float | None) -> None: ...
    def stop(self) -> None: ...


class Quiet(Display):
    """Shows nothing."""

    bars = False


class Terminal:
    """Lines on standard output, a tqdm bar on standard error; a rare one where that is a file."""

    bar = None

    @property
    def bars(self) -> bool:
        return in_terminal()

    def say(self, line: str) -> None:
        from tqdm import tqdm

        tqdm.write(line, file=sys.stdout)
        sys.stdout.flush()

    def start(self, step: int, steps: int) -> None:
        from tqdm import tqdm

        self.bar = tqdm(
            initial=step, total=steps, unit="step", dynamic_ncols=True, mininterval=0.2 if in_terminal() else 20,
            bar_format="{percentage:3.0f}% {bar} {n_fmt}/{total_fmt}{postfix}",
        )  # fmt: skip

    def update(self, step: int, record: dict[str, Any], left: float | None) -> None:
        self.bar.set_postfix_str(figures(record, left), refresh=False)
        self.bar.update(step - self.bar.n)

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.close()


class Notebook:
    """One output of plain text in the cell, renewed about once a second."""

    bars = False

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now = ""
        self.steps = 1
        self.shown = 0.0
        self.handle = None

    def say(self, line: str) -> None:
        self.lines.append(line)
        self.show()

    def start(self, step: int, steps: int) -> None:
        self.steps = steps

    def update(self, step: int, record: dict[str, Any], left: float | None) -> None:
        full = 30 * step // self.steps
        self.now = f"{'█' * full}{'░' * (30 - full)} {step:,}/{self.steps:,}, {figures(record, left)}"
        if time.monotonic() - self.shown > 1 or step == self.steps:
            self.shown = time.monotonic()
            self.show()

    def stop(self) -> None:
        self.show()

    def show(self) -> None:
        from IPython.display import display

        content = {"text/plain": "\n".join([*self.lines, self.now] if self.now else self.lines)}
        if self.handle is None:
            self.handle = display(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)


def in_terminal() -> bool:
    """Whether a person sees standard error as it comes; a launcher between us and the terminal says so."""
    return sys.stderr.isatty() or bool(os.environ.get("COURSE_TERMINAL"))


def automatic() -> Display:
    """The display that suits the place where Python runs."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return Notebook() if getattr(shell, "kernel", None) is not None else Terminal()


def figures(record: dict[str, Any], left: float | None) -> str:
    """The figures of a record in a few words."""
    words = [f"loss {record['loss']:.3f}"]
    if "val_loss" in record:
        gap = f" ({record['gap']:.3f} above the floor)" if "gap" in record else ""
        words.append(f"validation {record['val_loss']:.3f}{gap}")
    if "tokens_per_s" in record:
        words.append(f"{record['tokens_per_s']:,.0f} tokens/s")
    if left is not None:
        words.append(f"{duration(left)} left")
    return ", ".join(words)


def duration(seconds: float) -> str:
    """Seconds as a person says them: 8 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
