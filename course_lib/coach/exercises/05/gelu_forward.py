"""GELU with packs of four and a ragged end: the kernel of the model."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import LAST_MISSING, WHOLE_PACK, whole_pack
from course_lib.devices import ops

BLOCK = 64


def cases(random):
    for label, n, N in (("one number", 1, 1), ("one pack", 4, 4), ("less than a pack", 3, 4), ("a pack and one more", 5, 4),
                        ("several blocks of single numbers", 130, 1), ("several blocks, a ragged end", 515, 4),
                        ("1024 numbers in packs", 1024, 4)):  # fmt: skip
        x = random.normal(0, 2, size=n).astype(np.float32)
        x[: min(n, 3)] = [1.0, -30.0, 50.0][: min(n, 3)]
        yield Case(label, x, N)


def launch(kernel, x, N):
    n, x, y = len(x), cuda.asarray(x), cuda.empty(x.shape)  # (n,)
    kernel.instance(str(N))((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (x, y, n))
    return y


def gelu(x):
    return ops("reference").gelu_forward(x.astype(np.float64))


def whole_packs_only(x, N):
    y = np.full(len(x), np.nan)
    y[: len(x) // N * N] = gelu(x)[: len(x) // N * N]
    return y


def one_lane_read_four(reports):
    """Whether single numbers were read by one thread alone, four of them: a last pack, taken one by one."""
    return any((x.op, x.requests, x.active_lanes) == ("read", 4, 1) for report in reports for x in report.lines)


exercise = Exercise(
    title="GELU, four at a time",
    minutes=10,
    language="cuda",
    defines="gelu_forward",
    instances=("4", "1"),
    target="kernel:gelu.cu",
    cases=cases,
    reference=lambda x, N: gelu(x),
    call=launch,
    measured="1024 numbers in packs",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=8)],
    hints=(
        "Copy the shape of `scale` from the lecture. Where it multiplies by a factor, you take gelu.",
        "i = N * (the thread's number). If i + N <= n, read a pack, replace each p.item[j] by gelu(p.item[j]), write the pack.",
        "Pack<float, N> p = *(const Pack<float, N>*)(x + i); for (int j = 0; j < N; j++) ...; *(Pack<float, N>*)(y + i) = p; "
        "and else: for (; i < n; i++) y[i] = gelu(x[i]);",
    ),
    example='''// ReLU: negative numbers become 0.
#include "vector.cuh"

template <int N> __global__ void relu_forward(const float* x, float* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] = fmaxf(p.item[j], 0.0f);
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = fmaxf(x[i], 0.0f);
    }
}
''',
    wrong=[
        Wrong(Changed(("N * ((long long)blockIdx.x * blockDim.x + threadIdx.x)",
                       "(long long)blockIdx.x * blockDim.x + threadIdx.x")),
              "A pack begins at an index that is no multiple of N. Thread i owns the N numbers from index N * i on.",
              when=lambda seen: "misaligned-access" in seen.kinds and seen.inputs[1] == 4),
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[0]), seen.inputs[1], BLOCK)),
        Wrong(Changed(("if (i + N <= n) {", "if (i + N < n) {")),
              "The last pack is whole, and was read one by one: it ends where the array ends. A pack fits if i + N <= n.",
              when=lambda seen: seen.label == "1024 numbers in packs" and one_lane_read_four(seen.reports)),
        Wrong(Changed(("for (; i < n; i++) y[i] = gelu(x[i]);", "return;")), LAST_MISSING, like=whole_packs_only),
        Wrong(Changed(("p.item[j] = gelu(p.item[j])", "p.item[j] = gelu_gate(p.item[j])"),
                      ("y[i] = gelu(x[i])", "y[i] = gelu_gate(x[i])")), "y is the gate itself. GELU is x times the gate.",
              like=lambda x, N: gelu(x) / x),
        Wrong(Changed(("Pack<float, N> p = *(const Pack<float, N>*)(x + i);", ""),
                      ("p.item[j] = gelu(p.item[j]);", "y[i + j] = gelu(x[i + j]);"),
                      ("*(Pack<float, N>*)(y + i) = p;", "")), generic="the goal is not reached"),
    ],
)  # fmt: skip
