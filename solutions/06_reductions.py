# %% [markdown]
# # 06 Reductions and softmax: exercises
#
# The lecture: [06 Reductions and softmax](../notebooks/06_reductions.ipynb).

# %% [markdown]
# ## 1. The largest of each row
#
# `x` has one row of `C` numbers for each block, and `y[row]` is to be the largest of row `row`. With the rows `[1, 4]` and
# `[-2, -3]`, y becomes `[4, -2]`.
#
# Two parts are yours. `warp_reduce` is the butterfly of warp shuffles of the lecture for `LANES` lanes: `Op::of(a, b)` combines
# two numbers, and all 32 lanes of the warp take part (the mask is `0xffffffffu`). `row_max` is the kernel: thread t
# reads the packs of `N` numbers that begin at N * t, N * (t + THREADS), and so on, and then the block compares:
# `block_max<THREADS>(v)` is the largest `v` of all threads. It is launched with 32 threads and N = 1, and with 128 threads
# and N = 4, where C is a multiple of 4.
#
# `Max::of(a, b)` is the larger of two floats. Every softmax begins with this maximum. Later exercises sum by your `warp_reduce`,
# with another `Op`, also integers and in groups of fewer lanes; so both are tried.

# %% exercise="row_max"
# include kernels/include/reduce.cuh warp_reduce: exchange with a partner lane, first LANES / 2 away, then half as far each time
# given kernels/include/reduce.cuh block_reduce
# given kernels/include/reduce.cuh block_max
# include kernels/row_max.cu row_max: your own largest first, then that of the block

# %% [markdown]
# ## 2. Softmax in two passes
#
# The online softmax: one pass for the largest number and the sum, a second one for the quotients. A thread keeps a pair:
# `m`, its running maximum, and `l`, its sum of exp(x - m). (In C++ `return {m, l};` makes one;
# `fmaxf(a, b)` is the larger of two floats.) Three parts are yours:
#
# - `merge(a, b)`: two pairs become one. If neither thread has seen a number, both maxima are `-INFINITY`, and -inf minus -inf is
#   not a number: then the pair stays as it is.
# - `see(part, x)`: one more number. An x of `-INFINITY` adds nothing.
# - the kernel. Block `row` owns a row of `S` numbers. `visible(row, S, T)` says how many columns the row sees; call it
#   `seen`. Thread t sees numbers t, t + THREADS, ... of the first `seen` columns, and `block_merge<THREADS>(part)` gives
#   the pair of the whole row to all threads. In the columns from `seen` on, y is 0.
#
# With the row `[0, 0, 0]` and all columns seen, y is `[1/3, 1/3, 1/3]`. The goal is at most 1.05 times 12 bytes for each
# number: a softmax of three passes moves 16. For rows too long for registers, the course runs this kernel. (`#pragma unroll` is
# an instruction to the compiler, and changes no result: chapter 07 has more about it.)

# %% exercise="softmax_online"
# given kernels/include/online_softmax.cuh OnlineSoftmax
# given kernels/include/online_softmax.cuh nothing_seen
# include kernels/include/online_softmax.cuh merge: rescale both sums to the larger maximum, and add
# include kernels/include/online_softmax.cuh see: one more number
# given kernels/include/online_softmax.cuh warp_merge
# given kernels/include/online_softmax.cuh block_merge
# given kernels/softmax.cu visible
# include kernels/softmax.cu softmax_2_online: one pass, a merge, and a pass to write

# %% [markdown]
# ## 3. The backward pass of softmax
#
# `y` holds the probabilities, and `dy` is the upstream gradient; rows have `S` numbers, and block `row` owns one. Write
#
# $$dx_j = y_j \left( dy_j - \sum_i y_i \, dy_i \right)$$
#
# For y `[0.25, 0.75]` and dy `[1, 0]`, dx is `[0.1875, -0.1875]`. `block_sum<THREADS>(v)` is the sum of the `v` of all
# threads, and every thread gets it. All threads of the block must call it, also those without a number. It is launched with
# 64 threads.

# %% exercise="softmax_backward_kernel"
# include kernels/softmax.cu softmax_backward_1_two_pass: the sum of y dy over the row, and then dx

# %% [markdown]
# ## 4. Find the fault: shared memory used twice (stretch)
#
# `min_max_scale` moves each row to between 0 and 1: the smallest number becomes 0, the largest 1. For the row `[2, 6, 3]` y is
# `[0, 1, 0.25]`. A block of 64 threads owns a row, finds the largest in shared memory (the SRAM of the chip), and then the
# smallest in the *same* shared memory. Run the cell first, and read the report. (`block_reduce` in the lecture ends with a
# barrier that looks useless. It is there because of this.)

# %% exercise="min_max_scale"
r"""
__global__ void min_max_scale(const float* x, float* y, int C) {
    __shared__ float part[64];
    const float* row = x + blockIdx.x * C;
    int t = threadIdx.x;
    float high = -INFINITY, low = INFINITY;
    for (int c = t; c < C; c += 64) {
        high = fmaxf(high, row[c]);
        low = fminf(low, row[c]);
    }

    part[t] = high;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    }
    // yours: fix what is wrong from here on
    __syncthreads();
    float top = part[0];
    __syncthreads();

    part[t] = low;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] = fminf(part[t], part[t + half]);
    }
    __syncthreads();
    float bottom = part[0];
    // instead
    // float top = part[0];
    //
    // part[t] = low;
    // for (int half = 32; half > 0; half /= 2) {
    //     __syncthreads();
    //     if (t < half) part[t] = fminf(part[t], part[t + half]);
    // }
    // float bottom = part[0];
    // end

    for (int c = t; c < C; c += 64) y[blockIdx.x * C + c] = (row[c] - bottom) / (top - bottom);
}
"""

# %% [markdown]
# ## 5. Down the columns (stretch)
#
# `x` has the shape (outer, K, inner), and is to be reduced along its middle axis: sums or maxima, as `Op` says. So that there
# is work for many threads, the K numbers of a column are cut into `parts` parts of `each` numbers (the last may be shorter),
# and `y`, of shape (outer, parts, inner), holds one result for each part. With `[[1, 2], [3, 4], [5, 6]]` as one (1, 3, 2)
# array, `Sum`, and parts of 2 numbers, y is `[[4, 6], [5, 6]]`.
#
# Along x there is a thread for each of the outer * inner columns: thread i owns column i % inner of matrix i / inner. Along y
# there are `gridDim.y` blocks, among which the parts are divided: a thread takes part `blockIdx.y`, and then every
# `gridDim.y`-th. A part begins with `nothing`: 0 for sums, the lowest number for maxima. `Op::of(a, b)` combines two numbers,
# and `(A)` converts a number to the type of the results. The goal is at most 4 sectors for each request, with at most 4 of the
# 32 lanes idle. The gradient of every bias and every weight of a norm ends here: a training step launches it for every layer.

# %% exercise="reduce_columns"
# include kernels/reduce_columns.cu reduce_columns: each of your parts, number by number

# %% [markdown]
# ## 6. The index of the largest (stretch)
#
# `x` has the shape (outer, n, inner), and the kernel loops over its middle axis: thread i owns result i, one for each of the
# outer * inner columns, and `y[i]` is the *index* of the largest number in that column, 0 to n - 1; of several equal ones the
# first. The numbers of a column lie `inner` apart, as in exercise 5. A nan (not a number) counts as larger than all others.
# With the column `[3, 7, 7]`, y is 1. There are `results` columns. This kernel finds the likeliest next token.

# %% exercise="argmax"
# include kernels/argmax.cu argmax: loop over your column, and keep the index of the largest

# %% [markdown]
# ## 7. Along the rows (stretch)
#
# `x` has `rows` rows of K numbers. Each row is cut into `parts` parts of `each` numbers (the last may be shorter), and `y`, of
# shape (rows, parts), holds the sum or the largest of each part, as `Op` says. With `[[1, 2, 3], [4, 5, 6]]`, `Sum`, and parts
# of 2 numbers, y is `[[3, 3], [9, 6]]`.
#
# A part belongs to a group of `LANES` neighbouring lanes: group `own`, the number of the thread divided by LANES, owns part
# `own % parts` of row `own / parts`. Its lanes read side by side, a `Pack<T, N>` each, N numbers of the type T. `nothing`,
# `Op::of(a, b)` and `(A)` are as in exercise 5. `warp_reduce<LANES, Op>(result)`, your own of exercise 1, combines the results
# of a group: **all** lanes of a warp must call it, also those whose group has no part. It is launched with 8 lanes, in blocks
# of 64 threads, with N = 1 and with N = 4, where K and each are multiples of 4. For 16 rows of 256 numbers at most 32
# instructions may read, with at most 4 idle lanes. Sums and maxima along the last axis of a tensor are this kernel.

# %% exercise="reduce_rows"
# include kernels/reduce_rows.cu reduce_rows: loop over your part with your group, shuffle, and one lane writes

# %% [markdown]
# ## 8. The last version of a sum (stretch)
#
# The lecture adds up `n` numbers in four versions. This is the last one, in which a thread adds many numbers by itself before
# its block reduces. The grid has `gridDim.x * THREADS` threads; the first pack of four of thread i is pack i, and its
# next one lies as many packs further as the grid has threads. If n is not a multiple of 4, up to three numbers are left over at
# the end: they count too, once. `partial[blockIdx.x]` becomes the sum of the block; `block_sum<THREADS>(v)` finds it. A
# second launch of the same kernel, with one block, adds up the sums of the blocks. With 5 ones and 3 blocks, partial is `[5,
# 0, 0]`.
#
# x begins at a multiple of 16 bytes. For 6144 numbers, three blocks of 64 threads, and the second launch, at most 52
# load instructions may read global memory.

# %% exercise="sum_4_vectors"
# include kernels/sum.cu sum_4_vectors: four at a time, the last few, and the sum of the block

# %% [markdown]
# ## 9. Challenge: softmax with the fewest bytes (stretch)
#
# The same as exercise 2, for rows that fit into the registers of a block: S is at most THREADS * N * ITEMS. There are `rows`
# rows and perhaps fewer blocks, so a block takes row `blockIdx.x`, and then every `gridDim.x`-th. It is launched with 32
# threads. The count is the number of bytes moved for 16 rows of 256 numbers: 32,768 must move. Your tries are remembered, and
# `course.versions("softmax_forward")` draws them under a roofline.
#
# A tool for it: `Row<THREADS, N, ITEMS> own;` is a row in registers, of which each thread holds `own.COUNT` numbers.
# `own.load(row, S, -INFINITY)` reads the first S numbers of a row (beyond them it holds -INFINITY), `own.store(row, S)`
# writes them, `own[e]` is the thread's e-th number, from 0 to COUNT - 1, and `own.column(e)` is the index of its column.
# `visible(row, S, T)` says how many columns a row sees; in all others y is 0. (`__launch_bounds__(THREADS)` promises the
# compiler how many threads a block has.) The model's probabilities over the vocabulary come from this kernel.

# %% exercise="softmax_forward"
# given kernels/softmax.cu visible
# include kernels/softmax.cu softmax_forward: a softmax of each of your rows
