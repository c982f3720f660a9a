"""Jobs for the engine of the web edition, run in one Node process by engine_driver.mjs; and all answers of all exercises:

    python -m tests.site.engine_jobs solutions|wrong [NAME ...]
    python -m tests.site.engine_jobs mutants COUNT [NAME ...]
    python -m tests.site.engine_jobs zoo [FILE ...]

judges them in the engine (each takes 1 to 3 s of processor time), and prints which were judged otherwise than they must be.
Mutants are solutions with one small fault, drawn at random: whatever they do, a worker must answer, as in a page each has one.
The zoo of faults (tests/simulator) takes 70 s: of each kernel, whether the kind and the line are those that its file says.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from course_lib.coach import catalogue, verify
from course_lib.coach.exercise import Wrong, answer_text
from course_lib.site import engine, exported_cases
from tests.simulator.test_zoo import ANIMALS, FILES
from tests.simulator.test_zoo import HERE as ZOO

DRIVER, WORKERS = (Path(__file__).with_name(name) for name in ("engine_driver.mjs", "engine_workers.mjs"))
PATIENCE = 120  # seconds until a worker that does not answer counts as dead


def run(folder: Path, jobs: list[dict]) -> dict:
    """What engine_driver.mjs says: `results`, one for each job, `cpu` seconds of each, and `megabytes`."""
    done = subprocess.run(["node", DRIVER, folder], input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_in_workers(folder: Path, jobs: list[dict]) -> Iterator[dict]:
    """What engine_workers.mjs says of each job, as soon as it does: `result` or `dead`, `seconds`, `megabytes`."""
    with tempfile.TemporaryFile("w+") as given:
        given.write(json.dumps(jobs))
        given.seek(0)
        command = ["node", WORKERS, folder, str(PATIENCE)]
        with subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, text=True) as node:
            for line in node.stdout:
                yield json.loads(line)
    assert node.returncode == 0


def launch(kernel: str, block, n: int = 0, grid=(1,), shared: int = 0, **options) -> dict:
    """A launch with the arguments of the zoo: 1000 floats from 1 on, 1000 zeros, 256 ints, n."""
    args = [{"dtype": "float32", "values": np.arange(1, 1001).tolist()}, {"dtype": "float32", "zeros": 1000},
            {"dtype": "int32", "zeros": 256}, n]  # fmt: skip
    grid, block = ([*size, 1, 1][:3] for size in (grid, block))
    return {"kernel": kernel, "grid": grid, "block": block, "shared": shared, "args": args, "timeout": 0.5, **options}


def zoo(file: str) -> dict:
    """One file of the zoo of faults, all kernels of which are launched."""
    launches = [
        launch(name, block, n, grid, shared) for one, name, (grid, block, n, shared), _, _ in ANIMALS if one == file
    ]
    return {"text": (ZOO / file).read_text(), "launches": launches}


def differences(file: str, told: list[dict]) -> dict[str, str]:
    """Of a file of the zoo: the kernels of which the engine tells another kind or line than the file says, and what."""
    found, seen = {}, {one["kernel"]: one["issues"] for one in told}
    for one, name, _, kind, lines in ANIMALS:
        if one != file:
            continue
        issues = [(issue["kind"], issue["line"]) for issue in seen[name]]
        right = (
            not issues
            if name.endswith("_right")
            else {k for k, _ in issues} == {kind}
            and (issues[0][1] in lines or (kind == "crash" and "recursion" in name))
        )
        if not right:
            found[name] = ", ".join(f"{k} in line {line}" for k, line in issues) or "nothing"
    return found


def solution(name: str) -> dict:
    """Our solution to an exercise, to be judged."""
    return {"judge": name, "text": catalogue.piece(name).solution}


def wrong_answers(name: str) -> list[dict]:
    """The plausible wrong answers to an exercise, with `says`, the sentence that refuses each, where the page can know it."""
    ours = catalogue.piece(name).solution
    known = {one["says"] for one in exported_cases.export(name)["mistakes"]}
    return [
        {"judge": name, "text": answer_text(wrong.answer, ours), "says": wrong.says if wrong.says in known else ""}
        for wrong in catalogue.load(name).wrong
        if isinstance(wrong, Wrong)
    ]


def mutants(count: int, names: list[str]) -> list[dict]:
    """Solutions with a fault each, no two alike, the same ones each time; the last job is a solution."""
    every = [(name, mutant.text) for name in names for mutant in verify.mutants_of(name)]
    drawn = random.Random(0).sample(every, min(count, len(every)))
    return [{"judge": name, "text": text} for name, text in drawn] + [solution(names[0])]


def unlike(what: str, job: dict, verdict: dict) -> bool:
    """Whether a verdict is another than it must be."""
    return verdict.get("passed") != (what == "solutions") or job.get("says", "") not in verdict["headline"]


def tell_zoo(files: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = run(engine.build(Path(folder), []), [zoo(file) for file in files])["results"]
    for file, told in zip(files, results, strict=True):
        print(f"{file}: {len(told)} kernels; otherwise than the file says: {differences(file, told) or 'none'}")


def tell_mutants(folder: Path, jobs: list[dict]) -> None:
    dead, passed, seconds = [], 0, []
    for number, (job, told) in enumerate(zip(jobs, run_in_workers(folder, jobs), strict=True), 1):
        seconds.append(told["seconds"])
        passed += told.get("result", {}).get("passed", False)
        if "dead" in told:
            dead.append(job)
            print(f"{job['judge']}: {told['dead']}\n{job['text']}", flush=True)
        if number % 50 == 0 or number == len(jobs):
            print(f"{number} of {len(jobs)}: {len(dead)} without an answer, {passed} passed; seconds: median "
                  f"{np.median(seconds):.1f}, longest {max(seconds):.1f}; {told['megabytes']:.0f} MB", flush=True)  # fmt: skip


def main() -> None:
    what, *names = sys.argv[1:]
    if what == "zoo":
        return tell_zoo(names or list(FILES))
    count = int(names.pop(0)) if what == "mutants" else 0
    names = names or exported_cases.exercises_in("cuda")
    jobs = mutants(count, names) if count else []
    jobs = jobs or [job for name in names for job in ([solution(name)] if what == "solutions" else wrong_answers(name))]
    with tempfile.TemporaryDirectory() as folder:
        if what == "mutants":
            return tell_mutants(engine.build(Path(folder), names), jobs)
        told = run(engine.build(Path(folder), names), jobs)
    for job, verdict in zip(jobs, told["results"], strict=True):
        if unlike(what, job, verdict):
            print(f"{job['judge']}: {verdict.get('headline') or verdict}")
            print(f"    instead of: {job.get('says') or what}")
    seconds = np.array(told["cpu"])
    print(f"{len(jobs)} answers; processor seconds: median {np.median(seconds):.2f}, nine of ten under "
          f"{np.quantile(seconds, 0.9):.2f}, all {seconds.sum():.0f}; {told['megabytes']:.0f} MB at the end")  # fmt: skip


if __name__ == "__main__":
    main()
