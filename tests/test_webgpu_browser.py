"""The WGSL files that Python runs are WGSL for a browser too, which is stricter: all threads must reach each barrier."""

from __future__ import annotations

import re

import pytest

from course_lib.cuda.source import KERNELS
from course_lib.devices.webgpu import source

# What the device gives its kernels; a file takes those that it mentions and does not set itself.
CONSTANTS = {"T": "f32", "U": "f32", "OP": 4, "D": 64, "KEYS": 16, "TILE": 16, "KIND": 1, "STEPS": 8, "CHUNK": 16}
SWITCHES = ("FIRST", "MAX", "BIAS", "DTOTAL", "CAUSAL", "A_ROWS", "B_ROWS", "CLIP", "BOOL", "ZEROS")
COMPARED = {"U": "i32"}  # compare.wgsl gives truths

COMPILE = """async (files) => {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  const device = await adapter.requestDevice(), said = [];
  for (const {name, text, kernels} of files) {
    const module = device.createShaderModule({code: text});
    const faults = (await module.getCompilationInfo()).messages.filter((m) => m.type === 'error');
    for (const fault of faults) said.push(`${name}, line ${fault.lineNum}: ${fault.message}`);
    if (!faults.length)
      for (const entryPoint of kernels)
        await device.createComputePipelineAsync({layout: 'auto', compute: {module, entryPoint}})
          .catch((error) => said.push(`${name}, ${entryPoint}: ${error.message}`));
  }
  return said;
}"""


def prepared(name: str, switch: bool) -> dict:
    """A file as it is compiled, with every switch on or off."""
    text = re.sub(r"//.*", "", source.read(name, ()).text)
    known = CONSTANTS | dict.fromkeys(SWITCHES, switch) | (COMPARED if name == "compare.wgsl" else {})
    given = {
        constant: value
        for constant, value in known.items()
        if re.search(rf"\b{constant}\b(?!:)", text) and not re.search(rf"\bconst {constant} =", text)
        and not re.search(rf"args\.{constant}\b", text)
    }  # fmt: skip
    kernels = re.findall(r"@compute[^\n]*\nfn (\w+)", text)
    return {"name": name, "text": source.read(name, tuple(given.items())).text, "kernels": kernels}


@pytest.fixture(scope="module")
def compile_in_page(chromium):
    page = chromium.new_page()
    page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("http://127.0.0.1:9/")  # a page of this machine may use WebGPU; the answer comes from the line above
    yield lambda files: page.evaluate(COMPILE, files)
    page.close()


@pytest.mark.parametrize("switch", [True, False], ids=["switches on", "switches off"])
def test_every_kernel_compiles_in_a_browser(compile_in_page, switch: bool):
    files = [prepared(path.name, switch) for path in sorted(KERNELS.glob("*.wgsl"))]
    assert len(files) > 25 and all(file["kernels"] for file in files)
    said = compile_in_page(files)
    if said is None:
        pytest.skip("this Chromium has no WebGPU adapter, not even in software")
    assert said == []


def test_a_browser_refuses_a_barrier_that_some_threads_do_not_reach(compile_in_page):
    text = "@compute @workgroup_size(64)\nfn run(@builtin(local_invocation_index) lane: u32) {\n"
    text += "    if (lane < 32) {\n        workgroupBarrier();\n    }\n}\n"
    said = compile_in_page([{"name": "half.wgsl", "text": text, "kernels": ["run"]}])
    if said is None:
        pytest.skip("this Chromium has no WebGPU adapter, not even in software")
    assert len(said) == 1 and "line 4" in said[0] and "uniform" in said[0]
