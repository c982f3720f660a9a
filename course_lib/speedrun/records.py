"""The records: a table in the README, made from records.json, and the best scores on this machine.

    python -m course_lib.speedrun.records       writes the README's table anew

A new record is one more object at the end of records.json, and its entry in entries/.
"""

import ast
import json
import re
from pathlib import Path
from typing import Any

from course_lib import paths
from course_lib.coach import state
from course_lib.speedrun.scoring import Score

FOLDER = Path(__file__).parent
FILE = FOLDER / "records.json"
README = paths.ROOT / "README.md"
PLACE = re.compile(r"(?<=<!-- records of course speedrun -->\n).*?(?=<!-- end of the records -->)", re.DOTALL)
HEAD = "| of the way | nats per story above the floor | what changed | machine |\n|---|---|---|---|\n"


def read() -> list[dict[str, Any]]:
    """All records, the oldest first: entry, score, above (nats per story above the floor), changed, machine."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def best_entry() -> Path:
    """The file of the newest record."""
    return FOLDER / "entries" / read()[-1]["entry"]


def table() -> str:
    """The records as Markdown."""
    rows = [
        f"| {100 * one['score']:.2f} % | {one['above']:.1f} | [{one['changed']}](course_lib/speedrun/entries/{one['entry']}) | "
        f"{one['machine']} |\n"
        for one in read()
    ]
    return HEAD + "".join(rows)


def _here() -> Path:
    return state.folder() / "speedrun.jsonl"


def best_here() -> dict[str, Any] | None:
    """The best score that counts on this machine; None if there is none yet."""
    lines = _here().read_text(encoding="utf-8").splitlines() if _here().exists() else []
    return max(map(json.loads, lines), key=lambda one: one["score"], default=None)


def keep_here(path: Path, score: Score) -> str:
    """Remember a score that counts. Returns its line for records.json, `machine` left to be filled in."""
    opening = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "?"
    record = {
        "entry": path.name, "score": round(score.fraction, 4), "above": round(score.nats - score.floor, 2),
        "changed": opening.splitlines()[0].rstrip("."), "machine": "?",
    }  # fmt: skip
    line = json.dumps(record, ensure_ascii=False)
    with open(_here(), "a", encoding="utf-8") as file:
        file.write(line + "\n")
    return line


if __name__ == "__main__":
    README.write_text(PLACE.sub(lambda _: table(), README.read_text(encoding="utf-8")), encoding="utf-8")
