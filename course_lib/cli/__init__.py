"""The `course` command: thin, so that `course --help` is instant; each command imports what it needs when it runs.

Promises: a mistake of the person at the keyboard ends in a sentence and exit status 1, not in a traceback.
COURSE_TRACEBACK=1 shows the traceback. The commands stand in house.py,
models.py, exercises.py and site.py, those of `course cuda` beside the simulator; here is how each is called.
"""

import os
import sys

import typer

from course_lib.cli import exercises, house, models, site
from course_lib.cuda.programs import command as cuda

COMMANDS = {
    "doctor": house.doctor,
    "lab": house.lab,
    "train": models.train,
    "sample": models.sample,
    "chat": models.chat,
    "import": models.import_,
    "export": models.export,
    "serve": models.serve,
    "serve-api": models.serve_api,
    "speedrun": models.speedrun,
    "bench": house.bench,
    "prove": house.prove,
    "build": house.build,
    "check": exercises.check,
    "hint": exercises.hint,
    "solution": exercises.solution,
    "reset": exercises.reset,
    "report": exercises.report,
    "status": exercises.status,
    "verify": exercises.verify,
    "update": house.update,
}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build a language model from the parts up. Start with: course lab",
)
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(cuda.app, name="cuda")
app.add_typer(site.app, name="site")


def main() -> None:
    """The entry point of `course`."""
    try:
        app()
    except ModuleNotFoundError as error:
        sys.exit(
            f"The package {error.name} is not installed in {sys.prefix}: make install brings what the course needs."
        )
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        if os.environ.get("COURSE_TRACEBACK"):
            raise
        sys.exit(f"{error}\n(To see where this comes from: COURSE_TRACEBACK=1 course ...)")
