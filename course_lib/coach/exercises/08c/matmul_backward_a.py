"""The backward pass of a product on tensor cores: a transposed matrix is read by columns, and nothing is moved."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import bfloat16_bits, transposed_tiles


def cases(random):
    sizes = {"one product": (16, 16, 16), "two slices": (16, 32, 16), "two tiles across": (16, 16, 32), "two tiles down": (32,
             16, 16), "48 by 32, five slices": (48, 80, 32)}  # fmt: skip
    for label, (M, N, K) in sizes.items():
        yield Case(
            label, *((0.5 + random.integers(-9, 10, size=shape)).astype(np.float32) for shape in ((M, N), (K, N)))
        )


def launch(kernel, dC, B):
    (M, N), K = dC.shape, len(B)
    dA = cuda.empty((M, K))
    kernel((K // 16, M // 16), 32, (*(cuda.asarray(bfloat16_bits(x)) for x in (dC, B)), dA, M, N, K))
    return dA


exercise = Exercise(
    title="The backward pass of a product",
    minutes=15,
    core=False,
    language="cuda",
    defines="matmul_backward_a",
    cases=cases,
    reference=lambda dC, B: dC @ B.T,
    call=launch,
    hints=(
        "Which 16 x 16 of dC and which of B are multiplied in step n? Those with the columns n to n + 15: of dC in the "
        "rows of this tile, "
        "of B in the rows that are the *columns* of this tile.",
        "In both, a row has N numbers. The fragment of B is col_major: what stands in a row of memory becomes a column.",
        "wmma::load_matrix_sync(left, dC + blockIdx.y * 16 * N + n, N); wmma::load_matrix_sync(right, B + blockIdx.x * 16 * N "
        "+ n, N); and the store goes to dA with K.",
    ),
    example='''// G (16, 16) = X^T Y with X (K, 16) and Y (K, 16): here the *left* matrix is transposed.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void left_transposed(const __nv_bfloat16* X, const __nv_bfloat16* Y, float* G, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(left, X + k * 16, 16);
        wmma::load_matrix_sync(right, Y + k * 16, 16);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(G, sum, 16, wmma::mem_row_major);
}
''',
    wrong=[
        Wrong(Changed(("wmma::col_major> right", "wmma::row_major> right")),
              "The tiles of B are the right ones, but not transposed. The right fragment must be col_major: then a row of "
              "B in memory is a column of the fragment.", like=lambda dC, B: dC @ transposed_tiles(B).T),
        Wrong(Changed(("sum, K, wmma::mem_row_major", "sum, K, wmma::mem_col_major")),
              "Each tile of dA is right, but was stored by columns.", like=lambda dC, B: transposed_tiles(dC @ B.T)),
        Wrong(Changed(("wmma::row_major> left", "wmma::col_major> left")),
              "dC was transposed as well. It is read by rows, as it lies.", like=lambda dC, B: transposed_tiles(dC) @ B.T),
        Wrong(Changed(("n < N; n += 16", "n < 16; n += 16")),
              "Only the first 16 terms of each sum are there. The sum of dA goes over the N columns of dC.",
              like=lambda dC, B: dC[:, :16] @ B[:, :16].T),
        Wrong(Changed(("__nv_bfloat16, wmma::col_major", "__nv_bfloat16, wmma::row_major"),
                      ("B + blockIdx.x * 16 * N + n, N", "B + n * K + blockIdx.x * 16, K")),
              "This is dC times B itself, as if B were (N, K). In the backward pass B is transposed.",
              like=lambda dC, B: dC @ B.reshape(B.shape[::-1])),
        Wrong(Changed(("int n = 0; n < N; n += 16", "int k = 0; k < K; k += 16"), ("* N + n, N);\n        wmma::load_matrix_sync("
                       "right, B + blockIdx.x * 16 * N + n, N)", "* N + k, N);\n        wmma::load_matrix_sync(right, B + "
                       "blockIdx.x * 16 * N + k, N)")),
              "The loop runs over K, as in the forward pass. Here K counts the columns of dA; the sum goes over N.",
              when=lambda seen: "k<K" in seen.text.replace(" ", "") and seen.inputs[0].shape[1] != len(seen.inputs[1])),
        Wrong(Changed(("    wmma::fill_fragment(sum, 0.0f);\n", "")),
              "The sums were never filled. A new fragment holds undefined values: wmma::fill_fragment, once, before the loop.",
              when=lambda seen: "wmma::accumulator" in seen.text and not seen.error and "fill_fragment" not in seen.text
                  and ".x[" not in seen.text),
    ],
)  # fmt: skip
