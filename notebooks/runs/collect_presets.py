"""The presets of 12 million parameters, trained alike for a short while, or to the end: chapters 22a, 22b and 23 quote it; writes
presets.json.

    python notebooks/runs/collect_presets.py 12m hybrid-12m --seeds 0 1          some 75 minutes of one core
    python notebooks/runs/collect_presets.py latent-12m modern-12m --seeds 0     some 30
    python notebooks/runs/collect_presets.py 12m hybrid-12m modern-12m --device cuda --steps 600 --batch 16 --out hybrid.json
    python notebooks/runs/collect_presets.py 12m hybrid-12m --whole --seeds 0 1 --out whole.json                  some six hours
    python notebooks/runs/collect_presets.py 12m --steps 2 --batch 1 --out /tmp/try.json --runs /tmp/try    to see that it runs

Each is trained by its recipe but for STEPS and BATCH, into a folder of its own; a run that was stopped goes on, one that ended
is only measured. Kept for each seed: the validation losses, the same loss with the weights in int8 and in int4, and the recall
in story text (collect_mixers.py). A few hundred steps tell which kind of model learns faster, not which is better in the end:
with --whole the recipe is kept, and 300 samples at temperature 0.7 are graded too.
"""

import argparse
import json
import time
from pathlib import Path

from collect_mixers import EDGES, guessing, probe, tokens_of

from course_lib import no_grad, progress, stories_report, training
from course_lib.run import load
from course_lib.run_folder import LAST
from course_lib.serving import quantised

PRESETS = ("12m", "modern-12m", "latent-12m", "linear-12m", "hybrid-12m")
STEPS, BATCH = 300, 8


@no_grad()
def quantised_losses(run: training.Trained) -> dict[str, list[float]]:
    """For float32, int8 and int4: bits of a weight, loss in nats per token on the validation windows of training."""

    def loss(model) -> float:
        windows = run.corpus.validation.head(run.settings.validation_rows)
        return round(windows.mean_loss(lambda idx, targets: model.loss(idx, targets).item(), 8), 4)

    found = {"float32": [32.0, loss(run.model.eval())]}
    for to in quantised.FORMATS:
        held = quantised.weights(run.model.state(), to)
        small = quantised.QuantisedGPT(run.model.config, held).eval()
        found[to] = [round(quantised.bits_per_weight(held), 3), loss(small)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+", choices=PRESETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--whole", action="store_true", help="by the whole recipe, lookups included")
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="where they are trained; measured on the CPU"
    )
    parser.add_argument("--runs", type=Path, default=Path("runs/presets"))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("presets.json"))
    args = parser.parse_args()
    for seed in args.seeds:
        for name in args.presets:
            folder = args.runs / f"{name}-{seed}"
            begun, started = time.process_time(), time.monotonic()
            kept = folder.exists()
            # 300 steps are too few to make up for what lookups cost at first
            short = {} if args.whole else {"steps": args.steps, "batch": args.batch, "lookups": 1.0}
            chosen = {} if kept else {"seed": seed, **short}
            run = training.train(name, out=folder, resume=kept, device=args.device, display=progress.Quiet(), **chosen)
            minutes, seconds = (time.process_time() - begun) / 60, time.monotonic() - started
            if args.device != "cpu":
                run.model = load(folder / LAST)[0]
            on_cpu = args.device == "cpu"
            spent = {"processor_minutes": round(minutes, 1)} if on_cpu else {"seconds_on_card": round(seconds, 1)}
            figures = {
                **({} if kept else spent),  # of a run that goes on it would be a part
                "losses": [
                    [record["step"], round(record["val_loss"], 4)] for record in run.records if "val_loss" in record
                ],
                "quantised": quantised_losses(run),
                "probe": probe(run.model, run.tokenizer),
            }
            if args.whole:
                grade = stories_report.grade_samples(run.model, run.tokenizer)
                figures |= {name: getattr(grade, name) for name in ("count", "well_formed", "possible", "wrong_facts")}
            found = json.loads(args.out.read_text()) if args.out.exists() else {}
            found |= {
                "steps": run.settings.steps,
                "batch": run.settings.batch,
                "floor": round(run.floor, 4),
                "edges": EDGES,
            }
            found["guessing"] = found.get("guessing") or guessing(run.tokenizer)
            found["tokens"] = tokens_of(run.tokenizer)
            model = found.setdefault("models", {}).setdefault(name, {"parameters": run.model.parameter_count()})
            model.setdefault("seeds", {})[str(seed)] = figures
            args.out.write_text(json.dumps(found, indent=1) + "\n")
            print(name, seed, figures, flush=True)


if __name__ == "__main__":
    main()
