"""One template for six operations: the type of the operation stands for the operation."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import KINDS, LAST_MISSING, WHOLE_PACK, whole_numbers, whole_pack

BLOCK = 64
OPS = {"Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply}


def cases(random):
    for label, op, n, N in (("one number", "Subtract", 1, 1), ("one pack", "Add", 4, 4), ("less than a pack", "Add", 2, 4),
                            ("a pack and two more", "Subtract", 6, 4), ("several blocks of single numbers", "Multiply", 150, 1),
                            ("several blocks, a ragged end", "Subtract", 571, 4),
                            ("1024 numbers in packs", "Add", 1024, 4)):  # fmt: skip
        a, b = (0.5 + random.integers(1, 100, size=(2, n))).astype(np.float32)
        yield Case(label, op, a, b + np.float32(0.25), N)
    for op, n, kind, N in (("Add", 6, np.int32, 4), ("Subtract", 5, np.int64, 2)):
        a, b = whole_numbers(random, n, kind), np.arange(n, dtype=kind) // 2
        yield Case(f"{KINDS[a.dtype.name]} numbers that no float holds", op, a, b, N)


def launch(kernel, op, a, b, N):
    n, a, b = len(a), cuda.asarray(a), cuda.asarray(b)
    y = cuda.empty(n, a.dtype)
    kernel.instance(f"{op}, {KINDS[a.dtype.name]}, {N}")((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (a, b, y, n))
    return y


def whole_packs_only(op, a, b, N):
    y = cuda.empty(len(a), a.dtype)
    y[: len(a) // N * N] = OPS[op](a, b)[: len(a) // N * N]
    return y


exercise = Exercise(
    title="One kernel for six operations",
    minutes=10,
    core=False,
    language="cuda",
    defines="binary",
    instances=("Add, float, 4", "Subtract, float, 4", "Subtract, float, 1", "Multiply, float, 1",
               "Add, int, 4", "Subtract, long long, 2"),
    target="kernel:arithmetic.cu",
    cases=cases,
    reference=lambda op, a, b, N: OPS[op](a, b),
    call=launch,
    measured="1024 numbers in packs",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=16)],
    hints=(
        "It is `scale` of the lecture, with a second array and Op::of in place of the product.",
        "Read a pack of a and a pack of b (both of type Pack<T, N>), put Op::of of their items into one of them, write it.",
        "if (i + N <= n): Pack<T, N> p = *(const Pack<T, N>*)(a + i), q = *(const Pack<T, N>*)(b + i); p.item[j] = "
        "Op::of(p.item[j], q.item[j]); write p. else: for (; i < n; i++) y[i] = Op::of(a[i], b[i]);",
    ),
    example='''// One operation on one array; Square is one of the operations.
#include "vector.cuh"

struct Square {
    template <class T> static __device__ T of(T x) { return x * x; }
};

template <class Op, class T, int N> __global__ void each(const T* x, T* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<T, N> p = *(const Pack<T, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] = Op::of(p.item[j]);
        *(Pack<T, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = Op::of(x[i]);
    }
}
''',
    wrong=[
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[1]), seen.inputs[3], BLOCK)),
        Wrong(Changed(("p.item[j] = Op::of(p.item[j], q.item[j])", "p.item[j] += q.item[j]"),
                      ("y[i] = Op::of(a[i], b[i])", "y[i] = a[i] + b[i]")),
              "It adds, whatever the operation is. Op::of(a, b) does what Op stands for.", like=lambda op, a, b, N: a + b),
        Wrong(Changed(("Op::of(p.item[j], q.item[j])", "Op::of(q.item[j], p.item[j])"),
                      ("Op::of(a[i], b[i])", "Op::of(b[i], a[i])")), "a and b are swapped: Subtract gives b - a here.",
              like=lambda op, a, b, N: OPS[op](b, a)),
        Wrong(Changed(("for (; i < n; i++) y[i] = Op::of(a[i], b[i]);", "return;")), LAST_MISSING, like=whole_packs_only),
        Wrong(Changed(("Pack<T, N> p = *(const Pack<T, N>*)(a + i), q = *(const Pack<T, N>*)(b + i);", ""),
                      ("p.item[j] = Op::of(p.item[j], q.item[j]);", "y[i + j] = Op::of(a[i + j], b[i + j]);"),
                      ("*(Pack<T, N>*)(y + i) = p;", "")), generic="the goal is not reached"),
    ],
)  # fmt: skip
