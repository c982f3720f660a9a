"""One training run in memory: the model, its optimiser, the batches, and how far it is.

The state of a run is the weights, the optimiser's moments and a few numbers; batches are a function of the step, so
there is nothing else to save. Where checkpoints go and what is shown is decided in training.py.
"""

import math
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from course_lib import checkpoint, data, devices, metrics, native, nn, optim, whose
from course_lib.model import GPT, GPTConfig
from course_lib.recipes import Settings
from course_lib.run_folder import BEST, LAST
from course_lib.tensor import Tensor, no_grad, tensor_from_array
from course_lib.tokenizer import Tokenizer

VALIDATION_BATCH = 16
RECENT = 20  # losses whose mean tells a bad batch from a run that diverges
JUMP = 2.0  # nats that this mean may rise above its lowest


def make_optimiser(settings: Settings, named: Collection[tuple[str, Tensor]],
                   stacked: Mapping[str, Sequence[int]]) -> optim.AdamW | optim.Muon:  # fmt: skip
    """The optimiser of the settings for these parameters of a model, and its `stacked()`."""
    adamw = {"betas": (0.9, 0.95), "weight_decay": 0.1, "max_norm": 1.0}
    if settings.optimiser == "adamw":
        return optim.AdamW(named, **adamw)
    rate = settings.matrix_peak / settings.peak
    return optim.Muon(named, muon_matrices(named), rate, settings.momentum, stacked=stacked, **adamw)


def muon_matrices(named: Collection[tuple[str, Tensor]]) -> set[str]:
    """Muon's matrices are those of the blocks: embeddings are tables, and stay AdamW's."""
    return {name for name, p in named if name.startswith("blocks.") and p.ndim == 2}


class Diverged(RuntimeError):
    """The loss became infinite, or went far above what the model had reached."""


class Run:
    """One training run in memory: the model, its optimiser, and how far it is. `step()` makes one update."""

    def __init__(self, settings: Settings, corpus: data.Corpus, model: GPT, tally: whose.Tally | None = None):
        self.settings, self.corpus, self.model = settings, corpus, model
        self.tally = tally or whose.Tally(model.device)
        self.optimiser = self._make_optimiser()
        self.lookups = data.Lookups(corpus.train, settings.lookups) if settings.lookups != 1 else None
        self.validation = corpus.validation.head(settings.validation_rows)
        self.origin = {"corpus": fingerprint(corpus), "tokenizer": corpus.tokenizer.to_json()}
        self.done = 0  # steps
        self.best: float | None = None  # the least validation loss, and the step where it was measured
        self.best_step = 0
        self.recent: list[float] = []  # the last losses
        self.lowest = math.log(model.config.vocab_size)  # mean of RECENT losses; it starts at a uniform guess
        self.copies = self._round_weights()
        self.captured = devices.captured_step(model.device, self._device_step)  # on a GPU, one graph of launches

    def _make_optimiser(self):
        return make_optimiser(self.settings, list(self.model.named_parameters()), self.model.stacked())

    @property
    def tokens_per_step(self) -> int:
        return self.settings.batch * self.settings.accumulate * self.corpus.context

    def _round_weights(self):
        """What products read of the weights where they multiply in bfloat16, if the device keeps it."""
        if self.settings.compute != "bfloat16":
            return None
        # adamw_step renews these copies; what Muon steps is rounded when it is used
        stepped = self.optimiser.rest if isinstance(self.optimiser, optim.Muon) else self.optimiser
        matrices = [p.storage.array for p in stepped.parameters if p.ndim == 2]
        return devices.rounded_copies(self.model.device, matrices)

    def step(self) -> metrics.Record:
        """One update: forward and backward over each batch, then the optimiser. Raises Diverged."""
        s, number = self.settings, self.done
        schedule = {"linear": optim.warmup_linear, "cosine": optim.warmup_cosine}[s.schedule]
        rate = schedule(number, s.steps, s.peak, s.lowest, s.warmup)
        batches = self._batches()
        counts = [int((batch[1] != data.IGNORE).sum()) for batch in batches]  # a batch counts as much as it scores
        make_step = self._plain_step if self.captured is None else self._captured_step
        with native.step(), devices.computing(self.model.device, s.compute, self.copies, backward=True):
            total, norm = make_step(rate, batches, counts)
        if not math.isfinite(norm):
            raise Diverged(f"The gradient's norm is {norm} at step {number + 1}, with a loss of {total:.3f}.")
        self.done += 1
        return {"step": self.done, "loss": total, "lr": rate, "grad_norm": norm}

    def _batches(self) -> list[tuple[np.ndarray, ...]]:
        """Those of the step at hand: what the model's loss takes."""
        accumulate = self.settings.accumulate
        return [self._batch(self.done * accumulate + part) for part in range(accumulate)]

    def _batch(self, number: int) -> tuple[np.ndarray, ...]:
        """idx, targets (B, T), and how much each target counts, where they do not count alike."""
        if self.lookups is None:
            return self.corpus.train.batch(number, self.settings.batch)
        return self.lookups.batch(number, self.settings.batch, self.done / self.settings.steps)

    def _plain_step(self, rate: float, batches: list, counts: list[int]) -> tuple[float, float]:
        """(loss, gradient norm). A loss that is not finite is found before anything is changed."""
        s, total = self.settings, 0.0
        self.optimiser.zero_grad()
        for part, (batch, count) in enumerate(zip(batches, counts, strict=True)):
            self.model.random.set_step(s.seed, self.done * s.accumulate + part)
            loss = self.model.loss(*batch)  # ()
            if s.accumulate > 1:
                loss = loss * (count / sum(counts))
            total += loss.item()
            if math.isfinite(total):
                loss.backward()
        self._check(total)
        return total, float(self.optimiser.step(rate))

    def _captured_step(self, rate: float, batches: list, counts: list[int]) -> tuple[float, float]:
        """The same, where the device does it all in one go and the host looks afterwards."""
        s = self.settings
        # (A, B, T) each: A batches for one step
        idx, targets, *counted = (np.stack(arrays) for arrays in zip(*batches, strict=True))
        weights = np.array([count / sum(counts) for count in counts], np.float32)  # (A,)
        bits = [nn.random_words(s.seed, self.done * s.accumulate + part) for part in range(s.accumulate)]
        settings = self.optimiser.next_settings(rate)
        total, norm = self.captured(idx, targets, weights, np.stack(bits), settings, *counted)
        self._check(float(total))
        return float(total), float(norm[0])

    def _device_step(self, idx, targets, weights, bits, settings, *counted) -> tuple:
        """What a captured step does, on device arrays that hold what changes from step to step -> loss (), norm (1)."""
        ops, model, total = self.model.random.ops, self.model, None
        self.optimiser.zero_grad()
        for part in range(self.settings.accumulate):
            model.random.array = ops.view(bits, (3,), 3 * part)
            loss = model.loss(*(tensor_from_array(array, ops)[part] for array in (idx, targets, *counted)))
            if self.settings.accumulate > 1:
                loss = loss * tensor_from_array(weights, ops)[part]
            loss.backward()
            total = loss.detach() if total is None else total + loss.detach()
        return total.array(), self.optimiser.update(settings)

    def _check(self, loss: float) -> None:
        number = self.done + 1
        if not math.isfinite(loss):
            raise Diverged(f"The loss is {loss} at step {number}.")
        self.recent = [*self.recent[1 - RECENT :], loss]
        mean = sum(self.recent) / len(self.recent)
        if len(self.recent) == RECENT and mean > self.lowest + JUMP:
            raise Diverged(
                f"The loss went up: {mean:.2f} over the {RECENT} steps up to {number}, after {self.lowest:.2f} before."
            )
        if len(self.recent) == RECENT:
            self.lowest = min(self.lowest, mean)

    @no_grad()
    def validate(self) -> float:
        """The loss on the fixed validation windows, in nats per token; remembered if it is the best so far."""
        self.model.eval()
        with devices.computing(self.model.device, self.settings.compute, self.copies):
            loss = self._validation_loss()
        self.model.train()
        if self.best is None or loss < self.best:
            self.best, self.best_step = loss, self.done
        return loss

    def _validation_loss(self) -> float:
        return self.validation.mean_loss(lambda idx, y: self.model.loss(idx, y).item(), VALIDATION_BATCH)

    def agree(self, stop: bool, save: bool) -> tuple[bool, bool]:
        """Whether to stop and to save after this step, where others take part in the run."""
        return stop, save

    def facts(self) -> dict:
        """What a checkpoint holds beside arrays."""
        return {
            "step": self.done,
            "best": self.best,
            "best_step": self.best_step,
            "recent": self.recent,
            "lowest": self.lowest,
            "settings": self.settings.to_dict(),
            "config": self.model.config.to_dict(),
            "whose": self.tally.record(self.done),
            "products": devices.products_by(self.model.device),
            **self.origin,
        }

    def arrays(self) -> tuple[dict, dict]:
        """What a checkpoint holds: weights, and the state of the optimiser."""
        return self.model.state(), self.optimiser.state()

    def take(self, saved: checkpoint.Checkpoint) -> None:
        """Put back what `arrays` gave."""
        self.model.load_state(saved.weights)
        self.optimiser.load_state(saved.optimiser)

    def save(self, path: Path) -> None:
        """Write a checkpoint. Raises Diverged rather than keep weights that are not numbers, and CheckpointError."""
        weights, optimiser = self.arrays()
        broken = [name for name, values in weights.items() if not np.isfinite(values).all()]
        if broken:
            raise Diverged(f"After step {self.done} the weights {broken[0]} are not all finite numbers.")
        checkpoint.save(path, weights, optimiser, self.facts())

    def restore(self, saved: checkpoint.Checkpoint) -> None:
        """Take over the state of a checkpoint of the same settings."""
        self.take(saved)
        self.copies = self._round_weights()
        self.done, self.best, self.best_step, self.recent, self.lowest = (
            saved.facts[name] for name in ("step", "best", "best_step", "recent", "lowest")
        )
        self.tally.go_on(saved.facts.get("whose"), self.done)


def fingerprint(corpus: data.Corpus) -> dict:
    """Tells whether two runs read the same tokens by the same tokenizer."""
    return {"tokenizer": corpus.tokenizer.checksum, "tokens": zlib.crc32(corpus.train.tokens)}


def load(source: str | Path, device: str = "cpu") -> tuple[GPT, Tokenizer, dict]:
    """The model of a run, its tokenizer and the facts of its checkpoint (`step`, `best`, `settings`, ...).

    source: the run's folder, for the checkpoint with the least validation loss, or one checkpoint. Raises CheckpointError.
    """
    source = checkpoint_in(source)
    saved = checkpoint.load(source, optimiser=False)
    model = GPT(GPTConfig(**saved.facts["config"]), device=device)
    model.load_state(saved.weights)
    return model, Tokenizer.from_json(saved.facts["tokenizer"], source), saved.facts


def checkpoint_in(source: str | Path) -> Path:
    """The checkpoint of a run that is read: the one with the least validation loss, or `source` itself if it is a file."""
    source = Path(source)
    if not source.exists():
        raise checkpoint.CheckpointError(f"There is no run in {source}. To train one: course train --out {source}")
    if source.is_dir():
        return source / (BEST if (source / BEST).exists() else LAST)
    return source
