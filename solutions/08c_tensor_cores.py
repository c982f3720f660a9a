# %% [markdown]
# # 08c Tensor cores: exercises
#
# The lecture: [08c Tensor cores](../notebooks/08c_tensor_cores.ipynb).

# %% [markdown]
# ## The next bfloat16
#
# `x` is a positive number. Take the largest bfloat16 that is not above it, and return its distance to the next larger one.
# From 1 to just below 2 that is 1/128; at 256 it is 2, for the next one is 258. (`math.floor` rounds down, and `math.log2` is
# the logarithm to the base 2.)

# %% exercise="bfloat16_gap" lecture=true
def bfloat16_gap(x):
    # yours: eight binary digits, and what the last one is worth
    return 2.0 ** (math.floor(math.log2(x)) - 7)
    # end


# %% [markdown]
# ## Find the fault: a sum that stands still
#
# The gradient of a bias is the sum of each column of dY. dY (M, N) is bfloat16, the result y (N) is float32. There is a thread
# for each column, in blocks of 32. For dY `[[1, 2], [3, 4]]`, y becomes `[4, 6]`. The kernel is right for a few rows, and wrong
# for many. Run the cell: how many rows does it take?
#
# `__bfloat162float(b)` makes a float of a bfloat16, and `__float2bfloat16(f)` rounds a float to one. (The layers of the course
# add up theirs in float32, in parts.)

# %% exercise="bias_gradient" lecture=true
r"""
#include <cuda_bf16.h>

__global__ void bias_gradient(const __nv_bfloat16* dY, float* y, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N) {
        return;
    }
    // yours: fix these lines
    float sum = 0.0f;
    for (int i = 0; i < M; i++) {
        sum += __bfloat162float(dY[i * N + j]);
    }
    y[j] = sum;
    // instead
    // __nv_bfloat16 sum = __float2bfloat16(0.0f);
    // for (int i = 0; i < M; i++) {
    //     sum = __float2bfloat16(__bfloat162float(sum) + __bfloat162float(dY[i * N + j]));
    // }
    // y[j] = __bfloat162float(sum);
    // end
}
"""

# %% [markdown]
# ## A fragment of a transposed matrix
#
# C (M, N) is the product of A transposed and B: A lies in memory as (K, M), B as (K, N). All sizes are multiples of 16. Block
# `(blockIdx.x, blockIdx.y)` is one warp, and computes the tile of C from row `16 * blockIdx.y`, column `16 * blockIdx.x` on.
# The fragments are declared: `left` reads rows of memory as columns. Load both.

# %% exercise="wmma_transposed" lecture=true
r"""
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void wmma_transposed(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        // yours: load `left` and `right` for the terms k to k + 15
        wmma::load_matrix_sync(left, A + k * M + blockIdx.y * 16, M);
        wmma::load_matrix_sync(right, B + k * N + blockIdx.x * 16, N);
        // end
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, sum, N, wmma::mem_row_major);
}
"""

# %% [markdown]
# ## Which lane holds it? (stretch)
#
# The other way round: the number of C in row `row` (0 to 15) and column `column` (0 to 7) of one mma. Return its `lane`, and
# its `index` in the array `sum` of that lane. For row 9, column 2 it is `(5, 2)`.


# %% exercise="lane_of_sum" lecture=true
def lane_of_sum(row, column):
    # yours: the lane, and the index of its sum
    return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2
    # end


# %% [markdown]
# ## Find the fault: read before it has arrived (stretch)
#
# x and y have `n` rows of 128 numbers. Each row is reversed: `y[i * 128 + j] = x[i * 128 + 127 - j]`. One warp does it,
# with a double buffer of two slices in shared memory: while it reads one, the next row is being copied into the other. Run the
# cell, and read the report. (Kernel 8 loads its slices in this way.)

# %% exercise="async_copy_pipeline" lecture=true
r"""
#include "ptx.cuh"

__global__ void async_copy_pipeline(const float* x, float* y, int n) {
    __shared__ __align__(16) float slice[2][128];
    int lane = threadIdx.x;
    ptx::cp_async_16(&slice[0][4 * lane], x + 4 * lane);
    ptx::cp_async_commit();
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) {
            ptx::cp_async_16(&slice[(i + 1) % 2][4 * lane], x + (i + 1) * 128 + 4 * lane);
        }
        ptx::cp_async_commit();  // also an empty group: each iteration has one
        // yours: fix the waiting
        ptx::cp_async_wait<1>();
        __syncthreads();
        // instead
        // ptx::cp_async_wait<2>();
        // end
        for (int j = lane; j < 128; j += 32) {
            y[i * 128 + j] = slice[i % 2][127 - j];
        }
        __syncthreads();  // the slice may be overwritten
    }
}
"""

# %% [markdown]
# ## 1. A warp for each tile
#
# C (M, N) = A (M, K) B (K, N), where A and B are bfloat16, C is float32, and M, N and K are multiples of 16. All three are
# row-major. A block is one warp, and computes the 16 x 16 numbers of C that begin at row `16 * blockIdx.y`, column `16 *
# blockIdx.x`. Use `wmma` fragments, and keep the sums in float32.
#
# The lecture's `gram` multiplies X by its own transpose. Here B is a matrix of its own, and it is *not* transposed. (Kernel 7
# consists of many such warps.)

# %% exercise="warp_matmul"
r"""
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void warp_matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    // yours: three fragments, a loop over K, and the store
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(left, A + blockIdx.y * 16 * K + k, K);
        wmma::load_matrix_sync(right, B + k * N + blockIdx.x * 16, N);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, sum, N, wmma::mem_row_major);
    // end
}
"""

# %% [markdown]
# ## 2. Find the faults: rows that are longer than they look
#
# This is kernel 7, complete: C (M, N) = A (M, K) B (K, N) for any sizes, A and B bfloat16, C float32. A block computes `BM` x
# `BN` numbers of C in slices of `BK` terms, and each of its warps 32 x 32 of them, as 2 x 2 fragments. Read it from top to
# bottom; you know all its parts. (`typedef` gives a type a second, shorter name.) Two lines are wrong, in the same way. Where
# does a row of `a` end, and where does the next begin?

# %% exercise="matmul_wmma"
# include kernels/matmul_7_wmma.cu matmul_wmma: fix two lines
# plant wmma::load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 8) => wmma::load_matrix_sync(left[r], &a[y + 16 * r][j], BK)
# plant sum[r][s], BN + 4, wmma::mem_row_major => sum[r][s], BN, wmma::mem_row_major

# %% [markdown]
# ## 3. A swizzle (stretch)
#
# A tile in shared memory has 32 rows of 8 chunks, and a chunk is 16 bytes, a `uint4`. A row is 128 bytes, all 32 banks, and
# there is no room for padding. The kernel fills it row by row, and then reads it column by column: each lane reads chunk p of
# its own row. Write `swizzle(row, chunk)`: at which index of its row, 0 to 7, is the chunk number `chunk` stored? Each row must
# use each index once. That is a swizzle.
#
# One count: at most 4 wavefronts for each request to shared memory, the fewest that 32 lanes with 16 bytes each can need;
# at most 4 of the lanes may idle. (The tiles of kernel 8, and of attention in bfloat16, are swizzled in this way.)

# %% exercise="swizzled_columns"
r"""
__device__ int swizzle(int row, int chunk) {
    // yours: an index from 0 to 7
    return chunk ^ (row % 8);
    // instead
    // return 0;
    // end
}

__global__ void swizzled_columns(const uint4* x, uint4* y) {
    __shared__ uint4 tile[32][8];
    int lane = threadIdx.x;
    for (int e = lane; e < 256; e += 32) {
        tile[e / 8][swizzle(e / 8, e % 8)] = x[e];
    }
    __syncthreads();
    for (int p = 0; p < 8; p++) {
        y[p * 32 + lane] = tile[lane][swizzle(lane, p)];
    }
}
"""

# %% [markdown]
# ## 4. The backward pass of a product (stretch)
#
# In the forward pass, C = A B with B (K, N). In the backward pass, dC (M, N) is the upstream gradient, and the gradient of A is
# dA = dC B^T, of shape (M, K): number (i, k) of it is the sum over j of dC[i][j] times B[k][j]. For dC `[[1, 2], [0, 1]]` and B
# `[[3, 4], [5, 6]]`, dA is `[[11, 17], [4, 6]]`. dC and B are bfloat16 and row-major, dA is float32, and M, N and K are
# multiples of 16.
#
# As in exercise 1 a block is one warp: it computes the 16 x 16 numbers of dA that begin at row `16 * blockIdx.y`, column `16 *
# blockIdx.x`. B must be transposed, and need not be moved for that: a fragment that is `wmma::col_major` reads a row of memory as
# a column. Each product in a model has such a backward pass.

# %% exercise="matmul_backward_a"
r"""
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void matmul_backward_a(const __nv_bfloat16* dC, const __nv_bfloat16* B, float* dA, int M, int N, int K) {
    // yours: three fragments, a loop over N, and the store
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int n = 0; n < N; n += 16) {
        wmma::load_matrix_sync(left, dC + blockIdx.y * 16 * N + n, N);
        wmma::load_matrix_sync(right, B + blockIdx.x * 16 * N + n, N);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(dA + blockIdx.y * 16 * K + blockIdx.x * 16, sum, K, wmma::mem_row_major);
    // end
}
"""

# %% [markdown]
# ## 5. Challenge: a bfloat16 product with few bytes (stretch)
#
# C (M, N) = A (M, K) B (K, N) with bfloat16 inputs and float32 sums, as in exercise 1. M and N are multiples of 64, K of 16. A
# block has 128 threads, four warps, and computes 64 x 64 numbers of C: blocks along x for the columns, along y for the rows.
# The count is the bytes that it moves for 64 x 64 matrices; 32,768 is the least. In ours each warp reads what it needs directly
# from global memory. How near can you come? Your tries are remembered.

# %% exercise="matmul_wmma_few_bytes"
r"""
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void matmul_wmma_few_bytes(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    // yours: 64 x 64 numbers of C by four warps
    int row = blockIdx.y * 64 + threadIdx.x / 32 * 16, column = blockIdx.x * 64;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (int s = 0; s < 4; s++) wmma::fill_fragment(sum[s], 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(left, A + row * K + k, K);
        for (int s = 0; s < 4; s++) {
            wmma::load_matrix_sync(right, B + k * N + column + 16 * s, N);
            wmma::mma_sync(sum[s], left, right, sum[s]);
        }
    }
    for (int s = 0; s < 4; s++) {
        wmma::store_matrix_sync(C + row * N + column + 16 * s, sum[s], N, wmma::mem_row_major);
    }
    // end
}
"""
