"""Squared distances of all points from all others: tiles for something that is no product."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

NEEDED = 4 * (2 * 3 * 48 * 32 + 48 * 48)  # three columns of tiles read X, three rows of them read Y, D is written once


def cases(random):
    sizes = {"one point and two": (1, 2, 2), "one number": (1, 1, 1), "one full tile": (16, 16, 16),
             "two iterations": (16, 16, 32), "many points on a line": (40, 3, 1), "several blocks, ragged": (21, 37, 19),
             "48 points of 32": (48, 48, 32)}  # fmt: skip
    for label, (M, N, K) in sizes.items():
        yield Case(
            label,
            *(
                (part + random.integers(-9, 10, size=(many, K))).astype(np.float32)
                for many, part in ((M, 0.5), (N, 0.25))
            ),
        )


def launch(kernel, X, Y):
    (M, K), N = X.shape, len(Y)
    D = cuda.empty((M, N))
    kernel((-(-N // 16), -(-M // 16)), (16, 16), (cuda.asarray(X), cuda.asarray(Y), D, M, N, K))
    return D


def apart(X, Y):
    return X[:, None, :] - Y[None, :, :]  # (M, N, K)


def with_own_row(X, Y):
    """Thread (x, y) reads row y of the tile of Y where it should read row x."""
    i, j = np.indices((len(X), len(Y)))
    others = np.vstack([Y, np.zeros((16, Y.shape[1]), Y.dtype)])[j // 16 * 16 + i % 16]  # (M, N, K)
    return ((X[:, None, :] - others) ** 2).sum(axis=2)


exercise = Exercise(
    title="How far apart?",
    minutes=15,
    core=False,
    language="cuda",
    defines="pairwise_distances",
    cases=cases,
    reference=lambda X, Y: (apart(X, Y) ** 2).sum(axis=2),
    call=launch,
    measured="48 points of 32",
    goals=rates(1.2 * NEEDED, wavefronts=1.1),
    hints=(
        "It is the lecture's tiled `gram` with two matrices, and with other terms to add up.",
        "Thread (x, y) loads a number of X in row i, and one of Y in row blockIdx.x * 16 + y, both along k. It uses a[y][t] "
        "and b[x][t].",
        "a[y][x] = i < M && k + x < K ? X[i * K + k + x] : 0.0f; b[y][x] likewise from that row of Y, if it is below N; a "
        "barrier; float apart = a[y][t] - b[x][t]; sum += apart * apart; a barrier. A row of b needs one word more, and "
        "D[i * N + j] is written if i < M and j < N.",
    ),
    example='''// The largest difference instead of the sum of squares, without tiles.
__global__ void farthest(const float* X, const float* Y, float* D, int M, int N, int K) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float most = 0.0f;
    for (int k = 0; k < K; k++) most = fmaxf(most, fabsf(X[i * K + k] - Y[j * K + k]));
    D[i * N + j] = most;
}
''',
    wrong=[
        Wrong(Changed(("float apart = a[y][t] - b[x][t];\n            sum += apart * apart;", "sum += a[y][t] * b[x][t];")),
              "These are products of the points, not distances: subtract, square, then add up.", like=lambda X, Y: X @ Y.T),
        Wrong(Changed(("sum += apart * apart;", "sum += apart;")), "The differences are added up without being squared.",
              like=lambda X, Y: apart(X, Y).sum(axis=2)),
        Wrong(Changed(("sum += apart * apart;", "sum += apart;"), ("= sum;", "= sum * sum;")),
              "The differences are added up first, and the sum is squared, so that they cancel. Square each of them.",
              like=lambda X, Y: apart(X, Y).sum(axis=2) ** 2),
        Wrong(Changed(("= sum;", "= sqrtf(sum);")), "This is the root; the task asks for the squared distance.",
              like=lambda X, Y: np.sqrt((apart(X, Y) ** 2).sum(axis=2))),
        Wrong(Changed(("b[x][t];", "b[y][t];")),
              "Thread (x, y) compares point y of X with point y of Y. Its column of D belongs to point x of Y: b[x][t].",
              like=with_own_row),
        Wrong(Changed(("b[16][17]", "b[16][16]")), generic="not reached: wavefronts"),
        Wrong("""__global__ void pairwise_distances(const float* X, const float* Y, float* D, int M, int N, int K) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += (X[i * K + k] - Y[j * K + k]) * (X[i * K + k] - Y[j * K + k]);
    D[i * N + j] = sum;
}
""", generic="not reached: bytes"),
    ],
)  # fmt: skip
