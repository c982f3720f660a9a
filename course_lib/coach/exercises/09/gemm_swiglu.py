"""Open challenge: SwiGLU as the epilogue of one product, where gate and up are neighbours."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

ROWS, WIDE = 64, 64


def cases(random):
    for label, (m, n, k) in (("one row, one gate", (1, 1, 2)), ("two rows of three", (2, 3, 2)), ("ragged", (67, 35, 9)),
                             ("rows of ten", (5, 10, 4)),
                             (f"{ROWS} rows of {WIDE}", (ROWS, WIDE, 32))):  # fmt: skip
        x, weight = random.normal(size=(m, k)).astype(np.float32), random.normal(size=(2 * n, k)).astype(np.float32)
        yield Case(label, x, weight)


def gated(x, weight, of=lambda gate, up: gate / (1 + np.exp(-gate)) * up):
    product = x.astype(np.float64) @ weight.T  # (M, 2 N): gate, up, gate, up, ...
    return of(product[:, ::2], product[:, 1::2]).astype(np.float32)


def launch(kernel, x, weight):
    (m, k), n = x.shape, len(weight) // 2
    y = cuda.empty((m, n))  # (M, N)
    kernel((-(-2 * n // 64), -(-m // 64)), 64, (cuda.asarray(x), cuda.asarray(weight), y, m, n, k))
    return y


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def too_far(x, weight):
    """The results at the columns of the product, as far as y has them."""
    right = gated(x, weight)  # (M, N)
    y = np.full_like(right, np.nan)
    for column in range(0, right.shape[1], 4):
        here = right[:, column // 2 : column // 2 + 2]
        y[:, column : column + 2] = here[:, : y[:, column : column + 2].shape[1]]
    return y


exercise = Exercise(
    title="Challenge: a gate as an epilogue",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="gemm_swiglu",
    cases=cases,
    reference=gated,
    call=launch,
    tolerance=1e-4,
    measured=f"{ROWS} rows of {WIDE}",
    flops=2 * ROWS * 2 * WIDE * 32,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Four neighbours of the product are gate, up, gate, up: two numbers of y, at the columns column / 2 and column / 2 + 1.",
        "Two stores of 4 bytes touch the same sectors twice. One store of 8 bytes, a float2, touches them once: where the "
        "address is a multiple of 8 bytes, and both columns exist.",
        "Eight lanes share a row. With a float2 each they write 64 neighbouring bytes, two whole sectors, once. Fewer bytes "
        "for y are not possible.",
    ),
    example='''// Of each two neighbours of the product the larger one: half as many columns.
struct StoreLarger {
    float* y;
    int N;  // columns of y
    __device__ void operator()(int row, int column, float4 s) const {
        const int j = column / 2;
        if (j < N) y[row * N + j] = fmaxf(s.x, s.y);
        if (j + 1 < N) y[row * N + j + 1] = fmaxf(s.z, s.w);
    }
    __device__ void end_of_row(int, int, int, int) const {}
};
''',
    wrong=[
        Wrong(Changed(("silu(s.x) * s.y, second = silu(s.z) * s.w", "silu(s.y) * s.x, second = silu(s.w) * s.z")),
              "Gate and up are swapped: the even columns of the product are the gate.",
              like=lambda x, w: gated(x, w, lambda g, u: sigmoid(u) * u * g)),
        Wrong(Changed(("return z / (1.0f + expf(-z));", "return 1.0f / (1.0f + expf(-z));")),
              "This is the sigmoid of the gate alone. silu(z) is z times sigmoid(z).",
              like=lambda x, w: gated(x, w, lambda g, u: sigmoid(g) * u)),
        Wrong(Changed(("const int j = column / 2;", "const int j = column;")),
              "y has half as many columns as the product: column 6 of the product belongs to column 3 of y.", like=too_far),
    ],
)  # fmt: skip
