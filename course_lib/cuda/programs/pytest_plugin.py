"""pytest's fixture `cuda_check`: a project's own tests run its CUDA programs on a CPU, with every access watched.

    def test_saxpy(cuda_check):
        cuda_check("src/saxpy.cu", "-DN=1000", arguments=["4"])

The package `cudacheck` registers it; elsewhere `pytest_plugins = ["course_lib.cuda.programs.pytest_plugin"]` does.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cuda_check() -> Callable:
    """A function that runs a program and fails the test if anything is wrong.

    cuda_check(*words, arguments=(), gpu="a100", timeout=60, leaks=True, code=0) -> Verdict. words: the program's files, and
    options for the compiler (-D, -I). timeout: seconds for each launch. leaks: whether memory that is never freed is a fault.
    code: the exit code that the program must have.
    """

    def check(
        *words: str | Path,
        arguments: Sequence[str] = (),
        gpu: str = "a100",
        timeout: float = 60,
        leaks: bool = True,
        code: int = 0,
    ):
        from course_lib.cuda.errors import KernelError
        from course_lib.cuda.programs import build, formats, verdict

        options = [str(word) for word in words if str(word).startswith("-")]
        files = [Path(word) for word in words if not str(word).startswith("-")]
        try:
            program = build.compile_program(files, options, checked=True)
        except KernelError as error:
            pytest.fail(str(error), pytrace=False)
        found, said = verdict.run(program, arguments, gpu, timeout, capture=True)
        if not leaks:
            found.findings = [one for one in found.findings if one.kind != "leak"]
        if found.findings or found.code != code:
            pytest.fail(f"{formats.as_text(found)}\nIt printed:\n{said}", pytrace=False)
        return found

    return check
