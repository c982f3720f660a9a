"""Run the parts one after the other, each in a process of its own, and keep what is done after each.

A part ends in one of these states: done; failed, with an error; late, when it was stopped at its limit; interrupted. Its last
lines are kept with it. Only what is done is not done again.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib.benchmarks.gpu import about
from course_lib.devices.gpu import card
from course_lib.paths import ROOT, write_whole
from course_lib.prove import page, seal
from course_lib.prove.parts import PARTS, Part

FOLDER = ROOT / "runs" / "prove"
LAST_LINES = 40
REHEARSAL = 5  # times as long for each part: a simulator compiles and runs far more slowly
NO_CARD = (
    "{problem} `course prove` measures our kernels on an NVIDIA GPU of compute capability 7.5 or newer: on a machine that has "
    "one: make prove. `course prove --rehearse` runs every part at small sizes on the simulator."
)


def prove(folder: Path = FOLDER, names: Sequence[str] = (), again: bool = False, rehearse: bool = False,
          say: Callable[[str], None] = print) -> dict[str, Any]:  # fmt: skip
    """Run the parts, those in `names` or all; returns the sealed result, which lies in folder/result.json and result.html.

    again: also those that are done. rehearse: at small sizes; without a card on the simulator.
    Raises RuntimeError with what to do where there is no card, ValueError for an unknown part.
    """
    if unknown := sorted(set(names) - {part.name for part in PARTS}):
        raise ValueError(f"There is no part {unknown[0]!r}: choose of {', '.join(part.name for part in PARTS)}.")
    if (problem := card.problem()) and not rehearse:
        raise RuntimeError(NO_CARD.format(problem=problem))
    device = "simulator" if problem else "cuda"
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "format": 1, "rehearsal": rehearse, "device": about(device), "commit": seal.commit(), "sources": seal.sources(),
        "system": f"{platform.system()} {platform.machine()}", "parts": {},
    }  # fmt: skip
    key = {name: result[name] for name in ("rehearsal", "device", "sources")}
    for part in PARTS:  # what is done is in the result, whichever is run now
        if kept := _kept(folder, part, key):
            result["parts"][part.name] = kept
    wanted = [part for part in PARTS if not names or part.name in names]
    minutes = (
        f"; at most {sum(part.seconds for part in wanted) / 60:.0f} minutes" if not rehearse else ", at small sizes"
    )
    say(f"{len(wanted)} parts on {result['device']['name']}{minutes}")
    for number, part in enumerate(wanted, 1):
        known = result["parts"].get(part.name)
        if known and not again:
            say(f"{number}/{len(wanted)} {part.title}: done before. {known['said']}")
            continue
        say(f"{number}/{len(wanted)} {part.title}")
        found = run(part, device, folder, rehearse)
        result["parts"][part.name] = found
        write_whole(_file(folder, part), json.dumps({"key": key, "part": found}))
        result = _write(folder, result)
        say(f"    {found['state']} after {found['seconds']:.0f} s: {found['said']}")
        if found["state"] == "interrupted":
            raise KeyboardInterrupt
    return _write(folder, result)


def run(part: Part, device: str, folder: Path, small: bool) -> dict[str, Any]:
    """One part in its own process group, ended with all its children at its limit or at Ctrl-C."""
    out, log = folder / "parts" / f"{part.name}.out", folder / "parts" / f"{part.name}.log"
    out.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "course_lib.prove.child",
        part.module,
        part.call,
        device,
        str(out),
        *(["small"] if small else []),
    ]
    began, state = time.monotonic(), "done"
    with log.open("w") as lines:
        child = subprocess.Popen(command, cwd=ROOT, stdout=lines, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                 start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})  # fmt: skip
        try:
            _wait(child, part.seconds * (REHEARSAL if small else 1), part.name)
        except subprocess.TimeoutExpired:
            state = "late"
        except KeyboardInterrupt:
            state = "interrupted"
        finally:
            _end(child)
    if state == "done" and child.returncode:
        state = "failed"
    said = log.read_text(errors="replace").splitlines()
    found: dict[str, Any] = {"state": state, "seconds": round(time.monotonic() - began, 1), "bar": None,
                             "at": datetime.now(UTC).isoformat(timespec="seconds"), "log": said[-LAST_LINES:]}  # fmt: skip
    try:
        if state == "done":
            found["result"] = json.loads(out.read_text())
            found["said"], found["bar"] = part.told(found["result"])
    except Exception as error:  # whatever a part has written: the others must go on
        found |= {"state": "failed", "log": [*found["log"], f"its result cannot be read: {error!r}"]}
    if found["state"] != "done":
        last = next((line.strip() for line in reversed(found["log"]) if line.strip()), "it said nothing")
        found["said"] = {
            "late": f"stopped at its limit, after {found['seconds']:.0f} s",
            "interrupted": "stopped by Ctrl-C",
        }.get(found["state"], last)
    return found


def _wait(child: subprocess.Popen, seconds: float, name: str) -> None:
    """Raises TimeoutExpired after `seconds`. In a terminal they are shown."""
    began, shown = time.monotonic(), sys.stderr.isatty()
    while (passed := time.monotonic() - began) < seconds:
        try:
            child.wait(min(1.0, seconds - passed))
            break
        except subprocess.TimeoutExpired:
            if shown:
                print(f"\r    {name}: {passed:.0f} of at most {seconds:.0f} s ", end="", file=sys.stderr)
    if shown:
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    if child.returncode is None:
        raise subprocess.TimeoutExpired(name, seconds)


def _end(child: subprocess.Popen) -> None:
    """Whatever is left of the part's process and its children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def _file(folder: Path, part: Part) -> Path:
    return folder / "parts" / f"{part.name}.json"


def _kept(folder: Path, part: Part, key: dict) -> dict[str, Any] | None:
    """What an earlier run has done of a part for the same sources, card and software."""
    try:
        kept = json.loads(_file(folder, part).read_text())
    except (OSError, ValueError):
        return None
    return kept["part"] if kept.get("key") == key and kept["part"]["state"] == "done" else None


def _write(folder: Path, result: dict[str, Any]) -> dict[str, Any]:
    order = {part.name: result["parts"][part.name] for part in PARTS if part.name in result["parts"]}
    sealed = seal.seal({**result, "parts": order})
    write_whole(folder / "result.json", json.dumps(sealed, indent=1) + "\n")
    write_whole(folder / "result.html", page.page(sealed))
    return sealed
