# %% [markdown]
# # 05 Elementwise and fusion: exercises
#
# The lecture: [05 Elementwise and fusion](../notebooks/05_elementwise.ipynb).

# %% [markdown]
# ## The least time
#
# A kernel does `operations` operations and moves `moved` bytes. The card has a `bandwidth` in bytes and a `peak` in operations,
# both for each second. While some warps wait for memory, others compute, so both go on at once. Return the least time in seconds
# that the kernel needs. With 1 operation, 12 bytes, a bandwidth of 3 and a peak of 60 it is 4.


# %% exercise="least_seconds" lecture=true
def least_seconds(operations, moved, bandwidth, peak):
    # yours: return the least time
    return max(moved / bandwidth, operations / peak)
    # end


# %% [markdown]
# ## Three steps in one
#
# Three steps follow each other: `d = x - target`, then `s = d * d`, then `y = weight * s`. All of these are arrays of `n`
# numbers, so as three kernels they move 32 bytes for each number. Write them as one kernel that moves 16. With x 5, target 2
# and weight 10, y is 90.

# %% exercise="weighted_square" lecture=true
r"""
__global__ void weighted_square(const float* x, const float* target, const float* weight, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // yours: all three steps
    float d = x[i] - target[i];
    y[i] = weight[i] * d * d;
    // end
}
"""

# %% [markdown]
# ## GELU, one number for each thread
#
# [GELU](../notebooks/glossary.md#GELU) is the [activation](../notebooks/glossary.md#activation) of our model. It is a number
# times a gate between 0 and 1, here in its usual approximation (PyTorch's `approximate="tanh"`):
#
# $$\text{gelu}(x) = x \cdot g(x), \qquad g(x) = \frac{1}{1 + e^{-u}}, \qquad u = 2 \sqrt{2 / \pi} \; (x + 0.044715 \, x^3)$$
#
# The factor $2 \sqrt{2 / \pi}$ is 1.5957691216. So `gelu(0)` is 0, `gelu(1)` is 0.8412 and `gelu(-1)` is -0.1588.
#
# Write the kernel: `y[i] = gelu(x[i])` for `n` numbers. It is launched in blocks of 64 threads, with enough threads for all
# numbers, and perhaps some more. It looks like `silu_forward`. C++ has no sign for a power: the third power of x is `x * x *
# x`.

# %% exercise="gelu_naive" lecture=true
r"""
__global__ void gelu_naive(const float* x, float* y, int n) {
    // yours: find the number of this thread; if there is one, compute its u, and write x times the gate
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = 1.5957691216f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        y[i] = x[i] / (1.0f + expf(-u));
    }
    // end
}
"""

# %% [markdown]
# ## Four, from the last to the first
#
# `x` and `y` have `4 * groups` floats. Each thread takes one group of four neighbours and writes it to the same indices of `y`,
# in reverse order: `[1, 2, 3, 4]` becomes `[4, 3, 2, 1]`. Read the group with one instruction, and write it with one.
# (`float4 back = {1.0f, 2.0f, 3.0f, 4.0f};` fills the parts x, y, z and w. Write such a variable, not the braces themselves: the
# simulator's compiler may make four stores of those.)

# %% exercise="reverse_fours" lecture=true
r"""
__global__ void reverse_fours(const float* x, float* y, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < groups) {
        // yours: read group i, and write it in reverse order
        float4 p = *(const float4*)(x + 4 * i);
        float4 back = {p.w, p.z, p.y, p.x};
        *(float4*)(y + 4 * i) = back;
        // end
    }
}
"""

# %% [markdown]
# ## The backward pass of a product
#
# Elementwise, `y = a * b`. Write its backward pass: from the upstream gradient `dy` compute `da` and `db`, the gradients of the
# two inputs. All are arrays of `n` numbers. With dy 2, a 3 and b -5, they are -10 and 6.

# %% exercise="product_backward" lecture=true
r"""
__global__ void product_backward(const float* dy, const float* a, const float* b, float* da, float* db, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // yours: both gradients
    da[i] = dy[i] * b[i];
    db[i] = dy[i] * a[i];
    // end
}
"""

# %% [markdown]
# ## 1. GELU, four at a time
#
# The same with fewer instructions: each thread takes `N` consecutive numbers at once, as `scale` of the lecture does. `gelu`
# is there now, as a function. The kernel is a C++ template, launched in blocks of 64 threads with N = 4 and with N = 1. Step
# by step:
#
# 1. The N numbers of thread t begin at index N t. Here t counts on through all blocks.
# 2. Are all N of them in the array? Then cast the pointer, dereference it to read one `Pack<float, N>`, replace each `item[j]` by
#    its GELU, and write the pack.
# 3. If not, take those that are left one by one, as in `gelu_naive`.
#
# For 1024 numbers and N = 4, the warps may read with at most 8 instructions. The course's own `gelu` runs this kernel.

# %% exercise="gelu_forward"
# given kernels/include/gelu.cuh gelu_gate
# given kernels/include/gelu.cuh gelu
# include kernels/gelu.cu gelu_forward: take N consecutive numbers at once, and the last few one by one

# %% [markdown]
# ## 2. Bias and GELU in one pass
#
# `x` and `y` are matrices of `rows` rows and `F` columns, and `bias` has `F` numbers: `y = gelu(x + bias)`. Two elementwise
# steps in one kernel: a fusion. Reading the bias again for each row would move half as many bytes again, as we count them.
# (The L2 cache would serve some.) So let a thread own `N` neighbouring columns: it reads their bias **once**, and loops over
# the rows.
#
# The grid has two dimensions: along x enough threads for all columns, along y `gridDim.y` blocks, among which the rows are
# divided: a thread takes row `blockIdx.y`, and then every `gridDim.y`-th. It is launched in blocks of 32 threads with N = 4,
# where F is a multiple of 4, and with N = 1. At least 8 bytes for each number must move; the goal is at most 1.1 times as many.
# Every MLP contains this kernel.

# %% exercise="bias_gelu_forward"
# given kernels/include/gelu.cuh gelu_gate
# given kernels/include/gelu.cuh gelu
# include kernels/bias_gelu.cu bias_gelu_forward: read the bias of your columns once, and loop over the rows

# %% [markdown]
# ## 3. The backward pass of GELU
#
# Write the slope of GELU at one number, and the kernel `dx[i] = dy[i] * slope(x[i])`, with packs of `N` as in exercise 1.
# GELU is the product of x and its gate g, and the gate is a sigmoid of u, so its own slope is $g (1 - g)$ times the slope of
# u:
#
# $$\text{gelu}'(x) = g + x \, g (1 - g) \, u', \qquad u' = 1.5957691216 \; (1 + 3 \cdot 0.044715 \, x^2)$$
#
# At 0 the slope is 0.5, at 1 it is 1.0830, at -1 it is -0.0830. For 1024 numbers in packs of 4 at most 16 instructions may read.
# The course's own `gelu` runs this kernel in its backward pass.

# %% exercise="gelu_backward"
# given kernels/include/gelu.cuh gelu_gate
# include kernels/include/gelu.cuh gelu_grad: the slope of gelu at one number
# include kernels/gelu.cu gelu_backward: each dy times the slope, N at once

# %% [markdown]
# ## 4. Under the roof (stretch)
#
# In Python. How near is a kernel to the roof? `work()` launches it once. It moves `moved` bytes and does `flops` FLOPs. Give
# two numbers: its memory [throughput](../notebooks/glossary.md#throughput), which is the bandwidth that it reached, in bytes a
# second, and its arithmetic intensity, in FLOPs for each byte.
#
# `clock()` gives the time in seconds. But a GPU works while the host, Python, goes on: `work()` only starts the kernel, and
# returns at once. So a clock read then would show only the [latency](../notebooks/glossary.md#latency) of the launch. And
# earlier launches may still be running. `device.synchronize()` returns when all of them are done. With 12 bytes, 1 FLOP and 4
# seconds the result is `(3, 0.083)`. `np` is NumPy. (On the CPU an operation is done when its call returns, so there
# `synchronize` does nothing.)


# %% exercise="measure_roofline"
def measure_roofline(work, device, clock, moved, flops):
    # yours: wait, read the clock, work; when should you read it again?
    device.synchronize()
    began = clock()
    work()
    device.synchronize()
    seconds = clock() - began
    return moved / seconds, flops / moved
    # end


# %% [markdown]
# ## 5. Dropout (stretch)
#
# Each thread owns four consecutive numbers from number 4i on. `philox(counter, key)` gives four random words (`uint4`, with
# the parts x, y, z and w) for a counter of four words and a key of two. A word is an integer of 32 bits without a sign,
# `unsigned`. The counter is (i, 0, step, site), with i the number of the thread, and the key is seed low, seed high. The array
# `random` holds seed low, seed high and step. `make_uint4(a, b, c, d)` makes a counter, and `make_uint2(a, b)` a key. (Our
# solution reads and writes its four numbers at once where it may: a `float4` has four floats, also x, y, z and w; `load_four`
# and `store_four` check the end of the array; and `(size_t)p` is the address of a pointer as a number. You can do without.)
# (`extern "C"` only keeps the compiler from changing the kernel's name.)
#
# Number 4i + j is kept if its word is at least `threshold`, and then multiplied by `scale`; otherwise it becomes 0. So y[4i]
# belongs to the part x of the words, and y[4i + 3] to the part w. There are `n` numbers, and n need not be a multiple of 4.
# It is launched in blocks of 64 threads. The backward pass runs the same kernel: that is why no mask is stored.

# %% exercise="dropout"
# include kernels/dropout.cu dropout: draw four words, and keep or drop your four numbers

# %% [markdown]
# ## 6. One kernel for six operations (stretch)
#
# `binary` writes `y[i] = Op::of(a[i], b[i])` for `n` numbers, whatever operation `Op` is: the lecture shows the list. A thread
# takes N consecutive numbers of both arrays with one instruction each, and the last ones one by one. The type T is float, int
# or long long. It is launched in blocks of 64 threads, with packs of 16 bytes (N = 4, or 2 for long long) and with N = 1. All
# additions and multiplications of tensors of one shape run through this kernel.

# %% exercise="binary"
# given kernels/arithmetic.cu operations
# include kernels/arithmetic.cu binary: N consecutive numbers of a and of b, and the last few one by one

# %% [markdown]
# ## 7. SwiGLU (stretch)
#
# A row of `x` has 2F numbers: first F gates, then F ups. `y` has F columns: `y = silu(gate) * up`, where `silu(z)` is z times the
# sigmoid of z. With F = 1, the row `[2, 3]` becomes 2 times sigmoid(2) times 3, which is 5.2848.
#
# A thread owns `N` consecutive numbers of y, from number i on, where i is N times its own number; y has `size` numbers in all.
# Where do their gates begin in x, and where their ups? With N = 4, F is a multiple of 4, so a pack never lies in two rows.
# Read and write packs: for 16 rows of 64, no more than 12 bytes may move for each number of y. It is launched in blocks of 64
# threads. It is the activation of modern language models, ours of the preset `modern-12m` too.

# %% exercise="swiglu_forward"
# given kernels/swiglu.cu sigmoid
# include kernels/swiglu.cu swiglu_forward: find the gates and the ups of your N numbers, and write silu(gate) * up

# %% [markdown]
# ## 8. Challenge: the backward pass of bias and GELU (stretch)
#
# The backward pass of exercise 2: `dx = dy * gelu_grad(x + bias)`, and the gradient of the bias, which is the sum of dx over
# the rows. Each thread keeps to its columns, in the rows of its row of blocks. So let each thread add up what it writes, from
# 0 on, and leave its sum in `partial`, a matrix of `gridDim.y` rows and `F` columns: row `blockIdx.y` holds the sums of that
# row of blocks. (Another kernel adds these rows up.) With rows `[1, 2]` and `[3, 4]` as dx and one row of blocks, partial
# becomes `[[4, 6]]`.
#
# Launched as in exercise 2. The count is the number of bytes moved for 64 x 128 numbers: 98,304 must move for dy, x and dx
# alone. How near can you come? Your tries are remembered, and `course.versions("bias_gelu_backward")` draws them under a
# roofline.

# %% exercise="bias_gelu_backward"
# given kernels/include/gelu.cuh gelu_gate
# given kernels/include/gelu.cuh gelu_grad
# include kernels/bias_gelu.cu bias_gelu_backward: dx for your columns, and the sum of what you wrote

# %% [markdown] jp-MarkdownHeadingCollapsed=true
# # Appendix: more kernels
#
# They are kernels of the library. No later chapter needs that you have written them. Open the list with the arrow beside
# this heading.

# %% [markdown]
# ## 9. Find the faults: rows that lie apart (stretch)
#
# `copy_rows` copies a matrix of `rows` rows and `columns` columns from `x` to `y`. In memory a row of `x` begins `x_row`
# numbers after the one before, and a row of `y` begins `y_row` after it: so it can cut a part out of a wider matrix. The
# model cuts queries, keys and values apart with it. `template <class T>` leaves the type of the numbers open.
#
# A block has 32 x 4 threads. Thread (x, y) of the grid owns column x, and row y with every row that lies a whole grid further
# down. It has two faults. Run the cell first, and read the report.

# %% exercise="copy_rows"
# include kernels/strided_copy.cu copy_rows: fix what is wrong
# plant if (column >= columns) return; => if (column > columns) return;
# plant y[row * y_row + column] => y[row * x_row + column]

# %% [markdown]
# ## 10. The backward pass of SwiGLU (stretch)
#
# `dy` has F columns and `size` numbers in all; `x` and `dx` have 2F columns, gates and then ups, as in exercise 7. For
# `y = silu(gate) * up`, each number of dy gives two of dx:
#
# $$d\,gate = dy \cdot up \cdot s \, (1 + z (1 - s)), \quad d\,up = dy \cdot z \, s, \quad z = gate, \quad s = \text{sigmoid}(z)$$
#
# With F = 1, gate 0, up 3 and dy 2, dx is `[3, 0]`. Launched as in exercise 7.

# %% exercise="swiglu_backward"
# given kernels/swiglu.cu sigmoid
# include kernels/swiglu.cu swiglu_backward: one number of dy, two numbers of dx

# %% [markdown]
# ## 11. Find the faults: the last few (stretch)
#
# `unary` writes `y[i] = Op::of(x[i])`: negative, exp, log, tanh or square root, as `Op` says. It is like `binary` in
# exercise 6, with one input, and is launched in the same way. Arrays whose length is a multiple of N come out right; others do
# not. There are two faults, and the report shows them one after the other.

# %% exercise="unary"
# given kernels/unary.cu operations
# include kernels/unary.cu unary: fix what is wrong
# plant if (i + N <= n) { => if (i < n) {
# plant y[i] = Op::of(x[i]) => y[i] = Op::of(y[i])

# %% [markdown]
# ## 12. Compare, whatever the shapes (stretch)
#
# `y[i] = Op::of(a, b)` for each of the `n` numbers of y, and the result is a `bool`. But a and b may be smaller than y: by
# broadcasting, as in chapter 01, a column of a is compared with a row of b. A `View` holds the shape of y and the strides of
# one input, 0 along each axis where the same numbers are repeated. `offset_of(view_a, i)` gives the index of the number of a that
# belongs to number i of y. For a `[[1], [5]]`, b `[[2, 1, 6]]` and `Less`, y is `[[true, false, true], [false, false, true]]`.
#
# It is launched in blocks of 64 threads, with enough threads for all numbers of y, and perhaps some more. All six comparisons
# of tensors are this kernel; `a > b` is computed as `b < a`.

# %% exercise="compare"
# given kernels/compare.cu operations
# include kernels/compare.cu compare: find your two numbers, and compare them

# %% [markdown]
# ## 13. Find the fault: chosen by multiplying (stretch)
#
# `where` writes a number of `a` where its `condition` is true, and of `b` elsewhere; each of the three has a view, as in
# exercise 12. Someone wrote it as a sum: condition times a, plus (1 - condition) times b. That is right for all ordinary
# numbers. In the model, it sets scores that a token must not see to -inf. Run the cell, and look at all the other scores.

# %% exercise="where"
# include kernels/compare.cu where: fix the line that writes
# plant ? a[offset_of(view_a, i)] : b[offset_of => * a[offset_of(view_a, i)] + (1 - condition[offset_of(view_c, i)]) * b[offset_of

# %% [markdown]
# ## 14. From one type to another (stretch)
#
# `cast` converts n numbers of the type `From` to the type `To`. `Cast<To, From>::of(x)` converts one of them: in
# general by `(To)x`, as C++ does it, which rounds a float towards zero. A second `struct` of the same name with some types filled
# in is a *specialisation*: the compiler takes it for just these types. Two parts are yours: the one for `bool`, where every
# number but 0 becomes true (also 0.5), and the kernel. `(From)0` is a zero of the type `From`.
#
# It is launched in blocks of 64 threads. To `int`, `[0.5, -2.75]` becomes `[0, -2]`; to `bool`, `[true, true]`. It converts
# weights to bfloat16 and back.

# %% exercise="cast"
# include kernels/cast.cu kinds
# include kernels/cast.cu cast: one number for each thread

# %% [markdown]
# ## 15. One value everywhere (stretch)
#
# `fill` writes `value` to all `n` numbers of `y`, whatever their type `T` is. It is launched in blocks of 64 threads. With the
# value 2.5 and n = 2, y is `[2.5, 2.5]`. It makes new arrays of zeros.

# %% exercise="fill"
# include kernels/strided_copy.cu fill: this thread's number, if there is one

# %% [markdown]
# ## 16. The copy that others are measured by (stretch)
#
# A kernel that waits for memory is graded in per cent of the bandwidth that a plain copy reaches. Write that copy, with as few
# instructions as possible: `y[i] = x[i]` for `n` numbers of the type `T`, N consecutive numbers at once, and the last few one
# by one. It is launched in blocks of 64 threads, with packs of 16 bytes and with N = 1. For 1024 numbers of 4 bytes in packs
# at most 8 instructions may read.

# %% exercise="copy"
# include kernels/strided_copy.cu copy: N consecutive numbers at once, and the last few one by one

# %% [markdown]
# ## 17. Write into a view (stretch)
#
# The reverse of `strided_copy` of chapter 01: `n` contiguous values are to be written to the elements of a view of `x`. The
# view begins at the index `offset` of x, and `offset_of(view, i)` of exercise 12 gives the distance from there to its number i.
# All other numbers of x stay as they are. With x `[0, 0, 0, 0, 0, 0]`, the values `[1, 2, 3, 4]` and a view of shape (2, 2)
# with the strides (3, 1) and the offset 1, x becomes `[0, 1, 2, 0, 3, 4]`.
#
# It is launched in blocks of 64 threads. In the backward pass of a slice it writes the gradient of the part into that of the
# whole.

# %% exercise="strided_write"
# include kernels/strided_copy.cu strided_write: value i goes to its index

# %% [markdown]
# ## 18. Find the faults: one factor for all (stretch)
#
# `scale` of the lecture, whose factor lies in memory: `y[i] = factor[0] * x[i]`. Somebody took `factor` for an array as long as
# x. With the factor `[2.5]` and x `[2, 4]`, y should be `[5, 10]`. Run the cell, and read which index the report names. The
# clipping of a long gradient needs such a factor: it is known only on the GPU.

# %% exercise="scale_device_scalar"
# include kernels/scale.cu scale: fix what is wrong
# plant p.item[j] *= by => p.item[j] *= factor[i + j]
# plant by * x[i] => factor[i] * x[i]

# %% [markdown]
# ## 19. Into the stream (stretch)
#
# `y = x + residual`, for `n` numbers: the output of a branch of the network is added to the residual stream. To save memory,
# the result may overwrite one of the two: `y` is sometimes the same pointer as `x` or as `residual`. Of each array, N
# consecutive numbers are taken with one instruction, and the last ones one by one. It is launched in blocks of 64 threads,
# with N = 4 and N = 1. With x `[1, 2]` and residual `[10, 20]`, y is `[11, 22]`.

# %% exercise="residual_add"
# include kernels/residual_add.cu residual_add: N consecutive numbers of both, and the last few one by one
