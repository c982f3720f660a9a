"""Variables without a value beyond the zoo: what is tried, in which runs, and what is never told."""

import dataclasses

import numpy as np
import pytest

from course_lib import native
from course_lib.cuda import (
    Kernel,
    asarray,
    declarations,
    empty,
    flags,
    local_variables,
    sanitize,
    source,
    uninitialised,
    zeros,
)

F, I = np.float32, np.int32
SUM = """__global__ void total(const float* x, float* y, int n) {{
    float sum;
    for (int i = 0; i < n; i++) sum += x[i];
    {} y[threadIdx.x] = sum;
}}"""


def launched(code, *args, name="total"):
    return sanitize(Kernel(code, name), (1,), (32,), args)


def test_the_second_run_leaves_no_trace(compiler, capfd):
    x, y = np.ones(8, F), zeros(32)
    report = launched(SUM.format('if (threadIdx.x == 0) printf("once\\n");'), x, y, 8)
    (issue,) = report.issues
    assert (issue.kind, issue.line, issue.source) == ("uninitialised-read", 2, "float sum;")
    assert "'sum' is read before it has a value" in str(issue) and "block" not in str(issue)
    assert "block" not in issue._repr_html_()
    assert capfd.readouterr().out == "once\n"
    assert not np.isclose(y, 8).any()  # what the first run gave, not the one with a zero


def test_memory_that_cannot_be_set_back_is_touched_once(compiler):
    inside, places = asarray(np.zeros(1, F)), np.zeros(1, np.uint64)
    places[0] = inside.ctypes.data
    code = """__device__ int times;
    __global__ void once(const unsigned long long* places, float* y) {
        float sum;
        for (int i = 0; i < 8; i++) sum += y[i];
        if (threadIdx.x == 0) *(float*)places[0] += 1.0f;
        y[threadIdx.x + 32] = sum;
    }
    __global__ void counted(float* y) {
        float sum;
        for (int i = 0; i < 8; i++) sum += y[i];
        if (threadIdx.x == 0) times++;
        __syncthreads();
        y[threadIdx.x + 32] = sum + times;
    }"""
    assert launched(code, places, zeros(64), name="once").ok and inside[0] == 1
    assert launched(code, zeros(64), name="counted").ok


def test_what_changes_nothing_is_not_told(compiler):
    code = """__global__ void total(const float* x, float* y, int n) {
        float sum, unused, late[4];
        bool inside = threadIdx.x < n;
        if (inside) sum = x[threadIdx.x];
        __syncthreads();
        if (inside) {
            for (int j = 0; j < 4; j++) late[j] = sum * j;
            y[threadIdx.x] = late[3];
        }
        if (n > 1000) y[0] = unused;
    }"""
    x = np.arange(32, dtype=F)
    assert launched(code, x, zeros(32), 20).ok
    x[3] = np.nan  # results that look like the pattern, but come from the input
    assert launched(code, x, zeros(32), 20).ok
    x[3] = np.inf
    assert launched(code, x, zeros(32), 20).ok


def test_a_result_that_was_never_written_starts_no_search(monkeypatch):
    monkeypatch.setattr(
        uninitialised, "declared", lambda text: pytest.fail("the rest of the array has not been written")
    )
    code = """__global__ void total(const float* x, float* y, int n) {
        float first;
        first = x[0];
        if (threadIdx.x < n) y[threadIdx.x] = first;
    }"""
    y = empty(32)
    assert launched(code, np.ones(32, F), y, 5).ok and np.isnan(y[5:]).all()
    assert launched(code, np.ones(32, F), np.full(32, np.nan, F), 5).ok
    assert launched(code, np.array(2, F), np.array(0, F), 1).ok  # arrays without axes


def test_of_many_variables_not_each_is_tried(compiler, monkeypatch):
    monkeypatch.setattr(uninitialised, "TRIES", 0)
    monkeypatch.setattr(uninitialised, "_warned", lambda library, file: [])
    code = """__global__ void total(const float* x, float* y, int n) {
        float ones[4], first[2], twos[4], late[4];
        first[0] = first[0 * n] = x[0];
        for (int j = 0; j < n / 2; j++) ones[j] = 1.0f, late[j] = x[0];
        y[threadIdx.x] = first[0] + ones[1] + twos[n / 4] + late[2];
    }"""
    (issue,) = launched(code, np.ones(8, F), zeros(32), 8).issues
    assert "one of 'ones', 'twos', 'late' is read before" in issue.message
    monkeypatch.setattr(uninitialised, "TRIES", 9)
    (issue,) = launched(code, np.ones(8, F), zeros(32), 8).issues
    assert issue.message.startswith("'twos' is read before")


def test_a_counter_of_whole_numbers(compiler):
    code = """__global__ void total(const float* x, int* y, int n) {
        int counts[2];
        for (int i = 0; i < n; i++) counts[x[i] > 3.0f] += 1;
        y[threadIdx.x] = counts[threadIdx.x % 2];
    }"""
    (issue,) = launched(code, np.arange(8, dtype=F), zeros(32, I), 8).issues
    assert (issue.line, issue.source) == (2, "int counts[2];")


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats(dtype, compiler, recwarn):
    kind = {np.float16: "half", np.float64: "double"}[dtype]
    code = f"""#include <cuda_fp16.h>
    __global__ void total(const {kind}* x, {kind}* y, int n) {{
        float sums[2];
        if (n < 8) sums[0] = sums[1] = 0.0f;
        for (int i = 0; i < n; i++) sums[i % 2] += (float)x[i];
        y[threadIdx.x] = ({kind})(sums[0] + sums[1]);
    }}"""
    x = np.ones(8, dtype)
    assert launched(code, x, zeros(32, dtype), 7).ok
    x[2] = np.inf
    assert launched(code, x, zeros(32, dtype), 7).ok
    x[2] = 1
    assert [issue.line for issue in launched(code, x, zeros(32, dtype), 8).issues] == [3]
    assert not recwarn.list


LATE = {  # text, with a place for the value of its variable without one; that value; the array x
    "a maximum of negative numbers": ("float m{}; for (int i = 0; i < n; i++) m = fmaxf(m, x[i]); y[t] = m;", " = -1e30f", -1),
    "the largest, by if": ("float m{}; for (int i = 0; i < n; i++) if (x[i] > m) m = x[i]; y[t] = m;", " = -1e30f", -1),
    "a place that is never set": ("int at{}; for (int i = 0; i < n; i++) if (x[i] > 1000) at = i; y[t] = x[at];", " = 0", 1),
    "the largest of positive ones": ("float m{}; for (int i = 0; i < n; i++) m = fmaxf(m, x[i]); y[t] = m;", " = -1e30f", 1),
    "sums behind a relu": ("float s[2]{}; for (int i = 0; i < n; i++) s[i % 2] += x[i]; y[t] = fmaxf(s[0] + s[1], 0.0f);",
                           " = {}", 1),
    "a flag": ("bool any{}; for (int i = 0; i < n; i++) if (x[i] > 1000) any = true; y[t] = any;", " = false", 1),
    "a member": ("char4 c{}; c.x = x[0]; c.y = 2; c.z = 3; char4 d = c; y[t] = d.w;", " = {}", 1),
    "a sum of few digits": ("half s{}; for (int i = 0; i < n; i++) s = __hadd(s, __low2half(h)); y[t] = (float)s;", " = 0.0f", 1),
    "a pair": ("half2 a{}; for (int i = 0; i < n; i++) a = __hadd2(a, h); y[t] = __low2float(a);", " = h", 1),
    "beside one with a value": (
        "float sum = 0.0f, carry{}; for (int i = 0; i < n; i++) "
        "{ float v = x[i] - carry, s = sum + v; carry = (s - sum) - v; sum = s; } y[t] = sum;", " = 0.0f", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_what_only_some_paths_or_rounds_set(case, compiler):
    text, value, sign = LATE[case]
    for given in ("", value):
        first, rest = text.replace("{}", given, 1).split(";", 1)
        code = f"""#include <cuda_fp16.h>
__global__ void total(const float* x, float* y, int n) {{
    int t = threadIdx.x; half2 h = __float2half2_rn(x[0]);
    {first};
    {rest}
}}"""
        report = launched(code, sign * np.arange(1, 33, dtype=F), zeros(32), 20)
        told = [(issue.kind, issue.line) for issue in report.issues if issue.kind != "out-of-bounds"]
        assert told == ([] if given else [("uninitialised-read", 4)]), str(report)


def test_a_declaration_of_several_names():
    text = source.find("""__global__ void k() {
        float sum = 0.0f, carry;
        float a = f(x, y), b[4], c = v[i, j] < 2, d;
        half2 acc, set, part;
        a = 3, c = 4;
        set = acc2; part.x = 1;
        for (int i = 0; i < n; i++) acc = __hadd2(acc, set);
    }""")
    assert [(name, line) for name, line, *_ in local_variables.declared(text)] == [
        ("carry", 2), ("b", 3), ("d", 3), ("acc", 4), ("set", 4), ("part", 4),
    ]  # fmt: skip
    assert [(found.name, found.line) for found in local_variables.suspicious(text)] == [("acc", 4), ("part", 4)]


def test_the_bytes_between_members_need_no_value(compiler):
    code = """struct Item { float v; short i; };
__global__ void total(const float* x, int* z, float* y) {
    Item one;
    one.v = x[threadIdx.x];
    one.i = 3;
    Item other = one;
    ((Item*)z)[threadIdx.x] = other;
    y[threadIdx.x] = other.v;
}"""
    report = launched(code, np.arange(32, dtype=F), zeros((32, 2), I), zeros(32))
    assert report.ok, str(report)


def test_structures_with_bytes_between_their_members():
    text = source.find("""struct Same { float a, b; int c; unsigned d; };
struct Mixed { double v; int i; };
typedef struct { unsigned char a; float b; } Old;
struct __align__(16) Three { float x, y, z; };
union Both { float f; int i; };
struct Method { float v; __device__ float twice(short s) { char c = 1; return 2 * v + s + c; } };
struct Pointer { float* p; int n; };
template <class T> struct Pair { T v; int i; };""")
    assert declarations.padded_types(text) == {"Mixed", "Old", "Three", "Both", "Pointer", "Pair"}


@pytest.mark.parametrize("members", ["double d; int i;", "float* p; int n;", "float a, b, c, d;", "double a, b;"])
def test_a_structure_of_16_bytes_may_begin_where_its_members_may(members, compiler):
    code = f"""struct In {{ {members} }};
struct Out {{ int head[2]; In b[2]; }};
__global__ void move(Out* x, In* y) {{
    __shared__ Out s[4];
    s[threadIdx.x].b[1] = x[threadIdx.x].b[1];
    In one = s[threadIdx.x].b[1];
    y[threadIdx.x] = one;
}}
__global__ void wrong(float* x, float4* y) {{
    y[threadIdx.x] = *(float4*)(x + 4 * threadIdx.x + 2);
}}"""
    x, y = np.zeros(4, [("", I, 10)]), np.zeros(4, [("", I, 4)])
    report = sanitize(Kernel(code, "move"), (1,), (4,), (x, y))
    assert report.ok, str(report)
    report = sanitize(Kernel(code, "wrong"), (1,), (4,), (zeros(32), zeros((4, 4))))
    assert [(issue.kind, issue.line) for issue in report.issues] == [("misaligned-access", 10)]


SUSPECTED = {  # a text, the first of its variables, and whether it looks as if that had no value when it is used
    "float s; for (int i = 0; i < n; i++) s += x[i];": True,
    "float s; s = 0.0f; for (int i = 0; i < n; i++) s += x[i];": False,
    "float s[2][2]; for (int i = 0; i < 4; i++) s[i / 2][i % 2] += x[i];": True,
    "float s[4]; for (int i = 0; i < 4; i++) { s[i] = 0.0f; } s[0] += x[0];": False,
    "int k; k++;": True,
    "int k; ++k;": True,
    "Sum a; a.total += 1;": True,
    "half v; v = __hadd(v, h);": True,
    "half v; v = __hadd(f(1, 2), __hmul(h, v));": True,
    "float v[2]; v[0] = p.x, v[1] = p.y;": False,
    "float v; v = f(x[0]), w = v;": False,
    "Matrix acc; fill_fragment(acc, 0.0f); mma_sync(acc, a, b, acc);": False,
    "Matrix acc; for (int i = 0; i < n; i++) mma_sync(acc, a, b, acc);": True,
    "bool any; for (int i = 0; i < n; i++) if (x[i] > f(2)) any = true;": True,
    "int at; if (x[0] > 0) { m = x[0]; at = 1; } y[0] = at;": True,
    "int at; if (x[0] > 0) { m = x[0]; at = 1; } else { at = 0; }": False,
    "int at; if (x[0] > 0) at = 1; else at = 0;": False,
    "int at; if (n > 0) { } at = 1;": False,
    "float v; v = x[0]; if (v > 0) v = 1;": False,
    "char4 v; v.x = 1; v.y = 2; v.z = 3; q[0] = v;": True,
    "char4 v; v.x = 1; v.y = 2; v.z = 3; v.w = 4; q[0] = v;": False,
    "float2 v; v = q[0]; v.x = 1;": False,
    "float2 v; f(v); v.x = 1;": False,
}


@pytest.mark.parametrize("text", SUSPECTED)
def test_what_a_text_makes_suspect(text):
    found = local_variables.suspicious(source.find(f"__global__ void k() {{\n{text}\n}}\n"))
    name = text.split(";")[0].split("[")[0].split()[-1]
    assert ((name, 2) in [variable[:2] for variable in found]) == SUSPECTED[text]


def test_a_compiler_that_cannot_fill_variables_is_not_asked_to():
    text, compiler = source.find("__global__ void k() {}"), native.find_compiler()
    old, new = (dataclasses.replace(compiler, kind="gcc", version=f"g++ (Ubuntu) {n}.4.0") for n in (11, 12))
    asked = ["-ftrivial-auto-var-init=pattern" in flags.choose(text, (), True, False, c) for c in (old, new)]
    assert (old.major, new.major, asked) == (11, 12, [False, True])


def test_an_array_without_a_value_is_told_in_a_kernel_that_races_too(compiler):
    text = """__global__ void total(const float* x, float* y, int n) {
    __shared__ float row[64];
    float sums[4];
    int t = threadIdx.x;
    row[t] = x[t];
    row[t] += row[(t + 32) % 64];
    for (int i = 0; i < n % 4; i++) sums[i] = row[(t + i) % 64];
    y[t] = sums[0] + sums[n % 4];
}
"""
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    report = sanitize(Kernel(text, "total"), (1,), (64,), (x, y, 67))
    told = {(issue.kind, issue.line) for issue in report.issues}
    assert told == {("uninitialised-read", 3), ("race", 5), ("race", 6), ("race", 7)}, str(report)
