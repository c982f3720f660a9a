"""A column of results for each thread: fewer reads of shared memory, and fewer threads than numbers to load."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.kernels import bytes_moved, requests
from course_lib.coach.shared_cases import matrices

SMALL, LARGE, HIGH = "8, 8, 4, 4", "64, 64, 8, 8", "16, 8, 8, 4"
NEEDED = 4 * 3 * 64 * 64  # one tile: every number moves once


def cases(random):
    sizes = {"one slice": (8, 8, 4, SMALL), "one number": (1, 1, 1, SMALL), "two slices": (8, 8, 8, SMALL),
             "ragged rows": (7, 8, 4, SMALL), "ragged columns": (8, 7, 4, SMALL), "ragged sum": (8, 8, 5, SMALL),
             "one row": (1, 9, 6, SMALL), "one column": (9, 1, 6, SMALL), "several blocks, ragged": (19, 21, 10, SMALL),
             "large tiles, ragged": (66, 70, 9, LARGE), "64 by 64": (64, 64, 64, LARGE),
             "tiles of four sizes, ragged": (19, 21, 10, HIGH)}  # fmt: skip
    for label, (M, N, K, tile) in sizes.items():
        yield Case(label, *matrices(random, M, N, K), tile)


def launch(kernel, A, B, tile):
    (M, K), N = A.shape, B.shape[1]
    BM, BN, _, TM = map(int, tile.split(", "))
    C = cuda.empty((M, N))
    args = (cuda.asarray(A), cuda.asarray(B), C, M, N, K)
    kernel.instance(tile)((-(-N // BN), -(-M // BM)), BM // TM * BN, args)
    return C


shared_reads = requests("read", "shared")


def of_shared(seen, kind, words=""):
    return any(i.kind == kind and "__shared__" in i.message and words in i.message for i in seen.issues)


def k_further_on(A, B, tile):
    """Each slice of B read k numbers further on than the first, where it is k rows."""
    K, BK = A.shape[1], int(tile.split(", ")[2])
    rows = np.arange(K)
    first = rows // BK * BK
    return A @ B.ravel()[(first + (rows - first) * B.shape[1])[:, None] + np.arange(B.shape[1])]


def rows_as_long_as_those_of_A(seen):
    A, B, _ = seen.inputs
    (K, N) = B.shape
    return (
        None
        if seen.issues
        else np.allclose(seen.got, A @ B.ravel()[(np.arange(K) * K)[:, None] + np.arange(N)], atol=1e-3)
    )


def overlapping(seen):
    """Whether each thread took TM rows, but began only one row below the thread before it: rows 0 to 4 of 8 are there."""
    if seen.label != "one slice" or seen.got is None:
        return False
    return np.array_equal(seen.got[:5], seen.expected[:5]) and bool(np.isnan(seen.got[5:]).all())


exercise = Exercise(
    title="A column of results for each thread",
    test_out=True,
    minutes=20,
    language="cuda",
    defines="matmul_register_tiles_1d",
    instances=(SMALL, LARGE, HIGH),
    cases=cases,
    reference=lambda A, B, tile: A @ B,
    call=launch,
    measured="64 by 64",
    goals=[
        Goal("bytes of global memory moved", bytes_moved, at_most=1.2 * NEEDED),
        Goal("requests that read shared memory", shared_reads, at_most=9216),
    ],
    hints=(
        "The block's threads: x = threadIdx.x % BN is a thread's column in the tile, y = threadIdx.x / BN * TM its first row.",
        "Load with a loop: for (int i = threadIdx.x; i < BM * BK; i += THREADS), where row i / BK and term i % BK belong to "
        "number i. In the sum, read b[j][x] once into a variable, and use it for all TM rows.",
        "for (int j = 0; j < BK; j++) { float right = b[j][x]; for (int r = 0; r < TM; r++) sum[r] += a[y + r][j] * right; } "
        "with a barrier before and after. At the end sum[r] goes to row blockIdx.y * BM + y + r, column blockIdx.x * BN + x "
        "of C, if both exist.",
    ),
    example='''// y = A v for 8 vectors at once, V (K, 8): a thread keeps the 8 sums of its row, and reads each number of A once.
__global__ void many_vectors(const float* A, const float* V, float* Y, int M, int K) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    float sum[8] = {};
    for (int k = 0; k < K; k++) {
        float own = A[i * K + k];
        for (int c = 0; c < 8; c++) sum[c] += own * V[k * 8 + c];
    }
    for (int c = 0; c < 8; c++) Y[i * 8 + c] = sum[c];
}
''',
    wrong=[
        Mistake("Each thread reads the same number of B from shared memory TM times. Let the loop over the terms of a "
                "slice be the outer one, and read it there once, into a variable, for all TM results. (The compiler of a "
                "GPU may do that by itself; the simulator counts what is written.)",
                when=lambda seen: seen.label == "64 by 64" and shared_reads(seen.reports) == 2 * 64**3 / 32),
        Wrong(Changed(("        __syncthreads();\n        for (int j", "        for (int j")),
              "A number of a slice is read before the thread that loads it has written it: all must wait after the load.",
              when=lambda seen: seen.label == "one slice" and of_shared(seen, "race", "one thread reads")),
        Wrong(Changed(("i < BM * BK; i += THREADS", "i < BM * BK; i += BM * BK")),
              "Part of a slice was never loaded. It has more numbers than the block has threads: each thread loads "
              "several, as far apart as there are threads.",
              when=lambda seen: seen.label == "one slice" and seen.kinds == {"uninitialised-read"}
                  and of_shared(seen, "uninitialised-read")),
        Wrong(Changed(("* right;\n        }\n        __syncthreads();\n", "* right;\n        }\n")),
              "The race is between two slices: a fast thread loads the next ones while a slow one still multiplies these.",
              when=lambda seen: seen.label == "two slices" and of_shared(seen, "race")),
        Mistake("A thread that has no element of C is still needed: it loads for the others and waits with them.",
                when=lambda seen: "missed-barrier" in seen.kinds),
        Wrong(Changed(("k < K; k += BK", "k < BK; k += BK")), "Only the first slice is summed: loop over all of K.",
              like=lambda A, B, tile: A[:, : int(tile.split(", ")[2])] @ B[: int(tile.split(", ")[2])]),
        Wrong(Changed(("B[(size_t)inner * N + column]", "B[k + (size_t)(i / BN) * N + column]")),
              "A slice of B begins k rows further down, so k * N numbers further on, and not k.", like=k_further_on),
        Wrong(Changed(("B[(size_t)inner * N + column]", "B[(size_t)inner * K + column]")),
              "The rows of B are taken to be K long, as those of A are. A row of B has N numbers.",
              when=rows_as_long_as_those_of_A),
        Wrong(Changed(("threadIdx.x / BN * TM", "threadIdx.x / BN")),
              "The rows of neighbouring threads overlap, and the last rows of the tile are left out. The first row of a "
              "thread is a multiple of TM: each has TM rows of its own.", when=overlapping,
              once="which rows were written, and which were not"),
        Wrong(Changed(("first_row + y + r < M", "first_row + y < M")),
              "A write lands outside of C: check the column, and each of the TM rows, not only the first.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "a write" in i.message
                  and "'C'" in i.message for i in seen.issues)),
        Wrong("""template <int BM, int BN, int BK, int TM>
__global__ void matmul_register_tiles_1d(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * BN + threadIdx.x % BN, first = blockIdx.y * BM + threadIdx.x / BN * TM;
    if (column >= N) return;
    for (int row = first; row < first + TM && row < M; row++) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = sum;
    }
}
""", generic="not reached: bytes of global memory"),
    ],
)  # fmt: skip
