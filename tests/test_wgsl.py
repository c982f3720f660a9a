"""WGSL on NumPy arrays: launches, compile errors as sentences, and what a watched run sees."""

import re

import numpy as np
import pytest

from course_lib import lexer
from course_lib.devices.webgpu import adapter
from course_lib.wgsl import NoAdapterError, Shader, ShaderError, sanitize, sanitizer, scan
from course_lib.wgsl.instrument import ROUNDS

here = pytest.mark.skipif(bool(adapter.problem()), reason=f"no WGSL can run here: {adapter.problem()}")
F = np.float32

HEAD = """struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
"""
KERNEL = """
@compute @workgroup_size(64)
fn go(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = id.x;
    BODY
}
"""


def text(body: str, before: str = "") -> str:
    return HEAD + before + KERNEL.replace("BODY", body)


def run(body: str, n: int = 100, groups: int | tuple = 2, before: str = "", size: int = 0):
    """y and the report of a watched run over n numbers, 64 threads to a group."""
    x, y = np.arange(1, n + 1, dtype=F), np.zeros(size or n, F)
    report = sanitize(Shader(text(body, before), "go"), groups, x=x, y=y, n=n)
    return y, report


def kinds(report) -> set[str]:
    return {issue.kind for issue in report.issues}


# Launching


@here
@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_a_shader_computes_and_leaves_what_it_only_reads(n):
    x, y = np.random.default_rng(n).normal(size=n).astype(F), np.full(n, np.nan, F)
    before = x.copy()
    Shader(text("if (i < args.n) { y[i] = 2.0 * x[i]; }"), "go")(-(-n // 64), x=x, y=y, n=n)
    np.testing.assert_array_equal(y, 2 * before)
    np.testing.assert_array_equal(x, before)


@here
def test_whole_numbers_and_several_dimensions():
    body = """@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<i32>;
@compute @workgroup_size(4, 2, 2)
fn go(@builtin(global_invocation_id) id: vec3<u32>) {
    y[(id.z * 4 + id.y) * 8 + id.x] = u32(x[id.x]) + id.z;
}"""
    x, y = np.arange(8, dtype=np.int32), np.zeros((2, 4, 8), np.uint32)
    shader = Shader(body, "go")
    shader((2, 2, 1), x=x, y=y)
    assert shader.workgroup_size() == (4, 2, 2)
    np.testing.assert_array_equal(y, np.broadcast_to(x + np.arange(2)[:, None, None], (2, 4, 8)))
    assert sanitize(shader, (2, 2, 1), x=x, y=y).ok


@here
def test_functions_that_are_written_but_not_called_are_no_fault():
    later = "var<workgroup> tree: array<f32, 64>;\nfn later(lane: u32) { workgroupBarrier(); tree[lane] = x[lane]; }\n"
    y, report = run("", before=later)
    assert report.ok and not report.not_checked and not y.any()


@here
def test_our_kernels_run_by_their_file_with_constants():
    x, y = np.random.default_rng(0).normal(size=(3, 300)).astype(F), np.empty((3, 300), F)
    shader = Shader("softmax.wgsl", "softmax_forward", CAUSAL=False)
    shader(3, x=x, y=y, rows=3, T=1, S=300, lowest=-np.inf)
    e = np.exp(x.astype(float) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), atol=1e-6)


@here
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"x": np.ones(4, F), "n": 4}, "uses `y`, which this launch does not give"),
        ({"x": np.ones(4, F), "y": np.ones(4, F), "z": np.ones(4, F), "n": 4}, "an array `z`, but the text has no"),
        ({"x": np.ones(4), "y": np.ones(4, F), "n": 4}, "`x` must be an array of float32"),
        ({"x": [1.0], "y": np.ones(4, F), "n": 4}, "`x` is a list, but must be a NumPy array"),
        ({"x": np.ones(4, F), "y": np.ones(4, F)}, "uses `args`, which this launch does not give"),
        ({"x": np.ones(4, F), "y": np.ones(4, F), "n": -1}, "whole number from 0 on"),
        ({"x": np.ones(4, F), "y": np.ones(4, F), "n": 4.5}, "whole number from 0 on"),
        ({"x": np.ones(4, np.int32), "y": np.ones(4, F), "n": 4}, "declared as an array of f32, but was given int32"),
        ({"x": np.ones((4, 4), F)[:, 0], "y": np.ones(4, F), "n": 4}, "do not lie in a row"),
        ({"x": np.ones(4, F), "y": np.ones(4, F), "m": 4}, "no uniform struct with just these fields"),
    ],
)
def test_a_launch_that_does_not_fit_is_explained(arguments, says):
    with pytest.raises(ShaderError, match=re.escape(says)):
        Shader(text("y[i] = x[i] * f32(args.n);"), "go")(1, **arguments)


@here
@pytest.mark.parametrize("groups", [-1, 1.5, 65_536, (1, 1, 1, 1), "1"])
def test_a_number_of_groups_that_no_launch_takes_is_explained(groups):
    with pytest.raises(ShaderError, match="up to three numbers of groups"):
        Shader(text("y[i] = x[i];"), "go")(groups, x=np.ones(4, F), y=np.ones(4, F))


@here
def test_what_a_kernel_does_not_use_is_left_out():
    y = np.zeros(64, F)
    Shader(text("y[i] = 1.0;"), "go")(1, x=np.ones(3, F), y=y, n=64)
    assert y.all()


def test_without_an_adapter_a_notebook_shows_a_sentence(monkeypatch):
    monkeypatch.setattr(adapter, "problem", lambda: "No graphics driver of this machine offers a WebGPU adapter.")
    with pytest.raises(NoAdapterError, match="WGSL cannot run here") as caught:
        sanitize(Shader(text("y[i] = 1.0;"), "go"), 1, x=np.ones(3, F), y=np.ones(64, F), n=64)
    assert caught.value._render_traceback_() == [str(caught.value)]


# What a compiler says

ERRORS = [
    ("let k = i\n    y[k] = 1.0;", "A `;` is missing", 0),
    ("let s = 0.0;\n    s += x[i];", "`let` names a value that never changes. Declare `s` with `var`", 0),
    ("if (i32(i) < args.n) { y[i] = 0.0; }", "`<` has an i32 on its left and a u32 on its right", 0),
    ("y[i] = i * x[i];", "`*` has a u32 on its left and an f32 on its right", 0),
    ("let k: i32 = i;", "`k` is declared as i32 and given a u32", 0),
    ("y[i] = max(1u, x[i]);", "`max` is given numbers of two types", 0),
    ("float s = 0.0;", "`float s` is C++", 0),
    ("for (int k = 0; k < 4; k++) { y[i] = 0.0; }", "`int k` is C++", 0),
    ("y[i] = float(i);", "WGSL has no type `float`", 0),
    ("let k = threadIdx.x;", "threadIdx is CUDA's", 0),
    ("let k = blockDim.x;", "blockDim is CUDA's. In WGSL a workgroup has the size", 0),
    ("__syncthreads();", "here it is `workgroupBarrier()`", 0),
    ("y[i] = expf(x[i]);", "here it is `exp`", 0),
    ("y[i] = -INFINITY;", "hand it to the kernel as a number", 0),
    ("y[i] = -1.0 / 0.0;", "WGSL allows no such constant", 0),
    ("y[i] = foo;", "The name `foo` is not known here", 0),
    ("x[i] = 1.0;", "This buffer may only be read", 0),
    ("y[i] = x[i] > 0.0 ? 1.0 : 0.0;", "WGSL has no `a ? b : c`", 0),
    ("if (i < args.n) y[i] = 1.0;", "WGSL requires braces", 0),
    ("if (args.n) { y[i] = 1.0; }", "A condition must be true or false", 0),
    ("y[id] = 1.0;", "An index is one whole number", 0),
    ("if (i < 4 and i > 2) { y[i] = 1.0; }", "WGSL writes `&&`", 0),
    ("let k = 0u;\n    k++;", "`++` and `--` need a variable", 1),
    ("let m = 4u;\n    var a: array<f32, m>;", "fixed when the text is compiled", 1),
    ("var s;", "a type or a first value", 0),
    ("y[i] = x[i]**2;", "no `**`", 0),
    ("var<workgroup> s: array<f32, 4>;", "stands outside of all functions", 0),
    ("let a = 1.0;\n    let a = 2.0;", "declared twice", 1),
    ("if (id < args.n) { y[i] = 1.0; }", "`<` has a vector on its left and one number on its right", 0),
    ("for (var k = 0; k < args.n; k++) { y[i] = 0.0; }", "begin a counter with `0u`", 0),
    ("y[0] = pick(i, i);", "Argument 2 of this call has another type", 0),
    ("let k: u32 = -1;", "-1 cannot be a u32", 0),
    ("let m = 4u;\n    const k = m;", "A `const` is known when the text is compiled", 1),
    ("y[i] = (float)i;", "WGSL writes a conversion as a call: `f32(value)`", 0),
    ("if (i < 4) { y[i] = 1.0; } elif (i < 5) { y[i] = 2.0; }", "`else if`", 0),
    ("var k[4]: f32;", "An array has its length in its type", 0),
    ("__shared__ float k[64];", "`__shared__` is CUDA's", 0),
    ("if (i = 0) { y[i] = 1.0; }", "To compare, write `==`", 0),
    ("y[i++] = 1.0;", "no part of an expression", 0),
    ("# zero", "A comment begins with `//`", 0),
    ("y[i] = f32(args.m);", "There is no `.m` here", 0),
    ("y[i] = (i < 4) * 2.0;", "A plain number stands here where it fits nothing", 0),
    ('printf("%d", i);', "cannot print", 0),
    ("auto k = 1.0;", "let k = ...;`.\n", 0),
    ("float4 k = vec4(1.0);", "The type is vec4<f32>", 0),
    ("y[i] = vec4(x[i]);", "What is written has another type than its place", 0),
    ("unsigned int k = i;", "`unsigned int k` is C++. In WGSL a variable that changes is `var k = ...;`", 0),
    ("let k = i;\n    y[i] = k;", "Numbers of two types meet, u32 and f32", 1),
    ("if (lane) { y[i] = 1.0; }", "A condition must be true or false", 0),
]


@here
@pytest.mark.parametrize(("body", "says", "down"), ERRORS, ids=[body[:24] for body, _, _ in ERRORS])
def test_a_compile_error_is_a_sentence_with_the_line(body, says, down):
    whole = text(body, "fn pick(place: u32, number: f32) -> f32 { return number; }\n" if "pick" in body else "")
    with pytest.raises(ShaderError, match=re.escape(says)) as caught:
        Shader(whole, "go").compile()
    first = whole[: whole.index(body)].count("\n") + 1
    assert caught.value.line == first + down


@here
@pytest.mark.parametrize(
    ("whole", "says"),
    [
        ("__shared__ float tree[64];", "Here it is `var<workgroup>"),
        ("__global__ void go(float* x) { }", "Here it is `@compute"),
        (
            "var tree: array<f32, 64>;\n@compute @workgroup_size(64)\nfn go() { tree[0] = 1.0; }",
            "must say where it lies",
        ),
        ("@compute\nfn go() { }", "needs a `@workgroup_size(256)`"),
        ("@compute @workgroup_size(64)\nfn go(id: vec3<u32>) { }", "has no `@builtin(...)`"),
        ("@compute @workgroup_size(64)\nfn go(@builtin(global_invocation_id) id: vec3<i32>) { }", "has the wrong type"),
        ("fn go(@builtin(global_invocation_id) id: vec3<u32>) { }", "belong to an entry point"),
        ("@compute @workgroup_size(64)\nfn going() { }", "no entry point named go"),
        ("@compute @workgroup_size(64, 64)\nfn go() { }", "4096 threads is more than this adapter takes"),
        ("fn f(a: f32) -> f32 { }\n@compute @workgroup_size(64)\nfn go() { }", "promises a result"),
        ("fn f(a: f32) -> f32 { a = 2.0; return a; }\n@compute @workgroup_size(64)\nfn go() { }", "never change"),
        ("fn f(a: f32) -> f32 { return f(a); }\n@compute @workgroup_size(64)\nfn go() { }", "may call itself"),
        ("@compute @workgroup_size(64)\nfn go() {", "A `}` is missing"),
    ],
)
def test_an_error_outside_of_the_body_is_explained(whole, says):
    with pytest.raises(ShaderError, match=re.escape(says)):
        Shader(whole, "go").compile()


@pytest.mark.parametrize(
    ("whole", "says"),
    [
        ('// include "grop.wgsl"\n' + text(""), "no file grop.wgsl"),
        (text("").replace("args: Args", "args: Arg"), "has the type Arg, but no struct"),
        ("nothing.wgsl", "no file nothing.wgsl"),
    ],
)
def test_what_a_text_names_and_nobody_has_is_said_at_once(whole, says):
    with pytest.raises(ShaderError, match=re.escape(says)):
        Shader(whole, "go")


@here
def test_an_error_in_an_included_file_names_that_file():
    with pytest.raises(ShaderError, match=r"group\.wgsl|The compiler says|declared twice"):
        Shader('// include "group.wgsl"\nconst THREADS = 4u;\n@compute @workgroup_size(4)\nfn go() { }', "go").compile()


# What is read in a text


def accesses(body: str, before: str = ""):
    return [(one.variable.name, one.op) for one in scan.scan(text(body, before)).accesses]


def test_reads_writes_and_both_are_told_apart():
    assert accesses("y[i] = x[i];") == [("y", "write"), ("x", "read")]
    assert accesses("y[i] += 1.0; y[i]++;") == [("y", "both"), ("y", "both")]
    assert accesses("if (y[i] == x[i]) { }") == [("y", "read"), ("x", "read")]
    assert accesses("y[u32(x[i])] = 1.0;") == [("y", "write"), ("x", "read")]
    assert accesses("s[i].x = s[i][j];", "var<workgroup> s: array<vec4<f32>, 8>;") == [("s", "part"), ("s", "read")]
    assert accesses("t[i][j] = 1.0;", "var<workgroup> t: array<array<f32, 4>, 8>;") == [("t", "write")]
    assert accesses("one = x[0]; y[0] = one;", "var<workgroup> one: f32;") == [
        ("one", "write"), ("x", "read"), ("y", "write"), ("one", "read"),
    ]  # fmt: skip


def test_comments_and_names_of_the_function_are_no_accesses():
    assert accesses("// x[i]\n /* y[i] = x[i]; */ let a = arrayLength(&x);") == []
    assert accesses("var y = array<f32, 4>(); y[0] = x[i];") == [("x", "read")]
    assert accesses("let q = point.x[0];") == []


COMMENTED = """// @compute @workgroup_size(32) fn go was too small; a: array<i32> was wrong
struct Args {
    n: u32,
    // m: u32,
}
/* struct Args { k: u32, } */
@group(0) @binding(0)
var<uniform> args: Args;
@group(0) @binding(1) var<storage> a: array<f32>;
@group(0) @binding(2) var<storage,read_write> y : array<f32>;
// @group(0) @binding(3) var<storage, read_write> a: array<i32>;
// @group(0) @binding(4) var<storage, read> old: array<i32>;
"""


def test_what_stands_in_a_comment_is_not_declared():
    shader = Shader(COMMENTED + KERNEL.replace("BODY", "y[i] = a[i] * f32(args.n);"), "go")
    assert shader.source.buffers == {"a": (1, False), "y": (2, True)}
    assert shader.source.structs == {frozenset({"n"}): (0, [("n", "u32")])}
    assert shader.workgroup_size() == (64, 1, 1)
    found = scan.scan(shader.source.text).variables
    assert [(one.name, one.kind, one.writable) for one in found.values()] == [("a", "f32", False), ("y", "f32", True)]


@here
def test_an_array_is_compared_with_its_declaration_and_no_comment():
    shader, a, y = (
        Shader(COMMENTED + KERNEL.replace("BODY", "y[i] = a[i] * f32(args.n);"), "go"),
        np.ones(64, F),
        np.ones(64, F),
    )
    shader(1, a=a, y=y, n=3)
    assert (y == 3).all()
    with pytest.raises(ShaderError, match="`a` is declared as an array of f32, but was given int32"):
        shader(1, a=a.astype(np.int32), y=y, n=3)


def test_sizes_may_be_constants():
    found = scan.scan(
        text("t[i][0] = 1.0;", "const A = 4u;\nconst B = A * 16 / 2;\nvar<workgroup> t: array<array<f32, A>, B>;")
    )
    assert found.variables["t"].sizes == [32, 4]


def test_only_what_an_entry_point_reaches_belongs_to_it():
    whole = "fn f() { a[0] = 1.0; }\nfn g() { b[0] = 1.0; }\n@compute @workgroup_size(1)\nfn go() { f(); }"
    assert {"a", "f"} <= scan.reached(whole, "go") and "b" not in scan.reached(whole, "go")


# Watched runs


@here
@pytest.mark.parametrize("n", [1, 64, 65, 127, 300])
def test_a_watched_run_gives_the_results_and_counts_each_element(n):
    y, report = run("if (i < args.n) { y[i] = x[i] + 1.0; }", n, groups=5)
    np.testing.assert_array_equal(y, np.arange(2, n + 2))
    assert report.ok and report.elements("storage", "read") == report.elements("storage", "write") == n
    assert report.bytes_moved == 8 * n


@here
def test_indexes_outside_are_found_though_nothing_crashes():
    _, report = run("y[i] = x[i];", n=100, groups=2)
    assert kinds(report) == {"out-of-bounds"} and {issue.count for issue in report.issues} == {28}
    assert all("`y[" in issue.message or "`x[" in issue.message for issue in report.issues)
    _, report = run("if (i < args.n) { y[i] = x[i32(i) - 1]; }", n=100)
    assert [issue.count for issue in report.issues] == [1] and "`x[-1]`" in report.issues[0].message
    assert report.issues[0].block == report.issues[0].thread == (0, 0, 0)
    _, report = run("s[lane + 1] = 1.0;", before="var<workgroup> s: array<f32, 64>;")
    assert kinds(report) == {"out-of-bounds"} and report.issues[0].count == 2 and "`s[64]`" in report.issues[0].message


SHIFT = "s[lane] = x[lane];\n    BARRIER\n    y[i] = s[(lane + 1) % 64];"
SHARED = "var<workgroup> s: array<f32, 64>;"


@here
def test_a_missing_barrier_is_a_race_whatever_the_threads_did():
    _, report = run(SHIFT.replace("BARRIER", ""), n=128, before=SHARED)
    assert kinds(report) == {"race"}
    lines = {report.issues[0].line, report.issues[0].other_line}
    whole = text(SHIFT.replace("BARRIER", ""), SHARED)
    assert lines == {whole[: whole.index(part)].count("\n") + 1 for part in ("s[lane] =", "y[i] = s")}
    y, report = run(SHIFT.replace("BARRIER", "workgroupBarrier();"), n=128, before=SHARED)
    assert report.ok
    np.testing.assert_array_equal(y, np.tile(np.roll(np.arange(1, 65), -1), 2))


@here
@pytest.mark.parametrize(
    ("body", "races"),
    [
        ("s[0] = x[i];", True),  # all write one place
        ("if (lane == 0) { s[0] = x[i]; }", False),
        ("s[lane] = x[i]; s[lane] += 1.0; y[i] = s[lane];", False),  # one's own
        ("let a = s[0]; let b = s[0]; y[i] = a + b;", False),  # all read
        # many read and one writes, who may be the last of the readers or not
        *((f"let a = s[0]; if (lane == {one}) {{ s[0] = 1.0; }} y[i] = a;", True) for one in (0, 7, 63)),
        ("if (lane < 2) { s[lane / 2] = 1.0; }", True),
        ("s[lane] = 1.0; workgroupBarrier(); s[63 - lane] = 2.0; workgroupBarrier(); y[i] = s[0];", False),
        ("total = x[i]; y[i] = 1.0;", True),
        ("if (lane == 0) { total = x[i]; } workgroupBarrier(); y[i] = total;", False),
        ("q[lane / 4][lane % 4] = 1.0; workgroupBarrier(); y[i] = q[0].x;", False),  # parts of a vector
        ("q[lane / 4][lane % 4] = 1.0; y[i] = q[15 - lane / 4].x;", True),
        ("if (lane == 0) { total = x[i]; } y[i] = workgroupUniformLoad(&total);", False),  # it waits by itself
        ("total = x[i]; y[i] = workgroupUniformLoad(&total);", True),
        ("s[lane] = x[i]; let a = workgroupUniformLoad(&s[lane / 64 + 3]); y[i] = a + s[63 - lane];", False),
        ("if (lane < 4) { q[0][lane] = 1.0; } if (lane == 7) { y[i] = q[0].x; }", True),
        ("t[lane / 8][lane % 8] = 1.0; workgroupBarrier(); y[i] = t[lane % 8][lane / 8];", False),
        ("t[lane / 8][lane % 8] = 1.0; y[i] = t[lane % 8][lane / 8];", True),
    ],
)
def test_who_shares_workgroup_memory(body, races):
    before = SHARED + "var<workgroup> total: f32;\nvar<workgroup> q: array<vec4<f32>, 16>;"
    before += "var<workgroup> t: array<array<f32, 8>, 8>;"
    _, report = run(body, n=128, before=before)
    assert kinds(report) == ({"race"} if races else set()), str(report)


@here
@pytest.mark.parametrize(
    ("body", "races"),
    [
        ("y[0] = x[i % 100];", True),
        ("y[i / 2] = 1.0;", True),
        ("y[lane] = 1.0;", True),  # two groups
        ("if (i == 3) { y[0] = 1.0; } workgroupBarrier(); if (i == 4) { y[0] = 2.0; }", False),
        (
            "if (i == 3) { y[0] = 1.0; } workgroupBarrier(); if (i == 70) { y[0] = 2.0; }",
            True,
        ),  # a barrier holds in its group
        ("y[i] = 1.0; y[i] += 1.0;", False),
    ],
)
def test_who_writes_a_storage_buffer(body, races):
    _, report = run(body, n=128)
    assert kinds(report) == ({"race"} if races else set()), str(report)


@here
@pytest.mark.parametrize(
    ("body", "even"),
    [
        ("if (lane < 32) { workgroupBarrier(); } y[i] = 1.0;", False),
        ("if (lane < 32) { workgroupBarrier(); } else { workgroupBarrier(); } y[i] = 1.0;", False),
        ("if (i >= 100) { return; } workgroupBarrier(); y[i] = 1.0;", False),
        ("for (var k = lane; k < 100; k += 64) { workgroupBarrier(); } y[i] = 1.0;", False),
        ("for (var k = 0u; k < 3; k++) { workgroupBarrier(); } y[i] = 1.0;", True),
        ("if (args.n > 3) { workgroupBarrier(); } y[i] = 1.0;", True),
    ],
)
def test_all_threads_of_a_group_must_come_to_a_barrier(body, even):
    _, report = run(body, n=128)
    assert kinds(report) == (set() if even else {"divergent-barrier"}), str(report)


@here
@pytest.mark.parametrize("lanes", [32, 64])
def test_nobody_waits_before_it_is_known_that_all_come(monkeypatch, lanes):
    """On a GPU to wait where some never come may last for ever: the first run only counts who comes."""
    texts = []
    monkeypatch.setattr(sanitizer, "_watched", {})
    changed = Shader.with_text
    monkeypatch.setattr(Shader, "with_text", lambda shader, text: texts.append(text) or changed(shader, text))
    run(f"if (lane < {lanes}) {{ workgroupBarrier(); }} y[i] = 1.0;", n=128)
    waits = ["workgroupBarrier" in lexer.read(whole, wgsl=True).code for whole in texts]
    assert waits == ([False] if lanes < 64 else [False, True])


@here
@pytest.mark.parametrize(
    "loop", ["while (true) { y[i] += 1.0; }", "loop { y[i] += 1.0; }", "for (var k = 9u; k >= 0; k--) { y[i] = 1.0; }"]
)
def test_a_loop_that_never_ends_is_left_and_named(loop):
    _, report = run(loop, n=128)
    assert kinds(report) == {"timeout"} and f"{ROUNDS:,} rounds" in report.issues[0].message


@here
def test_what_cannot_be_watched_is_said():
    _, report = run("let p = &s; (*p)[lane] = 1.0; y[i] = x[i % 100];", n=128, before=SHARED)
    assert report.ok and report.not_checked == ["what goes through a pointer"]


@here
def test_a_watched_launch_that_cannot_be_compiled_says_so_about_the_text_itself():
    with pytest.raises(ShaderError, match="A `;` is missing"):
        run("y[i] = x[i]")


OURS = {
    "softmax": ("softmax.wgsl", "softmax_forward", {"CAUSAL": True}, 6,
                {"x": (6, 6), "y": (6, 6)}, {"rows": 6, "T": 6, "S": 6, "lowest": -np.inf}),
    "softmax backward": ("softmax.wgsl", "softmax_backward", {"CAUSAL": False}, 2,
                         {"dy": (2, 300), "weights": (2, 300), "dx": (2, 300)}, {"rows": 2, "T": 1, "S": 300, "lowest": -np.inf}),
    "norm": ("global_norm.wgsl", "global_norm_squares", {}, 2, {"x": (9000,), "partial": (2,)}, {"n": 9000, "first": 0}),
    "sum": ("reduce_rows.wgsl", "reduce_rows", {"T": "f32", "MAX": False}, 6, {"x": (3, 700), "y": (3, 2)},
            {"nothing": 0, "rows": 3, "K": 700, "parts": 2, "each": 350}),
    "layernorm": ("layernorm.wgsl", "layernorm_forward", {"BIAS": True, "DTOTAL": False}, 3,
                  {"x": (3, 50), "weight": (50,), "bias": (50,), "residual": (3, 50), "y": (3, 50),
                   "statistics": (6,), "total": (3, 50)},
                  {"rows": 3, "C": 50, "eps": 1e-5}),
}  # fmt: skip


@here
@pytest.mark.parametrize("name", OURS)
def test_nothing_is_wrong_with_kernels_of_ours(name):
    file, entry, constants, groups, shapes, numbers = OURS[name]
    arrays = {array: np.random.default_rng(len(array)).random(shape, F) for array, shape in shapes.items()}
    report = sanitize(Shader(file, entry, **constants), groups, **arrays, **numbers)
    assert report.ok and not report.not_checked and report.lines, str(report)


@here
def test_what_a_line_reads_several_times_is_one_fault():
    _, report = run("y[i] = select(0.0, x[i] * x[i] + x[i], i < args.n);", n=100)
    found = [(issue.count, issue.message.split("`")[1]) for issue in report.issues]
    assert sorted(found) == [(28, "y[100]"), (3 * 28, "x[100]")]


@here
def test_a_report_reads_as_a_table():
    _, report = run("y[i] = x[i];", n=100)
    said = str(report)
    assert said.startswith("go (groups 2, threads of each 64): 2 issues.") and "out-of-bounds: go.wgsl, line" in said
    assert re.search(r"go\.wgsl:\d+\s+storage\s+read\s+128\s+512", said)
    page = report._repr_html_()
    assert "<th style='text-align:left'>elements</th>" in page and "<code>y[i] = x[i];</code>" in page
    assert report.bytes_moved == 2 * 512
