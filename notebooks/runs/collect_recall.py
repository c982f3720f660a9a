"""The recall probe of chapter 23: small models read who owns what, and are asked; writes recall.json beside this file.

    python notebooks/runs/collect_recall.py "delta"              one model, some two minutes of processor time
    python notebooks/runs/collect_recall.py "attention" "delta" "attention delta" "delta attention"
    python notebooks/runs/collect_recall.py "delta" "attention delta" --seed 1

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


def trained(mixers: str, seed: int = 0) -> tuple[GPT, float]:
    """A model after STEPS steps, and its last loss."""
    config = GPTConfig(layers=len(mixers.split()), heads=HEADS, channels=CHANNELS, hidden=2 * CHANNELS, mixers=mixers,
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
        optimiser.step(warmup_cosine(step + 1, STEPS, PEAK, PEAK / 20, 20))
    return model, loss.item()


def recall(model: GPT) -> list[float]:
    """The fraction of right answers for each distance, 1 to len(THINGS), after as many facts."""
    tokens, targets, distances = texts(np.random.default_rng(1), 512, len(THINGS))
    with no_grad():
        said = model(tokens).numpy()[..., : len(NAMES)].argmax(-1)
    return [round(float((said == targets)[distances == d].mean()), 3) for d in range(1, len(THINGS) + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mixers", nargs="+")
    parser.add_argument("--seed", type=int, default=0, help="of another seed than 0 the mean recall is kept alone")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("recall.json"))
    args = parser.parse_args()
    kept = json.loads(args.out.read_text()) if args.out.exists() else {}
    for mixers in args.mixers:
        begun = time.process_time()
        model, loss = trained(mixers, args.seed)
        minutes = round((time.process_time() - begun) / 60, 1)
        parameters = sum(int(np.prod(p.shape)) for p in model.parameters())
        if args.seed:
            others = kept[mixers].setdefault("other_seeds", {})
            others[str(args.seed)] = round(float(np.mean(recall(model))), 3)
            args.out.write_text(json.dumps(kept, indent=1) + "\n")
            print(mixers, others)
            continue
        kept[mixers] = {"parameters": parameters, "steps": STEPS, "loss": round(loss, 3), "processor_minutes": minutes,
                        "recall": recall(model)}  # fmt: skip
        args.out.write_text(json.dumps(kept, indent=1) + "\n")
        print(mixers, kept[mixers])


if __name__ == "__main__":
    main()
