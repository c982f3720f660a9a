"""Open challenge: a product on tensor cores by four warps, with as few bytes as possible."""

import numpy as np

from course_lib.coach.exercise import Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import bfloat16_bits, multiplied, products

SIZES = {
    "one slice": (64, 64, 16),
    "three slices": (64, 64, 48),
    "several blocks": (128, 192, 32),
    "64 by 64": (64, 64, 64),
    "a long sum": (64, 64, 144),
}


def of_one_warp(A, B):
    """What is there if only the first 16 rows of each 64 are computed."""
    C = (A @ B).astype(np.float32)
    C.reshape(-1, 64, C.shape[1])[:, 16:] = np.nan
    return C


exercise = Exercise(
    title="Challenge: a bfloat16 product with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="matmul_wmma_few_bytes",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=multiplied(64, 128, bfloat16_bits),
    measured="64 by 64",
    flops=2 * 64**3,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "In ours every warp reads all of B by itself: four warps, four times. What did chapter 08a do about that?",
        "A slice of A (64 x 16) and of B (16 x 64) in shared memory, loaded by all 128 threads, serves all four warps. Mind "
        "the barriers, and let "
        "fragments load from there.",
        "__shared__ __align__(32) __nv_bfloat16 a[64][16 + 8], b[16][64 + 8]; each iteration loads 1024 numbers of each, 8 for "
        "each thread.",
    ),
    example='''// Twice the product of 16 rows with themselves: two warps share a tile in shared memory.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void twice(const __nv_bfloat16* X, float* G) {  // X (16, 16), G (2, 16, 16), 64 threads
    __shared__ __align__(32) __nv_bfloat16 x[16][24];
    for (int e = threadIdx.x; e < 256; e += 64) x[e / 16][e % 16] = X[e];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, &x[0][0], 24);
    wmma::load_matrix_sync(right, &x[0][0], 24);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(G + threadIdx.x / 32 * 256, sum, 16, wmma::mem_row_major);
}
''',
    wrong=[
        Wrong(Changed(("    wmma::fragment<wmma::matrix_a",
              "    if (threadIdx.x >= 32) return;\n    wmma::fragment<wmma::matrix_a")),
              "Only 16 of the 64 rows are written: four of 16 tiles. Each of the four warps has four tiles; a thread finds its "
              "warp by threadIdx.x / 32.",
              like=of_one_warp),
        Wrong(Changed(("k < K; k += 16", "k < min(K, 64); k += 16")),
              "Only the first 64 terms of each sum are there, and K may be larger: loop over all of it.",
              like=lambda A, B: A[:, :64] @ B[:64]),
        Wrong(Changed(("k < K; k += 16", "k < 16; k += 16")),
              "Only the first 16 terms of each sum are there: loop over all of K.", like=lambda A, B: A[:, :16] @ B[:16]),
        Wrong(Changed(("    for (int k = 0", "    if (threadIdx.x % 32 < 16)\n    for (int k = 0")),
              "All 32 lanes of a warp must call each of the wmma functions.",
              when=lambda seen: "missing-lanes" in seen.kinds),
        Wrong(Changed(("threadIdx.x / 32 * 16", "threadIdx.x % 4 * 16")), generic="two threads write the same address"),
    ],
)  # fmt: skip
