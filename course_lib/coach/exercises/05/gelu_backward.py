"""The backward pass of GELU: a slope by the product rule, four at a time."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import WHOLE_PACK, whole_pack
from course_lib.devices import ops

BLOCK = 64
FACTOR = 1.5957691216


def cases(random):
    for label, n, N in (("one number", 1, 1), ("three numbers", 3, 1), ("one pack", 4, 4), ("a pack and one more", 5, 4),
                        ("several blocks, a ragged end", 515, 4), ("several blocks of single numbers", 130, 1),
                        ("1024 numbers in packs", 1024, 4)):  # fmt: skip
        x, dy = random.normal(0, 1.5, size=(2, n)).astype(np.float32)
        x[: min(n, 4)] = [1.0, -1.0, 20.0, -12.0][: min(n, 4)]
        yield Case(label, dy + np.float32(1), x, N)


def launch(kernel, dy, x, N):
    n, dy, x, dx = len(x), cuda.asarray(dy), cuda.asarray(x), cuda.empty(x.shape)  # (n,)
    kernel.instance(str(N))((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (dy, x, dx, n))
    return dx


def parts(x, cube=3 * 0.044715, factor=FACTOR):
    """The gate, its slope by u, and the slope of u."""
    x = x.astype(np.float64)
    g = 1 / (1 + np.exp(-FACTOR * (x + 0.044715 * x**3)))
    return g, g * (1 - g), factor * (1 + cube * x * x)


def slope(x, **changed):
    g, s, u = parts(x, **changed)
    return g + x * s * u


exercise = Exercise(
    title="The backward pass of GELU",
    minutes=20,
    language="cuda",
    defines="gelu_backward",
    instances=("4", "1"),
    target="kernel:gelu.cu",
    cases=cases,
    reference=lambda dy, x, N: ops("reference").gelu_backward(dy.astype(np.float64), x.astype(np.float64)),
    call=launch,
    measured="1024 numbers in packs",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=16)],
    hints=(
        "Compute the gate once and keep it in a variable. Then the formula of the task, term by term.",
        "The slope is gate + x * gate * (1 - gate) * 1.5957691216 * (1 + 0.134145 x^2), all in floats.",
        "The kernel reads two packs, p of x and d of dy; d.item[j] *= gelu_grad(p.item[j]); and writes d to dx. The last "
        "ones: dx[i] = dy[i] * gelu_grad(x[i]).",
    ),
    example='''// The backward pass of y = x * sigmoid(x).
#include "vector.cuh"

__device__ float silu_slope(float x) {
    float s = 1.0f / (1.0f + expf(-x));
    return s + x * s * (1.0f - s);
}

template <int N> __global__ void silu_backward(const float* dy, const float* x, float* dx, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i), d = *(const Pack<float, N>*)(dy + i);
        for (int j = 0; j < N; j++) d.item[j] *= silu_slope(p.item[j]);
        *(Pack<float, N>*)(dx + i) = d;
    } else {
        for (; i < n; i++) dx[i] = dy[i] * silu_slope(x[i]);
    }
}
''',
    wrong=[
        Wrong(Changed(("return gate + x * gate * (1.0f - gate) * 1.5957691216f * (1.0f + 0.134145f * x * x);", "return gate;")),
              "This is dy times the gate. The gate changes with x as well: x times the gate's own slope is missing.",
              like=lambda dy, x, N: dy * parts(x)[0]),
        Wrong(Changed(("return gate + x * gate * (1.0f - gate) * 1.5957691216f * (1.0f + 0.134145f * x * x);",
                       "return x * gate;")), "This is dy times GELU itself. It must be dy times the slope of GELU.",
              like=lambda dy, x, N: dy * x * parts(x)[0]),
        Wrong(Changed(("d.item[j] *= gelu_grad(p.item[j]);", "d.item[j] = gelu_grad(p.item[j]);"),
                      ("dx[i] = dy[i] * gelu_grad(x[i]);", "dx[i] = gelu_grad(x[i]);")),
              "These are the slopes. Each is still to be multiplied by its dy.", like=lambda dy, x, N: slope(x)),
        Wrong(Changed(("(x + i), d = *(const Pack<float, N>*)(dy + i)", "(dy + i), d = *(const Pack<float, N>*)(x + i)"),
                      ("dy[i] * gelu_grad(x[i])", "x[i] * gelu_grad(dy[i])")),
              "dy and x are swapped: the slope is taken at x.", like=lambda dy, x, N: x * slope(dy)),
        Wrong(Changed(("gate + x * gate *", "gate + gate *")),
              "The second term is x times the gate's own slope. The x is missing.",
              like=lambda dy, x, N: dy * (parts(x)[0] + parts(x)[1] * parts(x)[2])),
        Wrong(Changed(("0.134145f", "0.044715f")), "The slope of 0.044715 x^3 is 3 * 0.044715 x^2. The 3 is missing.",
              like=lambda dy, x, N: dy * slope(x, cube=0.044715)),
        Wrong(Changed(("1.5957691216f * (1.0f + 0.134145f", "(1.0f + 0.134145f")),
              "The slope of u is missing its factor 1.5957691216.", like=lambda dy, x, N: dy * slope(x, factor=1.0)),
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[0]), seen.inputs[2], BLOCK)),
    ],
)  # fmt: skip
