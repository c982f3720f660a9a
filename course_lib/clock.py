"""The one clock: how long a run takes on this machine, told from a few of its own training steps.

    print(training.predict("small"))    N steps of small will take about 2 min 5 s in all (B x T tokens each, on cpu in float32)

Whatever names a duration asks here: a run after its first steps, `course doctor`, `use_my_answers()`, the chapters.
Limits: the machine is taken as it is during these steps; preparing a corpus and compiling kernels, each done once, come on top.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

import numpy as np

from course_lib import data, native
from course_lib.model import GPT, GPTConfig
from course_lib.progress import duration
from course_lib.recipes import Settings
from course_lib.run import Run
from course_lib.tokenizer import Tokenizer

ENOUGH = 2.0  # seconds of training steps that tell the length of a run
FEWEST = 3  # steps, where one takes long; the first of them only warms up


@dataclass(frozen=True)
class Prediction:
    """How long a run takes from step `done` on, validation included.

    context: T. validation: tokens that each measurement of the validation loss reads. step_seconds: of one training step.
    """

    settings: Settings
    device: str
    context: int
    validation: int
    step_seconds: float
    done: int = 0

    @property
    def steps(self) -> int:
        """Still to do."""
        return self.settings.steps - self.done

    @property
    def tokens_per_step(self) -> int:
        return self.settings.batch * self.settings.accumulate * self.context

    @property
    def seconds(self) -> float:
        """Of the whole; per token a forward pass alone costs a third of a training step."""
        s = self.settings
        times = -(-s.steps // s.validate_every) - self.done // s.validate_every
        in_steps = self.validation / (3 * self.tokens_per_step)
        return (self.steps + times * in_steps) * self.step_seconds

    def __str__(self) -> str:
        return self.sentence(f"{self.steps:,} steps of {self.settings.preset}")

    def sentence(self, what: str) -> str:
        """The duration of `what`, with batch, device and kind of product named."""
        s = self.settings
        parts = f"{s.accumulate} x " if s.accumulate > 1 else ""
        return (
            f"{what} will take about {duration(self.seconds)} in all ({parts}{s.batch} x {self.context} tokens each, on "
            f"{self.device} in {s.compute})"
        )


class Pace:
    """How fast a run goes. Seconds count in training steps only, not in validation or checkpoints."""

    FIRST = 10  # steps before a run tells how long it will take

    def __init__(self, run: Run):
        self.run = run
        self.done = 0  # steps since the pace is taken
        self.spent = 0.0
        self.per_step = 0.0  # seconds, a running mean of so many, so that it follows a machine that slows down
        self.counted = 0
        # Of a trial of several numbers of threads, only the fastest counts. (`native` has no times of whole steps: those of a
        # run with a reward also write.)
        self.tried: dict[int, list[float]] = {}
        self.at_last_line = (0, 0.0)  # steps and seconds

    @contextmanager
    def training(self) -> Iterator[None]:
        """Around one step."""
        threads = native.on_trial()
        start = perf_counter()
        yield
        seconds = perf_counter() - start
        self.done += 1
        self.spent += seconds
        if self.done == 1:
            return  # the first step also warms up
        if threads:
            self.tried.setdefault(threads, []).append(seconds)
            self.per_step, self.counted = min(map(fmean, self.tried.values())), 1
        else:
            self.tried.clear()
            self.counted += 1
            self.per_step += max(1 / self.counted, 0.02) * (seconds - self.per_step)

    def tokens_per_second(self) -> float:
        """Since it was last asked."""
        steps, seconds = self.done - self.at_last_line[0], self.spent - self.at_last_line[1]
        self.at_last_line = (self.done, self.spent)
        return round(self.run.tokens_per_step * steps / seconds, 1)

    def left(self) -> float | None:
        """Seconds to the end of the run, validation included; None before there is a measure."""
        return self.prediction(self.run.done).seconds if self.done > 2 else None

    def prediction(self, done: int) -> Prediction:
        """Of the steps from `done` on, by the pace so far."""
        return predicted(self.run, self.per_step, done)


def rehearsal(settings: Settings, device: str) -> Run:
    """A run of these settings on random tokens, which take as long as any and need no corpus to be prepared."""
    config = GPTConfig.preset(settings.preset, **settings.model)
    shape = (settings.validation_rows, config.context + 1)
    tokens = np.random.default_rng(0).integers(0, config.vocab_size, shape, dtype=np.uint16)
    windows = data.Training(tokens.ravel(), config.context, settings.seed, starts=np.arange(0, tokens.size, shape[1]))
    validation = data.Validation(*(part.astype(np.int32) for part in (tokens[:, :-1], tokens[:, 1:])))
    corpus = data.Corpus("random tokens", Tokenizer([]), windows, validation, config.context)
    return Run(settings, corpus, GPT(config, device=device, seed=settings.seed))


def predicted(run: Run, step_seconds: float, done: int = 0) -> Prediction:
    """What a run takes whose training steps take so long."""
    tokens = run.validation.idx.size
    return Prediction(run.settings, run.model.device, run.corpus.context, tokens, step_seconds, done)


def measured(run: Run) -> Prediction:
    """What the whole run takes, after some of its steps, which it makes: a few seconds of them."""
    pace = Pace(run)
    while pace.done < FEWEST or pace.spent < ENOUGH:
        with pace.training():
            run.step()
    return pace.prediction(done=0)
