"""The run: batches in, updates out, everything that is worth knowing on the way, and nothing lost when it is killed.

    trained = train("small", out="runs/first")            the same as  course train --preset small --out runs/first
    trained.model, trained.records                        (without `out` nothing is written)

A run is a function of its settings (recipes.py) and its device: one that goes on from a checkpoint computes the same bits
as one that was never stopped, on the same machine, with however many threads. (Without a compiler with the same number: the
checkpoint holds it, and a run that goes on with another says so.)
"""

import shlex
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from course_lib import checkpoint, clock, data, devices, metrics, nvidia, progress, recipes, whose
from course_lib.devices import available_devices, products_by
from course_lib.generation import generate
from course_lib.model import GPT, GPTConfig
from course_lib.recipes import Settings
from course_lib.run import Diverged, Run, fingerprint
from course_lib.run_folder import BEST, LAST, RunFolder


class TrainingError(RuntimeError):
    """A run that cannot start or go on: what happened, why that may be, and what to do."""


class OneProcess:
    """Who takes part in a run, and how: one process. Of many, and what each rank of them does instead: parallel/training.py."""

    folder = RunFolder
    run = Run

    def first(self, make: Callable):
        """What `make` makes, if there are others before them."""
        return make()

    def begin(
        self, settings: Settings, device: str, tally: whose.Tally, saved: checkpoint.Checkpoint | None, bars: bool
    ) -> Run:
        """The run of these settings with its corpus and its first weights. saved: where it goes on from, or None."""
        if settings.start is not None:
            raise TrainingError(
                f"This run began from the weights in {settings.start}: it is fine-tuning, which course_lib.tuning.train does, in "
                "one process."
            )
        if saved is not None:
            config = GPTConfig(**saved.facts["config"])  # a preset may have changed since
        else:
            config = GPTConfig.preset(settings.preset, **settings.model)
        corpus = self.first(
            lambda: data.prepare(settings.corpus, settings.text, config.vocab_size, config.context, settings.seed,
                                 settings.stories, progress=bars)
        )  # fmt: skip
        return self.run(settings, corpus, GPT(config, device=device, seed=settings.seed), tally)

    def describe(self) -> list[str]:
        """For the header of the run."""
        return []


@dataclass
class Trained:
    """What `train` leaves. records: those of metrics.jsonl. stopped: the signal that ended it early, or None."""

    model: GPT
    corpus: data.Corpus
    settings: Settings
    step: int
    best: float | None
    floor: float | None  # of the validation windows that were measured
    records: list[metrics.Record] = field(repr=False)
    stopped: signal.Signals | None = None
    mine: whose.Record | None = None  # the learner's part in it (whose.py); None if there was none

    @property
    def tokenizer(self):
        return self.corpus.tokenizer


def train(
    preset: str | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    device: str = "auto",
    display: progress.Display | None = None,
    watch: Collection[int] = (),
    processes: OneProcess | None = None,
    **changes,
) -> Trained:
    """Train a preset by its recipe, with settings changed at will, or go on with the run in the folder `out`.

    preset:  micro, small (the default), 12m, modern-12m, latent-12m, linear-12m, hybrid-12m or 116m; a resumed run knows its own
    out:     folder for metrics.jsonl, last.safetensors and best.safetensors; None writes nothing
    changes: fields of `recipes.Settings`: steps, batch, accumulate, corpus, text, seed, peak, ...
    display: where progress is shown; chosen by itself if None, `progress.Quiet()` for nowhere
    watch:   steps after which the model writes some words, into the display
    processes: who takes part, and how a run begins; this process alone if None

    The first Ctrl-C (or SIGTERM) ends the run after the step at hand, saved. Raises TrainingError, CheckpointError,
    ValueError or OSError, each with a sentence for a person.
    """
    display, processes = display or progress.automatic(), processes or OneProcess()
    if resume and out is None:
        raise TrainingError("To resume, a run needs the folder that it is in: --out DIR.")
    device, why = choose_device(device)
    settings = None if resume else recipes.settings(preset or "small", device, **changes)
    with ExitStack() as stack:
        folder = None if out is None else stack.enter_context(processes.folder(Path(out), resume))
        saved = folder.saved if folder is not None else None
        if saved is not None:
            settings = _same(saved, preset, device, changes, folder)
        tally = whose.Tally(device)  # from here on: the learner's tokenizer may prepare the corpus
        run = processes.begin(settings, device, tally, saved, display.bars)
        if saved is not None:
            _check_corpus(saved, run.corpus, folder)
            run.restore(saved)
            folder.finish_saving(run)
        for line in _header(run, device, why, folder) + _other_products(saved, device) + processes.describe():
            display.say(line)
        return _go(run, folder, display, watch)


def predict(preset: str = "small", device: str = "auto", **changes) -> clock.Prediction:
    """How long `train` with the same arguments would take on this machine: a few seconds of its steps tell. Prints as a line."""
    device, _ = choose_device(device)
    return clock.measured(clock.rehearsal(recipes.settings(preset, device, **changes), device))


def _go(run: Run, folder: RunFolder | None, display: progress.Display, watch: Collection[int]) -> Trained:
    settings, started = run.settings, run.done
    records = [] if folder is None else folder.open_log(run.done)
    if folder is not None and run.done == 0:
        folder.save(run)  # a full disk shows itself now, and not after an hour
    pace = clock.Pace(run)
    with _stop_signals(display) as signals:
        display.start(run.done, settings.steps)
        shown: metrics.Record = {}
        try:
            last = run.done == settings.steps
            while not last:
                with pace.training():
                    record = run.step()
                finished = run.done == settings.steps
                if finished or run.done % settings.validate_every == 0:
                    record["val_loss"] = run.validate()
                # asked once: a signal that comes later stops the next step
                stop, save = run.agree(bool(signals), folder is not None and folder.save_due())
                last = finished or stop
                if last or run.done == 1 or run.done % settings.log_every == 0 or "val_loss" in record:
                    record["tokens_per_s"] = pace.tokens_per_second()
                    records.append(record)
                    if folder is not None:
                        folder.log(record)
                if folder is not None and (last or "val_loss" in record or save):
                    folder.save(run)
                if run.done == started + pace.FIRST and not last:
                    told = pace.prediction(started).sentence(f"these {settings.steps - started:,} steps")
                    display.say(f"after {pace.FIRST} steps: {told}")
                if run.done in watch:
                    words = "".join(generate(run.model, run.corpus.tokenizer, tokens=30, temperature=0.7))
                    run.model.train()  # to write, it was in evaluation
                    display.say(f"after {run.done:,} steps it writes: {' '.join(words.split())}")
                shown |= record
                if "val_loss" in record and run.validation.floor is not None:
                    shown["gap"] = record["val_loss"] - run.validation.floor
                display.update(run.done, shown, None if last else pace.left())
        except Diverged as error:
            raise Diverged(f"{error} {_causes(run, folder)}") from None
        finally:
            display.stop()
            devices.release("cpu")  # what the steps used again and again
    stopped = (
        (signals or [signal.SIGTERM])[0] if run.done < settings.steps else None
    )  # perhaps another rank received it
    floor = run.validation.floor
    record = run.tally.record(run.done)
    trained = Trained(run.model, run.corpus, settings, run.done, run.best, floor, records, stopped, record)
    for line in _ending(trained, folder):
        display.say(line)
    return trained


def choose_device(name: str) -> tuple[str, str]:
    """A device of this machine by its name, "auto" for the fastest; and why it is this one. Raises TrainingError."""
    found = available_devices()
    if name != "auto":
        if name not in found:
            known = name in devices.LOADERS and devices.problem(name)
            reason = known or "`course doctor` says what is missing."
            raise TrainingError(
                f"This machine has no device {name!r} that the course can use; it has {', '.join(found)}. {reason}"
            )
        return name, "as asked"
    if "cuda" in found:
        return "cuda", "an NVIDIA GPU is the fastest device here"
    if no_gpu := devices.problem("webgpu", as_gpu=True):
        return "cpu", f"{devices.problem('cuda')} {no_gpu}".removesuffix(".")
    no_cuda = "" if nvidia.gpu() is None else f"; {devices.problem('cuda')}"
    return "webgpu", f"the fastest device here is {devices.hardware('webgpu')}{no_cuda}"


def _same(saved: checkpoint.Checkpoint, preset: str | None, device: str, changes: dict, folder: RunFolder) -> Settings:
    """The settings of a saved run, if nothing that was asked for contradicts them."""
    settings = Settings(**saved.facts["settings"])
    if settings.compute == "bfloat16" and (refusal := recipes.why_not_bfloat16(device)):
        raise TrainingError(
            f"The run in {folder.path} multiplies in bfloat16. {refusal} Go on with it where it began, or begin a new "
            "run with another --out."
        )
    compute = changes.get("compute") or settings.compute  # what a new run would choose does not matter
    asked = recipes.settings(preset or settings.preset, device, **{**changes, "compute": compute})
    given = {name for name, value in changes.items() if value is not None} | ({"preset"} if preset else set())
    for name in sorted(given):
        old, new = getattr(settings, name), getattr(asked, name)
        if old != new:
            raise TrainingError(
                f"The run in {folder.path} was started with {name} {old}, and you asked for {new}. To go on with it: "
                f"{folder.command()}. To train with other settings, begin a new run with another --out."
            )
    return settings


def _check_corpus(saved: checkpoint.Checkpoint, corpus: data.Corpus, folder: RunFolder) -> None:
    if saved.facts["corpus"] != fingerprint(corpus):
        raise TrainingError(
            f"The text {corpus.name} is not the one that the run in {folder.path} began with: it, or the way it is "
            "prepared, has changed since (with --mine, your tokenizer prepares it). Put the old one back to go on, or begin a "
            "new run with another --out."
        )


def _header(run: Run, device: str, why: str, folder: RunFolder | None) -> list[str]:
    s, c = run.settings, run.model.config
    batch = f"{s.batch} x {c.context} tokens" + (f", {s.accumulate} batches a step" if s.accumulate > 1 else "")
    where = "nothing is written" if folder is None else f"in {folder.path}"
    going = f"goes on at step {run.done:,} of {s.steps:,}" if run.done else f"{s.steps:,} steps"
    compiling = ["kernels: compiled at their first launch, which takes some 20 seconds, this once"]
    compiling = compiling if device == "simulator" else []
    return [
        f"{s.preset}: {run.model.parameter_count():,} parameters ({c.layers} layers, {c.heads} heads, {c.channels} "
        f"channels)",
        f"device: {device} ({why})" + (", products in bfloat16" if s.compute == "bfloat16" else ""),
        *compiling,
        *run.corpus.describe().splitlines(),
        f"run: {going} of {batch}; learning rate {s.peak:g} to {s.lowest:g}; {where}",
        *run.tally.going_on(),
    ]


def _other_products(saved: checkpoint.Checkpoint | None, device: str) -> list[str]:
    """For the header of a run that will not end with the bits of one that was never stopped."""
    now = products_by(device)
    before = now if saved is None else saved.facts.get("products", now)
    return [] if before == now else [f"products: by {before} until here, by {now} from here on; the last bits differ"]


def _causes(run: Run, folder: RunFolder | None) -> str:
    """What makes a run diverge, and where the last good weights are."""
    s = run.settings
    text = (
        f"Most often the learning rate is too high (it peaks at {s.peak:g} here; try a third of it), or a batch too small "
        f"({s.batch}); if parts of the model are your own, check their backward with gradcheck."
    )
    if folder is None:
        return text
    kept = [f"{name} of step {checkpoint.load(folder.path / name, optimiser=False).facts['step']}"
            for name in (LAST, BEST) if (folder.path / name).exists()]  # fmt: skip
    return f"{text} The checkpoints from before are in {folder.path}: {', '.join(kept)}."


def _ending(trained: Trained, folder: RunFolder | None) -> list[str]:
    lines = []
    if trained.best is not None:
        gap = "" if trained.floor is None else f", {trained.best - trained.floor:.3f} above the floor of these windows"
        lines.append(f"best validation loss: {trained.best:.4f} nats per token{gap}")
    if trained.stopped:
        lines.append(f"Stopped after step {trained.step:,} of {trained.settings.steps:,}, as asked.")
        if folder is not None:
            lines.append(f"Everything is saved. To go on: {folder.command()}")
    elif folder is not None:
        lines.append(f"Done. To let it write: course sample --run {shlex.quote(str(folder.path))}")
    if trained.mine is not None:
        lines += whose.sentences(trained.mine, trained.step)
    return lines


@contextmanager
def _stop_signals(display: progress.Display) -> Iterator[list[signal.Signals]]:
    """A list that a first Ctrl-C or SIGTERM puts itself into; a second one interrupts at once."""
    received: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield received  # only the main thread receives signals
        return

    def on_signal(number: int, frame: object) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signal.Signals(number))
        display.say("Stopping after this step (once more: at once).")

    # the third is what mpiexec hands on to its processes, and what batch systems send before time is up
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
