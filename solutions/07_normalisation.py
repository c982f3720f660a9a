# %% [markdown]
# # 07 Normalisation: exercises
#
# The lecture: [07 Normalisation](../notebooks/07_normalisation.ipynb). There you built RMSNorm. Here you write LayerNorm, the
# norm of the model that you will train.

# %% [markdown]
# ## What a weight and a bias undo
#
# Which learned weight and bias would give a row back as it was? For a row `x` of shape (C,), return two numbers `weight, bias`
# such that `layernorm(x) * weight + bias` is `x` again. (For one row: all rows share them, so no weight undoes two that differ
# in scale.) Mind the `1e-5`. For `[1, 3]` they are about `1` and `2`.

# %% exercise="undo_norm" lecture=true
def undo_norm(x):
    # yours: the weight and the bias
    return np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5), x.mean()
    # end


# %% [markdown]
# ## Find the fault: used again too soon
#
# `centre_and_scale` is LayerNorm without weight and bias: each row minus its mean, divided by its standard deviation. A block
# of 64 threads owns a row. `total` adds up one number of each thread in shared memory, and it is called twice. Run the cell,
# and read which two lines the report names. `block_sum` of the course has a line for exactly this.

# %% exercise="centre_and_scale" lecture=true
r"""
__device__ float total(float own, float* s) {
    s[threadIdx.x] = own;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    // yours: fix the line below
    float all = s[0];
    __syncthreads();  // the next call writes to s again
    return all;
    // instead
    // return s[0];
    // end
}

__global__ void centre_and_scale(const float* x, float* y, int C) {
    __shared__ float s[64];
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += 64) sum += x[c];
    float mean = total(sum, s) / C;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < C; c += 64) squares += (x[c] - mean) * (x[c] - mean);
    float rstd = rsqrtf(total(squares, s) / C + 1e-5f);
    for (int c = threadIdx.x; c < C; c += 64) y[c] = (x[c] - mean) * rstd;
}
"""

# %% [markdown]
# ## A row read once
#
# Rows of 96 numbers, a block of 32 threads for each: subtract from each number the mean of its row. The sum over the block is
# `block_sum<32>(sum)`. The goal is the least possible, 8 bytes for each number.

# %% exercise="centre_in_registers" lecture=true
r"""
#include "reduce.cuh"

__global__ void centre_in_registers(const float* x, float* y) {
    int first = blockIdx.x * 96 + threadIdx.x;
    float own[3], sum = 0.0f;
    // yours: keep three numbers in `own`, find the mean, and write
    for (int k = 0; k < 3; k++) {
        own[k] = x[first + 32 * k];
        sum += own[k];
    }
    float mean = block_sum<32>(sum) / 96;
    for (int k = 0; k < 3; k++) y[first + 32 * k] = own[k] - mean;
    // end
}
"""

# %% [markdown]
# ## The gradient of a unit vector
#
# Divide a row `x` by its *length*, the root of the sum of its squares, instead of the root mean square. Then `y` has the length
# 1, and the rule is shorter. Give `dx` for `x` and `dy` of shape (C,). For `x = (3, 4)` and `dy = (1, 0)` it is `(0.128,
# -0.096)`.


# %% exercise="unit_backward" lecture=true
def unit_backward(dy, x):
    length = np.sqrt((x * x).sum())
    y = x / length  # (C,)
    # yours: subtract from dy its component along y, and divide
    return (dy - y * (dy * y).sum()) / length
    # end


# %% [markdown]
# ## Partial sums of a bias gradient
#
# The bias of LayerNorm is added to every row, so its gradient is the sum of all rows of `dy`, of shape (rows, C). Here is the
# first of the two kernels. As in `backward`, block b owns the rows b, b + gridDim.x, and so on. Their sum becomes row b of
# `partial`, of shape (gridDim.x, C). A block without rows writes zeros. With two blocks and the rows `[1, 2]`, `[3, 4]`, `[5,
# 6]`, partial is `[[6, 8], [3, 4]]`.

# %% exercise="partial_bias_gradient" lecture=true
r"""
__global__ void partial_bias_gradient(const float* dy, float* partial, int rows, int C) {
    int c = threadIdx.x;
    if (c >= C) return;
    float sum = 0.0f;
    // yours: add column c of the rows of this block, and write it
    for (int row = blockIdx.x; row < rows; row += gridDim.x) sum += dy[row * C + c];
    partial[blockIdx.x * C + c] = sum;
    // end
}
"""

# %% [markdown]
# ## 1. LayerNorm, the row in registers
#
# In the lecture a thread kept its numbers in `float own[3]`. `Row` does that for rows of any length, up to `x.COUNT` numbers
# for each thread:
#
# | | |
# |---|---|
# | `x[e]` | this thread's number e, from 0 to `x.COUNT - 1` |
# | `x.column(e)` | the index of its column; beyond the row, that is from column `C` on, `x[e]` is 0 |
# | `x.load(pointer, C)`, `x.store(pointer, C)` | reads a row of C numbers from memory, and writes one |
#
# `template <int THREADS, int N, int ITEMS>` means that the compiler makes the function anew for each set of three numbers with
# which it is launched. You only need `block_sum<THREADS>(number)`, the sum over the block. An `&` after a type, as in
# `float& mean`, makes the argument another name for the variable of the caller: a value that you assign to it is seen by the
# caller.
#
# `normalise` gets a row `x` that is loaded already. Set `mean` and `rstd`, which is 1 / sqrt(variance + eps), and replace
# each `x[e]` by the normalised number times `weight[e]` plus `bias[e]`. The row `[1, 2, 3]`, with weights of 1 and a bias of
# 0, becomes about `[-1.22, 0, 1.22]`. The kernel under it does the rest. `normalise` runs 13 times in every step of
# the model.

# %% exercise="layernorm_forward"
# include kernels/include/layernorm_row.cuh normalise: set mean and rstd, and normalise the row
# given kernels/layernorm.cu layernorm_forward

# %% [markdown]
# ## 2. The backward pass of LayerNorm
#
# `normalise_backward` gets the row `x` as it was, and the upstream gradient `dy`. Beyond the row `dy` is 0. With
# xhat = (x - mean) rstd and g = dy weight:
#
# $$dx_c = \Big( g_c - \frac{1}{C} \sum_k g_k - \hat x_c \cdot \frac{1}{C} \sum_k g_k \hat x_k \Big) \cdot rstd$$
#
# Replace each `x[e]` by its `dx`. Add dy xhat to `dweight[e]` and dy to `dbias[e]`: these two rows are sums over all rows of
# the block, and the kernel stores them as the block's row of `partial`. For x = `[1, 3]`, weights of 1 and any dy, dx is
# almost `[0, 0]`: of two different numbers the smaller always becomes -1, and the larger 1.

# %% exercise="layernorm_backward"
# include kernels/include/layernorm_row.cuh normalise_backward: turn x into dx, and add to dweight and dbias
# given kernels/layernorm.cu layernorm_backward

# %% [markdown]
# ## 3. The residual and the norm in one kernel (stretch)
#
# `total = x + residual`, and `y` is LayerNorm of total. Both are stored, and `mean` and `rstd` of each row (by one thread).
# Block b owns the rows b, b + gridDim.x, and so on. `bias` may be a null pointer, one that leads nowhere (`if (bias)` is false
# then): it counts as 0. `w.fill(0.0f)` makes a row of zeros.
#
# You have `Row` of exercise 1, and its function `normalise(own, w, b, C, eps, m, r)`, which replaces the row in `own`, and
# sets `m` and `r`, the mean and rstd. Read each number of `x` and `residual` once, and do not read again what you wrote: at most
# 1.15 times the 16 bytes for each number.

# %% exercise="residual_layernorm_forward"
# include kernels/residual_layernorm.cu residual_layernorm_forward: load, add, keep the sum, normalise, store

# %% [markdown]
# ## 4. The backward pass of the residual and the norm (stretch)
#
# `total` of exercise 3 was used twice: in the norm, and later as the residual stream. The upstream gradient of the second use
# is `dtotal`; it may be a null pointer, and then it counts as 0. `dx` is the sum of the gradients of both uses.
#
# Block b owns the same rows as in exercise 3. Read each number once: at most 1.15 times the 16 bytes for each. You have
# `normalise_backward(x, dy, w, dweight, dbias, C, mean, rstd)` of exercise 2. `partial` has a row for each block: 2
# C numbers, dweight and then dbias, or C numbers if `has_bias` is false.

# %% exercise="residual_layernorm_backward"
# include kernels/residual_layernorm.cu residual_layernorm_backward: load, normalise_backward, add dtotal, store, and the sums

# %% [markdown]
# ## 5. Find the fault: right for 128 columns (stretch)
#
# RMSNorm, for rows of any length: `y = x * rstd * weight`, where rstd, which is kept for the backward pass, is 1 / sqrt(mean
# of x^2 + eps). The row lies in a `Row`, as in exercise 1, in 64 threads that hold 2 numbers each, or 4. This one is right for
# rows of 128 numbers, and of 256, and wrong for most others: a test with round sizes would not have seen it. Run the cell: it
# fails for rows of 2. What do 128 and 256 have in common that 2 lacks?

# %% exercise="rmsnorm_forward"
# include kernels/rmsnorm.cu rmsnorm_forward: fix what is wrong
# plant block_sum<THREADS>(squares) / C => block_sum<THREADS>(squares) / (own.COUNT * THREADS)

# %% [markdown]
# ## 6. The backward pass of RMSNorm (stretch)
#
# The lecture wrote it for 384 columns. Here for any `C`, with `Row` of exercise 1: block b owns the rows b, b + gridDim.x,
# and so on. `rstd[row]` was kept. With xhat = x rstd and g = dy weight:
#
# $$dx_c = \Big( g_c - \hat x_c \cdot \frac{1}{C} \sum_k g_k \hat x_k \Big) \cdot rstd$$
#
# And `partial` has a row of C numbers for each block: the sum of dy xhat over the rows of that block. (Another kernel adds these
# rows up to dweight.) `w.fill(0.0f)` makes a row of zeros. For x `[3, 4]`, dy `[1, 0]` and a weight of 1, dx is `[0.181,
# -0.136]`. Read each number once: at most 1.15 times the 12 bytes for each. The backward pass of the model `modern-12m` runs this
# kernel.

# %% exercise="rmsnorm_backward"
# include kernels/rmsnorm.cu rmsnorm_backward: load, subtract the component along xhat, store, and the block's sums

# %% [markdown]
# ## 7. Challenge: a norm after the branch (stretch)
#
# Some models put the norm after the branch: `y = x + RMSNorm(branch) * weight`. (Gemma 2 does, in addition to the norm before
# it.) All rows have 384 numbers, `weight` too, and eps is `1e-5f`. The launch is fixed: 4 blocks of 128 threads, for any
# number of `rows`. `#include "reduce.cuh"` brings `block_sum<128>`.
#
# Every right kernel passes. How few bytes can yours move? The verdict remembers your tries.

# %% exercise="residual_post_norm"
r"""
#include "reduce.cuh"

__global__ void residual_post_norm(const float* x, const float* branch, const float* weight, float* y, int rows) {
    // yours: any right kernel passes; then move fewer bytes
    float own[3], w[3];
    for (int k = 0; k < 3; k++) w[k] = weight[threadIdx.x + 128 * k];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int first = row * 384 + threadIdx.x;
        float squares = 0.0f;
        for (int k = 0; k < 3; k++) {
            own[k] = branch[first + 128 * k];
            squares += own[k] * own[k];
        }
        float r = rsqrtf(block_sum<128>(squares) / 384 + 1e-5f);
        for (int k = 0; k < 3; k++) y[first + 128 * k] = x[first + 128 * k] + own[k] * r * w[k];
    }
    // end
}
"""
