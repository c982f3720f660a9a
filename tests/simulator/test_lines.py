"""Issues and counters name the learner's lines, though the compiler hoists, sinks and merges: under both compilers."""

import re

import numpy as np
import pytest

from course_lib.cuda import Kernel, sanitize
from course_lib.cuda.debug_locations import keep_branches_apart, restore

F = np.float32
HELPERS = """#include <cuda_fp16.h>
__device__ float dot(const float* x, const float* y, int t, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[t];  // from here
    return sum;
}
template <int N> __device__ float pick(const float* x, int t) {
    if (t % N) return x[t];
    else
        return x[t + 4];  // from here
}
__global__ void k(const float* x, float* y, int n) {
    int t = threadIdx.x;
"""
# The body of a kernel that is launched with 36 threads, arrays of 32 floats and n = 20; "// here" marks each line of the faults.
BODIES = {
    "stores of if and else": "if (t < n) y[t] = x[t];\nelse\ny[t] = 0;  // here",
    "hoisted out of a loop": "float s = 0;\nfor (int i = 0; i < n; i++)\ns += x[i] * y[t];  // here\ny[0] = s;",
    "hoisted in a device function": "y[0] = dot(x, y, t, n);",
    "of two loops": "float s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\ns += x[t] * y[j];  // here\ny[0] = s;",
    "in a condition": "int i = 0;\nwhile (i < n && x[i] < y[t])  // here\ni++;\ny[0] = i;",
    "loads of if and else": "float v;\nif (n > 3) v = x[t + n];  // here\nelse v = x[t + n] * 2;\ny[0] = v;",
    "of two arrays": "float v;\nif (t < 33)\nv = x[t];  // here\nelse\nv = y[t];  // here\ny[0] = v;",
    "a template": "y[0] = pick<4>(x, t);",
    "a switch": "switch (t % 3) {\ncase 0: y[t] = 1; break;  // here\ncase 1: y[t] = x[0]; break;  // here\n"
    "default: y[t] = 3;  // here\n}",
    "an early return": "if (t >= n) {\ny[t] = 0;  // here\nreturn;\n}\ny[t] = x[t];",
    "a pack": "float4 v = ((float4*)x)[t / 8];\nif (t < 30)\ny[t] = v.x;\nelse\ny[t] = v.y;  // here",
    "halves": "__half* h = (__half*)y;\nif (t < n) h[t] = __float2half(1.0f);\nelse\nh[t + 32] = __float2half(0.0f);  // here",
    "a lambda": "auto f = [&](int i) {\nreturn x[i] * y[t];  // here\n};\nfloat s = 0;\n"
    "for (int i = 0; i < n; i++) s += f(i);\ny[0] = s;",
    "shared": "__shared__ float s[32];\nif (t < 8) s[t] = x[0];\nelse\ns[t] = 0;  // here\n__syncthreads();\ny[0] = s[0];",
    "found before": "if (x[t] > 0)  // here\ny[t] = x[t];  // here\nelse\ny[t] = 0.1f * x[t];",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_fault_is_told_at_its_line(body, compiler):
    text = f"{HELPERS}{BODIES[body]}\n}}\n"
    lines = text.splitlines()
    mark = "// here" if "// here" in text else "// from here"
    wanted = {number for number, line in enumerate(lines, 1) if line.endswith(mark)}
    if body in ("hoisted in a device function", "a template"):
        wanted = {5} if body.startswith("hoisted") else {9, 11}
    report = sanitize(Kernel(text, "k"), (1,), (36,), (np.ones(32, F), np.ones(32, F), 20))
    told = {issue.line for issue in report.issues if issue.kind == "out-of-bounds"}
    assert told and told <= wanted, str(report)
    assert all(line.line and line.file != "?" for line in report.lines), str(report)
    assert all(re.search(r"[\w)]\[", lines[line.line - 1]) for line in report.lines), str(report)


def test_what_is_read_again_in_a_branch_is_one_request(compiler):
    code = """__global__ void leaky(const float* x, float* y) {
        int t = threadIdx.x;
        if (x[t] > 0)
            y[t] = x[t];
        else
            y[t] = 0.1f * x[t];
    }"""
    report = sanitize(Kernel(code, "leaky"), (1,), (32,), (np.arange(-16, 16, dtype=F), np.zeros(32, F)))
    assert [(line.line, line.op, line.requests) for line in report.lines] == [
        (3, "read", 1),
        (4, "write", 1),
        (6, "write", 1),
    ]


def test_what_is_read_again_in_each_turn_of_a_loop_is_a_request_each_time(compiler):
    code = """__global__ void again(const float* x, const float* A, float* y) {
        float sum[4] = {}, one = 0.0f;
        for (int k = 0; k < 8; k++) {
            for (int c = 0; c < 4; c++)
                sum[c] += A[threadIdx.x + c] *
                          x[k];
            for (int c = 0; c < 4; c++)
                one += A[threadIdx.x + 4 + c] *
                       x[k + 8];
        }
        y[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3] + one;
    }"""
    report = sanitize(Kernel(code, "again"), (1,), (32,), (np.ones(16, F), np.ones(64, F), np.zeros(32, F)))
    assert report.ok and sum(line.requests for line in report.lines if line.op == "read") == 128


OPTIMISED = """define void @k(float* %0, float* %1) #1 !dbg !1 {
  %3 = bitcast float* %0 to i8*
  call void @__tsan_read4(i8* %3), !dbg !9
  %4 = load float, float* %0, align 4, !tbaa !2
  br label %5
5:
  %6 = phi float [ %4, %2 ], [ %7, %5 ]
  %7 = fadd float %6, %4, !dbg !8
  %8 = getelementptr float, float* %1, i64 1, !dbg !7
  %9 = bitcast float* %8 to i8*
  call void @__tsan_write4(i8* %9), !dbg !9
  store float %7, float* %8, align 4, !dbg !9
  call void @__tsan_write4(i8* %9), !dbg !8
  store float %7, float* %8, align 4, !dbg !8
  ret void
}
!7 = !DILocation(line: 5, scope: !1)
!8 = !DILocation(line: 6, scope: !1)
!9 = !DILocation(line: 0, scope: !1)
"""


@pytest.mark.parametrize("opaque", [False, True], ids=["typed", "opaque"])
def test_the_text_of_the_optimiser(opaque):
    text = re.sub(r"(?:float|i8)\*", "ptr", OPTIMISED) if opaque else OPTIMISED
    before, after = text.splitlines(), restore(text).splitlines()
    changed = [(line.split("(")[0].strip(), line[-2:]) for line, old in zip(after, before, strict=True) if line != old]
    assert changed == [("call void @__tsan_read4", "!8"), ("call void @__tsan_write4", "!7")]


def test_only_different_lines_are_kept_apart():
    text = """define void @k(ptr %0, ptr %1, i1 %2) #1 !dbg !1 {
  br i1 %2, label %4, label %6
4:
  %5 = load float, ptr %0, align 4, !dbg !7
  br label %8, !dbg !7
6:
  %7 = load float, ptr %1, align 4, !dbg !8
  br label %8, !dbg !8
8:
  %9 = phi float [ %5, %4 ], [ %7, %6 ]
  ret void
}
!7 = !DILocation(line: 5, scope: !1)
!8 = !DILocation(line: 6, scope: !1)
"""
    apart = keep_branches_apart(text)
    assert apart.count("  call void @llvm.sideeffect()") == 2 and apart.count("declare void @llvm.sideeffect()") == 1
    assert apart.count("%7 = freeze float %read.") == 1
    assert keep_branches_apart(text.replace("line: 6", "line: 5")) == text.replace("line: 6", "line: 5")
