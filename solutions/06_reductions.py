# %% [markdown]
# # 06 Reductions and softmax: exercises
#
# The lecture: [06 Reductions and softmax](../notebooks/06_reductions.ipynb).

# %% [markdown]
# ## Count in one address
#
# `count` points to one int, which is 0 at first. Let it become the number of elements of `x` that are larger than `limit`.
# There are enough threads for all `n` numbers, and perhaps some more. Integers do not round, so here an atomic gives the same
# result in any order.

# %% exercise="count_above" lecture=true
r"""
__global__ void count_above(const float* x, int* count, float limit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // yours: count the number of this thread, if it has one
    if (i < n && x[i] > limit) atomicAdd(count, 1);
    // end
}
"""

# %% [markdown]
# ## Roll in place
#
# `x` has `n` numbers, 64 at most. Move each of them one position to the left, and the first one to the end: `[1, 2, 3]` becomes
# `[2, 3, 1]`. There is no second array in global memory, only `part`. It is launched with one block of 64 threads.

# %% exercise="roll_in_place" lecture=true
r"""
__global__ void roll_in_place(float* x, int n) {
    __shared__ float part[64];
    int t = threadIdx.x;
    // yours: keep the old numbers in `part`, and write the right neighbour of each
    if (t < n) part[t] = x[t];
    __syncthreads();
    if (t < n) x[t] = part[(t + 1) % n];
    // end
}
"""

# %% [markdown]
# ## Sums of eight lanes
#
# Eight neighbouring lanes form a group: lanes 0 to 7, 8 to 15, and so on. `y` of each thread becomes the sum of the numbers of
# its group. If all numbers are ones, each y is 8. It is launched with one block of whole warps.

# %% exercise="sum_of_8_lanes" lecture=true
r"""
__global__ void sum_of_8_lanes(const float* x, float* y) {
    float v = x[threadIdx.x];
    // yours: exchange with the lanes of the group alone
    for (int step = 4; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffff, v, step);
    // end
    y[threadIdx.x] = v;
}
"""

# %% [markdown]
# ## Find the faults: shared memory used twice (stretch)
#
# `min_max_scale` moves each row to between 0 and 1: the smallest number becomes 0, the largest 1. For the row `[2, 6, 3]` y is
# `[0, 1, 0.25]`. A block of 64 threads owns a row, finds the largest in shared memory (SRAM of its multiprocessor), and then the
# smallest in the *same* shared memory. (`fmaxf` and `fminf` give the larger and the smaller of two floats.) Run the cell first,
# and read the report. (`block_reduce` in the lecture ends with a barrier that looks useless. It is there because of this.)

# %% exercise="min_max_scale" lecture=true
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
# ## A weighted sum, online
#
# Each number `x` comes with a `value`, and besides `m` and `l` we want `total`: the sum of $e^{x - m} \cdot$ `value` over all
# numbers so far. (Attention needs it: total / l is the average of the values, with the probabilities as weights.) Write `see`
# with `total` for one more `x` and its `value`. From `m, l, total = 2, 1, 5` and `x, value = 2, 3` it makes `(2, 2, 8)`.


# %% exercise="see_weighted" lecture=true
def see_weighted(m, l, total, x, value):
    new = max(m, x)
    # yours: return the new m, l and total
    return new, l * np.exp(m - new) + np.exp(x - new), total * np.exp(m - new) + np.exp(x - new) * value
    # end


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
# `Max::of(a, b)` is the larger of two floats. Every softmax begins with this maximum. Later exercises sum with your
# `warp_reduce` and the `Op` `Sum`, also integers and in groups of fewer lanes; so both are tried. Each number is read once:
# for 3 rows of 1028 at most 1.2 times their bytes may move.

# %% exercise="row_max"
# include kernels/include/reduce.cuh warp_reduce: exchange with a partner lane, first LANES / 2 away, then half as far each time
# given kernels/include/reduce.cuh block_reduce
# given kernels/include/reduce.cuh block_max
# include kernels/row_max.cu row_max: your own largest first, then that of the block

# %% [markdown]
# ## 2. Softmax in two passes
#
# The online softmax of the lecture, as a kernel: a first pass over the row finds its maximum and its sum together, and a second
# one writes the quotients. A pair of the lecture is the struct `OnlineSoftmax` here: `p.m` is the running maximum of the pair
# `p`, and `p.l` the sum of exp(x - m). `return {m, l};` returns a pair with these two numbers. `nothing_seen()` is the pair
# before the first number, minus infinity and 0.
#
# Three functions are yours. What is written already you may use without reading it: `block_merge` does for pairs what
# `block_reduce` does for numbers. (Its `#pragma unroll` is for the compiler: chapter 07.)
#
# 1. `merge(a, b)`: two pairs become one, as in the lecture's Python. `fmaxf(a, b)` is the larger of two floats. One case is new:
#    neither thread has seen a number. Then both maxima are `-INFINITY`, and -inf minus -inf is not a number: return a pair
#    that has seen nothing.
# 2. `see(part, x)`: the pair `part` after one more number. An x of `-INFINITY` adds nothing, even if it comes first.
# 3. The kernel. Each row of `S` numbers has a block of `THREADS` threads: block `row` owns the row that begins at `x + row * S`.
#    Only its first columns count: `visible(row, S, T)` says how many; call that number `seen`. (With T = 0 all count, and with
#    a causal mask fewer.) First pass: thread t sees the numbers t, t + THREADS, ..., below `seen`. Then all threads call
#    `block_merge<THREADS>(part)`: it returns the pair of the whole row. Second pass: y is exp(x - m) / l, and 0 in the columns
#    from `seen` on.
#
# With the row `[0, 0, 0]` and all columns seen, y is `[1/3, 1/3, 1/3]`. It is launched with 32 and with 64 threads. The goal is
# at most 1.05 times 12 bytes for each number: a softmax of three passes moves 16. For rows too long for registers, the course
# runs this kernel.

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
# threads, and every thread gets it. All threads of the block must call it, also those without a number. It is launched with 64
# and with 128 threads.

# %% exercise="softmax_backward_kernel"
# include kernels/softmax.cu softmax_backward_1_two_pass: the sum of y dy over the row, and then dx

# %% [markdown]
# ## 4. Down the columns (stretch)
#
# `x` has the shape (outer, K, inner), and is to be reduced along its middle axis: sums or maxima, as `Op` says. So that there
# is work for many threads, the K numbers of a column are cut into `parts` parts of `each` numbers (the last may be shorter),
# and `y`, of shape (outer, parts, inner), holds one result for each part. With `[[1, 2], [3, 4], [5, 6]]` as one (1, 3, 2)
# array, `Sum`, and parts of 2 numbers, y is `[[4, 6], [5, 6]]`.
#
# In the x direction of the grid there are enough threads for the outer * inner columns: thread i owns column i % inner of
# matrix i / inner. In its y direction there are `gridDim.y` blocks, among which the parts are divided: a thread reduces the
# part with the index `blockIdx.y`, and then every `gridDim.y`-th part after it. A part begins with `nothing`: 0 for sums, the
# lowest number for maxima. `Op::of(a, b)` combines two numbers, and `(A)` converts a number to the type of the results. The
# goal is at most 4 sectors for each request, at most 4 of the 32 lanes idle, and each number read once, for 8 matrices of 16 x
# 32. The gradient of every bias and every weight of a norm ends here: a training step launches it for every layer.

# %% exercise="reduce_columns"
# include kernels/reduce_columns.cu reduce_columns: each of your parts, number by number

# %% [markdown]
# ## 5. The index of the largest (stretch)
#
# `x` has the shape (outer, n, inner), and the kernel loops over its middle axis: thread i owns result i, one for each of the
# outer * inner columns, and `y[i]` is the *index* of the largest number in that column, 0 to n - 1; of several equal ones the
# first. The numbers of a column lie `inner` apart, as in exercise 4. A nan (not a number) counts as larger than all numbers,
# and of several nan the first counts. With the column `[3, 7, 7]`, y is 1. There are `results` columns, and enough threads for
# them. This kernel finds the likeliest next token.

# %% exercise="argmax"
# include kernels/argmax.cu argmax: loop over your column, and keep the index of the largest

# %% [markdown]
# ## 6. Along the rows (stretch)
#
# `x` has `rows` rows of K numbers. Each row is cut into `parts` parts of `each` numbers (the last may be shorter), and `y`, of
# shape (rows, parts), holds the sum or the largest of each part, as `Op` says. With `[[1, 2, 3], [4, 5, 6]]`, `Sum`, and parts
# of 2 numbers, y is `[[3, 3], [9, 6]]`.
#
# A part belongs to a group of `LANES` neighbouring lanes: group `own`, the number of the thread divided by LANES, owns part
# `own % parts` of row `own / parts`. Its lanes read side by side, a `Pack<T, N>` each, N numbers of the type T. `nothing`,
# `Op::of(a, b)` and `(A)` are as in exercise 4. `warp_reduce<LANES, Op>(result)`, your own of exercise 1, combines the results
# of a group: **all** lanes of a warp must call it, also those whose group has no part. It is launched with 8 lanes and with
# 32, in blocks of 64 threads, with N = 1 and with N = 4, where K and each are multiples of 4. For 16 rows of 256 numbers at
# most 32 instructions may read, with at most 4 idle lanes. Sums and maxima along the last axis of a tensor are this kernel.

# %% exercise="reduce_rows"
# include kernels/reduce_rows.cu reduce_rows: loop over your part with your group, shuffle, and one lane writes

# %% [markdown]
# ## 7. The last version of a sum (stretch)
#
# The lecture adds up `n` numbers in four versions. This is the last one, in which a thread adds many numbers by itself before
# its block reduces. The grid has `gridDim.x * THREADS` threads; the first pack of four of thread i is pack i, and its
# next one lies as many packs further as the grid has threads. If n is not a multiple of 4, up to three numbers are left over at
# the end: block 0 adds them. `partial[blockIdx.x]` becomes the sum of the block; `block_sum<THREADS>(v)` finds it. A
# second launch of the same kernel, with one block, adds up the sums of the blocks. With 5 ones and 3 blocks, partial is `[5,
# 0, 0]`.
#
# x begins at a multiple of 16 bytes. For 6144 numbers, three blocks of 64 threads, and the second launch, at most 52
# load instructions may read global memory.

# %% exercise="sum_4_vectors"
# include kernels/sum.cu sum_4_vectors: four at a time, the last few, and the sum of the block

# %% [markdown]
# ## 8. Challenge: softmax with the fewest bytes (stretch)
#
# The same as exercise 2, for rows that fit into the registers of a block: S is at most THREADS * N * ITEMS. There are `rows`
# rows and perhaps fewer blocks, or more: a block takes row `blockIdx.x`, if it exists, and then every `gridDim.x`-th. It is
# launched with 32 and with 64 threads. The count is the number of bytes moved for 16 rows of 256 numbers: 32,768 must move.
# Your tries are remembered, and `course.versions("softmax_forward")` draws them under a roofline.
#
# A tool for it: `Row<THREADS, N, ITEMS> own;` is a row in registers, of which each thread holds `own.COUNT` numbers.
# `own.load(row, S, -INFINITY)` reads the first S numbers of a row (beyond them it holds -INFINITY; if you load fewer than S, the
# last pack of N may also hold numbers that come after them), `own.store(row, S)` writes them, `own[e]` is the thread's e-th
# number, from 0 to COUNT - 1, and `own.column(e)` is the index of its column. `visible(row, S, T)` says how many columns a row
# sees; in all others y is 0. (`__launch_bounds__(THREADS)` promises the compiler how many threads a block has.) It is the
# kernel behind the `softmax` of the library.

# %% exercise="softmax_forward"
# given kernels/softmax.cu visible
# include kernels/softmax.cu softmax_forward: a softmax of each of your rows
