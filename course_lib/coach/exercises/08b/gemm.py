"""The product that a model trains on: the learner writes the load, the only part that depends on the layouts of A and B."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

TILES = {"NN": "16, 16, 8, 4, 4", "NT": "16, 32, 8, 2, 8", "TN": "32, 16, 4, 8, 2", "TT": "8, 8, 8, 4, 4"}
INSTANCES = {layout: f"{str(layout[0] == 'T').lower()}, {str(layout[1] == 'T').lower()}, {tile}"
             for layout, tile in TILES.items()}  # fmt: skip
WIDE = {layout: ", ".join([*words.split(", ")[:2], "32, 32, 32, 4, 8"]) for layout, words in INSTANCES.items()}

# Four layouts of 64 x 64 matrices with tiles of 32: each reads A and B twice, and moves a sector for each number of C.
LEAST = 4 * 4 * (4 * 64**2 + 8 * 64**2)


def cases(random):
    plain = {"one tile": ("NN", 16, 16, 8), "one number": ("NN", 1, 1, 1), "B transposed, one tile": ("NT", 16, 32, 8),
             "A transposed, one tile": ("TN", 32, 16, 4), "both transposed": ("TT", 8, 8, 8)}  # fmt: skip
    ragged = {f"{layout}, ragged": (layout, 35, 37, 19) for layout in TILES}
    for label, (layout, M, N, K) in {
        **plain,
        **ragged,
        "one row": ("NT", 1, 40, 33),
        "one column": ("TN", 40, 1, 33),
    }.items():
        yield Case(label, *matrices(random, layout, 1, M, N, K), layout, 0)
    yield Case("a sum in three parts", *matrices(random, "TN", 1, 5, 6, 22), "TN", 10)
    yield Case("three products at once", *matrices(random, "NN", 3, 5, 20, 7), "NN", 0)
    for layout in TILES:
        yield Case(f"{layout}, 64 by 64", *matrices(random, layout, 1, 64, 64, 64), layout, 0)
    yield Case("all layouts, 64 by 64", *matrices(random, "NN", 1, 64, 64, 64), "all", 0)


def matrices(random, layout, many, M, N, K):
    shapes = (many, *((K, M) if layout[0] == "T" else (M, K))), (many, *((N, K) if layout[1] == "T" else (K, N)))
    return [(0.5 + random.integers(-9, 10, size=shape)).astype(np.float32) for shape in shapes]


def launch(kernel, A, B, layout, split):
    if layout == "all":
        return np.stack([run(kernel, A, B, each, 0, WIDE[each], 32, 32, 4 * 8) for each in WIDE])
    BM, BN, _, TM, TN = map(int, TILES[layout].split(", "))
    return run(kernel, A, B, layout, split, INSTANCES[layout], BM, BN, TM * TN)


def run(kernel, A, B, layout, split, instance, BM, BN, each):
    M, K = A.shape[1:][:: -1 if layout[0] == "T" else 1]
    N = B.shape[1 if layout[1] == "T" else 2]
    many = -(-K // split) if split else len(A)
    C = cuda.empty((many, M, N))
    strides = (M * K, K * N) if len(A) > 1 else (0, 0)
    args = (cuda.asarray(A), cuda.asarray(B), C, M, N, K, *strides, split)
    kernel.instance(instance)((-(-N // BN), -(-M // BM), many), BM * BN // each, args)
    return C


def reference(A, B, layout, split):
    if layout == "all":
        return np.stack([reference(A, B, each, 0) for each in WIDE])
    a = A.swapaxes(1, 2) if layout[0] == "T" else A
    b = B.swapaxes(1, 2) if layout[1] == "T" else B
    if split:
        K = a.shape[2]
        return np.concatenate([a[:, :, k : k + split] @ b[:, k : k + split] for k in range(0, K, split)])
    return a @ b


def tiles_fit(seen):
    """Are all matrices cut into whole tiles, so that each number that is asked for exists?"""
    A, B, layout, split = seen.inputs
    if layout == "all":
        return True
    M, K = A.shape[1:][:: -1 if layout[0] == "T" else 1]
    N = B.shape[1 if layout[1] == "T" else 2]
    BM, BN, BK, *_ = map(int, TILES[layout].split(", "))
    return not (M % BM or N % BN or K % BK or split % BK)


def as_it_lies(A, B, layout, split, which):
    """As if the matrix A or B, or both, were never transposed."""
    if layout == "all":
        return np.stack([as_it_lies(A, B, each, 0, which) for each in WIDE])
    if "A" in which and layout[0] == "T":
        A, layout = A.reshape(len(A), A.shape[2], A.shape[1]), "N" + layout[1]
    if "B" in which and layout[1] == "T":
        B, layout = B.reshape(len(B), B.shape[2], B.shape[1]), layout[0] + "N"
    return reference(A, B, layout, split)


exercise = Exercise(
    title="The product that trains: four layouts",
    minutes=20,
    language="cuda",
    defines="gemm",
    instances=(*INSTANCES.values(), *WIDE.values()),
    target="kernel:gemm.cu",
    cases=cases,
    reference=reference,
    call=launch,
    measured="all layouts, 64 by 64",
    goals=rates(1.1 * LEAST, read=4.0),
    hints=(
        "Number the elements of a slice, e from 0 to BM * BK - 1, and give them to the threads in turn. Which row and "
        "which term is number e? That may depend on the layout of A.",
        "Neighbouring threads should read neighbouring numbers. If A lies as (M, K), terms are adjacent: t = e % BK, r = "
        "e / BK. If it lies as (K, M), rows are: r = e % BM, t = e / BM.",
        "a[t][r] = first_row + r < M && k + t < end ? A[TRANSPOSE_A ? (k + t) * M + first_row + r : (first_row + r) * K + k "
        "+ t] : 0.0f; b likewise, with B[TRANSPOSE_B ? (first_column + c) * K + k + t : (k + t) * N + first_column + c].",
    ),
    example='''// Copies a matrix, or its transpose, into y (M, N): only the index that is written depends on the layout.
template <bool TRANSPOSE>
__global__ void take(const float* x, float* y, int M, int N) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < M * N; e += gridDim.x * blockDim.x) {
        int i = TRANSPOSE ? e % M : e / N, j = TRANSPOSE ? e / M : e % N;
        y[i * N + j] = x[e];
    }
}
''',
    wrong=[
        Wrong(Changed(("TRANSPOSE_B ? (size_t)column * K + term : (size_t)term * N + column", "(size_t)term * N + column")),
              "B is read as if it lay as (K, N), though TRANSPOSE_B says that it lies as "
              "(N, K): a row of memory is a column of B.", like=lambda *given: as_it_lies(*given, which="B")),
        Wrong(Changed(("TRANSPOSE_A ? (size_t)term * M + row : (size_t)row * K + term", "(size_t)row * K + term")),
              "A is read as if it lay as (M, K), though TRANSPOSE_A says that it lies as (K, "
              "M): a row of memory is a term of the sum.", like=lambda *given: as_it_lies(*given, which="A")),
        Wrong(Changed(("TRANSPOSE_A ? (size_t)term * M + row : (size_t)row * K + term", "(size_t)row * K + term"),
                      ("TRANSPOSE_B ? (size_t)column * K + term : (size_t)term * N + column", "(size_t)term * N + column")),
              "Both matrices are read as if they were never transposed.", like=lambda *given: as_it_lies(*given, which="AB")),
        Wrong(Changed(("e < BM * BK; e += THREADS", "e < THREADS; e += THREADS")),
              "Part of a slice was never filled. Both a and b have more numbers than there are threads: let each thread take "
              "several of both, THREADS apart.",
              when=lambda seen: seen.label == "one tile" and seen.kinds == {"uninitialised-read"}
                  and all("__shared__" in i.message for i in seen.issues)),
        Wrong(Changed(("row < M && term < end", "row < M && term < K"), ("column < N && term < end", "column < N && term < K")),
              "The terms end at `end`, not at K: another block sums the rest.",
              when=lambda seen: seen.label == "a sum in three parts" and not seen.issues),
        Wrong(Changed(("row < M && term < end ? A[offset] : 0.0f", "A[offset]")),
              "The load reaches outside of A or B: rows from M on, columns from N on and terms "
              "from `end` on are zeros, without reading.",
              when=lambda seen: not tiles_fit(seen)
                  and any(i.kind == "out-of-bounds" and re.search("'[AB]'", i.message) for i in seen.issues)),
        Wrong(Changed((": (size_t)row * K + term;", ": (size_t)row * N + term;")),
              "The load reaches outside of A or B, though every number of these tiles exists. How many numbers has a row "
              "of each, in this layout?",
              when=lambda seen: tiles_fit(seen)
                  and any(i.kind == "out-of-bounds" and re.search("'[AB]'", i.message) for i in seen.issues)),
        Wrong(Changed(("int t = TRANSPOSE_A ? e / BM : e % BK;", "int t = e / BM;"), ("int r = TRANSPOSE_A ? e % BM : e / BK;",
              "int r = e % BM;")), generic="not reached: sectors"),
    ],
)  # fmt: skip
