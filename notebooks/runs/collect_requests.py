"""Puts what chapter 20 shows of fine-tuned runs beside this file: which parts of requests they keep. Not the weights.

    python notebooks/runs/collect_requests.py runs/small runs/small-chat ...

Runs as they came from pretraining, and those that began from them. Writes requests.json; what stands there of other presets
stays.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from course_lib import data, no_grad, run
from course_lib.recipes import Settings
from course_lib.stories import requests
from course_lib.tuning import chat, examples

TEMPERATURE = 0.7
STORIES, QUESTIONS = 100, 50  # held-out requests that fit into the context
SHOWN = ("Hero", "plot", "Trait", "Colour")


def judged(where: Path) -> dict:
    """What one run's model keeps of requests, and its loss on the stories of its pretraining."""
    model, tokenizer, facts = run.load(where)
    start = facts["settings"].get("start")  # None: it is one
    if not chat.has_turns(tokenizer):
        tokenizer = chat.with_turns(tokenizer)
        model = chat.with_room(model, tokenizer)
    model.eval()
    held_out = [one for one in requests.write(examples.SEED, 400) if fits(one, tokenizer, model.config.context)]
    asked = [one for one in held_out if not one.is_question][:STORIES]
    answers = answered(model, tokenizer, asked, model.config.context)
    kept = [requests.kept(one, answer) for one, answer in zip(asked, answers, strict=True)]
    questions = [one for one in held_out if one.is_question][:QUESTIONS]
    told = answered(model, tokenizer, questions, 30)
    _, own, began = run.load(start or where)
    s = Settings(**began["settings"])
    corpus = data.prepare(s.corpus, s.text, own.vocab_size, model.config.context, s.seed, s.stories)
    with no_grad():
        plain = corpus.validation.head(64).mean_loss(lambda idx, targets: model.loss(idx, targets).item(), 16)
    return {
        "preset": facts["settings"]["preset"],
        "steps": facts["step"] if start else 0,
        "peak": facts["settings"]["peak"] if start else 0.0,
        "seed": facts["settings"]["seed"],
        "all": mean(requests.obeyed(*pair) for pair in zip(asked, answers, strict=True)),
        **{part: mean(one[part] for one in kept if part in one) for part in SHOWN},
        "questions": mean(requests.obeyed(*pair) for pair in zip(questions, told, strict=True)),
        "plain": round(float(plain), 3),
    }


def fits(one, tokenizer, context: int) -> bool:
    return len(chat.prompt_ids(tokenizer, one.prompt)) + len(chat.answer_ids(tokenizer, one.answer)) <= context + 1


def answered(model, tokenizer, asked, tokens: int) -> list[str]:
    answers = chat.answer(model, tokenizer, [one.prompt for one in asked], tokens=tokens, temperature=TEMPERATURE)
    return [answer or "" for answer in answers]


def mean(values) -> float:
    return round(float(np.mean(list(values))), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    given = parser.parse_args()
    rows = [judged(where) for where in given.runs]
    to = Path(__file__).parent / "requests.json"
    kept = [one for one in json.loads(to.read_text()) if one["preset"] != rows[0]["preset"]]
    lines = [json.dumps(one) for one in kept + rows]
    to.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print("\n".join(lines))
