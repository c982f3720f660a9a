# %% [markdown]
# # 04 First kernel: exercises
#
# The lecture: [04 First kernel](../notebooks/04_first_kernel.ipynb).

# %% [markdown]
# ## One element of a matrix
#
# `x` is a matrix whose rows have `N` numbers. Write the number in row `i` and column `j` to `y[0]`. It is launched as `show` was,
# with `grid=1, block=1`.

# %% exercise="matrix_element" lecture=true
r"""
__global__ void matrix_element(const float* x, float* y, int i, int j, int N) {
    // yours: copy the element in row i and column j to y[0]
    y[0] = x[i * N + j];
    // end
}
"""

# %% [markdown]
# ## Which thread am I?
#
# Each thread writes its index in the whole grid to the element of `y` with that index: `y` becomes `[0, 1, 2, ...]`. There is
# exactly one thread for each element.

# %% exercise="write_index" lecture=true
r"""
__global__ void write_index(int* y) {
    // yours: find the index of this thread in the grid, and write it
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = i;
    // end
}
"""

# %% [markdown]
# ## One thread for each number
#
# Now the kernel of this chapter. `scale` multiplies every number of `x` by `s` and writes the product to `y`. Both arrays have
# `n` numbers. It is launched in blocks of 32 threads, with enough blocks for all numbers.

# %% exercise="scale" lecture=true
r"""
__global__ void scale(const float* x, float* y, float s, int n) {
    // yours: find the number of this thread, and scale it if there is one
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = s * x[i];
    }
    // end
}
"""

# %% [markdown]
# ## 1. Gather rows of a table
#
# `table` is a matrix with `C` columns. `rows` names `n` of its rows; one may be named twice. Copy them, in that order, to `y`
# with its `n` rows of `C` numbers. With the table `[[1, 2], [3, 4], [5, 6]]` and the rows `[2, 0]`, y becomes
# `[[5, 6], [1, 2]]`.
#
# It is launched in blocks of 32 threads, one thread or more for each number of `y`. Neighbouring lanes should read and write
# neighbouring numbers: that is coalescing. And no lane should idle: a lone thread has one sector for each request, but 32 times
# as many requests. The sectors come from global memory, the HBM of a large card, and each should be read once. All rows in
# `rows` exist. A language model begins in this way: each token is a row of a table.

# %% exercise="gather_rows"
r"""
__global__ void gather_rows(const float* table, const int* rows, float* y, int n, int C) {
    // yours: find the number of y that this thread writes, and copy it from the table
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) {
        int t = i / C;
        int c = i % C;
        y[i] = table[rows[t] * C + c];
    }
    // end
}
"""

# %% [markdown]
# ## 2. Add a bias to each row of a matrix
#
# `x` and `y` are matrices of `M` rows and `N` columns, and `bias` has `N` numbers. Write `y = x + bias`: each row of `x` gets the
# same `bias`. For `x` `[[1, 2], [3, 4]]` and the bias `[10, 20]`, y becomes `[[11, 22], [13, 24]]`.
#
# It is launched in blocks of 32 x 4 threads, with enough of them along x for `N` columns and along y for `M` rows. Neighbouring
# lanes should read and write neighbouring numbers. Every linear layer ends in this way.

# %% exercise="add_bias"
r"""
__global__ void add_bias(const float* x, const float* bias, float* y, int M, int N) {
    // yours: find row and column of this thread, and add the bias if both lie inside the matrix
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M && j < N) {
        y[i * N + j] = x[i * N + j] + bias[j];
    }
    // end
}
"""

# %% [markdown]
# ## 3. Find the fault: beyond the ends (stretch)
#
# `smooth` replaces each number by the average of itself and its two neighbours. Beyond the ends there are zeros. Run the cell
# first, and read the report.

# %% exercise="smooth"
r"""
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // yours: fix these two lines
        float left = i > 0 ? x[i - 1] : 0.0f;
        float right = i < n - 1 ? x[i + 1] : 0.0f;
        // instead
        // float left = x[i - 1];
        // float right = x[i + 1];
        // end
        y[i] = (left + x[i] + right) / 3.0f;
    }
}
"""

# %% [markdown]
# ## 4. Find the fault: reversed in place (stretch)
#
# `reverse` reverses the order of an array of `n` numbers: `[1, 2, 3]` becomes `[3, 2, 1]`. It works in place: there is no
# second array, and the result overwrites the numbers. It is launched in blocks of 32 threads, one thread or more for each
# number. Run the cell first, and read the report. Kernels that work in place save memory; the optimiser of chapter 03 becomes
# one.

# %% exercise="reverse"
r"""
__global__ void reverse(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // yours: fix these lines
    if (i < n / 2) {
        float left = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = left;
    }
    // instead
    // if (i < n) {
    //     x[n - 1 - i] = x[i];
    // }
    // end
}
"""

# %% [markdown]
# ## 5. Challenge: all products with few bytes (stretch)
#
# `a` has `M` numbers and `b` has `N`. Write every product of the two into `y`, with `M` rows and `N` columns:
# `y[i * N + j] = a[i] * b[j]`. For `a` `[1, 2]` and `b` `[3, 4]`, y becomes `[[3, 4], [6, 8]]`.
#
# It is launched with 2 blocks of 64 threads, whatever the sizes; which thread writes what is up to you. The count is the number
# of bytes that it moves for 64 x 256 numbers. Writing `y` alone takes 65,536. How near can you come? You can do better than our
# solution. Your tries are remembered. (The gradient of a layer's weights, for one row of input, is such a matrix of products.)

# %% exercise="outer_product"
r"""
__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    // yours: write all M * N products
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < N; j += gridDim.x * blockDim.x) {
        float own = b[j];
        for (int i = 0; i < M; i++) {
            y[i * N + j] = a[i] * own;
        }
    }
    // end
}
"""

# %% [markdown]
# ## 6. Roll an array (stretch)
#
# `roll` writes the `n` numbers of `x` to `y`, shifted by `shift` positions. Numbers that leave at the end enter at the beginning:
# with a shift of 1, `[1, 2, 3]` becomes `[3, 1, 2]`. A negative shift moves the other way, and a shift may be larger than `n`.
# In NumPy this is `np.roll(x, shift)`. It is launched with 2 blocks of 32 threads, however long `x` is. A warning from the
# lecture: for negative numbers, C++ and Python do not give the same remainder. (A text shifted by -1 holds what a language model
# must predict at each position: the next token.)

# %% exercise="roll"
r"""
__global__ void roll(const float* x, float* y, int shift, int n) {
    // yours: every number to its new position
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        int from = (i - shift) % n;
        if (from < 0) {
            from += n;
        }
        y[i] = x[from];
    }
    // end
}
"""

# %% [markdown]
# ## 7. Flip each row, lane by lane (stretch)
#
# `x` is a picture of `M` rows and `N` columns. Write its mirror image to `y`: each row in reverse order. `[[1, 2, 3], [4, 5,
# 6]]` becomes `[[3, 2, 1], [6, 5, 4]]`. It is launched with 4 blocks of 32 threads, whatever the sizes; which thread does what
# is up to you.
#
# Right results are easy here. But a warp should not move more than it needs: in a picture of 96 x 128 numbers, at most 4.2
# sectors for each request, reading and writing, with at most 4 of the 32 lanes idle. Four is the least for 32 numbers side by
# side. Every kernel of Part II is measured by this.

# %% exercise="flip_rows"
r"""
__global__ void flip_rows(const float* x, float* y, int M, int N) {
    // yours: mirror all M rows
    for (int i = blockIdx.x; i < M; i += gridDim.x) {
        for (int j = threadIdx.x; j < N; j += blockDim.x) {
            y[i * N + j] = x[i * N + N - 1 - j];
        }
    }
    // end
}
"""
