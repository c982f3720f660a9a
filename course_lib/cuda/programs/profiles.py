"""Profiles of the launches of a checked program (profile.py), one for each kernel, size and line that launched it.

Static shared memory comes from the kernel, compiled once more by itself. Where that fails, and where NVRTC refuses the file,
as none with host code, the profile says what is not known.
"""

from collections.abc import Sequence
from pathlib import Path

from course_lib.cuda import registers, symbols
from course_lib.cuda.errors import KernelError
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.profile import Profile, profile
from course_lib.cuda.programs.verdict import Verdict
from course_lib.cuda.report import Line, Report

NO_ARRAYS = "shared arrays of fixed size are not known, so the occupancy may be lower"


def of_program(verdict: Verdict, file: Path, options: Sequence[str], gpu: str) -> list[tuple[str, Profile]]:
    """(where and how often it was launched, its profile), in the order of the first launches. Raises ValueError as profile.py."""
    found = []
    for launch in verdict.counted:
        report = Report(
            launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]), [], [Line(**x) for x in launch["lines"]]
        )
        try:
            kernel = Kernel(file.resolve(), launch["kernel"], options)
            static = symbols.static_shared(kernel.compiled(checked=False), kernel.name)
            report.resources = lambda architecture, kernel=kernel: registers.resources(kernel, architecture)
        except KernelError:
            static = None
        report.shared = (static or 0, launch["shared"])
        made = profile(report, gpu, report.resources)
        if static is None:
            made.notes.append(NO_ARRAYS)
        name, line = launch["at"]
        times = f", {launch['launches']} times" if launch["launches"] > 1 else ""
        found.append((f"{Path(name).name}, line {line}{times}", made))
    return found
