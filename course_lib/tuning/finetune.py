"""Begin a run from the weights of another: supervised fine-tuning, whole or by LoRA.

    train(start="runs/12m", out="runs/12m-chat")               the same as  course train --start runs/12m --out runs/12m-chat
    train(start="runs/12m", lora=8, out=...)                   few weights trained, the others frozen
    train(start="runs/gpt2", lora=8, text="my.txt", out=...)   more of a text, in place of answers

All else is training.py's: log, checkpoints, Ctrl-C, resuming to the same bits. Without `start` it is `training.train` itself.
A checkpoint holds whole weights, with LoRA's changes added, so whatever reads runs reads these; the changes
themselves lie beside the optimiser's state, and to go on with them the run of `start` must still be there.
"""

import zlib
from pathlib import Path

import numpy as np

from course_lib import checkpoint, data, run, training, whose
from course_lib.model import GPT, GPTConfig
from course_lib.recipes import Settings
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat, examples, lora, reward, rollouts

CHANGES = "lora/"


class FromAnother(training.OneProcess):
    """How a run begins from the weights of another, where its settings name one."""

    def begin(
        self, settings: Settings, device: str, tally: whose.Tally, saved: checkpoint.Checkpoint | None, bars: bool
    ) -> run.Run:
        if settings.start is None:
            return super().begin(settings, device, tally, saved, bars)
        if settings.reward is not None:
            return _rewarded(settings, device, tally, bars)
        if saved is not None and not settings.lora:
            tokenizer = Tokenizer.from_json(saved.facts["tokenizer"])
            model = GPT(GPTConfig(**saved.facts["config"]), device=device)
        else:
            model, tokenizer, _ = run.load(settings.start, device)
            if settings.text is None:
                tokenizer = chat.with_turns(tokenizer)
                model = chat.with_room(model, tokenizer, settings.seed)
        context = min(model.config.context, settings.window or model.config.context)
        if settings.text is None:
            corpus = examples.prepare(tokenizer, context, settings.stories, settings.seed, bars)
        else:
            corpus = examples.from_text(tokenizer, settings.text, context, settings.seed)
        return (LoRARun if settings.lora else run.Run)(settings, corpus, model, tally)


def _rewarded(settings: Settings, device: str, tally: whose.Tally, bars: bool) -> run.Run:
    """A run that learns from a reward; its validation is on the stories that `start` was trained on."""
    if settings.reward not in reward.REWARDS:
        raise ValueError(f"There is no reward {settings.reward!r}: choose one of {', '.join(reward.REWARDS)}.")
    model, tokenizer, facts = run.load(settings.start, device)
    before = Settings(**facts["settings"]) if "corpus" in facts["settings"] else None
    if before is None or before.corpus != "stories" or before.text is not None or chat.has_turns(tokenizer):
        raise ValueError(f"The model in {settings.start} was not trained on stories, which alone can be judged here.")
    corpus = data.prepare(
        "stories", None, tokenizer.vocab_size, model.config.context, settings.seed, before.stories, bars
    )
    return rollouts.RewardRun(settings, corpus, model, tally)


def train(preset: str | None = None, *, start: str | Path | None = None, **changes) -> training.Trained:
    """`training.train`, which may begin from the weights of another run; see its arguments, and `recipes.Settings`."""
    if start is not None:
        preset, start = preset or run.load(start)[2]["settings"]["preset"], str(start)
    return training.train(preset, start=start, processes=FromAnother(), **changes)


class LoRARun(run.Run):
    """A run that trains the changes alone."""

    def __init__(self, settings: Settings, corpus, model: GPT, tally: whose.Tally):
        self.origin_of_weights = digest(model.state())
        super().__init__(settings, corpus, lora.add(model, settings.lora, settings.seed), tally)

    def facts(self) -> dict:
        return super().facts() | {"start": self.origin_of_weights}

    def arrays(self) -> tuple[dict, dict]:
        changes = {f"{CHANGES}{name}": values for name, values in self.model.state().items()}
        return lora.merged_state(self.model), self.optimiser.state() | changes

    def take(self, saved: checkpoint.Checkpoint) -> None:
        if saved.facts["start"] != self.origin_of_weights:
            raise training.TrainingError(
                f"The weights in {self.settings.start} are not those that this run began from, and LoRA's changes belong to "
                "those. Put the old ones back, or begin a new run with another --out."
            )
        arrays = saved.optimiser
        changes = {name.removeprefix(CHANGES): array for name, array in arrays.items() if name.startswith(CHANGES)}
        self.model.load_state(changes)
        self.optimiser.load_state({name: array for name, array in arrays.items() if not name.startswith(CHANGES)})


def digest(state: dict[str, np.ndarray]) -> int:
    """A checksum of weights."""
    found = 0
    for name in sorted(state):
        found = zlib.crc32(np.ascontiguousarray(state[name]), found)
    return found
