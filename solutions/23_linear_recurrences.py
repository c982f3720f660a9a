# %% [markdown]
# # 23 Linear recurrences: exercises
#
# The lecture: [23 Linear recurrences](../notebooks/23_linear_recurrences.ipynb).

# %% [markdown]
# ## One step of the delta rule
#
# `S` is a [recurrent state](../notebooks/glossary.md#recurrent-state), an array (D, E); `k` is a key (D,), `v` a value (E,),
# `beta` a number. Return the state after one step of the [delta rule](../notebooks/glossary.md#delta-rule), as a new array:
# read with the key, and write `beta` times what the value differs by from that. With a state of zeros, k `[1, 0]`, v `[3]` and
# beta 0.5 it is `[[1.5], [0]]`. `np` is NumPy.


# %% exercise="delta_step" lecture=true
def delta_step(S, k, v, beta):
    # yours: read, then write what is missing
    return S + beta * np.outer(k, v - S.T @ k)
    # end


# %% [markdown]
# ## Prefix sums of a warp
#
# `y[i]` is to be the sum of `x[0]` to `x[i]`, itself included, within each warp of 32: lane 0 of the second warp begins anew. A
# [parallel scan](../notebooks/glossary.md#parallel-scan) by shuffles: in steps of 1, 2, 4, 8 and 16 each lane adds the `v` of
# the lane that far below it, if there is one. All lanes call `__shfl_up_sync(0xffffffff, v, step)`. It is launched with one
# block of whole warps.

# %% exercise="warp_prefix_sums" lecture=true
r"""
__global__ void warp_prefix_sums(const float* x, float* y) {
    int lane = threadIdx.x % 32;
    float v = x[threadIdx.x];
    // yours: five steps
    for (int step = 1; step < 32; step *= 2) {
        float below = __shfl_up_sync(0xffffffff, v, step);
        if (lane >= step) v += below;
    }
    // end
    y[threadIdx.x] = v;
}
"""

# %% [markdown]
# ## Two steps as one
#
# A step of a linear recurrence is a pair (a, b): it makes a h + b of h. `first` and `then` are two of them. Return the pair
# that does both, `first` first. For `(2, 1)` and then `(3, 4)` it is `(6, 7)`: 3 (2 h + 1) + 4. It is the associative operator
# with which a [parallel scan](../notebooks/glossary.md#parallel-scan) runs the recurrence.


# %% exercise="compose_steps" lecture=true
def compose_steps(first, then):
    (a1, b1), (a2, b2) = first, then
    # yours: the pair of both
    return a2 * a1, a2 * b1 + b2
    # end


# %% [markdown]
# ## Each block counts for itself
#
# A histogram: `counts[c]` is to be how often `c` occurs in `x` (n), for c from 0 to BINS - 1; other numbers are not counted.
# If every thread added to `counts` in global memory, many would wait for the count of one common number. So each block counts
# in `own`, in shared memory, and adds that to the result at the end. Setting `own` to 0 and the end stand there; write what
# lies between. For x `[2, 0, 2, 5]` and 6 bins it is `[1, 0, 2, 0, 0, 1]`. It is launched with two blocks of 64 threads,
# however large n is. Where all numbers are the same, two requests may write to global memory, one of each block.

# %% exercise="private_counts" lecture=true
# include kernels/histogram.cu histogram_2_shared: count in own, once all its zeros are there, and wait until all have counted

# %% [markdown]
# ## 1. A recurrence by a scan
#
# `a` and `b` are (rows, T), and each block owns a row. Write `h[t] = a[t] h[t - 1] + b[t]`, where the `h` before the first
# step is `state`. THREADS threads take THREADS steps at a time, a tile; and the state after a tile is the one before the next.
# With a `[2, 2]`, b `[1, 1]` and start 1, h is `[3, 7]`.
#
# `Affine{a, b}` is one step, a struct with the members `a` and `b`. `block_scan<THREADS, Compose>(own, &all)` returns to thread
# i the steps of threads 0 to i put together, and sets `all` to those of the whole block; all threads of the block must call it,
# also those without a step: `Affine{1.0f, 0.0f}` changes nothing. It is launched with 32 and with 64 threads.

# %% exercise="recurrence_scan"
# include kernels/recurrence_scan.cu recurrence_scan: scan a tile, apply it to the state, and carry the state on

# %% [markdown]
# ## 2. Down the tree
#
# The second half of the work-efficient [parallel scan](../notebooks/glossary.md#parallel-scan). A block has 2 * THREADS numbers
# in `tree`, which is in shared memory. On the way up, the node at the end of each group of 2, 4, 8, ... numbers has added what
# the node in the middle of its group, its left child, holds. The root, the last number, is 0 now. Go down: from groups of all
# numbers to groups of two. In each group the left child gets what its parent holds, and the parent's place gets that plus what
# the left child held. At the end number i holds the sum of the numbers *before* it. For 1, 3, 2, 5 it is 0, 1, 4, 6.
#
# `half` is half a group; node `(2 * t + 2) * half - 1` belongs to thread t, if it is below COUNT, and its left child is
# `half` before it. Between two steps all threads must wait.

# %% exercise="scan_tree"
# include kernels/scan.cu scan_1_tree: from the root down, a step for each level

# %% [markdown]
# ## 3. In chunks
#
# Gated linear attention, with a decay for each channel: `S = np.exp(g[t])[:, None] * S + np.outer(k[t], v[t])`, then
# `y[t] = S.T @ q[t]`. Here `q`, `k` and `g` are (T, D), `v` is (T, E), and `S` (D, E) is the state before. No g is above 0.
# Return `(y, S)`, y (T, E) and the state after the last step. Take `chunk` steps at a time; within a
# chunk use the masked product, between chunks the state. The last chunk may be shorter.
#
# Every exponent must be at most 0. Some g are as low as -500: then $e^{-G}$ overflows, while $e^{G_t - G_s}$ for s up to t
# does not. With a chunk of 1 it is the recurrence, with a chunk of T the masked product. For 512 steps in chunks of 64 you may
# call `np.exp` at most 40 times, and take a piece of an array, such as `q[part]` or `g[t]`, at most 256 times: a loop over all
# steps will not do. `np` is NumPy.


# %% exercise="chunked_attention"
def chunked_attention(q, k, v, g, S, chunk):
    """Gated linear attention: q, k, g (T, D), v (T, E), S (D, E) -> y (T, E), S (D, E)."""
    # yours: chunk by chunk
    y = np.empty_like(v)
    for start in range(0, len(q), chunk):
        part = slice(start, start + chunk)
        G = np.cumsum(g[part], axis=0)  # (C, D): from the beginning of the chunk
        between = np.exp(np.minimum(G[:, None] - G[None], 0))  # (C, C, D): from step s to step t
        scores = np.tril(np.einsum("td,tsd,sd->ts", q[part], between, k[part]))  # (C, C)
        y[part] = scores @ v[part] + (q[part] * np.exp(G)) @ S  # (C, E)
        S = np.exp(G[-1])[:, None] * S + (k[part] * np.exp(G[-1] - G)).T @ v[part]  # (D, E)
    return y, S
    # end


# %% [markdown]
# ## 4. Find the fault: the wrong side of the chunk
#
# `chunk_step` computes a chunk of linear attention with one decay for all channels, as in the lecture: `q`, `k` (C, D), `v`
# (C, E), `g` (C,), and the state before, `S` (D, E). It returns `(y, S)`. The `y` of the first chunk is right, and so is that
# of each chunk by itself. Yet a model that was trained with it forgets the wrong things. Run the cell, read the verdict, and
# fix one line.


# %% exercise="chunk_step"
def chunk_step(q, k, v, g, S):
    """One chunk: y (C, E) and the state after it, (D, E)."""
    G = np.cumsum(g)  # (C,): from the beginning of the chunk to each step, itself included
    between = np.exp(np.minimum(G[:, None] - G[None, :], 0))  # (C, C): from step s to step t
    # yours: fix one of these lines
    y = np.tril(between * (q @ k.T)) @ v + np.exp(G)[:, None] * (q @ S)  # (C, E)
    S = np.exp(G[-1]) * S + (np.exp(G[-1] - G)[:, None] * k).T @ v  # (D, E)
    # instead
    # y = np.tril(between * (q @ k.T)) @ v + np.exp(G)[:, None] * (q @ S)  # (C, E)
    # S = np.exp(G[-1]) * S + (np.exp(G)[:, None] * k).T @ v  # (D, E)
    # end
    return y, S


# %% [markdown]
# ## 5. Look back (stretch)
#
# The heart of decoupled look-back. Lane 0 of a warp has the `aggregate` of its `tile`, all its elements combined. Others, of
# the same block too, do the same for theirs, at the same time. `flags[i]` is EMPTY, AGGREGATE or PREFIX for tile i; `partial[2
# * i]` is the aggregate of tile i, once its flag is at least AGGREGATE, and `partial[2 * i + 1]` its inclusive prefix, that of
# tiles 0 to i, once it is PREFIX. `before` is `nothing`, for sums 0. Your part:
#
# 1. Publish the aggregate of `tile`, and then its flag.
# 2. Let `before` become what all tiles before it have together: from tile - 1 down, add `partial[2 * i]` where the flag is
# AGGREGATE; where it is PREFIX, add `partial[2 * i + 1]` and stop; where it is EMPTY, look again. `Op::of(left, right)`
# combines, the earlier one on the left.
# 3. Publish the inclusive prefix, `Op::of(before, aggregate)`, and then its flag.
#
# Read a flag with `atomicAdd(&flags[i], 0)` and write it with `atomicExch(&flags[i], AGGREGATE)`. A flag says that a value is
# there: so the value first, then `__threadfence()`, then the flag; and a thread that has read a flag needs a fence before it
# reads the value. (Our simulator reports the missing fence of a writer only; a GPU needs both.) A
# [deadlock](../notebooks/glossary.md#deadlock) is stopped after some seconds.

# %% exercise="look_back"
# include kernels/scan.cu scan_3_look_back: publish, look back, publish

# %% [markdown]
# ## 6. Sums that begin anew (stretch)
#
# A segmented [parallel scan](../notebooks/glossary.md#parallel-scan): `heads[i]` is 1 where a segment begins, and `y[i]` is the
# sum of `x` from the last head up to i. For x `[1, 2, 3, 4]` and heads `[1, 0, 1, 0]` it is `[1, 3, 3, 7]`. The steps of the
# scan stand there. Yours is its operator: `left` and `right` each stand for some numbers in a row, `left` for the earlier ones.
# `sum` is the sum from the last head in it (or from its beginning, if it has none), and `head` says whether it has one. What
# are sum and head of both in a row?

# %% exercise="segmented_sums"
r"""
struct Part {
    float sum;
    int head;
};

__device__ Part combine(Part left, Part right) {
    // yours: both in a row
    return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};
    // instead
    // return right;
    // end
}

__global__ void segmented_sums(const float* x, const int* heads, float* y) {  // a block of whole warps, each by itself
    int lane = threadIdx.x % 32;
    Part own = {x[threadIdx.x], heads[threadIdx.x]};
    for (int step = 1; step < 32; step *= 2) {
        Part left = {__shfl_up_sync(0xffffffff, own.sum, step), __shfl_up_sync(0xffffffff, own.head, step)};
        if (lane >= step) own = combine(left, own);
    }
    y[threadIdx.x] = own.sum;
}
"""

# %% [markdown]
# ## 7. A short convolution (stretch)
#
# Models with linear recurrences mix the last few tokens of each channel first: `y[t] = w[0] x[t] + w[1] x[t - 1] + ...`, TAPS
# terms, and x before time 0 is 0. Here x and y are (T, C) for each batch, and w is (TAPS, C). Thread c owns channel c, for EACH
# times from `first` on. Before the loop `last[tap]` is `x[first - tap]` for each tap but 0. Your part: for each of its times
# below T read the new number, once; write the sum; and move all numbers in `last` up by one. With w `[1, 10]` for a channel and
# x `[1, 2, 3]`, y is `[1, 12, 23]`.
#
# It is launched with 4 and with 3 taps, and with 8 for EACH. For 64 channels and 16 time steps at most 60 requests may read
# global memory.

# %% exercise="short_convolution"
# include kernels/convolution.cu convolution_2_registers: read, sum, shift

# %% [markdown]
# ## 8. The state in registers (stretch)
#
# The library's own kernel, but for its heart. A block owns 32 columns of the state of a head, and four lanes share a column. A
# lane holds D / 4 rows of it in [registers](../notebooks/glossary.md#register): `S[i]` is row `row_of(i, lane)`. At the end of a
# chunk of 16 steps the state must become what it is before the next one. It is the new S of `one_chunk` in the lecture:
#
# - `chunk.over[c]` is the decay of row c over the whole chunk,
# - `u[t]` is what step t writes into this column, and `chunk.to_end[t]` is the key under which it does, already times its decay
# to the end of the chunk,
# - `add_own(S, row, number, lane)` adds row[c] times the number to each row c that this lane holds.
#
# Steps beyond T have a decay of 1 and write 0, so you need not ask for them. The first template argument is 0, gated linear
# attention, or 1, the delta rule. With 0, no state before it, q and k `[1, 1]`, v `[1, 2]` and no decay the last state is 3.

# %% exercise="state_in_registers"
# given kernels/linear_recurrence.cu columns
# include kernels/linear_recurrence.cu recurrence_forward: the state decays over the whole chunk, and gains what each step wrote

# %% [markdown]
# ## 9. Backwards through the chunks (stretch)
#
# The [backward pass](../notebooks/glossary.md#backward-pass) begins at the last chunk. `dS` is the gradient of the state after a
# chunk, in registers as S was in exercise 8; make of it the gradient of the state before the chunk. That state, call it S, acts
# on three things:
#
# - the state after the chunk holds `chunk.over[c]` times row c of S,
# - y of step t holds S read with `chunk.q[t]`, which is q times the decay from the beginning of the chunk to t; its gradient in
# this column is `dyt[t]`,
# - by the delta rule (`KIND == Delta`) step t writes beta times the difference of v and what it reads, S read with `chunk.k[t]`.
# `du[t]` is the gradient of that difference, with beta in it. Mind the sign: what is read is subtracted.
#
# `add_own(dS, row, number, lane)` adds row[c] times the number to each row c that this lane holds. Without the delta rule, q
# and k `[1, 1]`, dy `[1, 2]`, no decay and nothing after the last step make `dstate` 3.

# %% exercise="state_backwards"
# given kernels/linear_recurrence.cu columns
# include kernels/linear_recurrence.cu recurrence_backward_states: its decay, and what each step read of the state before it
