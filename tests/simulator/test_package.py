"""The simulator as a package of its own, `cudacheck`: built and installed alone, it judges a program outside the repository."""

import os
import re
import subprocess
import sys

import pytest

from course_lib import native, paths

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(native.find_compiler() is None, reason="the simulator needs a C++ compiler"),
]

PROGRAM = r"""
#include <cstdio>
__global__ void shift(float* x, int n) {
    int i = threadIdx.x;
    printf("on the card %d\n", i * (n - 2));
    x[i] = x[(i + 1) % n];  // a race
}
int main() {
    float* x;
    cudaMalloc(&x, 8);
    cudaMemset(x, 0, 8);
    printf("before\n");
    if (FAULTY) shift<<<1, 2>>>(x, 2);
    cudaDeviceSynchronize();
    printf("after\n");
    cudaFree(x);
}
"""
TESTS = """
def test_fine(cuda_check):
    assert cuda_check("shift.cu", "-DFAULTY=0").ok

def test_faulty(cuda_check):
    cuda_check("shift.cu", "-DFAULTY=1")
"""
KERNEL = """
from course_lib import cuda
try:
    cuda.Kernel("__global__ void f(float* y) { y[0] = 2.0f ** 3; }", "f")((1,), (1,), (cuda.zeros(1),))
except cuda.CompileError as error:
    print(cuda.__file__, error)
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Runs words in a folder outside the repository, with the installed package before everything else."""
    folder = tmp_path_factory.mktemp("cudacheck")
    install = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site"]
    subprocess.run([sys.executable, "-m", "pip", *install, paths.LIBRARY / "cuda"], check=True, timeout=300)
    (folder / "work").mkdir()
    (folder / "work" / "shift.cu").write_text(PROGRAM)
    (folder / "work" / "test_shift.py").write_text(TESTS)

    def run(*words, **more: str) -> subprocess.CompletedProcess:
        environment = (
            os.environ | {"PYTHONPATH": str(folder / "site"), "COURSE_CACHE": str(paths.cache("").resolve())} | more
        )
        return subprocess.run([sys.executable, *words], cwd=folder / "work", env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)  # fmt: skip

    run.site = folder / "site"
    return run


def test_its_pytest_fixture_fails_the_test_of_a_faulty_program(outside):
    done = outside("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert re.search(r"\[racecheck\] in shift: race: shift\.cu, line 6", done.stdout), done.stdout


def test_what_the_program_prints_comes_in_its_order_and_before_the_report(outside):
    """Host and card print into one pipe, the report follows: as on a terminal."""
    done = outside(outside.site / "bin" / "cudacheck", "check", "shift.cu", "-D", "FAULTY=1")
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if line]
    assert said[:4] == ["before", "on the card 0", "on the card 0", "after"], done.stdout
    assert said[4].startswith("== [racecheck]") and "1 thing to look at" in said[-1]


def test_the_sentences_for_learners_can_be_switched_off(outside):
    told, plain = (outside("-c", KERNEL, COURSE_PLAIN_ERRORS=flag).stdout for flag in ("0", "1"))
    assert str(outside.site) in told and str(outside.site) in plain
    assert "powf" in told and "line 1" in told
    assert "powf" not in plain and "line 1" in plain and "2.0f ** 3" in plain
