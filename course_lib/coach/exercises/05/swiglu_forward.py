"""Two halves of a row are multiplied: integer division finds where gates and ups begin."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.devices import ops

BLOCK = 64


def cases(random):
    for label, rows, F, N in (("one gate and one up", 1, 1, 1), ("two rows of two", 2, 2, 1), ("one row", 1, 70, 1),
                              ("a pack in each of two rows", 2, 4, 4), ("an odd number of columns", 9, 13, 1),
                              ("more numbers than a block takes", 5, 68, 4), ("16 rows of 64", 16, 64, 4)):  # fmt: skip
        yield Case(label, random.normal(1, 2, size=(rows, 2 * F)).astype(np.float32), N)


def launch(kernel, x, N):
    rows, F = x.shape[0], x.shape[1] // 2
    x, y = cuda.asarray(x), cuda.empty((rows, F))
    kernel.instance(str(N))((y.size + BLOCK * N - 1) // (BLOCK * N), BLOCK, (x, y, y.size, F))
    return y


def silu(z):
    return z / (1 + np.exp(-z))


def halves(x):
    return np.split(x.astype(np.float64), 2, axis=1)  # (rows, F) each


def as_one_row(x, N):
    """All gates of the array first, and then all ups."""
    gates, ups = np.split(x.astype(np.float64).reshape(-1), 2)
    return (silu(gates) * ups).reshape(len(x), -1)


def overlapping(x, N):
    """As if row r of x began at r * F."""
    (rows, F), flat = (len(x), x.shape[1] // 2), x.astype(np.float64).reshape(-1)
    begin = np.arange(rows)[:, None] * F + np.arange(F)
    return silu(flat[begin]) * flat[begin + F]


exercise = Exercise(
    title="SwiGLU",
    minutes=15,
    core=False,
    language="cuda",
    defines="swiglu_forward",
    instances=("4", "1"),
    target="kernel:swiglu.cu",
    cases=cases,
    reference=lambda x, N: ops("reference").swiglu_forward(x.astype(np.float64)),
    call=launch,
    measured="16 rows of 64",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=12 * 16 * 64)],
    hints=(
        "Number i of y lies in row i / F, column i % F. Where does that row begin in x?",
        "Row r of x begins at r * 2 * F. Its gate for column c is there plus c, and the up lies F further on.",
        "if (i >= size) return; long long gate = i / F * 2 * F + i % F, up = gate + F; two packs, g.item[j] *= "
        "sigmoid(g.item[j]) * u.item[j]; and g goes to y + i.",
    ),
    example='''// The difference of two halves of a row: y = first - second.
#include "vector.cuh"

template <int N> __global__ void halves_apart(const float* x, float* y, int size, int F) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= size) return;
    long long row = i / F, column = i % F;
    Pack<float, N> a = *(const Pack<float, N>*)(x + row * 2 * F + column);
    Pack<float, N> b = *(const Pack<float, N>*)(x + row * 2 * F + F + column);
    for (int j = 0; j < N; j++) a.item[j] -= b.item[j];
    *(Pack<float, N>*)(y + i) = a;
}
''',
    wrong=[
        Wrong(Changed(("g.item[j] *= sigmoid(g.item[j]) * u.item[j]", "g.item[j] *= sigmoid(u.item[j]) * u.item[j]")),
              "Gates and ups are swapped: the first F numbers of a row are the gates.",
              like=lambda x, N: halves(x)[0] * silu(halves(x)[1])),
        Wrong(Changed(("i / F * 2 * F + i % F, up = gate + F", "i, up = i + size")),
              "This is right for an array of one row. Each row begins with its own gates, 2F numbers after the row before.",
              like=as_one_row),
        Wrong("""template <int N> __global__ void swiglu_forward(const float* x, float* y, int size, int F) {
    int first = N * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + N && i < size; i++) y[i] = x[2 * i] / (1.0f + expf(-x[2 * i])) * x[2 * i + 1];
}
""", "Gates and ups alternate here. A row has first F gates, and then F ups.",
              like=lambda x, N: silu(x[:, ::2].astype(np.float64)) * x[:, 1::2]),
        Wrong(Changed(("i / F * 2 * F + i % F", "i / F * F + i % F")),
              "The rows of x begin 2F numbers apart, not F: F gates and F ups.", like=overlapping),
        Wrong(Changed(("g.item[j] *= sigmoid", "g.item[j] = sigmoid")),
              "This is sigmoid(gate) * up. silu(z) is z times its sigmoid, so one factor is missing.",
              like=lambda x, N: silu(halves(x)[0]) / halves(x)[0] * halves(x)[1]),
        Wrong(Changed(("sigmoid(g.item[j]) * u.item[j]", "sigmoid(g.item[j])"), ("u = *", "u = p_of_ups, unused = *"),
                      ("const long long gate", "Pack<float, N> p_of_ups = {};\n    const long long gate")),
              "The ups are missing: this is silu(gate).", like=lambda x, N: silu(halves(x)[0])),
        Wrong(Changed(("if (i >= size) return;", "")),
              "There are more threads than packs in y: one whose first number is `size` or beyond must do nothing.",
              when=lambda seen: any(seen.inputs[1] * (issue.block[0] * BLOCK + issue.thread[0]) >= seen.inputs[0].size // 2
                  for issue in seen.issues if issue.kind == "out-of-bounds")),
    ],
)  # fmt: skip
