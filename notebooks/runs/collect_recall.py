"""The recall probe of chapter 23: small models read who owns what, and are asked; writes recall.json beside this file.

    python notebooks/runs/collect_recall.py "attention"                     one model, some two minutes of processor time
    python notebooks/runs/collect_recall.py "delta" --peak 3e-3             with another learning rate than 1e-2
    python notebooks/runs/collect_recall.py "delta" --peak 3e-3 --seed 1    again: its mean recall is kept beside that of seed 0
    python notebooks/runs/collect_recall.py "delta" --peak 3e-3 --channels 16

A fact is one token, "the kite is Mia's", made of the things and the heroes of the story grammar, and a question is one token too,
"whose is the kite?", so that a layer need not learn first to join two tokens. Facts come first, as many as there are things or
fewer, then questions, each about another thing. Only the answers are scored. A model is named by the mixers of its blocks.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from course_lib import no_grad
from course_lib.model import GPT, GPTConfig
from course_lib.optim import AdamW, warmup_cosine
from course_lib.stories import people, things

THINGS = [word[""] for word in things.LISTS["thing"].words]
NAMES = [word[""] for word in people.HEROES[:8]]
FACT, QUESTION = len(NAMES), len(NAMES) * (1 + len(THINGS))  # the first ids of their kinds; answers, names, begin at 0
BATCH, STEPS, PEAK, ASKED = 64, 3000, 1e-2, 16
CHANNELS, HEADS = 32, 2  # so a head's state has 16 x 16 numbers
FEWER = (4, 8, 12, 16, 20)  # facts in a text, for the mean recall
WIDER = 6  # times the first weights: GPT-2's deviation of 0.02 is for many more channels


def texts(random: np.random.Generator, count: int, facts: int):
    """(tokens, targets, distances), (count, facts + questions) each; targets are -1 at facts. distances: how many facts ago the
    answer was, 1 for the last one; 0 at facts."""
    rows = np.arange(len(THINGS))[None].repeat(count, axis=0)
    thing = random.permuted(rows, axis=1)[:, :facts]  # (count, facts)
    owner = random.integers(0, len(NAMES), (count, facts))
    asked = random.permuted(rows[:, :facts] % facts, axis=1)[:, :ASKED]  # which fact
    tokens = [FACT + thing * len(NAMES) + owner, QUESTION + np.take_along_axis(thing, asked, 1)]
    targets = [np.full((count, facts), -1), np.take_along_axis(owner, asked, 1)]
    distances = [np.zeros((count, facts), int), facts - asked]
    return (np.concatenate(parts, 1).astype(np.int32) for parts in (tokens, targets, distances))


def trained(mixers: str, seed: int = 0, peak: float = PEAK, channels: int = CHANNELS) -> tuple[GPT, float]:
    """A model after STEPS steps, and its last loss."""
    config = GPTConfig(layers=len(mixers.split()), heads=HEADS, channels=channels, hidden=2 * channels, mixers=mixers,
                       positions="none", context=len(THINGS) + ASKED, vocab_size=QUESTION + len(THINGS))  # fmt: skip
    model, random = GPT(config, seed=seed), np.random.default_rng(seed)
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and not name.startswith("tokens"):
            weight.storage.array[:] *= WIDER
    optimiser = AdamW(model.named_parameters(), weight_decay=0.0)
    for step in range(STEPS):
        tokens, targets, _ = texts(random, BATCH, int(random.integers(2, len(THINGS) + 1)))
        optimiser.zero_grad()
        loss = model.loss(tokens, targets)
        loss.backward()
        optimiser.step(warmup_cosine(step + 1, STEPS, peak, peak / 20, 20))
    return model, loss.item()


def recall(model: GPT, facts: int = len(THINGS)) -> list[float]:
    """The fraction of right answers for each distance, 1 to `facts`, after as many facts."""
    tokens, targets, distances = texts(np.random.default_rng(1), 512, facts)
    with no_grad():
        said = model(tokens).numpy()[..., : len(NAMES)].argmax(-1)
    return [round(float((said == targets)[distances == d].mean()), 3) for d in range(1, facts + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mixers", nargs="+")
    parser.add_argument("--peak", type=float, default=PEAK, help="the highest learning rate")
    parser.add_argument("--channels", type=int, default=CHANNELS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--again", action="store_true", help="keep the mean recall alone, as for every other seed than 0"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("recall.json"))
    args = parser.parse_args()
    for mixers in args.mixers:
        begun = time.process_time()
        model, loss = trained(mixers, args.seed, args.peak, args.channels)
        minutes = round((time.process_time() - begun) / 60, 1)
        name = mixers if args.channels == CHANNELS else f"{mixers}, {args.channels} channels"
        kept = json.loads(args.out.read_text()) if args.out.exists() else {}
        right = recall(model)
        if args.seed or args.again:
            kept[name]["again"][f"seed {args.seed}, learning rate {args.peak:g}"] = round(float(np.mean(right)), 3)
        else:
            kept[name] = {"parameters": sum(int(np.prod(p.shape)) for p in model.parameters()), "peak": args.peak,
                          "steps": STEPS, "loss": round(loss, 3), "processor_minutes": minutes, "recall": right,
                          "facts": {facts: round(float(np.mean(recall(model, facts))), 3) for facts in FEWER},
                          "again": kept.get(name, {}).get("again", {})}  # fmt: skip
        args.out.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, minutes, round(float(np.mean(right)), 3), kept[name]["again"], flush=True)


if __name__ == "__main__":
    main()
