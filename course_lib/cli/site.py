"""`course site`: the web edition."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="The course as a web site: build it, look at it.")


@app.command()
def build(
    out: Annotated[Path | None, typer.Option(help="Folder for the site.", show_default=".cache/site/site")] = None,
    run: Annotated[Path | None, typer.Option(help="A trained run, whose model then writes on a page.")] = None,
    repository: Annotated[str, typer.Option(help="Address of the course, for links to files that are no pages.")] = "",
    compiler: Annotated[bool, typer.Option(help="With what compiles CUDA C++ in the page.")] = True,
) -> None:
    """Build the web edition: static files for any host."""
    from course_lib.paths import require

    require("site", ("sphinx", "furo", "myst_nb"), "Building the site")
    from course_lib.site import build

    build.build(out, run, repository, compiler)


@app.command()
def serve(
    folder: Annotated[Path | None, typer.Argument(help="What was built.", show_default=".cache/site/site")] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser where there is one.")] = True,
) -> None:
    """Serve the web edition on this machine alone, until Ctrl-C."""
    from course_lib.site import build
    from course_lib.web.serve import until_stopped

    folder = folder or build.OUT
    if not (folder / "sw.js").is_file():
        raise ValueError(f"{folder} holds no web edition of the course. To make one: course site build --out {folder}")
    until_stopped(folder, "course", browser)
