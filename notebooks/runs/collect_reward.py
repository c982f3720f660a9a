"""Puts what chapter 21 shows of a run beside this file: its log, and what its model writes at two temperatures; not the weights.

    python notebooks/runs/collect_reward.py RUN notebooks/runs/reward/stories --minutes 10 --machine "one core of a ..."

--minutes: processor time of the training. Writes about.json, judged.json and, for a run with a reward, metrics.jsonl.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from course_lib import generation, metrics, stories
from course_lib.run import load
from course_lib.run_folder import LAST
from course_lib.stories_report import grade_texts
from course_lib.tuning import diversity

TEMPERATURES = (0.7, 1.0)
SHOWN = 3  # texts kept of each temperature
LOGGED = ("step", "reward", "entropy", "kl", "tokens", "val_loss")


def collect(run: Path, to: Path, machine: str, minutes: float, count: int) -> None:
    model, tokenizer, facts = load(run / LAST)
    to.mkdir(parents=True, exist_ok=True)
    kept = ("reward", "credit", "temperature", "batch", "steps", "optimiser", "peak", "matrix_peak", "kl", "pretraining",
            "passes", "lookups", "seed")  # fmt: skip
    about = {name: facts["settings"].get(name) for name in kept} | {
        "step": facts["step"], "processor_minutes": minutes, "machine": machine,
    }  # fmt: skip
    (to / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    judged = [judge(model, tokenizer, temperature, count) for temperature in TEMPERATURES]
    (to / "judged.json").write_text(json.dumps(judged, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if facts["settings"].get("reward"):
        lines = [{name: short(one[name]) for name in LOGGED if name in one} for one in metrics.read(run)]
        (to / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    lists = ("plots", "choices", "texts")
    print(to.name, [{name: value for name, value in one.items() if name not in lists} for one in judged])


def judge(model, tokenizer, temperature: float, count: int) -> dict:
    """What `count` texts are worth, and how much they say beside as many true stories."""
    texts = generation.generate_many(model, tokenizer, count, tokens=model.config.context, temperature=temperature)
    grade, told = grade_texts(texts, temperature), diversity.count(texts)
    true = diversity.count(stories.write(1, count))
    ended = [text for text in texts if text is not None]
    return {
        "temperature": temperature,
        "count": count,
        "possible": short(grade.possible),
        "well_formed": short(grade.well_formed),
        "wrong_facts": short(grade.wrong_facts) if grade.well_formed else None,
        "length": short(np.mean([len(text.split()) for text in ended])) if ended else None,
        "words": told.words,
        "true_words": true.words,
        "different": len(set(ended)),
        "plots": told.plots,
        "choices": {name: short(nats) for name, nats in told.choices.items()},
        "texts": texts[:SHOWN],
    }


def short(value: float) -> float:
    """Four digits are enough here."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("to", type=Path)
    parser.add_argument("--machine", required=True, help="what it ran on, in words")
    parser.add_argument("--minutes", type=float, required=True, help="processor time of the training")
    parser.add_argument("--count", type=int, default=300, help="texts at each temperature")
    given = parser.parse_args()
    collect(given.run, given.to, given.machine, given.minutes, given.count)
