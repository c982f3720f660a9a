"""Whole programs: unmodified host code compiles, runs and is judged; each planted fault is told on its line, and nothing else."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel, sanitize
from course_lib.cuda.programs import build, formats, launches, verdict
from course_lib.cuda.programs.pytest_plugin import cuda_check  # noqa: F401  (a fixture)

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "programs"


def expected(file: str) -> set[tuple[str, int]]:
    """(kind, line) of the faults that a program says it has."""
    lines = (FOLDER / file).read_text().splitlines()
    return {
        (match[1], number) for number, line in enumerate(lines, 1) if (match := re.search(r"// expect: (\S+)", line))
    }


def run(file: str | Path, checked: bool, *arguments: str, options=(), **settings):
    program = build.compile_program([FOLDER / file], options, checked)
    return verdict.run(program, arguments, capture=True, **settings)


@pytest.mark.parametrize("checked", [False, True])
def test_a_program_runs_unmodified_and_its_own_checks_pass(compiler, checked):
    found, said = run("whole.cu", checked, "one", "two words", gpu="RTX 4090")
    assert said.splitlines() == [
        "device 40", "device 41", "device 50", "NVIDIA GeForce RTX 4090, 128 multiprocessors: right",
    ], said  # fmt: skip
    assert found.code == 7 and found.timed
    # The one launch that the program gets wrong on purpose, and nothing else.
    assert [one.kind for one in found.findings] == ["api-error"], found.findings
    assert "2048" in found.findings[0].message
    assert found.launches == (6 if checked else 0)


def test_every_planted_fault_is_told_on_its_line_and_nothing_else(compiler):
    found, _ = run("faults.cu", True)
    told = {(one.kind, one.line) for one in found.findings}
    assert told == expected("faults.cu"), "\n".join(map(str, found.findings))
    assert found.kernels.count("fine") == 1 and found.launches == 10
    assert {one.tool for one in found.findings} == {"memcheck", "racecheck", "initcheck", "synccheck"}

    sarif = json.loads(formats.as_sarif(found, Path("src")))["runs"][0]
    places = {(r["ruleId"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in sarif["results"]}
    assert places == {(one.kind, one.line) for one in found.findings}
    assert sarif["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/faults.cu"
    suite = ElementTree.fromstring(formats.as_junit(found).partition("\n")[2])
    passed = {case.get("name") for case in suite if case.find("failure") is None}
    assert passed == {"fine", "add"}
    assert json.loads(formats.as_json(found))["findings"][0]["line"] == found.findings[0].line
    assert "things to look at" in formats.as_text(found)


def test_a_crash_in_the_fast_build_ends_the_launches_as_on_a_gpu(tmp_path):
    (tmp_path / "wild.cu").write_text(
        "#include <cstdio>\n"
        "__global__ void wild(int* x) { x[1 << 30] = 1; }\n"
        "__global__ void after(int* x) { x[0] = 1; }\n"
        "int main() { int* x; cudaMalloc(&x, 4); wild<<<1, 1>>>(x); after<<<1, 1>>>(x);\n"
        '  printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize())); cudaFree(x); }\n'
    )
    found, said = run(tmp_path / "wild.cu", False)
    assert said == "cudaErrorIllegalAddress\n" and found.code == 0
    assert [(one.kind, one.line) for one in found.findings] == [("crash", 4)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "#include <curand.h>\nint main() {}\n",
            r"p\.cu, line 1: curand\.h is a header of cuRAND, which is not simulated",
        ),
        ('#include "mine.h"\nint main() {}\n', r"p\.cu, line 1: the header mine\.h was not found. Pass its folder: -I"),
        (
            "__global__ void k() {}\nint main() {\n k<<<1, 1>>>;\n}\n",
            r"p\.cu, line 3: behind >>> come the kernel's arguments",
        ),
        ("__global__ void k() {}\nint main() {\n k<<<1, 1>>(1);\n}\n", r"p\.cu, line 3: this <<< has no >>>"),
        (
            "__global__ void k() {\n __shared__ double big[6200];\n big[threadIdx.x] = 1;\n}\nint main() { k<<<1, 1>>>(); }\n",
            r"p\.cu, line 2: the __shared__ array 'big' takes 49,600 bytes",
        ),
        ("int main() {\n cudaGraphCreate(0, 0);\n}\n", r"p\.cu, line 2: cudaGraphCreate is not simulated"),
        ("#include <cublas_v2.h>\nint main() {\n cublasStrsm(0);\n}\n", r"p\.cu, line 3: cublasStrsm is not simulated"),
        ("int main() {\n CUfunction f;\n}\n", r"p\.cu, line 2: the driver's functions are not simulated"),
        ("int main() {\n return cuInit(0);\n}\n", r"p\.cu, line 2: the driver's functions are not simulated"),
    ],
)
def test_what_cannot_be_compiled_is_told_in_a_sentence(tmp_path, text, sentence):
    (tmp_path / "p.cu").write_text(text)
    with pytest.raises(CompileError, match=sentence):
        build.compile_program([tmp_path / "p.cu"], (), True)


@pytest.mark.parametrize(
    "kernel",
    [
        "k",
        "::k",
        "a::b::k<4, (3 > 2)>",
        "table[i].run",
        "self->kernels[i + 1]",
        "k<float, (N + 1), f<2>()>",
        "(*pointer)",
        "get(3)",
    ],
)
def test_what_stands_before_a_launch_is_read_as_cpp_reads_it(kernel):
    text = f'# 7 "p.cu"\nif (x) {kernel}<<<g, dim3(a < b, 4), s[2] >> 1>>>(x, __null, f(__null));\n'
    said = launches.rewrite(text, {"k": ["x", "y"]}, "")
    assert (
        f"{{ {kernel}(sim_a...); }}, sim::Configuration(g, dim3(a < b, 4), s[2] >> 1))(x, nullptr, f(__null));" in said
    )
    assert said.startswith('# 7 "p.cu"\nif (x) sim::launcher(') and 'SimSite{"p.cu", 7}' in said
    assert said.count("\n") == text.count("\n")
    assert (
        launches.rewrite(text.replace("<<<", "<< <").replace(">>>", " >> >"), {"k": ["x", "y"]}, "").count(
            "sim::launcher"
        )
        == 1
    )


def test_variables_of_the_host_may_have_the_kernels_names(tmp_path):
    (tmp_path / "names.cu").write_text(
        "#include <cstdio>\n"
        "__global__ void count(int* x) { atomicAdd(x, blockDim.x + gridDim.x * 100); }\n"
        "void go(int* x, dim3 blockDim) { count<<<2, blockDim>>>(x); }\n"
        "int main() { int* x; cudaMallocManaged(&x, 4); *x = 0;\n"
        "  if (x) { dim3 blockDim(32), gridDim = dim3(3); count<<<gridDim, blockDim>>>(x); }\n"
        "  go(x, dim3(16)); cudaDeviceSynchronize();\n"
        '  printf("%d\\n", *x); return cudaFree(x); }\n'
    )
    found, said = run(tmp_path / "names.cu", True)
    assert found.ok and said == f"{96 * (32 + 300) + 32 * (16 + 200)}\n"


def test_the_fixture_fails_a_test_by_what_was_found(cuda_check, tmp_path):  # noqa: F811
    (tmp_path / "fine.cu").write_text(
        "__global__ void add(int* x) { atomicAdd(x, 1); }\n"
        "int main() { int* x; cudaMalloc(&x, 4); cudaMemset(x, 0, 4); add<<<2, N>>>(x); int y;\n"
        "  cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost); cudaFree(x); return y; }\n"
    )
    assert cuda_check(tmp_path / "fine.cu", "-DN=32", code=64).launches == 1
    with pytest.raises(pytest.fail.Exception, match="own exit code is 64"):
        cuda_check(tmp_path / "fine.cu", "-DN=32")
    with pytest.raises(pytest.fail.Exception, match=r"race: faults\.cu, line 10"):
        cuda_check(FOLDER / "faults.cu")
    with pytest.raises(pytest.fail.Exception, match=r"There is no file .*missing\.cu"):
        cuda_check("missing.cu")


@pytest.mark.parametrize("checked", [False, True])
def test_a_kernel_of_a_file_with_host_code_is_launched_from_python(checked):
    kernel = Kernel(FOLDER / "whole.cu", "total")
    x = np.arange(1, 11, dtype=np.float32)
    out = np.zeros(1, np.float32)
    args = (x, out, 10, None)
    if checked:
        assert sanitize(kernel, (1,), (32,), args, shared_mem=128).ok
    else:
        kernel((1,), (32,), args, shared_mem=128)
    assert out[0] == 55


def test_learners_answers_may_hold_no_host_code():
    kernel = Kernel(FOLDER / "whole.cu", "total", host=False)
    with pytest.raises(CompileError, match="is host code"):
        kernel((1,), (32,), (np.ones(1, np.float32), np.ones(1, np.float32), 1, None))


def test_barriers_and_products_of_the_libraries_are_right_and_watched(compiler):
    found, _ = run("libraries.cu", True)
    assert found.ok, formats.as_text(found)
    found, _ = run("libraries.cu", True, options=("-DNO_WAIT",))
    assert {(one.kind, one.line, one.issue.other_line) for one in found.findings} == {("race", 15, 19)}
