"""The residual, added in place: the result may overwrite one of its inputs."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import LAST_MISSING, WHOLE_PACK, whole_pack

BLOCK = 64
INTO = {"a new array": 2, "the branch": 0, "the stream": 1}  # which of x, residual, y the result is


def cases(random):
    for label, into, n, N in (("one number", "a new array", 1, 1), ("one pack", "a new array", 4, 4),
                              ("less than a pack", "a new array", 2, 4),
                              ("into the stream, less than a pack", "the stream", 3, 4),
                              ("into the branch, several blocks", "the branch", 150, 1),
                              ("into the stream, a ragged end", "the stream", 571, 4),
                              ("1024 numbers in packs", "a new array", 1024, 4)):  # fmt: skip
        x, residual = (0.5 + random.integers(1, 100, size=(2, n))).astype(np.float32)
        yield Case(label, x, residual + np.float32(0.25), into, N)


def launch(kernel, x, residual, into, N):
    n, arrays = len(x), [cuda.asarray(x.copy()), cuda.asarray(residual.copy()), cuda.empty(len(x))]
    y = arrays[INTO[into]]
    kernel.instance(str(N))((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (*arrays[:2], y, n))
    return y


def whole_packs_only(x, residual, into, N):
    y = [x.copy(), residual.copy(), np.full(len(x), np.nan, np.float32)][INTO[into]]
    y[: len(x) // N * N] = (x + residual)[: len(x) // N * N]
    return y


def untouched(seen):
    """The wrong numbers, where y still holds its old contents; else none."""
    got, into = seen.got, INTO[seen.inputs[2]]
    wrong = np.flatnonzero(got != seen.expected)
    before = np.full(len(got), np.nan) if into == 2 else seen.inputs[into]
    return wrong if np.array_equal(got[wrong], before[wrong], equal_nan=True) else wrong[:0]


exercise = Exercise(
    title="Into the stream",
    minutes=10,
    core=False,
    language="cuda",
    defines="residual_add",
    instances=("4", "1"),
    cases=cases,
    reference=lambda x, residual, into, N: x + residual,
    call=launch,
    measured="1024 numbers in packs",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=16)],
    hints=(
        "It is `scale` of the lecture, with a second array in place of the factor.",
        "Read a pack of x and a pack of residual, add item by item into one of them, write it.",
        "if (i + N <= n): Pack<float, N> p = *(const Pack<float, N>*)(x + i), q = *(const Pack<float, N>*)(residual + i); "
        "p.item[j] += q.item[j]; *(Pack<float, N>*)(y + i) = p. else: for (; i < n; i++) y[i] = x[i] + residual[i];",
    ),
    example='''// The mean of two arrays, four at a time.
#include "vector.cuh"

template <int N> __global__ void mean_of_two(const float* a, const float* b, float* y, int n) {
    int i = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(a + i), q = *(const Pack<float, N>*)(b + i);
        for (int j = 0; j < N; j++) p.item[j] = 0.5f * (p.item[j] + q.item[j]);
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = 0.5f * (a[i] + b[i]);
    }
}
''',
    wrong=[
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[0]), seen.inputs[3], BLOCK)),
        Wrong(Changed(("for (; i < n; i++) y[i] = x[i] + residual[i];", "return;")), LAST_MISSING, like=whole_packs_only),
        Wrong(Changed(("i = N * (", "i = (")),
              "Two threads use the same numbers. A thread takes N neighbours, from number N times its own on; its own counts on "
              "through all blocks.",
              when=lambda seen: "race" in seen.kinds),
        Wrong(Changed(("for (; i < n; i++) y[i]", "if (i < n) y[i]")),
              "Some of the last numbers were never written: up to N - 1 are left over, "
              "and one thread takes them all, one by one.",
              when=lambda seen: seen.inputs[3] > 1 and not seen.issues and 0 < len(untouched(seen)) < seen.inputs[3]),
        Wrong(Changed(("y[i] = x[i] + residual[i]", "y[i] = residual[i]")),
              "A whole pack is right. Where the last numbers are taken one by one, y is only the residual, or only x: it is the "
              "sum of both there, too.",
              when=lambda seen: seen.label == "less than a pack" and not seen.issues
                  and any(np.array_equal(seen.got, one) for one in seen.inputs[:2])
                  and any(outcome.right for outcome in seen.outcomes if outcome.label == "one pack")),
        Wrong(Changed(("if (i + N <= n) {", "i /= N;\n    if (N < 1) {"), ("for (; i < n; i++) y[i]", "if (i < n) y[i]")),
              "Numbers were never written. A thread takes N neighbours, so the next thread begins N numbers further on.",
              when=lambda seen: seen.inputs[3] > 1 and not seen.issues and len(untouched(seen)) >= seen.inputs[3]),
        Wrong(Changed(("for (int j = 0; j < N; j++) p.item[j] += q.item[j];",
                       "for (int j = 0; j < N; j++) y[i + j] = x[i + j];\n        for (int j = 0; j < N; j++) p.item[j] = y[i + "
                       "j]"
                       " + residual[i + j];"), ("y[i] = x[i] + residual[i]", "{\n            y[i] = x[i];\n            y[i] += "
                                                                             "residual[i];\n        }")),
              "Something was written to y before both inputs were read, and y may be one of them. Read first, then write.",
              when=lambda seen: seen.inputs[2] != "a new array" and not seen.issues and not len(untouched(seen))
                  and all(outcome.right for outcome in seen.outcomes if outcome.inputs[2] == "a new array")),
        Wrong(Changed(("y[i] = x[i] + residual[i]", "y[i] += x[i] + residual[i]"),
                      ("p.item[j] += q.item[j]", "p.item[j] += q.item[j] + y[i + j]")),
              "What was in y is added as well. y is only written.",
              when=lambda seen: "uninitialised-read" in seen.kinds and any("'y'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("y[i] = x[i] + residual[i]", "y[i] = residual[i]"), ("p.item[j] += q.item[j]", "p.item[j] = q.item[j]")),
              "Only the residual is there, or only x: y is the sum of both.", like=lambda x, residual, into, N: residual),
    ],
)  # fmt: skip
