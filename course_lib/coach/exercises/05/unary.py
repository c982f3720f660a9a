"""Find the faults in the kernel of five operations: a last pack that is incomplete, and a result that is read."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, LAST_MISSING, WHOLE_PACK, whole_numbers, whole_pack

BLOCK = 64
OPS = {"Negative": np.negative, "Exp": np.exp, "Log": np.log, "Tanh": np.tanh, "Sqrt": np.sqrt}


def cases(random):
    for label, op, n, N in (("one number", "Sqrt", 1, 1), ("one pack", "Negative", 4, 4), ("less than a pack", "Exp", 3, 4),
                            ("a pack and three more", "Tanh", 7, 4), ("several blocks of single numbers", "Log", 150, 1),
                            ("several blocks, a ragged end", "Sqrt", 573, 4)):  # fmt: skip
        yield Case(label, op, random.uniform(0.1, 4, n).astype(np.float32), N)
    for n, kind, N in ((6, np.int32, 4), (5, np.int64, 2)):
        x = whole_numbers(random, n, kind)
        yield Case(f"{KINDS[x.dtype.name]} numbers that no float holds", "Negative", x, N)


def launch(kernel, op, x, N):
    n, x = len(x), cuda.asarray(x)
    y = cuda.empty(n, x.dtype)
    kernel.instance(f"{op}, {KINDS[x.dtype.name]}, {N}")((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (x, y, n))
    return y


def whole_packs_only(op, x, N):
    y = cuda.empty(len(x), x.dtype)
    y[: len(x) // N * N] = OPS[op](x)[: len(x) // N * N]
    return y


def copied_end(op, x, N):
    y = OPS[op](x)
    y[len(x) // N * N :] = x[len(x) // N * N :]
    return y


exercise = Exercise(
    title="Find the faults: the last few",
    minutes=10,
    core=False,
    language="cuda",
    defines="unary",
    instances=("Negative, float, 4", "Exp, float, 4", "Tanh, float, 4", "Sqrt, float, 4", "Sqrt, float, 1", "Log, float, 1",
               "Negative, int, 4", "Negative, long long, 2"),
    target="kernel:unary.cu",
    cases=cases,
    reference=lambda op, x, N: OPS[op](x),
    call=launch,
    hints=(
        "How many numbers are left for the last thread whose i is below n? Compare with how many a pack takes.",
        "A whole pack of N numbers fits if i + N is at most n. And what is read is always x.",
        "if (i + N <= n) { ... } else { for (; i < n; i++) y[i] = Op::of(x[i]); }",
    ),
    example='''// The same with two operations, one after the other: y = Second(First(x)).
#include "vector.cuh"

template <class First, class Second, int N> __global__ void both(const float* x, float* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (n - i >= N) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] = Second::of(First::of(p.item[j]));
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = Second::of(First::of(x[i]));
    }
}
''',
    wrong=[
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[1]), seen.inputs[2], BLOCK)),
        Wrong(Changed(("y[i] = Op::of(x[i]);", "y[i] = Op::of(y[i]);")),
              "The last few numbers are computed from `y`, where nothing is written yet. Read them from `x`.",
              when=lambda seen: any(issue.kind == "uninitialised-read" and "'y'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("for (; i < n; i++) y[i] = Op::of(x[i]);", "return;")), LAST_MISSING, like=whole_packs_only),
        Wrong(Changed(("y[i] = Op::of(x[i]);", "y[i] = x[i];")),
              "The last numbers were copied as they are: the operation is missing there.", like=copied_end),
    ],
)  # fmt: skip
