# %% [markdown]
# # 18 Any GPU, with WebGPU: exercises
#
# The lecture: [18 Any GPU, with WebGPU](../notebooks/18_webgpu.ipynb).
#
# These are in WGSL, and run on whatever adapter this machine has; a driver in software is enough. Where there is none, a
# verdict says so, and your answer is kept.

# %% [markdown]
# ## Scale, in WGSL
#
# `scale` of chapter 04 in the other language: `y[i] = s * x[i]` for the `n` numbers of `x`. `n` and the factor `s` come in
# `args`. It is launched with at least as many threads as numbers.

# %% exercise="scale_wgsl" lecture=true
r"""
struct Args {
    n: u32,
    s: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn scale_wgsl(@builtin(global_invocation_id) id: vec3<u32>) {
    // yours: scale the number of this thread, if there is one
    let i = id.x;
    if (i < args.n) {
        y[i] = args.s * x[i];
    }
    // end
}
"""

# %% [markdown]
# ## Find the fault: gone too early
#
# One group of 64 threads adds up `n` numbers, and n may be less than 64: for `[1, 2, 3]`, `y[0]` should become 6. Run the cell
# first, and read the report.

# %% exercise="short_row" lecture=true
r"""
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> tree: array<f32, 64>;

@compute @workgroup_size(64)
fn short_row(@builtin(local_invocation_index) lane: u32) {
    // yours: fix these lines
    tree[lane] = 0.0;
    if (lane < args.n) {
        tree[lane] = x[lane];
    }
    // instead
    // if (lane >= args.n) {
    //     return;
    // }
    // tree[lane] = x[lane];
    // end
    for (var half = 32u; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            tree[lane] += tree[lane + half];
        }
    }
    if (lane == 0) {
        y[0] = tree[0];
    }
}
"""

# %% [markdown]
# ## From an index to a fraction
#
# Write i / n to `y[i]`, as a fraction: for n = 4, y becomes `[0, 0.25, 0.5, 0.75]`. Both `i` and `args.n` are `u32`.

# %% exercise="as_fraction" lecture=true
r"""
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn as_fraction(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i < args.n) {
        // yours: i divided by n
        y[i] = f32(i) / f32(args.n);
        // end
    }
}
"""

# %% [markdown]
# ## 1. Bias and GELU, ported
#
# You wrote it in CUDA C++ in chapter 05: `y = gelu(x + bias)`, where `x` and `y` have `n` numbers in rows of `F`, and `bias`
# has `F`. With F = 2, x = [0, 0, 1, 1] and bias = [0, 1], y is [0, 0.8412, 0.8412, 1.9546].
#
# Here a thread owns one number, the one at `element_index(group, groups, lane)` as in the lecture. The activation `gelu` is
# given. The kernel is launched with more threads than numbers, its groups may be arranged in several rows, and `n` and `F`
# come in `args`; keep the name of the entry point. Each MLP with biases and GELU on your GPU runs this kernel.

# %% exercise="bias_gelu_wgsl"
# given kernels/bias_gelu.wgsl Args
# given kernels/bias_gelu.wgsl args
# given kernels/bias_gelu.wgsl x
# given kernels/bias_gelu.wgsl bias
# given kernels/bias_gelu.wgsl y
# include kernels/bias_gelu.wgsl bias_gelu_forward: one number for each thread, and none beyond n

# %% [markdown]
# ## 2. Softmax of a row
#
# A workgroup of `THREADS` = 256 threads owns a row of `S` numbers. Thread `lane` takes the numbers lane, lane + 256, ... of
# it. First write `group_sum`: each thread passes a `value`, and all of them get the sum. It is like `group_max`, which is
# given; see where that one has barriers, and why there is one at the end (`group_sum` is also tried with two calls, one right
# after the other). Every barrier needs *uniform control flow*: all 256 threads of the workgroup reach it, or none.
#
# Then write the kernel. Its group is number `group_index(group, groups)`, and that is its row. How many numbers of the row
# are not masked? Call it `seen`. Without a mask (`CAUSAL` is false) all S; with it, row `row % T` of T rows has the first `S -
# T + row % T + 1`. y is $e^{x - m} / \sum e^{x - m}$ for those, where m is the largest of them, and 0 for the rest.
# `args.lowest` is minus infinity, which has no literal in WGSL. There may be more groups than rows: `row` may be out of bounds.
# `select(a, b, condition)` is b where the condition is true, else a.
#
# For the row [0, 0, 1] the result is [0.2119, 0.2119, 0.5761]. The operation `softmax_forward` of the device `webgpu` is this
# kernel.

# %% exercise="softmax_wgsl"
# given kernels/include/reduce.wgsl tree
# given kernels/include/reduce.wgsl group_max
# include kernels/include/reduce.wgsl group_sum: the sum over the threads of a group, for all of them
# given kernels/softmax.wgsl Args
# given kernels/softmax.wgsl args
# given kernels/softmax.wgsl x
# given kernels/softmax.wgsl y
# include kernels/softmax.wgsl softmax_forward: the largest, the sum, and then each number of the row

# %% [markdown]
# ## 3. The inner loop of every product
#
# `gemm` multiplies `A` (N, K) by `B` (K, M), and all linear layers of a model on your GPU use this one kernel. A group owns a
# tile of 64 x 64 numbers of y, and each of its 16 x 16 threads 4 x 4 of them: from row `top + 4 thread.y` and column `left +
# 4 thread.x` on. All code that loads is given: for each 16 numbers along K, a slice of A is in `a_tile` and one of B in
# `b_tile`, four neighbouring numbers to a `vec4`. Number s of the slice has `TILE / 4` of them: `a_tile[s * (TILE / 4) + j]`
# holds rows 4j to 4j + 3 of the tile, and `b_tile` the columns, in the same way.
#
# Write two parts. In the loop: for each s one vec4 of A and one of B, and 16 multiply-adds into `sums`, where `sums[i]` is
# row i of your 4 x 4. A number times a vec4 multiplies all four. At the end: write those `sums[i][j]` that are within the
# bounds of y; matrix number `matrix` of a batch begins at `matrix * N * M`. If `BIAS`, column c gets `bias[c]`.
#
# Each thread may read workgroup memory no more than twice for each s: that is the point of its 4 x 4 registers.

# %% exercise="gemm_inner_loop"
# include kernels/gemm.wgsl gemm

# %% [markdown]
# ## 4. Find the fault: a sum of 256 threads (stretch)
#
# Clipping needs the global norm of the gradients: each group adds up the squares of up to 8192 numbers and writes one sum
# to `partial`. In `group_sum` one barrier was moved, and two others are gone. On many GPUs the result is even right, most of
# the time. Run the cell, read the report, and fix it. (`group_sum` is also tried with two calls, one right after the other.)

# %% exercise="workgroup_sum"
# given kernels/include/reduce.wgsl tree
# include kernels/include/reduce.wgsl group_sum: fix what is wrong
# plant workgroupBarrier();\n        if (lane < half) { => if (lane < half) {\n            workgroupBarrier();
# plant workgroupBarrier();\n    let total = tree[0];\n    workgroupBarrier();\n => let total = tree[0];\n
# given kernels/global_norm.wgsl EACH
# given kernels/global_norm.wgsl Args
# given kernels/global_norm.wgsl args
# given kernels/global_norm.wgsl x
# given kernels/global_norm.wgsl partial
# given kernels/global_norm.wgsl global_norm_squares

# %% [markdown]
# ## 5. Bias and GELU, the backward pass (stretch)
#
# Write the derivative of GELU at one number, and the kernel that multiplies it by the upstream gradient: `dx = dy * gelu'(x +
# bias)`. The lecture's GELU is $x/2 \, (1 + t)$ with $t = \tanh(u)$ and $u = \sqrt{2 / \pi} \, (x + 0.044715 \, x^3)$. The
# derivative of tanh is $1 - t^2$, so
#
# $$\text{gelu}'(x) = \tfrac{1}{2} (1 + t) + \tfrac{1}{2} x \, (1 - t^2) \, u', \qquad
# u' = \sqrt{2 / \pi} \; (1 + 3 \cdot 0.044715 \, x^2)$$
#
# At 0 the derivative is 0.5, at 1 it is 1.0830, at -1 it is -0.0830. `ROOT_2_PI` is given, and `safe_tanh`, which is right for
# large numbers too, where a driver's own tanh may overflow. Arrays and launch are as in exercise 1.

# %% exercise="bias_gelu_backward_wgsl"
# given kernels/include/gelu.wgsl ROOT_2_PI
# include kernels/include/gelu.wgsl gelu_grad: the derivative of gelu at one number
# given kernels/bias_gelu.wgsl Args
# given kernels/bias_gelu.wgsl args
# given kernels/bias_gelu.wgsl x
# given kernels/bias_gelu.wgsl bias
# given kernels/bias_gelu.wgsl dy
# given kernels/bias_gelu.wgsl dx
# include kernels/bias_gelu.wgsl bias_gelu_backward: dy times the derivative at x + bias

# %% [markdown]
# ## 6. Two float16 numbers in a word (stretch)
#
# WGSL has no 16-bit type that every adapter supports. Weights can be stored with 16 bits all the same: two *half* floats in one
# `u32`, the first in the lower 16 bits. `unpack2x16float(word)` gives both, as a `vec2<f32>` with components `x` and `y`.
#
# `x` has `(n + 1) / 2` words, and y gets the `n` floats. If n is odd, the upper half of the last word is unused. The kernel
# may be launched with **fewer threads than words**, or with more: `groups.x * 64` of them, and thread i takes words i, i +
# `groups.x * 64`, ... This is a *grid-stride loop*: one launch works for any n.

# %% exercise="unpack_float16"
r"""
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn unpack_float16(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    // yours: loop over the words in steps of the whole launch, and write one or two floats for each
    for (var i = id.x; 2 * i < args.n; i += groups.x * 64) {
        let pair = unpack2x16float(x[i]);
        y[2 * i] = pair.x;
        if (2 * i + 1 < args.n) {
            y[2 * i + 1] = pair.y;
        }
    }
    // end
}
"""

# %% [markdown]
# ## 7. Challenge: a product with few bytes (stretch)
#
# `y = a b`, with a (N, K), b (K, M) and y (N, M) row by row. A group owns a tile of 64 x 64 numbers of y: it is launched with
# as many groups along x as tiles along M, and along y as tiles along N. The rest is yours: the size of the workgroup (up to 256
# threads), what is in workgroup memory (up to 16,384 bytes) and what in registers. Out of bounds, take a and b as 0, and do not
# write y.
#
# It passes when it is right. Then lower the bytes that are read from and written to storage buffers, and plot your attempts by
# `course.versions("matmul_wgsl")`: 128 x 96 numbers of y with K = 80 need 192,512 bytes at least, if each group reads its
# slices of a and b just once.

# %% exercise="matmul_wgsl"
r"""
struct Args {
    N: u32,
    M: u32,
    K: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

// yours: workgroup arrays for slices of a and b, if you need them; and the kernel `matmul`
const SLICE = 8u;
var<workgroup> of_a: array<array<f32, 64>, SLICE>; // column of the slice, row of the tile
var<workgroup> of_b: array<array<f32, 64>, SLICE>;

@compute @workgroup_size(16, 16)
fn matmul(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let top = group.y * 64;
    let left = group.x * 64;
    var sums: array<array<f32, 4>, 4>;
    for (var k = 0u; k < args.K; k += SLICE) {
        for (var i = lane; i < 64 * SLICE; i += 256) {
            let row = top + i / SLICE;
            let along = k + i % SLICE;
            of_a[i % SLICE][i / SLICE] = 0.0;
            if (row < args.N && along < args.K) {
                of_a[i % SLICE][i / SLICE] = a[row * args.K + along];
            }
            let column = left + i % 64;
            let down = k + i / 64;
            of_b[i / 64][i % 64] = 0.0;
            if (down < args.K && column < args.M) {
                of_b[i / 64][i % 64] = b[down * args.M + column];
            }
        }
        workgroupBarrier();
        for (var s = 0u; s < SLICE; s++) {
            for (var i = 0u; i < 4; i++) {
                let left_one = of_a[s][thread.y + 16 * i];
                for (var j = 0u; j < 4; j++) {
                    sums[i][j] += left_one * of_b[s][thread.x + 16 * j];
                }
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4; i++) {
        for (var j = 0u; j < 4; j++) {
            let row = top + thread.y + 16 * i;
            let column = left + thread.x + 16 * j;
            if (row < args.N && column < args.M) {
                y[row * args.M + column] = sums[i][j];
            }
        }
    }
}
// instead
// @compute @workgroup_size(16, 16)
// fn matmul(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>,
//            @builtin(local_invocation_index) lane: u32) {
// }
// end
"""
