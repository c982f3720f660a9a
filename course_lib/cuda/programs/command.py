"""`course cuda`, and `cudacheck` where the simulator is installed alone: run and check whole CUDA programs without a GPU.

Thin: what is needed is imported when a command runs.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Run and check whole CUDA programs on a machine without a GPU.",
)

Files = Annotated[
    list[str], typer.Argument(help="The program's .cu and .cpp files; behind -- the arguments of the program itself.")
]
Defines = Annotated[list[str] | None, typer.Option("-D", help="A macro: -D N=64.")]
Includes = Annotated[list[Path] | None, typer.Option("-I", help="A folder with headers.")]
Gpu = Annotated[str, typer.Option(help="What cudaGetDeviceProperties tells: a100, h100, rtx4090, a6000, t4, orin.")]
Timeout = Annotated[float, typer.Option(help="Seconds for each launch.")]


@app.command()
def run(
    files: Files, define: Defines = None, include: Includes = None, gpu: Gpu = "a100", timeout: Timeout = 600
) -> None:
    """Compile a program and run it at full speed. Exits as the program does."""
    verdict = _run(files, define, include, gpu, timeout, checked=False)
    if verdict.findings or verdict.timed:
        _say(verdict)
    raise typer.Exit(verdict.code if verdict.code >= 0 else 128 - verdict.code)


@app.command()
def check(
    files: Files,
    define: Defines = None,
    include: Includes = None,
    gpu: Gpu = "a100",
    timeout: Timeout = 60,
    json: Annotated[Path | None, typer.Option(help="Also write all that was found to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Also write a SARIF file, for a code host.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write a JUnit file, for CI.")] = None,
    leaks: Annotated[bool, typer.Option(help="Count memory that is never freed.")] = True,
) -> None:
    """Run a program with every access of its kernels watched: what compute-sanitizer's memcheck, racecheck, initcheck and
    synccheck look for, and leaks. Exits with 1 if anything was found, else as the program does."""
    from course_lib.cuda.programs import formats

    verdict = _run(files, define, include, gpu, timeout, checked=True)
    if not leaks:
        verdict.findings = [one for one in verdict.findings if one.kind != "leak"]
    _say(verdict)
    folder = Path(_split(files)[0][0]).parent
    for path, text in (
        (json, formats.as_json(verdict)),
        (sarif, formats.as_sarif(verdict, folder)),
        (junit, formats.as_junit(verdict)),
    ):
        if path:
            path.write_text(text, encoding="utf-8")
    raise typer.Exit(1 if verdict.findings else verdict.code)


@app.command()
def profile(
    files: Files, define: Defines = None, include: Includes = None, gpu: Gpu = "a100", timeout: Timeout = 60
) -> None:
    """Run a program with every access watched, and print each launch's counters under the names of Nsight Compute's metrics,
    with the occupancy on the card of --gpu. No times: those need the card."""
    from course_lib.cuda.programs import profiles

    verdict = _run(files, define, include, gpu, timeout, checked=True)
    for place, one in profiles.of_program(verdict, Path(_split(files)[0][0]), _options(define, include), gpu):
        typer.echo(f"== {place}: {one}\n")
    _say(verdict)
    raise typer.Exit(1 if verdict.findings else verdict.code)


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The program's files, and what is behind them: its arguments."""
    count = next(
        (i for i, word in enumerate(words) if not word.endswith((".cu", ".cpp", ".cc", ".c", ".cxx"))), len(words)
    )
    if not count:
        raise ValueError(f"The first word is a .cu file; {words[0]!r} was given.")
    return words[:count], words[count:]


def _run(words: list[str], define, include, gpu: str, timeout: float, checked: bool):
    from course_lib.cuda import cards
    from course_lib.cuda.programs import build, verdict

    cards.find(gpu)
    files, arguments = _split(words)
    program = build.compile_program([Path(file) for file in files], _options(define, include), checked)
    return verdict.run(program, arguments, gpu, timeout)[0]


def _options(define, include) -> list[str]:
    return [f"-D{macro}" for macro in define or ()] + [f"-I{folder}" for folder in include or ()]


def _say(verdict) -> None:
    from course_lib.cuda.programs import formats

    typer.echo(f"== {formats.as_text(verdict)}", err=True)


def main() -> None:
    """The entry point of `cudacheck`. A mistake of the person at the keyboard ends in a sentence, not in a traceback."""
    try:
        app()
    except (OSError, ValueError, RuntimeError) as error:
        if os.environ.get("COURSE_TRACEBACK"):
            raise
        sys.exit(str(error))
