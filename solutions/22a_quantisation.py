# %% [markdown]
# # 22a Quantisation: exercises
#
# The lecture: [22a Quantisation](../notebooks/22a_quantisation.ipynb).

# %% [markdown]
# ## Quantise a row
#
# `row` holds floats. Return two things: its codes, integers from -127 to 127 as an array of `np.int8`, and the scale, so that
# `codes * scale` is near the row. The largest absolute value of the row gets the code 127 or -127, and every other weight the
# nearest code. A row of zeros has the scale 0 and codes 0, and nothing is divided by 0 there. For `[1.27, -0.3, 0.02]` they
# are `[127, -30, 2]` and 0.01. `np` is NumPy. `np.rint` rounds to the nearest integer.


# %% exercise="quantise_row" lecture=true
def quantise_row(row):
    # yours: the scale, then the codes
    scale = np.abs(row).max() / 127
    if scale == 0:
        return np.zeros(len(row), np.int8), 0.0
    return np.rint(row / scale).astype(np.int8), scale
    # end


# %% [markdown]
# ## A scale for each group
#
# `weight` is (N, K), and K is a multiple of `GROUP`, 32. Return the scales (N, J), with J = K / 32: for each group of 32
# neighbours along a row its largest absolute value, divided by 7. `np` and `GROUP` are there.


# %% exercise="group_scales" lecture=true
def group_scales(weight):
    # yours: cut each row into groups, and take the largest absolute value of each
    groups = weight.reshape(len(weight), -1, GROUP)  # (N, J, 32)
    return np.abs(groups).max(axis=2) / 7  # (N, J)
    # end


# %% [markdown]
# ## Pack two in a byte
#
# `codes` is (N, K), K even, with numbers 0 .. 15 as `np.uint8`. Return (N, K / 2) bytes, also `np.uint8`: codes 0 and 1 of a
# row share byte 0, codes 2 and 3 byte 1, and so on. The even code is in the lower four bits. `[[1, 2]]` becomes `[[33]]`,
# since 33 = 1 + 2 · 16.


# %% exercise="pack_nibbles" lecture=true
def pack_nibbles(codes):
    # yours: the even codes, with the odd ones four bits above them
    return codes[:, 0::2] | codes[:, 1::2] << 4
    # end


# %% [markdown]
# ## Find the fault: a product that wraps around
#
# If the inputs are quantised too, a dot product needs no floats until its end: the codes are multiplied and added up as
# integers, and the sum is multiplied by both scales. `a` and `b` are `np.int8` of one length. For `[10]` and `[20]`,
# both scales 1, the result should be 200.0. It is not. Run the cell, and read the verdict.


# %% exercise="int8_dot" lecture=true
def int8_dot(a, b, scale_a, scale_b):
    # yours: fix the line below
    total = (a.astype(np.int32) * b).sum()
    # instead
    # total = (a * b).sum()
    # end
    return float(total) * scale_a * scale_b


# %% [markdown]
# ## 1. The scale with the least error
#
# [Quantisation](../notebooks/glossary.md#quantisation) by absmax lets the grid reach the largest weight. A shorter grid clips
# it, and has smaller steps for all others.
#
# `groups` is (J, 32), or of another width. For each shrink, a number of the list `shrinks`, a group's scale would be shrink ·
# absmax / 7, and its codes the nearest ones of -8 .. 7. Return for each group the scale with the least sum of squared errors,
# (J,). If two are equally good, the one that comes first in `shrinks`. A group of zeros has the scale 0. `np.rint` rounds,
# and `np.clip(x, low, high)` keeps numbers within bounds.


# %% exercise="best_scale"
def best_scale(groups, shrinks):
    absmax = np.abs(groups).max(axis=1)  # (J,)
    # yours: try each shrink, and keep for each group the scale with the least error
    best, least = np.zeros(len(groups)), np.full(len(groups), np.inf)  # (J,) each
    for shrink in shrinks:
        scale = shrink * absmax / 7  # (J,)
        divisor = np.where(scale == 0, 1, scale)[:, None]  # (J, 1)
        codes = np.clip(np.rint(groups / divisor), -8, 7)  # (J, 32)
        error = np.square(codes * scale[:, None] - groups).sum(axis=1)  # (J,)
        better = error < least
        best, least = np.where(better, scale, best), np.where(better, error, least)
    return best
    # end


# %% [markdown]
# ## 2. A product with weights of 4 bits
#
# `y = x weight^T + bias`, where the weights never become a matrix of floats: they are read as words, and unpacked in
# registers. x is (n, K), y (n, M). Row m of the weights is `line` words; word w holds the eight codes of k = 8w .. 8w + 7,
# the first in its lowest four bits, and belongs to group w / GROUP_WORDS of that row. A code c of group j stands for
# `scales[m, j] * (c - zeros[m, j])`. If `zeros` is null, all zero points are `ZERO`.
#
# A warp owns output m, and its 32 lanes share the words: lane l takes words l, l + 32, ... `Eight<N> values(p, k, K)` loads
# `p[k]` to `p[k + 7]` as `values[0]` to `values[7]`, with zeros from K on; p points to the row of x. Read each word, scale and
# zero point once: the bytes that move are counted. After your part the warp adds up `sum`.

# %% exercise="linear_int4_kernel"
# include kernels/linear_int4.cu linear_int4: add up scale times (code - zero point) times x over the words of this lane

# %% [markdown]
# ## 3. A product with weights of 8 bits
#
# The same with 8 bits: less to unpack, and a sign. Row m of the weights is `line` words, and word w holds the four codes of k
# = 4w .. 4w + 3, the first in its lowest eight bits. A code is a byte with a sign, -128 .. 127, and a row has one scale, with
# which the kernel multiplies your `sum` at the end.
#
# `Eight<N> values(p, k, K)` loads eight numbers, so lane l takes the words 2l and 2l + 1, then those 64 further on, and so
# on. `line` may be odd: then the last pair has one word. `values[i]` is 0 from K on.

# %% exercise="linear_int8_kernel"
# include kernels/linear_int8.cu linear_int8: the products of this lane's codes with x, two words at a time

# %% [markdown]
# ## 4. Unpack 4 bits, in WGSL
#
# WGSL has no bytes, but it has shifts. Each of `n` words holds eight codes, the first in its lowest four bits. Four words
# make a group of 32, with a scale of its own. Write the 8 n weights: `y[k]` is the group's scale times (code - 8). One thread
# for each word, and perhaps some more.

# %% exercise="unpack_int4"
r"""
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn unpack_int4(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    // yours: the eight weights of this thread's word, if there is one
    if (i < args.n) {
        for (var j = 0u; j < 8; j++) {
            let code = f32((words[i] >> (4 * j)) & 15u);
            y[8 * i + j] = scales[i / 4] * (code - 8.0);
        }
    }
    // end
}
"""
