"""`%%exercise NAME`: an IPython extension. The environment's own IPython configuration loads it into every kernel of `.venv`
(see environment.py), so it is there in any notebook and any editor, also after a restart.

Loading it imports nothing heavy. Running a cell: the answer is judged in another process, and defined in the notebook too.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython."""
    if "exercise" not in shell.magics_manager.magics["cell"]:
        shell.register_magic_function(run, "cell", "exercise")
    if "exercises" in os.environ.get("JPY_SESSION_NAME", os.getcwd()):
        from course_lib.coach import client

        client.warm_up()


def run(line: str, cell: str) -> None:
    """Judge the cell as the answer to the exercise that the line names."""
    from IPython import get_ipython

    from course_lib.coach import answering, catalogue, show
    from course_lib.coach.exercise import ExerciseError

    shell = get_ipython()
    if "course" not in shell.user_ns:  # the verdict says what to type next
        shell.ex("from course_lib import course")
    try:
        name = catalogue.load(line.strip()).name
        with show.doing() as stage:
            verdict = answering.answer(name, cell, known=_names(shell), stage=stage)
    except ExerciseError as error:
        show.sentence(str(error))
        return
    except KeyboardInterrupt:
        show.sentence("Stopped. Your answer is kept; run the cell again to have it judged.")
        return
    show.verdict(verdict)
    if verdict.loaded and not verdict.blank:
        define(shell, name, cell)


def define(shell: Any, name: str, cell: str) -> None:
    """Define an answer in the notebook, to play with. Its errors were shown by the verdict already."""
    from course_lib.coach import catalogue

    exercise = catalogue.load(name)
    if exercise.language == "wgsl":
        from course_lib.wgsl import Shader

        if not exercise.instances:
            shell.user_ns[exercise.defines] = Shader(cell, exercise.defines)
        return
    if exercise.language == "cuda":
        from course_lib.cuda import Kernel, KernelError

        try:
            instance = f"<{exercise.instances[0]}>" if any(exercise.instances[:1]) else ""
            shell.user_ns[exercise.defines] = Kernel(cell, exercise.defines + instance)
        except KernelError:
            pass
        return
    known = dict(shell.user_ns)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # the verdict has shown what it prints
            exec(exercise.prelude, shell.user_ns)
            exec(compile(cell, f"{name}.py", "exec"), shell.user_ns)
    except Exception:
        shell.user_ns.update(known)


def _names(shell: Any) -> set[str]:
    """Names that the notebook itself knows."""
    return {name for name in shell.user_ns if not name.startswith("_")} - set(shell.user_ns_hidden)
