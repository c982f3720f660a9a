"""`pip install .`, without the clone: the library works, and says what it lacks."""

import os
import subprocess
import sys
import zipfile

import pytest

from course_lib import native, paths

KERNEL = """
import numpy as np
from course_lib import devices, paths
from course_lib.web import export
assert not paths.IS_CLONE and (export.PAGE / "index.html").exists()
ops = devices.ops("simulator")
x = np.linspace(-2, 2, 5, dtype=np.float32)
y = ops.to_numpy(ops.gelu_forward(ops.from_numpy(x)))
print(paths.LIBRARY, np.allclose(y, devices.ops("reference").gelu_forward(x), atol=1e-6))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs a program on a library that was unpacked from a wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, paths.ROOT],
        check=True, timeout=300,
    )  # fmt: skip
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")
    (folder / "site" / "pyproject.toml").touch()  # another package may leave one there

    def run(*words: str) -> subprocess.CompletedProcess:
        environment = os.environ | {"PYTHONPATH": str(folder / "site"), "XDG_CACHE_HOME": str(folder / "cache")}
        environment.pop("COURSE_CACHE", None)
        return subprocess.run(
            [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )

    return run


@pytest.mark.slow
def test_a_wheel_holds_the_kernels_and_the_page(installed):
    if native.find_compiler() is None:
        pytest.skip("the simulator needs a C++ compiler, and there is none here")
    done = installed("-c", KERNEL)
    assert done.returncode == 0, done.stderr
    assert "site/course_lib True" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "lab"])
def test_what_needs_the_clone_says_so(installed, command):
    done = installed("-m", "course_lib.cli", command)
    assert done.returncode == 1 and "this is its library alone" in done.stderr
