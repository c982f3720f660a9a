"""The `course` command: thin, so that `course --help` is instant; each command imports what it needs when it runs.

Promises: a mistake of the person at the keyboard ends in a sentence and exit status 1, not in a traceback.
COURSE_TRACEBACK=1 shows the traceback.
"""

import os
import sys
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build a language model from the parts up. Start with: course lab",
)


@app.command()
def doctor(
    selftest: Annotated[bool, typer.Option("--selftest", help="Prove the installation, in about a minute.")] = False,
) -> None:
    """Say what this machine has, what the course will use, and what is missing."""
    from course_lib import doctor

    raise typer.Exit(doctor.selftest() if selftest else doctor.report())


@app.command()
def lab(
    browser: Annotated[bool, typer.Option(help="Open a browser where there is one.")] = True,
) -> None:
    """Open JupyterLab on chapter 00."""
    from course_lib import lab

    lab.start(browser=browser)


# train, sample: bodies in course_lib/training.py and course_lib/generation.py


def main() -> None:
    """The entry point of `course`."""
    try:
        app()
    except (OSError, ValueError, RuntimeError) as error:
        if os.environ.get("COURSE_TRACEBACK"):
            raise
        print(f"{error}\n(To see where this comes from: COURSE_TRACEBACK=1 course ...)", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
