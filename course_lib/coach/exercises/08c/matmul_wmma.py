"""Find the faults in kernel 7: padded rows whose length was forgotten, once in a load and once in a store."""

import re

from course_lib.coach.exercise import Changed, Exercise, Wrong
from course_lib.coach.shared_cases import bfloat16_bits, multiplied, products

TILE = "64, 32, 16"  # three sizes, so that none stands for another


SIZES = {"one number": (1, 1, 1), "two by two": (2, 2, 2), "one fragment": (16, 16, 16), "one row": (1, 40, 9),
         "one column": (40, 1, 9), "two blocks": (64, 64, 64), "several blocks, ragged": (70, 66, 33)}  # fmt: skip


def meets(seen, *words):
    """Whether an issue was found in a line with these words."""
    return any(word in issue.source for issue in seen.issues for word in words)


LOAD = "load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 8)"
STORE = "sum[r][s], BN + 4, wmma::mem_row_major"

exercise = Exercise(
    title="Find the faults: rows that are longer than they look",
    minutes=15,
    language="cuda",
    defines="matmul_wmma",
    instances=(TILE,),
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=multiplied(64, 64, bfloat16_bits, columns=32),
    hints=(
        "`__shared__ bf16 a[BM][BK + 8]`: the eight more are padding. From one row to the next it is BK + 8 numbers.",
        "The last argument of a load, and the third of a store, is the distance from row to row *in memory*. Compare each of "
        "the three with the "
        "declaration of its array.",
        "The load of `left` needs BK + 8, as the one of `right` needs BN + 8. The store into `c` needs BN + 4.",
    ),
    example='''// A 16 x 16 fragment by way of padded shared memory: every distance is the row length of its array.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void square(const __nv_bfloat16* A, float* C) {  // C = A A, 16 x 16, one warp
    __shared__ __align__(32) __nv_bfloat16 a[16][24];
    for (int e = threadIdx.x; e < 256; e += 32) a[e / 16][e % 16] = A[e];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, &a[0][0], 24);
    wmma::load_matrix_sync(right, &a[0][0], 24);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(C, sum, 16, wmma::mem_row_major);
}
''',
    wrong=[
        Wrong(Changed((LOAD, LOAD.replace("BK + 8", "BK"))),
              "A fragment of A reads numbers that were never written. Its rows are not where the load looks for them: how "
              "long is a row of `a`, with all that was declared?",
              when=lambda seen: meets(seen, "load_matrix_sync(left")),
        Wrong(Changed(("&b[j][x + 16 * s], BN + 8", "&b[j][x + 16 * s], BN")),
              "A fragment of B reads numbers that were never written. Its rows are not where the load looks for them: how "
              "long is a row of `b`, with all that was declared?",
              when=lambda seen: meets(seen, "load_matrix_sync(right")),
        Wrong(Changed((STORE, STORE.replace("BN + 4", "BN"))),
              "The fragments are stored into `c` as if its rows were BN numbers long. How "
              "long are they, with all that was declared?",
              when=lambda seen: re.search(r"store_matrix_sync\([^;]*,\s*BN\s*,", seen.text) is not None),
        Wrong(Changed((STORE, STORE.replace("BN + 4", "BN + 8"))),
              "The warps store their fragments over each other's: with rows of the wrong length the parts of `c` overlap.",
              when=lambda seen: seen.kinds & {"race", "out-of-bounds"} and meets(seen, "store_matrix_sync")),
    ],
)  # fmt: skip
