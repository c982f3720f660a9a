"""Every planted fault is found, with its kind and line, and no correct twin gets a report: under g++ and under clang."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, sanitize, zeros

HERE = Path(__file__).parent
FILES = (
    "zoo_memory.cu",
    "zoo_order.cu",
    "zoo_shapes.cu",
    "zoo_variables.cu",
    "zoo_blocks.cu",
    "zoo_fences.cu",
    "zoo_tensor.cu",
)
KINDS = {
    "out-of-bounds", "misaligned-access", "null-pointer", "host-pointer", "uninitialised-read", "race",
    "divergent-barrier", "missed-barrier", "missing-lanes", "division-by-zero", "timeout", "crash",
}  # fmt: skip


def animals():
    """(file, name, launch, expected kind, acceptable lines) of every kernel in the zoo."""
    for file in FILES:
        launch, marks, name = None, [], None
        found = []
        for number, line in enumerate((HERE / file).read_text().splitlines(), 1):
            if match := re.match(r"// launch (\(.*?\)) (\(.*?\)) (\S+) ?(\d*)", line):
                launch = [ast.literal_eval(x) for x in match.groups()[:3]] + [int(match.group(4) or 0)]
            if match := re.search(r"__global__ void (\w+)\(", line):
                name, marks = match.group(1), []
                found.append((name, launch, marks))
            if match := re.search(r"// fault ([\w-]+)( \(device function\))?", line):
                if match.group(2):
                    device = (match.group(1), number)
                else:
                    marks.append((match.group(1), number))
            if "// through" in line:
                marks.append(device)
            if "// or here" in line:
                marks.append((None, number))
        for name, launch, marks in found:
            kind = next((kind for kind, _ in marks if kind), None)
            yield file, name, launch, kind, {number for _, number in marks}


ANIMALS = list(animals())


def run(file, name, launch):
    grid, block, n, shared = launch
    x = asarray(np.arange(1, 1001, dtype=np.float32))
    args = (x, zeros(1000), zeros(256, np.int32), n)
    return sanitize(Kernel(HERE / file, name), grid, block, args, shared_mem=shared, timeout=0.3)


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda a: a[1])
def test_faults_are_found_and_twins_are_clean(animal, compiler):
    file, name, launch, kind, lines = animal
    report = run(file, name, launch)
    if name.endswith("_right"):
        assert report.ok, str(report)
        return
    assert not report.ok
    assert {issue.kind for issue in report.issues} == {kind}, str(report)
    issue = next(issue for issue in report.issues if issue.kind == kind)
    assert issue.file == file
    assert issue.line in lines or (kind == "crash" and "recursion" in name), str(report)
    assert len(issue.message) > 20


def test_the_zoo_is_large_and_has_every_kind():
    faults = [animal for animal in ANIMALS if animal[1].endswith("_fault")]
    assert len(faults) >= 40
    assert len(ANIMALS) == 2 * len(faults)
    assert {animal[3] for animal in faults} == KINDS - {"host-pointer"}  # that one is in test_sanitizer


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("half_a_warp_fault", "the mask 0xffffffff of a shuffle names lanes that skip it (0xffff0000)"),
        (
            "returned_lanes_fault",
            "the mask 0xffffffff of a shuffle names lanes that skip it or have returned (0xfff00000)",
        ),
    ],
)
def test_lanes_are_said_to_have_returned_only_where_the_kernel_has_a_return(name, said):
    launch = next(launch for _, animal, launch, _, _ in ANIMALS if animal == name)
    assert run("zoo_order.cu", name, launch).issues[0].message == said
