# %% [markdown]
# # 12 Optimiser and memory: exercises
#
# The lecture: [12 Optimiser and memory](../notebooks/12_optimiser_and_memory.ipynb). There you built Lion. Here you write
# AdamW, which trains the model of the course, alone or beside another optimiser (chapter 15).

# %% [markdown]
# ## Which array is mine?
#
# `end` is such a list, for any number of arrays. Return two numbers for the block number `block`: the number of the array
# that it works on, and which of this array's blocks it is, both counted from 0. With `end` `[3, 4, 5, 13]`, block 6 gives
# `(3, 1)`.


# %% exercise="own_array" lecture=true
def own_array(block, end):
    # yours: find array k, and the number of its first block
    k = 0
    while block >= end[k]:
        k += 1
    first = end[k - 1] if k > 0 else 0
    return k, block - first
    # end


# %% [markdown]
# ## Find the fault: too early
#
# `norm_squares` adds up the squares of a gradient, one sum for each block of 128 threads: the first half of the norm that
# clipping needs. Each warp adds up by shuffles, and writes its sum to `s`. Run the cell, and read the report.

# %% exercise="norm_squares" lecture=true
r"""
__global__ void norm_squares(const float* g, float* partial, int n) {
    __shared__ float s[4];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += g[i] * g[i];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    // yours: fix the end
    __syncthreads();  // all four are there
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    // instead
    // if (threadIdx.x == 0) partial[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    // end
}
"""

# %% [markdown]
# ## Rounded away
#
# `weight` is a number that bfloat16 can hold. Return True if adding `update` in bfloat16 leaves it as it is, else False.
# `ml_dtypes.bfloat16(x)` rounds a number. A weight of 1 loses an update of 0.001, but not one of 1/128.


# %% exercise="is_lost" lecture=true
def is_lost(weight, update):
    # yours: is the weight the same after the update?
    return ml_dtypes.bfloat16(weight + update) == weight
    # end


# %% [markdown]
# ## The fullest moment
#
# `lives` is a list of arrays, each `(size, begins, ends)`: it lives from time `begins` up to, not including, `ends`. Return
# the size that no plan can do without: that of all arrays which live at the fullest moment. For the four arrays above it is
# 7.


# %% exercise="least_block" lecture=true
def least_block(lives):
    fullest = 0
    for _, now, _ in lives:  # a moment at which an array begins: the fullest one is among these
        # yours: the sizes of all arrays that live now, added up; and the largest such sum
        alive = sum(size for size, begins, ends in lives if begins <= now < ends)
        fullest = max(fullest, alive)
        # end
    return fullest


# %% [markdown]
# ## 1. AdamW in one kernel
#
# `settings` is an array in global memory, so that a CUDA graph of the step can be replayed while its numbers change. It holds
# three numbers: the learning rate, and the bias corrections of m and of v. beta1 is 0.9, beta2 0.95, eps 1e-8, and the weight
# decay 0.1. For each parameter: m becomes 0.9 m + 0.1 g, v becomes 0.95 v + 0.05 g g, p is multiplied by 1 - rate * decay,
# and then rate times (m / settings[1]) / (sqrt(v / settings[2]) + eps) is subtracted from p.
#
# With p 1, g 2, m and v 0, the rate 0.05 and the corrections 0.1 and 0.05, p becomes 0.945: the decay makes it 0.995, and one
# whole rate is subtracted. It is launched with at least one thread for each number. Read each number once, and write it once:
# at most 1.15 times 28 bytes for each.

# %% exercise="adamw_single_tensor"
r"""
__global__ void adamw_single_tensor(float* p, const float* g, float* m, float* v, const float* settings, int n) {
    // yours: find this thread's number, and update p, m and v
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float rate = settings[0], gi = g[i], pi = p[i];
        float mi = 0.9f * m[i] + 0.1f * gi, vi = 0.95f * v[i] + 0.05f * gi * gi;
        pi *= 1.0f - rate * 0.1f;
        pi -= rate * (mi / settings[1]) / (sqrtf(vi / settings[2]) + 1e-8f);
        m[i] = mi;
        v[i] = vi;
        p[i] = pi;
    }
    // end
}
"""

# %% [markdown]
# ## 2. AdamW for a whole model
#
# The same for a list of arrays, `arrays.count` of them, in one launch: a launch for each small one would have a low
# [occupancy](../notebooks/glossary.md#occupancy). Of array k you get `arrays.parameter[k]`, `gradient[k]`, `first[k]`
# (m), `second[k]` (v), `size[k]` and `decay[k]`. Blocks below `arrays.end[k]` work on array k or on one before it. A block
# owns `EACH * blockDim.x` neighbouring numbers of its array; each thread owns `EACH` of them, `blockDim.x` apart.
#
# New are: `rest1` and `rest2`, which are 1 - beta1 and 1 - beta2; `norm`, whose one number is the global norm of all
# gradients, or null: every gradient is multiplied by min(1, max_norm / (norm[0] + 1e-6)), or by 1 if there is none; and
# `arrays.copy[k]`, an array in bfloat16, or null: the new parameter is rounded and written to it by
# `__float2bfloat16(number)`, for [mixed precision](../notebooks/glossary.md#mixed-precision). (A null pointer counts as false:
# `if (norm)`. `__grid_constant__` lets all threads read the list without a copy of their own.) This kernel runs in every
# training step of the model.

# %% exercise="adamw_step"
# given kernels/adamw.cu arrays
# include kernels/adamw.cu adamw_step: find this block's array, and update its numbers

# %% [markdown]
# ## 3. The squares of all gradients (stretch)
#
# Again for a list of arrays: `gradients.array[k]`, `size[k]`, `end[k]`. A block owns `EACH` neighbouring numbers of its array,
# the last block of an array what is left. It writes the sum of their squares to `partial[first + blockIdx.x]`.
# `block_sum<THREADS>(number)` gives the sum over the block. `load_four(own, i, length, row_is_aligned(own, length))` reads
# four neighbouring numbers, 0 from `length` on, but you need not use it.

# %% exercise="global_norm_squares"
# given kernels/global_norm.cu gradients
# include kernels/global_norm.cu global_norm_squares: find this block's numbers, and add up their squares

# %% [markdown]
# ## 4. Challenge: the smallest arena (stretch)
#
# In Python. Plan an arena: `lives` is a list of arrays, each `(size, begins, ends)`. An array lives from time `begins` up to,
# not including, `ends`. Give each array an offset in one block: return a list of integers, 0 or more. Arrays that live at the
# same time must not overlap. For `[(4, 0, 2), (4, 1, 3), (2, 2, 3)]` the offsets `[0, 4, 0]` are right, and the arena has
# size 8.
#
# Arrays that never live at the same time may overlap: every right answer that makes some use of that passes. How small an
# arena do you find for 84 arrays like those of a step?


# %% exercise="plan_memory"
def plan_memory(lives):
    # yours: any right offsets that use some memory twice pass; then find a smaller arena
    offsets = [0] * len(lives)
    placed = []
    for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])):
        size, begins, ends = lives[i]
        at = 0
        for j in sorted(placed, key=lambda j: offsets[j]):
            meets = lives[j][1] < ends and begins < lives[j][2]
            if meets and at + size > offsets[j]:
                at = max(at, offsets[j] + lives[j][0])
        offsets[i] = at
        placed.append(i)
    return offsets
    # end


# %% [markdown]
# ## Milestone: a model on kernels that are partly yours
#
# All your answers that passed replace ours now, the kernels of all chapters among them, and `micro` is trained for
# ten steps on the simulator: every operation is a launch. The first line says how many of the operations are yours. With an
# NVIDIA GPU use `device="cuda"` and 400 steps.

# %%
course.milestone(steps=10, device="simulator")
