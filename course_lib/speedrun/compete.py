"""A score, and what counts as a record: one that holds with another seed, judged by other stories."""

import ast
from pathlib import Path

from course_lib.speedrun import judge, records

SECONDS = 180.0
CHANGED = '"""What did you change? One line: it stands in the table of records."""\n'


def compete(entry: Path | None = None) -> None:
    """Train an entry (None: our best) and tell its score; one that beats the best here is trained again before it counts.

    Raises EntryError or OSError, each with a sentence for a person.
    """
    try:
        _compete(Path(entry or records.best_entry()), records.best_here())
    except KeyboardInterrupt:
        print("Stopped: nothing is counted.")
        raise


def _compete(path: Path, bar: dict | None) -> None:
    first = judge.judge(path, SECONDS, seed=0)
    print(f"{path.name}: {first}")
    if bar is not None and first.fraction <= bar["score"]:
        print(f"The best on this machine is still {bar['entry']}: {bar['score']:.2%}")
        return
    print("That is the best on this machine, if it holds with another seed, judged by other stories:")
    second = judge.judge(path, SECONDS, seed=1)
    print(f"{path.name}, again: {second}")
    if bar is not None and second.fraction <= bar["score"]:
        print(f"It does not hold: the best on this machine is still {bar['entry']}: {bar['score']:.2%}")
        return
    line, record = records.keep_here(path, second), records.read()[-1]
    if second.fraction > record["score"]:
        print(f"It counts, and is a record. Its line, for course_lib/speedrun/records.json:\n{line}")
    else:
        print(f"It counts here. The record is {record['entry']}: {record['score']:.2%}")


def write_copy(path: Path) -> Path:
    """Write our best entry to a new file. Raises FileExistsError rather than write over one."""
    if path.exists():
        raise FileExistsError(f"{path} exists already: give --new another name, or train it: course speedrun {path}")
    best = records.best_entry().read_text(encoding="utf-8")
    end = ast.parse(best).body[0].end_lineno  # of what it says that it changed
    path.write_text(CHANGED + "\n".join(best.splitlines()[end:]) + "\n", encoding="utf-8")
    return path
