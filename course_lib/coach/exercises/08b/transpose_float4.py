"""A transpose in registers: float4 in, float4 out, sixteen numbers transposed by a thread alone."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests


def cases(random):
    shapes = {"four by four": (4, 4), "four by eight": (4, 8), "eight by four": (8, 4), "one block": (32, 32),
              "several blocks, ragged": (36, 68), "64 by 96": (64, 96)}  # fmt: skip
    for label, shape in shapes.items():
        yield Case(label, (0.5 + random.permutation(shape[0] * shape[1]).reshape(shape)).astype(np.float32))


def launch(kernel, x):
    (M, N), y = x.shape, cuda.empty(x.shape[::-1])  # (N, M)
    kernel((-(-N // 32), -(-M // 32)), (8, 8), (cuda.asarray(x), y, M, N))
    return y


def blocks_in_place(x):
    """Each 4 x 4 transposed, and left where it was."""
    y = x.copy()
    for i in range(0, x.shape[0], 4):
        for j in range(0, x.shape[1], 4):
            y[i : i + 4, j : j + 4] = x[i : i + 4, j : j + 4].T
    return y.reshape(x.shape[::-1])


def blocks_not_transposed(x):
    """Each 4 x 4 at its new position, but not transposed itself."""
    y = np.empty(x.shape[::-1], x.dtype)
    for i in range(0, x.shape[0], 4):
        for j in range(0, x.shape[1], 4):
            y[j : j + 4, i : i + 4] = x[i : i + 4, j : j + 4]
    return y


exercise = Exercise(
    title="Transpose four by four",
    minutes=15,
    core=False,
    language="cuda",
    defines="transpose_float4",
    cases=cases,
    reference=lambda x: np.ascontiguousarray(x.T),
    call=launch,
    measured="64 by 96",
    goals=[Goal("requests to global memory", requests(None), at_most=96)],
    hints=(
        "A thread's 4 x 4 begins at row i = blockIdx.y * 32 + threadIdx.y * 4, column j = blockIdx.x * 32 + threadIdx.x * 4; "
        "if i < M and j < N it exists.",
        "Read float4 row[4], one from each row of the 4 x 4. The first row of the result is the four `x` parts, the second the "
        "four `y` parts.",
        "*(float4*)(y + (j + 1) * M + i) = make_float4(row[0].y, row[1].y, row[2].y, row[3].y); and three more like it.",
    ),
    example='''// Neighbours added, four at a time: y[i] = x[2 i] + x[2 i + 1], n a multiple of 4.
__global__ void add_pairs(const float* x, float* y, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float4 a = *(const float4*)(x + 2 * i);
        float4 b = *(const float4*)(x + 2 * i + 4);
        *(float4*)(y + i) = make_float4(a.x + a.y, a.z + a.w, b.x + b.y, b.z + b.w);
    }
}
''',
    wrong=[
        Wrong(Changed(("make_float4(row[0].x, row[1].x, row[2].x, row[3].x)", "row[0]"), ("make_float4(row[0].y, row[1].y, "
                                                                                          "row[2].y, row[3].y)", "row[1]"),
                      ("make_float4(row[0].z, row[1].z, row[2].z, row[3].z)", "row[2]"), ("make_float4(row[0].w, row[1].w, "
                                                                                          "row[2].w, row[3].w)", "row[3]")),
              "Each 4 x 4 is where it belongs, but it is not transposed itself.", like=blocks_not_transposed),
        Wrong(Changed(("(y + (j + 0) * M + i)", "(y + (i + 0) * N + j)"), ("(y + (j + 1) * M + i)", "(y + (i + 1) * N + j)"),
                      ("(y + (j + 2) * M + i)", "(y + (i + 2) * N + j)"), ("(y + (j + 3) * M + i)", "(y + (i + 3) * N + j)")),
              "Each 4 x 4 is transposed, but it stands where it stood before: rows and columns of y have other lengths.",
              like=blocks_in_place),
        Wrong(Changed(("    if (i < M && j < N) {", "    {")),
              "A thread goes beyond the end of x or y. Its first row i and first column j are multiples of 4, and without "
              "i < M and j < N it does nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and seen.label == "four by four"),
        Wrong(Changed(("int j = blockIdx.x * 32 + threadIdx.x * 4;", "int j = blockIdx.x * 32 + threadIdx.x;")),
              "A float4 must begin at a multiple of 16 bytes. A thread's first row and first column are multiples of 4.",
              when=lambda seen: "misaligned-access" in seen.kinds),
        Wrong("""__global__ void transpose_float4(const float* x, float* y, int M, int N) {
    int i = blockIdx.y * 32 + threadIdx.y * 4, j = blockIdx.x * 32 + threadIdx.x * 4;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            if (i + r < M && j + c < N) y[(j + c) * M + i + r] = x[(i + r) * N + j + c];
}
""", generic="not reached: requests"),
    ],
)  # fmt: skip
