"""The tiled product: shared memory, two barriers, ragged edges; counted in bytes and bank conflicts."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import matrices

NEEDED = 4 * (2 * 64**3 // 32 + 64 * 64)  # bytes that tiles of 32 move for 64 x 64 matrices


def cases(random):
    sizes = {"one tile": (4, 4, 4, 4), "one number": (1, 1, 1, 4), "two iterations": (4, 4, 8, 4), "ragged rows": (3, 4, 4, 4),
             "ragged columns": (4, 3, 4, 4), "ragged sum": (4, 4, 5, 4), "one row": (1, 9, 7, 4), "one column": (9, 1, 7, 4),
             "several blocks, ragged": (10, 13, 11, 4), "tiles of 32, ragged": (33, 40, 35, 32),
             "64 by 64, tiles of 32": (64, 64, 64, 32)}  # fmt: skip
    for label, (M, N, K, tile) in sizes.items():
        yield Case(label, *matrices(random, M, N, K), tile)
    A, B = matrices(random, 4, 4, 5)
    A[1, 0] = np.inf  # of row 1 alone: a row that reads on into the next is not saved by the zeros of B
    yield Case("ragged sum, an infinity", A, B, 4)


def launch(kernel, A, B, tile):
    (M, K), N = A.shape, B.shape[1]
    C = cuda.empty((M, N))
    args = (cuda.asarray(A), cuda.asarray(B), C, M, N, K)
    kernel.instance(str(tile))((-(-N // tile), -(-M // tile)), (tile, tile), args)
    return C


def rounds(A, B, tile):
    """The tiles of A and B of each iteration: all blocks at once."""
    for k in range(0, A.shape[1], tile):
        yield A[:, k : k + tile], B[k : k + tile]


def last_round(A, B, tile):
    left, right = list(rounds(A, B, tile))[-1]
    return left @ right


def transposed_tiles(A, B, tile):
    """Each tile of B used with rows and columns exchanged."""
    C = np.zeros((A.shape[0], -(-B.shape[1] // tile) * tile), np.float32)
    for left, right in rounds(A, B, tile):
        full = np.zeros((tile, C.shape[1]), np.float32)
        full[: len(right), : right.shape[1]] = right
        for j in range(0, C.shape[1], tile):
            C[:, j : j + tile] += left @ full[:, j : j + tile].T[: left.shape[1]]
    return C[:, : B.shape[1]]


def tiles_fit(seen):
    """Are all matrices cut into whole tiles, so that each number that is asked for exists?"""
    A, B, tile = seen.inputs
    return not any(length % tile for length in (*A.shape, B.shape[1]))


def rows_as_long_as_those_of_C(seen):
    """Is A read as if its rows were N long? Only the rows of C tell that need no number beyond its end."""
    A, B, _ = seen.inputs
    (M, K), N = A.shape, B.shape[1]
    read = np.arange(M)[:, None] * N + np.arange(K)
    known = (read < A.size).all(axis=1)
    return None if seen.issues else np.allclose(seen.got[known], A.ravel()[read[known]] @ B, atol=1e-3)


def between_rounds(seen):
    return (
        seen.label == "two iterations" and "race" in seen.kinds and any("__shared__" in i.message for i in seen.issues)
    )


def before_it_is_there(seen):
    return seen.label == "one tile" and any(
        "__shared__" in i.message and i.kind == "race" and "one thread reads" in i.message for i in seen.issues
    )


exercise = Exercise(
    title="A product from tiles",
    minutes=20,
    language="cuda",
    defines="matmul_shared_tiles",
    instances=("4", "32"),
    cases=cases,
    reference=lambda A, B, tile: A @ B,
    call=launch,
    measured="64 by 64, tiles of 32",
    goals=rates(1.2 * NEEDED, wavefronts=1.0),
    hints=(
        "Four steps in each iteration: load, wait, multiply, wait. Which two numbers does thread (x, y) load for the others?",
        "It loads element [y][x] of both tiles: of A from its own row, column k + x; of B from its own column, row k + y. Then "
        "it sums a[y][j] * b[j][x] over j.",
        "row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x; a[y][x] = row < M && k + x < K ? A[row * K + k + x] : "
        "0.0f; the same for b with k + y and column; __syncthreads(); the sum; __syncthreads(). After the loop the write, "
        "if row < M and column < N.",
    ),
    example='''// How alike are the rows of X (N, K)? G (N, N) = X times X transposed: both tiles are rows of X.
template <int T>
__global__ void alike(const float* X, float* G, int N, int K) {
    __shared__ float a[T][T], b[T][T + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * T + y, j = blockIdx.x * T + x, other = blockIdx.x * T + y;
    float sum = 0.0f;
    for (int k = 0; k < K; k += T) {
        a[y][x] = i < N && k + x < K ? X[i * K + k + x] : 0.0f;
        b[y][x] = other < N && k + x < K ? X[other * K + k + x] : 0.0f;
        __syncthreads();
        for (int t = 0; t < T; t++) sum += a[y][t] * b[x][t];
        __syncthreads();
    }
    if (i < N && j < N) G[i * N + j] = sum;
}
''',
    wrong=[
        Mistake("The tiles are not in shared memory: without `__shared__` each thread has arrays of its own, which no "
              "other thread fills.",
                when=lambda seen: "__shared__" not in seen.text and "[TILE]" in seen.text),
        Mistake("Some threads of a block reach a barrier and others do not, because it stands inside a condition.",
                when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(Changed(("        __syncthreads();  // the tiles are complete\n", "")),
              "A number of a tile is read before the thread that loads it has written it: between the load and the "
              "multiplications all must wait.", when=before_it_is_there),
        Wrong(Changed(("        __syncthreads();  // all threads have finished with the tiles\n", "")),
              "The race is between two iterations: a fast thread loads the next tiles while a slow one still multiplies "
              "these. All must wait at the end of an iteration too.", when=between_rounds),
        Wrong(Changed(("    float sum = 0.0f;", "    if (row >= M || column >= N) return;\n    float sum = 0.0f;")),
              "Some threads have left the loop, or returned, while others still wait for them at the barrier. All must run "
              "all iterations, also those whose element lies outside of C: they leave out only the write.",
              when=lambda seen: "missed-barrier" in seen.kinds),
        Wrong(Changed(("k < K; k += TILE", "k < 1; k += TILE")),
              "Only the first TILE terms of each sum are there: the loop must pass over all of K.",
              like=lambda A, B, tile: A[:, :tile] @ B[:tile]),
        Wrong(Changed(("    float sum = 0.0f;\n", "    float sum;\n"),
                      ("        a[y][x] = row", "        sum = 0.0f;\n        a[y][x] = row")),
              "Only the terms of the last iteration are there: set the sum to 0 once, before the loop.", like=last_round),
        Wrong(Changed(("a[y][j] * b[j][x]", "a[y][j] * b[x][j]")),
              "The tile of B is read with its rows and columns exchanged. Term j of the sum stands in its row j.",
              like=transposed_tiles),
        Wrong(Changed(("row < M && k + x < K ? A[(size_t)row * K + k + x] : 0.0f", "A[(size_t)row * K + k + x]")),
              "The load reaches outside of A or B. Before it reads, a thread must check that the very row and column that "
              "it reads exist there; if not, it writes a zero to the tile.",
              when=lambda seen: not tiles_fit(seen) and any(i.kind == "out-of-bounds" and "a read of" in i.message
                  and "__shared__" not in i.message for i in seen.issues)),
        Wrong(Changed(("A[(size_t)row * K + k + x]", "A[(size_t)row * N + k + x]")),
              "The rows of A are taken to be N long, as those of C are. A row of A has K numbers: row * K + k + x.",
              when=rows_as_long_as_those_of_C),
        Wrong(Changed(("B[(size_t)(k + y) * N + column]", "B[(size_t)(k + y) * K + column]")),
              "The load reaches outside of B, though every number of these tiles exists. Row r, column c of B is element "
              "r * N + c: here r is k + y, and c the thread's own column.",
              when=lambda seen: tiles_fit(seen) and {"out-of-bounds"} == seen.kinds
                  and all("'B'" in i.message for i in seen.issues)),
        Wrong("""template <int TILE>
__global__ void matmul_shared_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
""", generic="bytes of global memory moved"),
    ],
)  # fmt: skip
