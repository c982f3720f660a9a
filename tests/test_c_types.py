"""wgpu's C types are learned in one go, and are the ones that cffi finds by itself."""

import re
import subprocess
import sys

import pytest

from course_lib.devices.webgpu import c_types
from course_lib.paths import ROOT
from tests.webgpu_here import on_an_adapter

pytest.importorskip("wgpu", reason="the package wgpu is not installed")


def test_a_type_that_is_learned_is_the_one_that_cffi_reads():
    from wgpu.backends.wgpu_native._api import ffi

    c_types.learn()
    names = ["WGPULimits *", "WGPUBindGroupEntry[]", "WGPUCommandBuffer[]", "WGPUBufferDescriptor *"]
    names += [
        "uint8_t *",
        "uint32_t []",
        "char []",
        "uintptr_t",
        "void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)",
    ]
    for name in names:
        again = re.sub(r"([*[(,])", r" \1 ", f" {name}")  # spelled otherwise, so that it is read
        with ffi._lock:
            assert ffi._parsed_types[name] == ffi._typeof_locked(again)


@on_an_adapter
def test_a_process_that_launches_kernels_reads_no_type_by_itself():
    code = """
from course_lib.devices.webgpu import adapter, c_types
from wgpu.backends.wgpu_native._api import ffi
read, original = [], ffi._parser.parse_type
ffi._parser.parse_type = lambda text: read.append(text) or original(text)
from course_lib.devices import ops
table = ops("webgpu")
assert table.to_numpy(table.add(table.full((3,), 2.0), 1.0)).tolist() == [3.0, 3.0, 3.0]
print(read[1:])  # the first is the function that takes them all
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n", done.stdout
