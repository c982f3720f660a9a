"""What the engine of the web edition is built from: the package's checksum, and the cases that it judges by."""

import base64
import hashlib
import json
import lzma
import shutil
import subprocess

import numpy as np
import pytest

from course_lib import cuda
from course_lib.coach import catalogue
from course_lib.site import engine, exported_cases, packing
from course_lib.site.recorder import Recorder, is_placed

# As clang's front end writes `float sum, sums[2]; ... int sum;`: the pattern of a variable, of an array by its parts, of a second
# variable of one name.
FILLED = """define void @"k"(i32 %n) !dbg !1 {
  store float 0xFFFFFFFFE0000000, ptr %sum, align 4, !dbg !3, !annotation !9
  %1 = getelementptr float, ptr %sums, i32 0, !dbg !3
  store float 0xFFFFFFFFE0000000, ptr %1, align 4, !dbg !3, !annotation !9
  %2 = getelementptr float, ptr %sums, i32 1, !dbg !3
  store float 0xFFFFFFFFE0000000, ptr %2, align 4, !dbg !3, !annotation !9
  store i64 -1, ptr %sum7, align 8, !dbg !4, !annotation !9
}
!1 = distinct !DISubprogram(name: "k", file: !2, line: 1)
!2 = !DIFile(filename: "kernel.cu", directory: "/")
!3 = !DILocation(line: 2, scope: !1)
!4 = !DILocation(line: 3, scope: !1)
!9 = !{!"auto-init"}
"""
FILLS = """
const { askForFills, fillsLeft } = await import(process.argv[1]), [text, source] = JSON.parse(process.argv[2]);
const made = askForFills(text, "kernel.cu", source);
console.log(JSON.stringify([made.variables, [...fillsLeft(made.text).values()], made.text.includes("0xFFFFFFFFE0000000")]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_variables_without_a_value_are_known_by_name_and_line():
    source = "void k(int n) {\n  float sum, sums[2];\n  for (;;) { long long sum; }\n}"
    module = (engine.MODULES / "fills.mjs").as_uri()
    command = ["node", "--input-type=module", "-e", FILLS, module, json.dumps([FILLED, source])]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    variables, left, pattern = json.loads(said)
    assert [(one["name"], one["line"], one["number"]) for one in variables] == [
        ("sum", 2, True),
        ("sums", 2, False),
        ("sum", 3, True),
    ]
    assert left == [[0, 1, 2]] and not pattern


def test_another_package_is_refused():
    good = "sha512-" + base64.b64encode(hashlib.sha512(b"clang").digest()).decode()
    engine.check(b"clang", good, "clang.tgz")
    with pytest.raises(engine.EngineError, match=r"clang\.tgz has the checksum"):
        engine.check(b"another", good, "clang.tgz")


def test_a_case_holds_what_the_reference_gives():
    data = exported_cases.export("reverse")
    exercise = catalogue.load("reverse")
    cases = list(exercise.cases(np.random.default_rng(exported_cases.SEED)))
    assert [case["label"] for case in data["cases"]] == [case.label for case in cases]
    for case, exported in zip(cases, data["cases"], strict=True):
        (result,) = exported["results"]
        expected = np.frombuffer(base64.b64decode(result["expected"]), result["dtype"])
        np.testing.assert_array_equal(expected, exercise.reference(*case.inputs))


def placed(name: str, case: int = 0) -> tuple[list[dict], list[dict]]:
    """The results of a case without what is expected there, and its launches."""
    entry = exported_cases.export(name)["cases"][case]
    return [{key: value for key, value in one.items() if key != "expected"} for one in entry["results"]], entry[
        "launches"
    ]


def test_a_part_of_an_array_is_found_in_steps():
    _, prefixes, flags = placed("look_back")[0]
    assert (prefixes["shape"], prefixes["offset"]) == ([1], 4)
    assert placed("look_back", 1)[0][1] == {"array": 2, "offset": 4, "dtype": "int32", "shape": [2], "strides": [8]}
    assert flags["offset"] == 4


def test_sums_of_rows_are_found():
    _, weight, bias = placed("layernorm_backward", 1)[0]
    assert weight == {"array": 6, "offset": 0, "dtype": "float32", "shape": [5], "rows": [2, 40]}
    assert bias == {**weight, "offset": 20}


def test_arrays_behind_a_structure_are_found_and_its_pointers_have_four_bytes():
    launches = placed("adamw_step", 6)[1]
    results = exported_cases.export("adamw_step")["cases"][6]["results"]
    assert [one["dtype"] for one in results[:4]] == ["float32", "float32", "float32", "bfloat16"]
    assert [one["shape"] for one in results[::4]] == [[5], [513]]
    structure = launches[0]["args"][0]
    assert len(base64.b64decode(structure["struct"])) == 5 * 72 * 4 + 3 * 72 * 4 + 4
    assert [where for where, _, _ in structure["pointers"]] == [
        4 * (72 * list_ + k) for list_ in range(5) for k in range(2)
    ]
    assert len({array for _, array, _ in structure["pointers"]}) == 10


def test_another_result_is_not_guessed():
    recorder = Recorder("f", "f", fill=True)

    def call(kernel, x):
        y = cuda.zeros(x.shape)
        kernel(1, 32, (cuda.asarray(x), y))
        return y + 1, y.max(), np.stack([y, y])

    place = recorder.place(recorder.result_of(call, np.ones((2, 3), np.float32)))
    assert place[:2] == [None, None] and not is_placed(place)
    assert [part["array"] for part in place[2]] == [1, 1]


def test_values_of_all_exercises_in_wgsl_can_be_compared():
    names = exported_cases.exercises_in("wgsl")
    assert len(names) > 10
    for name in names:
        data = exported_cases.export(name)
        assert not data["unjudged"] and all(case["results"] for case in data["cases"]), name
        assert not any("when" in mistake for mistake in data["mistakes"])
    fronts = exported_cases.export("softmax_wgsl")["fronts"]
    assert fronts["softmax_forward<CAUSAL=True>"] == "const CAUSAL = true; "


def test_what_is_stored_is_what_xz_undoes(tmp_path):
    content = bytes(range(256)) * 100
    size = packing.store(content, tmp_path, "file")
    assert (
        lzma.decompress((tmp_path / "file.xz").read_bytes()) == content
        and size == (tmp_path / "file.xz").stat().st_size
    )
