"""A learner's WGSL under watch: launched as a Shader is, first watched, then twice as it stands.

What no run can see is said with each verdict; see wgsl/sanitizer.py.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from course_lib.coach import kernel_source, kernels
from course_lib.coach.exercise import Exercise
from course_lib.devices.webgpu import adapter
from course_lib.wgsl import Report, Shader, ShaderError, sanitize, scan

MOST_WORKGROUP_BYTES = 16_384  # what WebGPU promises everywhere
BYTES = "bytes of storage buffers moved"  # the name of a counter


def problem() -> str:
    """Why WGSL cannot be judged on this machine, and what to do; empty if it can."""
    found = adapter.problem()
    if not found:
        return ""
    driver = "" if "not installed" in found else (
        " A graphics driver with Vulkan, Metal or Direct3D 12 brings one; so does Mesa's driver in software (Debian: "
        "mesa-vulkan-drivers)."
    )  # fmt: skip
    return f"WGSL is not judged here, neither right nor wrong, and your answer is kept. {found}{driver}"


class Watched(kernels.Watched):
    """answer(groups, x=x, y=y, n=n) launches it. With constants: answer.instance("CAUSAL=True")(groups, ...)."""

    runs = (0, 1, 2)  # watched; as it stands; and again, to see whether both give the same

    def compile(self) -> None:
        """Raises ShaderError with the learner's line, and for more workgroup memory than every adapter has."""
        self.kernel.compile()
        if (size := _workgroup_bytes(self.kernel.source.text)) > MOST_WORKGROUP_BYTES:
            raise ShaderError(
                f"The arrays in workgroup memory take {size:,} bytes. Every adapter has {MOST_WORKGROUP_BYTES:,}, and "
                "many have no more."
            )

    def _launch(self, shader: Shader, groups, **arguments: Any) -> None:
        with self.kept("", arguments):
            if self.seed == 0:
                self.reports.append(sanitize(shader, groups, **arguments))
            else:
                shader(groups, **arguments)


def load(text: str, exercise: Exercise) -> Watched:
    """The entry point of an answer, with all its instances; reports name the file `NAME.wgsl` and the learner's lines."""
    file, names = kernels.written(text, exercise), exercise.instances or ("",)
    instances = {}
    for given in names:
        name, written = given.removesuffix(">").split("<") if "<" in given else (exercise.defines, given)
        instances[given] = Shader(file, name, **constants(written))
    found = scan.scan(kernel_source.task(exercise)).variables
    read_only = {name: name for name, one in found.items() if one.space == "storage" and not one.writable}
    return Watched(instances, exercise.seconds, {"": read_only})


def _workgroup_bytes(text: str) -> int:
    """What the workgroup variables of a text take together; of elements that are structs nothing is counted."""
    size = 0
    for variable in scan.scan(text).variables.values():
        element = re.fullmatch(r"(?:vec([234])<)?(?:f32|u32|i32|bool|atomic<[ui]32>)>?", variable.kind.replace(" ", ""))
        if variable.space == "workgroup" and element:
            size += (
                4 * {"3": 4}.get(element[1], int(element[1] or 1)) * math.prod(variable.sizes)
            )  # a vec3 lies as a vec4
    return size


def constants(given: str) -> dict[str, Any]:
    """ "CAUSAL=True, T=4" -> {"CAUSAL": True, "T": 4}"""
    pairs = [pair.split("=") for pair in given.split(",") if pair.strip()]
    return {name.strip(): ast.literal_eval(value.strip()) for name, value in pairs}


def counters(reports: list[Report]) -> dict[str, float]:
    """What a learner compares: named numbers over all watched launches; {} where nothing could be counted."""
    if not any(report.lines for report in reports):
        return {}
    found = {BYTES: float(sum(report.bytes_moved for report in reports))}
    for space in ("storage", "workgroup"):
        if number := elements("read", space)(reports):
            found[f"elements read from {space} memory"] = number
    return found


# What a Goal counts. Each takes the reports and gives a number, or None where the text could not be watched.


def elements(op: str, space: str = "storage"):
    """Elements that all threads together read or write, `op` "read" or "write"; a vec4 is one."""

    def counted(reports: list[Report]) -> float | None:
        return float(sum(report.elements(space, op) for report in reports)) if any(r.lines for r in reports) else None

    return counted


def bytes_moved(reports: list[Report]) -> float | None:
    """Bytes of storage buffers that all launches move, as if there were no caches."""
    return counters(reports).get(BYTES)


def costliest(reports: list[Report], goal: str) -> str:
    """The line that moves most storage, in words; "" where the goal is another."""
    lines = [line for report in reports for line in report.lines if line.space == "storage"]
    if not lines or ("bytes" not in goal and "storage" not in goal):
        return ""
    line = max(lines, key=lambda line: line.bytes_moved)
    return f" Line {line.line} has the most: {line.elements:,} elements."
