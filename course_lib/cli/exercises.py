"""Commands for exercises: what a learner types, and what proves them."""

from typing import Annotated

import typer

NAME = Annotated[str, typer.Argument(help="Of an exercise; without one: the last.", show_default="")]


def check(name: NAME = "") -> None:
    """Judge your answer to an exercise."""
    from course_lib.coach import answering, show, state

    name = state.last(name)
    with show.doing() as stage:
        verdict = answering.answer(name, answering.kept(name), where=answering.TERMINAL, stage=stage)
    show.verdict(verdict)
    raise typer.Exit(0 if verdict.passed else 1)


def hint(name: NAME = "") -> None:
    """Show the next hint to an exercise; after the last, a worked example."""
    _help("hint", name)


def solution(name: NAME = "") -> None:
    """Show our solution: at once after a pass, else when asked twice."""
    _help("solution", name)


def reset(name: NAME) -> None:
    """Start an exercise over; the old answer is kept."""
    _help("reset", name)


def report(name: NAME = "") -> None:
    """Print a block to paste when asking for help: answer, verdict, machine, no private paths."""
    _help("report", name)


def status() -> None:
    """Say which exercises are done and what is left."""
    from course_lib.coach import helping

    print(helping.progress())


def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Exercises or chapters.", show_default="all")] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Try their cases: put small faults into the solutions.")
    ] = False,
) -> None:
    """Prove exercises: blank fails, the solution and its variants pass, wrong answers are refused by name."""
    from course_lib.coach import verify

    raise typer.Exit((verify.run_mutants if mutants else verify.run)(names or []))


def _help(what: str, name: str) -> None:
    """Print what a learner asks for about an exercise."""
    from course_lib.coach import answering, helping, state

    title, text, _ = getattr(helping, what)(state.last(name), where=answering.TERMINAL)
    print(f"{title}\n\n{text}" if text else title)
