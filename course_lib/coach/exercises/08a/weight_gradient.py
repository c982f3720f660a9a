"""Find the faults: the gradient of a layer's weights from tiles, with a thread that returns too early and a missing barrier."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    sizes = {"two by two": (2, 2, 2), "one number": (1, 1, 1), "one full tile": (8, 8, 8), "two iterations": (16, 8, 8),
             "one row": (1, 9, 10), "one column": (10, 1, 1), "several blocks, ragged": (19, 13, 21)}  # fmt: skip
    for label, (M, N, K) in sizes.items():
        yield Case(label, *((0.5 + random.integers(-9, 10, size=(M, C))).astype(np.float32) for C in (K, N)))


def launch(kernel, X, dY):
    (M, K), N = X.shape, dY.shape[1]
    dW = cuda.empty((K, N))
    kernel((-(-N // 8), -(-K // 8)), (8, 8), (cuda.asarray(X), cuda.asarray(dY), dW, M, N, K))
    return dW


def last_rows(X, dY):
    first = (len(X) - 1) // 8 * 8
    return X[first:].T @ dY[first:]


exercise = Exercise(
    title="Find the faults: the gradient of the weights",
    minutes=15,
    language="cuda",
    defines="weight_gradient",
    cases=cases,
    reference=lambda X, dY: X.T @ dY,
    call=launch,
    hints=(
        "Run the cell and read the first report: which threads have returned, and where do the others wait?",
        "A thread outside of dW loads numbers for others. Let it run the whole loop; leave out only its write. Then read the "
        "next report: it names two lines. What lies between them in time?",
        "Remove the `return`, write `if (k < K && n < N) dW[k * N + n] = sum;`, and put a second __syncthreads() at the end of "
        "the loop's body.",
    ),
    example='''// The gradient of the inputs, dX (M, K) = dY (M, N) times W (K, N) transposed: the same tiles, read along N.
__global__ void input_gradient(const float* dY, const float* W, float* dX, int M, int N, int K) {
    __shared__ float a[8][8], b[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    int m = blockIdx.y * 8 + y, k = blockIdx.x * 8 + x, other = blockIdx.x * 8 + y;
    float sum = 0.0f;
    for (int n = 0; n < N; n += 8) {
        a[y][x] = m < M && n + x < N ? dY[m * N + n + x] : 0.0f;
        b[y][x] = other < K && n + x < N ? W[other * N + n + x] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 8; t++) sum += a[y][t] * b[x][t];
        __syncthreads();
    }
    if (m < M && k < K) dX[m * K + k] = sum;
}
''',
    wrong=[
        Wrong(Changed(("        __syncthreads();\n        for", "        if (k < K && n < N) __syncthreads();\n        for")),
              "Some threads of the block reach a barrier and others do not, because it stands "
              "inside a condition. All must reach it.", when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(Changed(("    float sum = 0.0f;", "    if (k >= K || n >= N) return;\n    float sum = 0.0f;")),
              "Some threads do not reach a barrier where the others wait for them. A thread that has no element "
              "of dW must still load, and wait, in every iteration.", when=lambda seen: "missed-barrier" in seen.kinds),
        Wrong(Changed(("        }\n        __syncthreads();\n    }\n", "        }\n    }\n")),
              "The race is between two iterations: one thread already loads the next tiles, while another still needs these. "
              "Where must they wait for each other a second time?",
              when=lambda seen: seen.label == "two iterations" and "race" in seen.kinds),
        Wrong(Changed(("    if (k < K && n < N) {\n", "    {\n")),
              "Now all threads run the loop, but some that lie outside of dW write as well. The write needs a condition of "
              "its own: k < K and n < N, both.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "a write" in i.message for i in seen.issues)
                  or (seen.kinds == {"race"} and "two threads write" in seen.issues[0].message)),
        Wrong(Changed(("    float sum = 0.0f;\n", "    float sum;\n"), ("        a[y][x] =",
              "        sum = 0.0f;\n        a[y][x] =")),
              "Only the rows of the last iteration count: set the sum to 0 once, before the loop.", like=last_rows),
    ],
)  # fmt: skip
