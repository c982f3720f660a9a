"""The backward pass of SwiGLU: from one upstream gradient come two gradients."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops

BLOCK = 64


def cases(random):
    for label, rows, F, N in (("the example", 1, 1, 1), ("two rows of two", 2, 2, 1), ("one row", 1, 70, 1),
                              ("a pack in each of two rows", 2, 4, 4), ("an odd number of columns", 9, 13, 1),
                              ("more numbers than a block takes", 5, 68, 4)):  # fmt: skip
        dy = random.normal(1, 2, size=(rows, F)).astype(np.float32)
        x = random.normal(0.5, 2, size=(rows, 2 * F)).astype(np.float32)
        if label == "the example":
            dy[:], x[:] = 2, (0, 3)
        yield Case(label, dy, x, N)


def launch(kernel, dy, x, N):
    (rows, F), dy, x = dy.shape, cuda.asarray(dy), cuda.asarray(x)
    dx = cuda.empty((rows, 2 * F))
    kernel.instance(str(N))((dy.size + BLOCK * N - 1) // (BLOCK * N), BLOCK, (dy, x, dx, dy.size, F))
    return dx


def parts(dy, x):
    """dy, gate, up and the gate's sigmoid, each (rows, F), in float64."""
    gate, up = np.split(x.astype(np.float64), 2, axis=1)
    return dy.astype(np.float64), gate, up, 1 / (1 + np.exp(-gate))


def joined(*halves):
    return np.concatenate(halves, axis=1)


def without_slope(dy, x, N):
    d, z, up, s = parts(dy, x)
    return joined(d * up * s, d * z * s)


def of_sigmoid(dy, x, N):
    d, z, up, s = parts(dy, x)
    return joined(d * up * s * (1 - s), d * z * s)


def swapped(dy, x, N):
    d, z, up, s = parts(dy, x)
    return joined(d * z * s, d * up * s * (1 + z * (1 - s)))


def up_without_silu(dy, x, N):
    d, z, up, s = parts(dy, x)
    return joined(d * up * s * (1 + z * (1 - s)), d * s)


exercise = Exercise(
    title="The backward pass of SwiGLU",
    minutes=15,
    core=False,
    language="cuda",
    defines="swiglu_backward",
    instances=("4", "1"),
    target="kernel:swiglu.cu",
    cases=cases,
    reference=lambda dy, x, N: ops("reference").swiglu_backward(dy.astype(np.float64), x.astype(np.float64)),
    call=launch,
    hints=(
        "Find the gate and the up of each number as in the forward pass. dx has the same shape as x, so the same two "
        "indices serve it.",
        "Keep z and its sigmoid s in variables. Then the two formulas of the task.",
        "if (i >= size) return; ... g.item[j] = d.item[j] * u.item[j] * s * (1.0f + z * (1.0f - s)); u.item[j] = d.item[j] "
        "* z * s; and both packs go to dx, one to `gate`, one to `up`.",
    ),
    example='''// The backward pass of y = first * second, two halves of a row.
#include "vector.cuh"

template <int N> __global__ void product_backward(const float* dy, const float* x, float* dx, int size, int F) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= size) return;
    long long first = i / F * 2 * F + i % F, second = first + F;
    for (int j = 0; j < N; j++) {
        dx[first + j] = dy[i + j] * x[second + j];
        dx[second + j] = dy[i + j] * x[first + j];
    }
}
''',
    wrong=[
        Wrong(Changed((" * s * (1.0f + z * (1.0f - s))", " * s")),
              "For the gate the slope of silu is needed, s (1 + z (1 - s)). Here it is only s.", like=without_slope),
        Wrong(Changed((" * s * (1.0f + z * (1.0f - s))", " * s * (1.0f - s)")),
              "For the gate this takes the slope of the sigmoid, s (1 - s). silu(z) is z "
              "times s, so its slope has a second term.", like=of_sigmoid),
        Wrong(Changed(("(dx + gate) = g", "(dx + gate) = u"), ("(dx + up) = u", "(dx + up) = g")),
              "The two halves are swapped: the gradients of the gates come first.", like=swapped),
        Wrong(Changed(("d.item[j] * z * s", "d.item[j] * s")),
              "The gradient of an up is dy * silu(gate), which is dy * z * s. The z is missing.", like=up_without_silu),
        Wrong(Changed(("if (i >= size) return;", "")),
              "There are more threads than packs in dy: one whose first number is `size` or beyond must do nothing.",
              when=lambda seen: any(seen.inputs[2] * (issue.block[0] * BLOCK + issue.thread[0]) >= seen.inputs[0].size
                  for issue in seen.issues if issue.kind == "out-of-bounds")),
    ],
)  # fmt: skip
