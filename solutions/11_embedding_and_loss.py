# %% [markdown]
# # 11 Embedding and loss: exercises
#
# The lecture: [11 Embedding and loss](../notebooks/11_embedding_and_loss.ipynb). Here you write the two ends of the model.

# %% [markdown]
# ## Find the fault: added once
#
# `dy` has a row for each position, and `ids` the token there. The gradient of row w of a table with `V` rows is the sum of the
# rows of `dy` at the positions with the token w. The line below does not add them all up. Run the cell first. For the ids `[1,
# 1]` and dy `[[1], [10]]`, row 1 becomes `[11]`.


# %% exercise="rows_added" lecture=true
def rows_added(dy, ids, V):
    dtable = np.zeros((V, dy.shape[1]))
    # yours: fix the line below
    for i in range(len(ids)):
        dtable[ids[i]] += dy[i]
    # instead
    # dtable[ids] += dy
    # end
    return dtable


# %% [markdown]
# ## A row for each id
#
# `table` is (V, C), and `indices` names a row for each of n positions. Write y (n, C): `y[i] = table[indices[i]]`. An id that
# is negative, or V and more, has no row: its row of y is 0. With the table `[[1, 2], [3, 4]]` and the ids `[1, 1, 5]`, y is
# `[[3, 4], [3, 4], [0, 0]]`.
#
# It is launched with at least one thread for each number of y. `template <class I>`: the ids come as `int`, or as `long long`,
# C++'s integer of 64 bits. `I` stands for either.

# %% exercise="embedding_forward" lecture=true
# include kernels/embedding.cu embedding_forward: find this thread's position and column, and copy its number

# %% [markdown]
# ## The positions of a token
#
# `loss` has a number for each position of a text. `positions` holds the positions sorted by their token, and `starts` says
# where each token begins, with one more entry for the end. Add up the losses of each token. A token that does not occur has 0.


# %% exercise="losses_by_token" lecture=true
def losses_by_token(loss, positions, starts):
    V = len(starts) - 1
    sums = np.zeros(V)
    for token in range(V):
        # yours: the sum of the losses at the positions of this token
        sums[token] = loss[positions[starts[token] : starts[token + 1]]].sum()
        # end
    return sums


# %% [markdown]
# ## Find the fault: counted by many (stretch)
#
# `histogram` counts how often each of the letters 0 to 25 occurs, first in shared memory, then for all blocks. It is the
# first step of a counting sort. There are three faults, and the report shows them one by one. (Counts are integers: here
# atomics are fine.)

# %% exercise="histogram" lecture=true
r"""
__global__ void histogram(const int* letters, int* counts, int n) {
    __shared__ int own[26];
    if (threadIdx.x < 26) own[threadIdx.x] = 0;
    // yours: fix this part
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[letters[i]], 1);
    }
    __syncthreads();
    // instead
    // for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    //     own[letters[i]] += 1;
    // }
    // end
    if (threadIdx.x < 26) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
"""

# %% [markdown]
# ## The mean of those that count
#
# `losses` has a number for each position, also for those whose target is -1, where it means nothing. Return the mean loss of
# the positions that count, and 0.0 if none does. For the losses `[2, 4, 9]` and the targets `[5, 7, -1]` it is 3.


# %% exercise="mean_of_counted" lecture=true
def mean_of_counted(losses, targets):
    # yours: the mean over the positions that count
    counts = targets != -1
    return losses[counts].sum() / max(counts.sum(), 1)
    # end


# %% [markdown]
# ## 1. Gradients with an owner
#
# The positions are sorted already: row r of the table owns the segment from `positions[starts[r]]` to `positions[starts[r +
# 1] - 1]`. Add up these rows of `dy` (n, C) in that order, and write `dtable` (V, C). With dy `[[1, 1], [2, 2], [4, 4]]`,
# `positions` `[1, 0, 2]` and `starts` `[0, 1, 3]`, dtable is `[[2, 2], [5, 5]]`.
#
# It is launched with a block for each row of the table, of 64 threads, and C may be more than 64. No atomics; and at most 4.2
# sectors for each request that reads, with at most 4 of the 32 lanes idle.

# %% exercise="embedding_backward_kernel"
# include kernels/embedding.cu embedding_backward: add up the rows of dy that belong to row r, column by column

# %% [markdown]
# ## 2. Cross-entropy without probabilities
#
# Compute the loss without storing a probability. `logits` is (n, V), and `targets` has the token that came for each row. Write
# `logsumexp[i]`, and `losses[i]`: the logsumexp minus the logit of the target. A row whose target is `ignore` has loss 0. For
# the logits `[1, 3]` and the target 0 the logsumexp is 3.127, and the loss 2.127.
#
# `LANES` neighbouring threads work on one row, and blocks have 64 threads. `row_logsumexp<LANES>(row, V)` is given: the lanes
# of a row call it together, and all of them get the result. It uses warp shuffles, so **all** lanes of a warp must call it,
# also those that have no row; they may pass the length 0. Offsets are `long long`, since n V may be large.

# %% exercise="cross_entropy_forward"
# given kernels/cross_entropy.cu row_logsumexp
# include kernels/cross_entropy.cu cross_entropy_forward: find this thread's row, its logsumexp and its loss

# %% [markdown]
# ## 3. Cross-entropy, the backward pass (stretch)
#
# The backward pass. Write `dlogits` (n, V): the probability exp(logit - logsumexp) of each token, minus 1 for the target, all
# times the upstream gradient of one row's loss, `dloss[0] / kept[0]`. `kept[0]` (not the lecture's `kept`) is the number of
# rows that count, and may be 0 (take 1 then). A row whose target is `ignore` gets zeros. For the logits `[1, 3]`, the target
# 0, and dloss and kept 1, dlogits is `[-0.88, 0.88]`.
#
# Block (i, j), where i is `blockIdx.x` and j is `blockIdx.y`, has 256 threads and owns 256 neighbouring numbers of row i, or
# what is left of it. Each logit must be read once, and each gradient written once. (`__restrict__` promises the compiler that
# no other pointer points into `dlogits`.)

# %% exercise="cross_entropy_backward"
# include kernels/cross_entropy_backward.cu cross_entropy_backward: the gradient of this thread's logit

# %% [markdown]
# ## 4. Merge the parts of a logsumexp (stretch)
#
# The matrix product that computes the logits has written, for each part of each row, an m and an l of online softmax (chapter
# 09): `part_m` and `part_l`, both (M, parts). m is the largest number of the part, and l the sum of exp(number - m). Compute
# the logsumexp of each row. The parts (0, 1) and (1, 1) give log(1 + e), 1.313. A part without numbers has m `-INFINITY` and
# l 0. The kernel is launched in blocks of 256 threads, with at least one thread for each row.

# %% exercise="logsumexp_merge"
# include kernels/logsumexp_merge.cu logsumexp_merge: find the largest m, and add up the sums l, rescaled to it

# %% [markdown]
# ## 5. Find the fault: right numbers, too many sectors (stretch)
#
# `gather` reads rows by index: `y[r] = x[indices[r]]`, where `indices` has `n` numbers, all within bounds, and a row has `C`
# numbers of type `T` (`I` is the type of the indices). With x `[[1, 2], [3, 4], [5, 6]]` and the indices `[2, 0]`, y is `[[5,
# 6], [1, 2]]`. It is launched in blocks of 64 threads, with at least one thread for each number of y. One line is wrong, and
# there are two ways to fix it. Both give right results; one of them reads up to eight times as much as it needs. The goal is
# at most 4.2 sectors for each request, with at most 4 of the 32 lanes idle.

# %% exercise="gather"
# include kernels/gather.cu gather: fix what is wrong
# plant int row = i / C, column = i % C; => int row = i % n, column = i / n;

# %% [markdown]
# ## 6. Rows added up by index (stretch)
#
# The backward pass of exercise 5, a scatter-add. Each position adds its row of `updates` (n, C) to the row that it had read;
# y (R, C) holds the sums. The positions are sorted already, as in exercise 1: those of row r are `positions[starts[r]]` up to
# `positions[starts[r + 1] - 1]`, in order, and are added in this order. A row that was never read becomes 0. With updates `[[1,
# 1], [2, 2], [4, 4]]` for the rows 1, 0 and 1, y is `[[2, 2], [5, 5]]`.
#
# Here thread i owns number i of y; it is launched in blocks of 64 threads, with at least one thread for each number. `T` is
# the type of the numbers. No atomics.

# %% exercise="scatter_add_sorted"
# include kernels/scatter_add.cu scatter_add_sorted: find this thread's row and column, and add up the updates of its positions

# %% [markdown]
# ## 7. Challenge: loss and gradient at once (stretch)
#
# When nothing happens between a loss and its backward pass, one kernel can do both. `x` (n, 512) holds the logits; overwrite
# it with the gradient of the *mean* loss over the n rows. `losses[i]` is the loss of row i. A block of 128 threads owns a
# row. Every target is within bounds. `#include "reduce.cuh"` brings `block_sum<128>` and `block_max<128>`, `#include
# "online_softmax.cuh"` what chapter 06 built.
#
# Every right kernel passes. How few bytes can yours move?

# %% exercise="fused_cross_entropy"
r"""
#include "reduce.cuh"

__global__ void fused_cross_entropy(float* x, const int* targets, float* losses, int n) {
    // yours: any right kernel passes; then move fewer bytes
    x += blockIdx.x * 512;
    int target = targets[blockIdx.x];
    float own[4], m = -INFINITY, l = 0.0f;
    for (int k = 0; k < 4; k++) {
        own[k] = x[threadIdx.x + 128 * k];
        m = fmaxf(m, own[k]);
    }
    m = block_max<128>(m);
    for (int k = 0; k < 4; k++) l += expf(own[k] - m);
    float lse = m + logf(block_sum<128>(l));
    for (int k = 0; k < 4; k++) {
        int c = threadIdx.x + 128 * k;
        if (c == target) losses[blockIdx.x] = lse - own[k];
        x[c] = (expf(own[k] - lse) - (c == target)) / n;
    }
    // end
}
"""
