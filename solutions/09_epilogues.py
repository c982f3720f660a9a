# %% [markdown]
# # 09 Epilogues: exercises
#
# The lecture: [09 Epilogues](../notebooks/09_epilogues.ipynb). Here you write epilogues of the course's products. The model
# uses those of exercises 1, 4, 5 and 6; of the norm and the residual, 2 and 3, the lecture says why not.
#
# All of them but exercise 5 are a struct with `operator()(row, column, sums)`. `sums` is a `float4`: four consecutive elements
# of a row of the product, the first at `(row, column)`. The row exists; columns beyond its end come too. In exercises 1 to 4
# and 6 you have:
#
# | | |
# |---|---|
# | `c.store(row, column, four)`, `c.load(row, column)` | of `Rows`: beyond the end of a row nothing is written, and 0 is read |
# | `bias.added_to(four, column)` | of `Bias`: the four with the bias of their columns, or as they are if there is no bias |
# | `a + b`, `make_float4(x, y, z, w)` | two float4 added; one made of four numbers |
#
# Most of each of these cells is given: `Rows` and `Bias` above, the kernel below. `template <class T>` lets the same text serve
# for float and for numbers of 16 bits.

# %% [markdown]
# ## Scale and mask as an epilogue
#
# Attention begins with a product whose results are scaled, and masked as in chapter 04. Write the epilogue: the sum times
# `scale`, but minus infinity (`-INFINITY`) where the column is larger than the row. With the scale 0.5 the sums `[4, 2]` of row
# 0 become `[2, -inf]`.

# %% exercise="masked_scores" lecture=true
r"""
struct Masked {
    float scale;
    __device__ float operator()(int row, int column, float sum) const {
        // yours: what is written to y[row * N + column]
        return column <= row ? scale * sum : -INFINITY;
        // instead
        // return sum;
        // end
    }
};

template <class Epilogue>
__device__ void product(const float* x, const float* w, float* y, int M, int N, int K, Epilogue epilogue) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += x[row * K + k] * w[column * K + k];
    y[row * N + column] = epilogue(row, column, sum);
}

__global__ void masked_scores(const float* x, const float* w, float* y, float scale, int M, int N, int K) {
    Masked epilogue = {scale};
    product(x, w, y, M, N, K, epilogue);
}
"""

# %% [markdown]
# ## A norm with a bias waits
#
# LayerNorm adds a bias after the gain. Let each row of `x` have the mean 0 already: then `normed = x * r * gain + bias`. The
# product with `W`, of shape (N, K), can still come first. Return `folded` (N, K) and `shift` (N,), such that `normed @ W.T` is
# `r * (x @ folded.T) + shift` for every x and r. Here `x` is (M, K), `r` is (M, 1), and `gain` and `bias` are (K,).


# %% exercise="fold_norm" lecture=true
def fold_norm(W, gain, bias):
    # yours: what can be computed once, before any x is known
    return W * gain, W @ bias
    # end


# %% [markdown]
# ## Logsumexp from parts
#
# Squares are added up in any grouping. For `linear_logsumexp` each warp leaves a pair for its part of a row: `m`, the largest
# number of that part, and `l`, the sum of exp(number - m), as in chapter 06. From `m` and `l`, of shape (M, parts) each,
# compute the logsumexp of every row, of shape (M,). With m `[[2, 2]]` and l `[[1.5, 3]]` it is `[2 + log(4.5)]`.


# %% exercise="logsumexp_of_parts" lecture=true
def logsumexp_of_parts(m, l):
    # yours: one number for each row
    most = m.max(axis=1, keepdims=True)  # (M, 1)
    return most[:, 0] + np.log((l * np.exp(m - most)).sum(axis=1))  # (M,)
    # end


# %% [markdown]
# ## 1. Bias and GELU as an epilogue
#
# `pre` is the product plus the bias, and `c` its GELU. Both are written. `gelu(v)` gives the GELU of one number. So the sum
# 0.5 with the bias 0.5 leaves 1 in pre and 0.84 in c. The first half of every MLP in the model ends in this way.
#
# Write every number once, and do not read any of them again.

# %% exercise="gemm_gelu"
# given kernels/include/epilogues.cuh rows
# include kernels/include/epilogues.cuh StoreGelu.operator: add the bias, keep the sum in pre, store its GELU
# given kernels/gemm.cu gemm_gelu

# %% [markdown]
# ## 2. RMSNorm after the product
#
# `scale` has one number for each row of the product. Multiply. With the sums 1 and 2 in a row whose scale is 3, c holds 3 and
# 6. The norm of the lecture, without its kernel.

# %% exercise="gemm_row_scale"
# given kernels/include/epilogues.cuh rows
# include kernels/include/epilogues.cuh StoreScaled.operator: multiply the row by its number, and store
# given kernels/gemm.cu gemm_row_scale

# %% [markdown]
# ## 3. Find the fault: the wrong way round
#
# The product, plus the bias, plus the residual with the same index. Run the cell, and read the report. What would a test with
# matrices of 64 x 64 have found?

# %% exercise="gemm_residual"
# given kernels/include/epilogues.cuh rows
# include kernels/include/epilogues.cuh StoreResidual.operator: fix this line
# plant residual.load(row, column) => residual.load(column, row)
# given kernels/gemm.cu gemm_residual

# %% [markdown]
# ## 4. Parts of a logsumexp (stretch)
#
# The loss needs the logsumexp of each row of logits, and a row may have thousands of columns, in many blocks. While the
# logits are still in registers, `operator()` adds each of them to `part`: `part.m` is the running maximum m of this lane,
# `part.l` its sum l of exp(number - m), as in chapter 06.
#
# Write `end_of_row(row, number, widest, narrowest)`. All 32 lanes call it together, after a row. The lanes that hold parts of
# the same row exchange them by `__shfl_xor_sync` with the steps widest, widest / 2, ... narrowest; the first lane of each such
# group has `(threadIdx.x & (2 * widest - narrowest)) == 0`. `merge(a, b)` makes one part of two; `{m, l}` makes a part.
# One lane writes the row's part to `part_m` and `part_l` at `row * parts + number`, if the row is below `M`. Then `part` begins
# anew: `nothing_seen()`.

# %% exercise="gemm_logsumexp"
# given kernels/include/epilogues.cuh rows
# include kernels/include/epilogues.cuh StoreLogsumexp.end_of_row: merge the lanes' parts, write the row's, begin anew
# given kernels/gemm.cu gemm_logsumexp

# %% [markdown]
# ## 5. Add up the parts of a product (stretch)
#
# The gradient of a weight is a small matrix of very long sums. One block for each tile would leave most of a GPU idle. So each
# sum is divided into `splits` parts, and each block sums one part: `partial` is (splits, n), where n is the number of elements
# of C. Add up the parts, always in the same order. `partial` `[[1, 2], [10, 20]]` becomes `[11, 22]`. It is launched with a
# thread or more for each element, in blocks of 256. Read each number of `partial` once and write each of C once, with at most
# 4.2 sectors for each request that reads, and at most 4 of the 32 lanes idle.

# %% exercise="gemm_split_sum"
# include kernels/gemm_split_sum.cu gemm_split_sum: add up element i of all parts

# %% [markdown]
# ## 6. The bias of a linear layer (stretch)
#
# The simplest of all: the product, plus the bias, to `c`. With the sums `[1, 2]` and the bias `[10, 20]`, c holds `[11, 22]`. A
# layer may have no bias: then `bias.bias`, its pointer, is null. It is launched in blocks of 64 threads, with tiles of 64 x 64.
# Every linear layer of the model ends here, and so do the logits.

# %% exercise="gemm_bias"
# given kernels/include/epilogues.cuh rows
# include kernels/include/epilogues.cuh Store.operator: add the bias, and store
# given kernels/gemm.cu gemm_bias

# %% [markdown]
# ## 7. Challenge: a gate as an epilogue (stretch)
#
# SwiGLU of chapter 05 takes two products: y = silu(gate) * up, with silu(z) = z / (1 + exp(-z)). Interleave the rows of both
# matrices in one: gate 0, up 0, gate 1, up 1, ... Then gate and up of one y are **neighbours in the product**, and
# arrive in the same `float4`. `weight` is (2 N, K), and y is (M, N).
#
# A `float2` is two floats, x and y; `make_float2(x, y)` makes one, and it is stored by one instruction where its address is a
# multiple of 8 bytes. Every right epilogue passes. How few bytes can yours move?

# %% exercise="gemm_swiglu"
r"""
#include "gemm_tile.cuh"
typedef Tile<64, 64, 16, 8, 8> T;

__device__ float silu(float z) { return z / (1.0f + expf(-z)); }

struct StoreGated {
    float* y;
    int N;  // columns of y, half of those of the product
    __device__ void operator()(int row, int column, float4 s) const {
        // yours: any right epilogue passes; then move fewer bytes
        const int j = column / 2;
        const float first = silu(s.x) * s.y, second = silu(s.z) * s.w;
        if (N % 2 == 0 && j + 1 < N) {
            *(float2*)(y + (size_t)row * N + j) = make_float2(first, second);
        } else {
            if (j < N) y[(size_t)row * N + j] = first;
            if (j + 1 < N) y[(size_t)row * N + j + 1] = second;
        }
        // end
    }
    __device__ void end_of_row(int, int, int, int) const {}
};

__global__ void gemm_swiglu(const float* x, const float* weight, float* y, int M, int N, int K) {
    __shared__ __align__(16) T::SliceA a[2];
    __shared__ __align__(16) T::SliceB b[2];
    StoreGated epilogue = {y, N};
    gemm_tile<T, false, true>(a, b, x, weight, M, 2 * N, K, 0, K, epilogue);
}
"""
