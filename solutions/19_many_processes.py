# %% [markdown]
# # 19 Many processes: exercises
#
# The lecture: [19 Many processes](../notebooks/19_many_processes.ipynb).
#
# Each answer runs on virtual ranks: as many copies of your function as there are ranks, each with a `communicator` of its own
# and its own part of the data. `communicator.rank` is the number of the copy, from 0 on, and `communicator.size` how many
# there are. Where ranks wait for each other for ever, the verdict names for each of them the line in which it waits.

# %% [markdown]
# ## Which chunk now?
#
# In a ring reduce-scatter of `size` ranks, which chunk does the rank `rank` send to the next one in step `step`? Steps are
# counted from 0 here (the picture counts from 1). With four ranks, rank 1 sends chunk 0 in step 0, and chunk 3 in step 1.
# Return the number, from 0 to `size` - 1.


# %% exercise="chunk_sent" lecture=true
def chunk_sent(rank, step, size):
    # yours: the number of the chunk
    return (rank - step - 1) % size
    # end


# %% [markdown]
# ## What will it cost?
#
# A ring all-reduce of an array of `size` bytes on `ranks` ranks, by the alpha-beta model: a message of b bytes takes `latency
# + b / bandwidth` seconds, and in each step all ranks send at the same time. How many seconds does it take? With 2 ranks,
# 1000 bytes, a latency of 1 and a bandwidth of 500 bytes in a second it is 4.


# %% exercise="ring_seconds" lecture=true
def ring_seconds(ranks, size, latency, bandwidth):
    # yours: the steps, and the seconds of one
    return 2 * (ranks - 1) * (latency + size / ranks / bandwidth)
    # end


# %% [markdown]
# ## A mean over unequal shards
#
# `losses` holds the losses of this rank's tokens, an array of any length, which may differ from rank to rank and be 0 on some
# (but not on all). Return, on every rank, the mean over the tokens of *all* ranks. `communicator.all_reduce(x)` takes an
# array, of the same shape and dtype on all ranks, and returns the sum over all ranks, of that shape. With `[2.0, 4.0]` on rank
# 0 and `[9.0]` on rank 1 it is 5. `np` is NumPy.


# %% exercise="mean_over_ranks" lecture=true
def mean_over_ranks(communicator, losses):
    # yours: one all-reduce, and a division
    total, count = communicator.all_reduce(np.array([losses.sum(), len(losses)]))
    return total / count
    # end


# %% [markdown]
# ## Bucket order
#
# `layers` lists the parameters in the order of the forward pass, each as `(name, bytes)`. Their gradients become ready in the
# backward pass. Return the buckets in the order in which they can be sent, each a list of names in the order in which they
# became ready. A bucket is closed as soon as it holds at least `least` bytes, and the last one holds what is left. For
# `[("embedding", 9), ("block", 4), ("head", 2)]` and `least` 5 it is `[["head", "block"], ["embedding"]]`.


# %% exercise="bucket_order" lecture=true
def bucket_order(layers, least):
    buckets, names, held = [], [], 0
    # yours: fill the buckets in the order in which gradients become ready
    for name, size in reversed(layers):
        names.append(name)
        held += size
        if held >= least:
            buckets.append(names)
            names, held = [], 0
    return buckets + [names] * bool(names)
    # end


# %% [markdown]
# ## Find the fault: the same stories
#
# Data parallel training: in each step, each of `size` ranks reads `count` windows. The windows of an epoch are in an order,
# numbered from 0, and each must be read once: step 0 takes the first `size * count` of them, rank 0 the first `count` of
# these, and so on. `windows_of_rank` returns the numbers that one rank reads in one step. With 2 ranks and 3 windows each,
# rank 1 reads 3, 4, 5 in step 0 and 9, 10, 11 in step 1.
#
# The code below ran for weeks. No rank raised an error, and the training loss fell even a little faster than before. Fix it.


# %% exercise="windows_of_rank" lecture=true
def windows_of_rank(step, rank, size, count):
    # yours: fix the line below
    first = (step * size + rank) * count
    # instead
    # first = (step + rank) * count
    # end
    return list(range(first, first + count))


# %% [markdown]
# ## Find the fault: a log that hangs
#
# `losses` lists the losses of this rank, one for each step. In every second step, 0, 2, 4 and so on, rank 0 writes down the
# mean over all ranks; the other ranks return an empty list. With one rank everything is well. With two real processes nothing
# happens any more: a deadlock. Virtual ranks stop at once. Run the cell, read which rank calls what in which line, and fix it.


# %% exercise="logged_means" lecture=true
def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        # yours: fix these lines
        if step % 2 == 0:
            mean = communicator.all_reduce(np.array([loss]))[0] / communicator.size
            if communicator.rank == 0:
                log.append(float(mean))
        # instead
        # if step % 2 == 0 and communicator.rank == 0:
        #     mean = communicator.all_reduce(np.array([loss]))[0] / communicator.size
        #     log.append(float(mean))
        # end
        communicator.barrier()
    return log


# %% [markdown]
# ## 1. Ring reduce-scatter
#
# The first half of an all-reduce, from messages between neighbours alone. `chunks` is a list of arrays, one for each rank:
# this rank's own array, cut up. Return the sum over all ranks of the chunk whose number is this rank's.
#
# `pass_on(communicator, x)` is given: it sends x to the next rank, and returns what the rank before has sent. In step 0 rank r
# sends chunk r - 1 (of rank 0, that is the last one), in step 1 chunk r - 2, and so on, as in the picture of the lecture: from
# then on the chunk to which it has just added what arrived. There are `communicator.size` - 1 steps. The given list and its
# arrays stay as they are. Chunks need not be equally long, but each has the same length on all ranks.
#
# With the chunks `[1], [2]` on rank 0 and `[10], [20]` on rank 1, rank 0 returns `[11]` and rank 1 `[22]`, and each has sent
# one chunk. What your ranks send is counted. When this exercise and the next two have passed, `course train --processes 2
# --mine` adds up the gradients of a real training by your ring.

# %% exercise="ring_reduce_scatter"
# given course_lib/parallel/ring.py pass_on
# include course_lib/parallel/ring.py ring_reduce_scatter: size - 1 steps, in each of which one chunk leaves and one arrives

# %% [markdown]
# ## 2. Ring all-gather
#
# The second half. Each rank has one array, `chunk`. Return the list of the chunks of all ranks, in the order of the ranks.
#
# In step 0 each rank sends its own chunk, and in each later step the one that has just arrived. There are `communicator.size`
# - 1 steps. `pass_on(communicator, x)` is given, as before. Chunks may differ in length. What your ranks send is counted.
#
# With `[5]` on rank 0 and `[6, 7]` on rank 1, both return `[[5], [6, 7]]`.

# %% exercise="ring_all_gather"
# given course_lib/parallel/ring.py pass_on
# include course_lib/parallel/ring.py ring_all_gather: size - 1 steps, in each of which a chunk is passed on

# %% [markdown]
# ## 3. All-reduce from both
#
# `x` is an array of any shape, perhaps `()`, the same on all ranks. Return the sum over all ranks, in that shape: cut x into as
# many chunks as there are ranks, reduce-scatter, all-gather, and put the chunks together.
#
# `ring_reduce_scatter(communicator, chunks)` and `ring_all_gather(communicator, chunk)` are given: they do what exercises 1
# and 2 ask for. `np.array_split(row, n)` cuts an array into n pieces that are as equal as possible, even if n does not divide
# its length. What is sent is counted. `np` is NumPy.

# %% exercise="ring_all_reduce"
# include course_lib/parallel/ring.py ring_all_reduce: cut, reduce-scatter, all-gather, put together

# %% [markdown]
# ## 4. A sharded step of AdamW
#
# One step of ZeRO, stage 2. All ranks hold the same parameters `p`, an array of n numbers. `g`, n numbers as well, is the
# gradient of this rank's part of the batch. But of AdamW's averages each rank holds its shard only: `m` and `v` have n / size
# numbers, those of the parameters `rank * n / size` and following. n is a multiple of the number of ranks.
#
# - Each rank needs the *mean* of all gradients, of its own shard: `communicator.reduce_scatter(x)` adds up x over all ranks,
#   and returns to each its own piece.
# - It updates its own shard: `adamw(p, g, m, v, t, rate)` is given, takes arrays of one length, and returns the new p, m and
#   v.
# - All need all parameters: `communicator.all_gather(x)` returns the pieces of all ranks as one array.
#
# Return the new p (n numbers), m and v (the shard). The communicator has these two collectives and no others; what is sent is
# counted.


# %% exercise="sharded_adamw"
def sharded_adamw(communicator, p, g, m, v, t, rate):
    # yours: the mean gradient of the shard, its update, and all parameters
    shard = len(p) // communicator.size
    start = shard * communicator.rank
    mean = communicator.reduce_scatter(g) / communicator.size
    own, m, v = adamw(p[start : start + shard], mean, m, v, t, rate)
    return communicator.all_gather(own), m, v
    # end


# %% [markdown]
# ## 5. Columns, then rows (stretch)
#
# Tensor parallel: an MLP on several ranks. Every rank is given all of `x` (T, C), `A` (C, F) and `B` (F, C), but may only
# multiply by its own part: the columns of A from `rank * F / size` on, and the same rows of B, F / size of each. Return
# `gelu(x @ A) @ B` on all ranks.
#
# `gelu` is given, and works on each number by itself. The communicator has `all_reduce(x)`. Use it once, with as few numbers
# as will do. F is a multiple of the number of ranks.


# %% exercise="column_then_row"
def column_then_row(communicator, x, A, B):
    # yours: own columns, GELU, own rows, and the all-reduce in its place
    part = A.shape[1] // communicator.size
    own = slice(communicator.rank * part, (communicator.rank + 1) * part)
    h = gelu(x @ A[:, own])  # (T, F / size)
    return communicator.all_reduce(h @ B[own])  # (T, C)
    # end


# %% [markdown]
# ## 6. Who trains on the same data? (stretch)
#
# A check to run once, in the first step. `windows` holds the numbers of the windows that this rank is about to read, an array
# of integers, as many on each rank. Return, on every rank, the sorted list of the ranks that read a window which another rank
# reads as well; an empty list if there are none.
#
# `communicator.all_gather(x)` returns the arrays of all ranks behind each other, in the order of the ranks. With `[0, 1]`,
# `[2, 3]` and `[1, 4]` on three ranks it is `[0, 2]`. A rank that reads one window twice itself is not meant.


# %% exercise="same_windows"
def same_windows(communicator, windows):
    # yours: gather the windows of all ranks, and compare
    everyone = communicator.all_gather(windows).reshape(communicator.size, -1)  # (ranks, windows)
    sets = [set(row.tolist()) for row in everyone]
    return [
        rank for rank, own in enumerate(sets) if any(own & other for number, other in enumerate(sets) if number != rank)
    ]
    # end
