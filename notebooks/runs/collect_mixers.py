"""Attention, a linear recurrence and both in one model, trained alike on stories: chapter 23's comparison; writes mixers.json.

    python notebooks/runs/collect_mixers.py attention hybrid delta --seeds 0 1       some 12 minutes of processor time
    python notebooks/runs/collect_mixers.py delta --steps 40 --out /tmp/try.json     a minute, to see that it runs

Each is `small` with LAYERS blocks, trained by its recipe for STEPS steps of 8 windows. The width of the MLPs makes their
parameters equal to 1 %. Kept are the validation losses of each seed, and the probe: in new stories, how often the first token
of a word that an earlier one determines ("held the ... tight": the colour of the kite) is the likeliest by the model, by how
many tokens ago the word was said last. A perfect reader is always right there. Names are left out, for most are said again
after a few words.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np

from course_lib import progress, recall, stories, training
from course_lib.model import GPT
from course_lib.tokenizer import Tokenizer

LAYERS, STEPS = 4, 400
MODELS = {  # fields of GPTConfig
    "attention": {"hidden": 384},
    "hybrid": {"hidden": 332, "mixers": "delta delta delta attention", "positions": "none"},
    "delta": {"hidden": 314, "mixers": "delta", "positions": "none"},
    "linear": {"hidden": 315, "mixers": "linear", "positions": "none"},
}
SEED, STORIES = 1, 400  # of the probe: the corpus has seed 0
EDGES = (1, 9, 17, 33, 65, 129)  # first distance of each group; the last one is open


def repeats(text: str, known: Tokenizer):
    """As recall.repeats, without names."""
    return (one for one in recall.repeats(text, known) if one[2] != "name")


def group_of(distance: int) -> int:
    return int(np.searchsorted(EDGES, distance, side="right")) - 1


def guessing(known: Tokenizer) -> list[float]:
    """The fraction right in each group for who remembers nothing, but knows which word of a kind is said most often."""
    asked = [
        (kind, group_of(distance), ids[word.start])
        for ids, text in ((known.encode(text), text) for text in stories.write(SEED, STORIES))
        for word, distance, kind in repeats(text, known)
    ]
    counts = Counter((kind, token) for kind, _, token in asked)
    best = {kind: token for (kind, token), _ in reversed(counts.most_common())}
    right = [[best[kind] == token for kind, group, token in asked if group == number] for number in range(len(EDGES))]
    return [round(float(np.mean(group)), 4) for group in right]


def tokens_of(known: Tokenizer) -> int:
    """Of all stories of the probe, their end tokens included."""
    return sum(len(known.encode(text)) + 1 for text in stories.write(SEED, STORIES))


def probe(model: GPT, known: Tokenizer) -> list[list[float]]:
    """[words, fraction right, mean nats] for each group of distances."""
    model.eval()
    groups = [[] for _ in EDGES]
    for text in stories.write(SEED, STORIES):
        ids = [known.end_id, *known.encode(text)][: model.config.context]
        nats, likeliest = recall.foretold(model, ids)  # of the story's tokens, for the end token comes first
        for (at, *_), distance, _ in repeats(text, known):
            if at < len(nats):
                groups[group_of(distance)].append((likeliest[at], nats[at]))
    return [[len(group), *np.mean(group, axis=0).round(4).tolist()] if group else [0, None, None] for group in groups]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", choices=MODELS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("mixers.json"))
    args = parser.parse_args()
    for seed in args.seeds:
        for name in args.models:
            begun = time.process_time()
            # a few hundred steps are too few to make up for what lookups cost at first
            run = training.train("small", device="cpu", steps=args.steps, seed=seed, display=progress.Quiet(), lookups=1.0,
                                 matrix_peak=0.012, model={"layers": LAYERS, **MODELS[name]})  # fmt: skip
            minutes = round((time.process_time() - begun) / 60, 1)
            losses = [[record["step"], round(record["val_loss"], 4)] for record in run.records if "val_loss" in record]
            figures = {"processor_minutes": minutes, "losses": losses, "probe": probe(run.model, run.tokenizer)}
            kept = json.loads(args.out.read_text()) if args.out.exists() else {}
            kept |= {
                "steps": args.steps,
                "floor": round(run.floor, 4),
                "edges": EDGES,
                "guessing": guessing(run.tokenizer),
            }
            model = kept.setdefault("models", {}).setdefault(name, {"parameters": run.model.parameter_count()})
            model.setdefault("seeds", {})[str(seed)] = figures
            args.out.write_text(json.dumps(kept, indent=1) + "\n")
            print(name, seed, figures, flush=True)


if __name__ == "__main__":
    main()
