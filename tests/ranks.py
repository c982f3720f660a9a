"""Programs on several MPI ranks of this machine, for tests."""

import os
import subprocess
import sys
import textwrap

import pytest

from course_lib.parallel import launch
from course_lib.paths import ROOT

TIMEOUT = 120  # seconds


def mpiexec(size: int, code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Run Python code on `size` ranks; what they print, together."""
    pytest.importorskip("mpi4py", reason="MPI comes with make test PEERS=1")
    program = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    command = launch.command(size, program, launch.mpiexec())
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, cwd=ROOT, env=os.environ | environment
    )
