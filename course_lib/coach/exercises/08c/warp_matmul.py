"""The smallest product on tensor cores: one warp, three fragments, a loop."""

from course_lib.coach.exercise import Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import bfloat16_bits, multiplied, products, transposed_tiles

SIZES = {
    "one product": (16, 16, 16),
    "two slices": (16, 16, 32),
    "two tiles across": (16, 32, 16),
    "two tiles down": (32, 16, 16),
    "48 by 32, five slices": (48, 32, 80),
}


exercise = Exercise(
    title="A warp for each tile",
    minutes=15,
    language="cuda",
    defines="warp_matmul",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=multiplied(16, 32, bfloat16_bits),
    hints=(
        "A fragment of A begins at row 16 * blockIdx.y, column k; one of B at row k, column 16 * blockIdx.x. How far is it "
        "from one row to the "
        "next, in A and in B?",
        "The offset of element (row, column) of a matrix with `width` columns is row * width + column, and `width` is "
        "also the third argument of each load and of the store: K for A, N for B and C.",
        "wmma::fill_fragment(sum, 0.0f); in the loop wmma::load_matrix_sync(left, A + blockIdx.y * 16 * K + k, K), the same "
        "of B at B + k * N + blockIdx.x * 16, N, and wmma::mma_sync(sum, left, right, sum); at the end store_matrix_sync.",
    ),
    example='''// C (16, 16) = C (16, 16) + A (16, 16) times the identity I: a product whose sums begin with other values than 0.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void add_product(const __nv_bfloat16* A, const __nv_bfloat16* I, float* C) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, C, 16, wmma::mem_row_major);  // begins with what C holds
    wmma::load_matrix_sync(left, A, 16);
    wmma::load_matrix_sync(right, I, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(C, sum, 16, wmma::mem_row_major);
}
''',
    wrong=[
        Wrong(Changed(("matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major", "matrix_b, 16, 16, 16, __nv_bfloat16, "
                                                                               "wmma::col_major")),
              "B is read by columns: col_major is for a transposed matrix, and this one is not transposed.",
              like=lambda A, B: A @ transposed_tiles(B)),
        Wrong(Changed(("matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major", "matrix_a, 16, 16, 16, __nv_bfloat16, "
                                                                               "wmma::col_major")),
              "A is read by columns: col_major is for a transposed matrix, and this one is not transposed.",
              like=lambda A, B: transposed_tiles(A) @ B),
        Wrong(Changed(("wmma::mem_row_major", "wmma::mem_col_major")), "Each tile of C is right, but was stored by columns.",
              like=lambda A, B: transposed_tiles(A @ B)),
        Wrong(Changed(("k < K; k += 16", "k < 16; k += 16")),
              "Only the first 16 terms of each sum are there: loop over all of K.", like=lambda A, B: A[:, :16] @ B[:16]),
        Wrong(Changed(("        wmma::load_matrix_sync(left",
              "        wmma::fill_fragment(sum, 0.0f);\n        wmma::load_matrix_sync(left")),
              "Only the last 16 terms are there: fill the sums with zeros once, before the loop.",
              like=lambda A, B: A[:, -16:] @ B[-16:]),
        Wrong(Changed(("    for (int k = 0", "    if (threadIdx.x == 0)\n    for (int k = 0")),
              "All 32 lanes must call each of these functions: a product belongs to the whole warp.",
              when=lambda seen: "missing-lanes" in seen.kinds),
        Mistake("The sums were never filled. A new fragment holds undefined values: wmma::fill_fragment, once, before "
              "the loop.",
                when=lambda seen: "wmma::accumulator" in seen.text and not seen.error
                and "fill_fragment" not in seen.text and ".x[" not in seen.text),
    ],
)  # fmt: skip
