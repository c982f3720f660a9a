"""The comparison of chapter 22b: `small` with four kinds of attention, 300 steps each; writes latent.json beside this file.

    python notebooks/runs/collect_latent.py --seed 0        four models, some four minutes of processor time
    python notebooks/runs/collect_latent.py --seed 1

Each is the preset `small` with its recipe, on the same stories; only what keys and values come from is another.
"""

import argparse
import json
from pathlib import Path

from course_lib import progress
from course_lib.training import train

MODELS = {
    "own keys and values": {},
    "one key-value head": {"kv_heads": 1},
    "latent of 48": {"latent": 48},
    "latent of 16": {"latent": 16},
}
STEPS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("latent.json"))
    args = parser.parse_args()
    kept = json.loads(args.out.read_text()) if args.out.exists() else {}
    for name, model in MODELS.items():
        # a few hundred steps are too few to make up for what lookups cost at first
        trained = train("small", device="cpu", steps=STEPS, seed=args.seed, model=model, lookups=1.0, matrix_peak=0.012,
                        display=progress.Quiet())  # fmt: skip
        arrays, heads, numbers = trained.model.config.cached_shape
        row = kept.setdefault(name, {"numbers": arrays * heads * numbers, "parameters": trained.model.parameter_count(),
                                     "losses": {}})  # fmt: skip
        row["losses"][str(args.seed)] = round(trained.records[-1]["val_loss"], 4)
        args.out.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, row, flush=True)


if __name__ == "__main__":
    main()
