"""The mark of tests that compute through WebGPU: without an adapter they are skipped, and say why."""

import pytest

from course_lib import devices
from course_lib.devices.webgpu import adapter

on_an_adapter = pytest.mark.skipif(
    "webgpu" not in devices.available_devices(), reason=f"webgpu cannot compute here. {adapter.problem()}".rstrip(".")
)
