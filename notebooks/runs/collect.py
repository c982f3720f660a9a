"""Puts what chapter 16 shows of a run beside this file: its log, samples and grades, and what it ran on; not the weights.

    python notebooks/runs/collect.py RUN notebooks/runs/12m --machine "2 cores of a ..."

RUN is the folder of a run, or a copy of one made while it was going on: called several times, it adds the samples and
the grade of each step that it finds, and asks the last one which facts it knows. Writes about.json, metrics.jsonl, samples.json,
grades.json, facts.json and loss.png.
"""

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from course_lib import data, metrics, plots, recall, stories_report
from course_lib.recipes import Settings
from course_lib.run import fingerprint, load
from course_lib.run_folder import LAST

TEMPERATURE = 0.7
TOP_P = 0.95  # graded twice: with all tokens, and without the least likely ones
SHOWN = 4  # texts kept of each grade
FACTS = 300  # new stories whose facts it is asked for


def collect(run: Path, to: Path, machine: str, count: int) -> None:
    model, tokenizer, facts = load(run / LAST)
    settings, config = Settings(**facts["settings"]), model.config
    corpus = data.prepare(
        settings.corpus, settings.text, config.vocab_size, config.context, settings.seed, settings.stories
    )
    if fingerprint(corpus) != facts["corpus"]:
        raise SystemExit("The stories have changed since this run: its model would be judged by another grammar.")
    about = {
        "preset": settings.preset,
        "parameters": model.parameter_count(),
        "settings": settings.to_dict(),
        "tokens_per_step": settings.batch * settings.accumulate * config.context,
        "floor": corpus.validation.head(settings.validation_rows).floor,
        "bigram": data.bigram_loss(corpus),
        "machine": machine,
    }
    to.mkdir(parents=True, exist_ok=True)
    shutil.copy(run / "metrics.jsonl", to)
    (to / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    log = metrics.read(to)
    title = f"{model.parameter_count():,} parameters learn to write stories"
    plots.loss_curve(log, about["floor"], about["bigram"], title=title).save(to / "loss.png")
    facts_known = [asdict(one) for one in recall.recalled(model, tokenizer, FACTS)]
    (to / "facts.json").write_text(json.dumps(facts_known, indent=1) + "\n")
    known = stories_report.training_texts(corpus)
    for top_p in (None, TOP_P):
        grade = stories_report.grade_samples(model, tokenizer, count, TEMPERATURE, training=known, top_p=top_p)
        figures = {name: value for name, value in asdict(grade).items() if name != "texts"}
        if not grade.well_formed:
            figures["wrong_facts"] = None  # of no story; NaN is not JSON
        where = {"step": facts["step"], "temperature": TEMPERATURE, "top_p": top_p}
        _add(to / "grades.json", {**where, **figures})
        _add(to / "samples.json", {**where, "texts": grade.texts[:SHOWN]})
        print(grade)


def _add(path: Path, entry: dict) -> None:
    """Put an entry among those of other steps and settings, in order."""

    def place(one: dict) -> tuple[int, bool]:
        return one["step"], one["top_p"] is not None

    others = json.loads(path.read_text()) if path.exists() else []
    entries = sorted([*(one for one in others if place(one) != place(entry)), entry], key=place)
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("to", type=Path)
    parser.add_argument("--machine", required=True, help="what it ran on, in words")
    parser.add_argument("--count", type=int, default=300, help="samples to grade")
    given = parser.parse_args()
    collect(given.run, given.to, given.machine, given.count)
