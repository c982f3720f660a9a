"""Commands for the course itself: what this machine has, the pages, the measurements, the chapters."""

from pathlib import Path
from typing import Annotated

import typer

BENCHMARKS = ("cpu", "busy", "tokenizer", "kernels", "gpu", "webgpu", "many", "serve")  # in course_lib/benchmarks


def doctor(
    selftest: Annotated[bool, typer.Option("--selftest", help="Test the installation, in about a minute.")] = False,
    ops: Annotated[bool, typer.Option("--ops", help="List the operations that each device has.")] = False,
) -> None:
    """Say what this machine has, what the course will use, and what is missing."""
    if selftest:
        from course_lib.selftest import run
    elif ops:
        from course_lib.doctor import ops_table as run
    else:
        from course_lib.doctor import report as run
    raise typer.Exit(run())


def lab(browser: Annotated[bool, typer.Option(help="Open a browser where there is one.")] = True) -> None:
    """Open JupyterLab on chapter 00."""
    from course_lib import lab

    lab.start(browser=browser)


def bench(
    what: Annotated[str, typer.Argument(help=f"{', '.join(BENCHMARKS[:-1])} or {BENCHMARKS[-1]}.")],
    part: Annotated[str, typer.Option(help="Of gpu: a, b, c, d or e; of webgpu: a, b or c.", show_default="all")] = "",
    json: Annotated[Path | None, typer.Option(help="Also write the figures to this file.")] = None,
) -> None:
    """Measure one part of the course on this machine against its bar."""
    from importlib import import_module

    if what not in BENCHMARKS:
        raise ValueError(f"There is no benchmark named {what!r}. Choose one of: {', '.join(BENCHMARKS)}.")
    if part and what not in ("gpu", "webgpu"):
        raise ValueError(f"bench {what} has no parts: leave --part out.")
    import_module(f"course_lib.benchmarks.{what}").run(json, *filter(None, [part]))


def prove(
    part: Annotated[list[str] | None, typer.Option(help="Only this part, more than once if you like.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also what was done before on this card.")] = False,
    rehearse: Annotated[bool, typer.Option("--rehearse", help="Small sizes; without a card on the simulator.")] = False,
    to: Annotated[Path | None, typer.Option(help="The folder of the result.", show_default="runs/prove")] = None,
    check: Annotated[Path | None, typer.Option(help="Only say whether a result.json is as it was written.")] = None,
) -> None:
    """Twenty minutes on an NVIDIA card: values, bandwidth, cuBLAS, tokens per second, counters; one JSON and one page."""
    import json

    from course_lib.prove import page, runner, seal

    if check is not None:
        whole = seal.holds(json.loads(check.read_text()))
        typer.echo("It is as it was written." if whole else "It was changed: its SHA-256 does not fit.")
        raise typer.Exit(0 if whole else 1)
    folder = (to or runner.FOLDER).resolve()
    try:
        result = runner.prove(folder, part or (), again, rehearse)
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What is done lies in {folder}; the same command goes on from there.")
        raise typer.Exit(130) from None
    typer.echo(f"\n{page.markdown(result)}\n\nThe page: {folder / 'result.html'}. All of it: {folder / 'result.json'}.")
    if not rehearse:
        typer.echo("Please open an issue with the lines above, and attach result.json.")


def build(
    source: Annotated[
        Path | None,
        typer.Argument(help="A notebook, or a draft in percent format (.py).", show_default="all exercises"),
    ] = None,
    to: Annotated[Path | None, typer.Option(help="The notebook to write.", show_default="beside the source")] = None,
) -> None:
    """Store a chapter with its outputs, run from a clean kernel; or make the notebooks of the exercises from solutions/*.py."""
    from course_lib import build

    if source is not None and source.resolve().parent != build.ROOT / "solutions":
        print(f"Built {build.build(source, to)}")
        return
    from course_lib.coach import builder

    changed = builder.build_chapter(source.resolve().with_suffix(".py")) if source else builder.build_all()
    print(
        "\n".join(f"Built {path.relative_to(build.ROOT)}" for path in changed)
        or "The exercise notebooks are up to date."
    )


def update() -> None:
    """Bring the course up to date; your answers and the lectures that you ran are kept."""
    from course_lib.coach import update

    raise typer.Exit(update.run())
