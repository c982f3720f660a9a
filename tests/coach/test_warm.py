"""What the judging process does once for all jobs, so that its copies need not."""

import os
import subprocess
import sys

import pytest

from course_lib import native
from course_lib.paths import ROOT

CODE = """
import os, sys
from course_lib.coach import warm
warm.preload()
print("wgpu" in sys.modules)
warm.rehearse("no_such_exercise")
warm.rehearse("scale")
from course_lib.cuda import runtime
from course_lib.native import building
print("wgpu" in sys.modules, runtime.library.cache_info().currsize, len(building._known))
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the judging process is not copied, or its threads not seen"
)
@pytest.mark.skipif(native.find_compiler() is None, reason="there is no C++ compiler")
def test_a_rehearsal_loads_what_its_exercise_needs_and_starts_no_thread():
    """Who has threads is not safely copied by fork; wgpu takes longer to import than all the rest."""
    environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True
    )
    before, cuda, threads = done.stdout.splitlines()
    kept = native.find_compiler().kind in ("gcc", "clang")  # a precompiled header
    assert before == "False" and cuda == f"False 1 {int(kept)}" and threads == "1", done.stdout + done.stderr
