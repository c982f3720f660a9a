"""How a test launches a kernel, fast or checked."""

from pathlib import Path

import pytest

from course_lib.cuda import Kernel, sanitize

MODES = ("fast", "checked")
both = pytest.mark.parametrize("mode", MODES)


def blocks(n, block=64):
    """The grid that covers n threads."""
    return ((n + block - 1) // block,)


def launch(mode, file, name, grid, block, args, shared_mem=0, seed=0):
    """Launch a kernel of this folder; checked, it must be without a report."""
    kernel = Kernel(Path(__file__).parent / file, name)
    if mode == "fast":
        kernel(grid, block, args, shared_mem=shared_mem, seed=seed)
    else:
        report = sanitize(kernel, grid, block, args, shared_mem=shared_mem, seed=seed)
        assert report.ok, str(report)
