"""Puts beside this file what chapter 20 shows of LoRA: peaks and steps tried on one `micro`, and what its answers name.

    course train --preset micro --out runs/micro
    python notebooks/runs/collect_lora.py runs/micro

Requests, loop and measurements are the chapter's. Writes lora.json, a line after each run; runs that are there are skipped.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np

from course_lib import data, no_grad, optim, run, stories
from course_lib.generation import Choice, complete
from course_lib.model import GPT
from course_lib.recipes import Settings
from course_lib.stories import requests
from course_lib.tuning import chat, examples, lora

FILE = Path(__file__).parent / "lora.json"
CONTEXT, BATCH = 64, 16
# (rank, or 0 for all weights; peak; steps; seed), of the order of examples and of the factors at the start
RUNS = [
    (0, 5e-3, 400, 0),
    *((8, peak, 400, 0) for peak in (5e-3, 1e-2, 3e-2)),
    *((8, 1e-2, 1600, seed) for seed in (0, 1, 2)),
]


class Trial:
    """One pretrained model, and the chapter's requests for a first sentence."""

    def __init__(self, start: Path):
        model, tokenizer, facts = run.load(start)
        self.tokenizer = chat.with_turns(tokenizer)
        self.base = chat.with_room(model.eval(), self.tokenizer)
        heroes = [one for one in requests.write(1, 16_000) if one.plot is None and not one.is_question]
        first = [dataclasses.replace(one, answer=stories.sentences(one.answer)[0]) for one in heroes]
        self.asked, held_out = first[:100], [one.wanted for one in heroes[:100]]
        self.learned = [one for one in first[100:] if one.wanted not in held_out]  # other heroes
        s = Settings(**facts["settings"])
        corpus = data.prepare(s.corpus, s.text, tokenizer.vocab_size, model.config.context, s.seed, s.stories)
        self.plain = corpus.validation.head(32)
        rows = self.rows(self.asked, 0)
        self.answers = data.windows.Validation(*rows.rows(np.arange(len(self.asked))), np.zeros(len(self.asked)))

    def rows(self, asked: list, seed: int) -> examples.Examples:
        rows, _, _ = examples.encode(self.tokenizer, asked, context=CONTEXT)
        return examples.Examples(rows, context=CONTEXT, seed=seed, padding=self.tokenizer.end_id)

    def measure(self, rank: int, peak: float, steps: int, seed: int) -> dict:
        model = GPT(self.base.config)
        model.load_state(self.base.state())
        if rank:
            model = lora.add(model, rank, seed)
        learn = self.rows(self.learned, seed)
        optimiser = optim.AdamW(model.named_parameters(), weight_decay=0.1, max_norm=1.0)
        for step in range(steps):
            loss = model.loss(*learn.batch(step, BATCH))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step(optim.warmup_linear(step, steps, peak, 0.0, steps // 10))
        losses = [self.loss(model, held_out) for held_out in (self.answers, self.plain)]
        return {
            "rank": rank, "peak": peak, "steps": steps, "seed": seed, "trained": model.parameter_count(),
            "answers": losses[0], "stories": losses[1], **self.named(model),
        }  # fmt: skip

    @no_grad()
    def loss(self, model: GPT, held_out: data.windows.Validation) -> float:
        return round(float(held_out.mean_loss(lambda idx, targets: model.loss(idx, targets).item(), 16)), 3)

    def named(self, model: GPT) -> dict[str, float]:
        """The fraction of answers with the word that was asked for, of each fact of the hero."""
        prompts = [chat.prompt_ids(self.tokenizer, one.prompt)[1:] for one in self.asked]
        written = complete(model, self.tokenizer, prompts, 40, Choice(0.5), range(len(prompts)))
        texts = [self.tokenizer.decode(ids[:-1] if ended else ids) for ids, ended in written]
        pairs = list(zip(self.asked, texts, strict=True))
        return {
            fact: round(float(np.mean([one.wanted[fact][""] in text for one, text in pairs])), 2)
            for fact in ("Trait", "Kind", "Hero")
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="of the preset micro")
    trial = Trial(parser.parse_args().run)
    found = json.loads(FILE.read_text()) if FILE.exists() else []
    for asked in RUNS:
        if asked not in [tuple(one[name] for name in ("rank", "peak", "steps", "seed")) for one in found]:
            found.append(trial.measure(*asked))
            print(json.dumps(found[-1]), flush=True)
            FILE.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
