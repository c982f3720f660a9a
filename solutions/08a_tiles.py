# %% [markdown]
# # 08a Tiles: exercises
#
# The lecture: [08a Tiles](../notebooks/08a_tiles.ipynb).

# %% [markdown]
# ## A product with a transposed matrix
#
# Now A is stored transposed: A (K, M), B (K, N), and C (M, N) becomes the product of A transposed and B. So `C[row][column]`
# is the sum over k of `A[k][row] * B[k][column]`. A block has 32 x 8 threads, and there are enough blocks for the rows and
# columns of C, whether you count the rows by x or by y. The goal is at most 4 sectors for each request that writes, and at
# most 4 of the 32 lanes idle, with each term read once and each sum written once.

# %% exercise="transposed_product" lecture=true
r"""
__global__ void transposed_product(const float* A, const float* B, float* C, int M, int N, int K) {
    // yours: row and column of this thread, its sum, and the write
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) sum += A[k * M + row] * B[k * N + column];
        C[row * N + column] = sum;
    }
    // end
}
"""

# %% [markdown]
# ## What tiles read
#
# C (M, N) = A (M, K) B (K, N) is computed from tiles of C, each of `TM` rows and `TN` columns. M is a multiple of TM, and N of
# TN. How many numbers of A and B are read in all? For M, N, K = 2, 2, 3 and tiles of 2 x 1 it is 18: two tiles, and each needs
# two rows of A and one column of B.


# %% exercise="tile_reads" lecture=true
def tile_reads(M, N, K, TM, TN):
    # yours: all numbers that all tiles read
    return (M // TM) * (N // TN) * (TM + TN) * K
    # end


# %% [markdown]
# ## How many are smaller?
#
# `y[i]` becomes the number of elements of `b` that are smaller than `x[i]`. x and y have `n` elements, b has `m`. The block
# loads b tile by tile, T numbers at once, and each thread compares its own number with all of them. It is launched with blocks
# of T threads. For x `[3]` and b `[1, 5]`, y is `[1]`. The goal is to read b once for each block.

# %% exercise="ranks" lecture=true
r"""
template <int T>
__global__ void ranks(const float* x, const float* b, int* y, int n, int m) {
    __shared__ float part[T];
    int t = threadIdx.x, i = blockIdx.x * T + t, count = 0;
    float own = i < n ? x[i] : 0.0f;
    for (int first = 0; first < m; first += T) {
        // yours: load the T numbers from b[first] on, and compare
        if (first + t < m) part[t] = b[first + t];
        __syncthreads();
        for (int u = 0; u < T && first + u < m; u++) {
            count += part[u] < own;
        }
        __syncthreads();
        // end
    }
    if (i < n) y[i] = count;
}
"""

# %% [markdown]
# ## Count the wavefronts
#
# `words` lists the words of shared memory that the lanes of a warp read in one request, a number for each lane. How many
# wavefronts does it take? For `[0, 32, 64, 64]` it is 3: four lanes want three different words, all of bank 0.


# %% exercise="count_wavefronts" lecture=true
def count_wavefronts(words):
    # yours: what the busiest bank must deliver
    return max(len({word for word in words if word % 32 == bank}) for bank in range(32))
    # end


# %% [markdown]
# ## 1. A product from tiles
#
# C (M, N) = A (M, K) B (K, N), all row-major, float32. The kernel is a template. A block has `TILE` x `TILE` threads and
# computes a tile of C of that size. There are enough blocks along x for the columns of C and along y for its rows.
#
# In each iteration the block loads `TILE` x `TILE` numbers of A and as many of B into shared memory, one of each for each thread,
# and multiplies them. It must be right for any sizes: what lies outside of A and B counts as zero. For A `[[1, 2], [3, 4]]` and B
# `[[5, 6], [7, 8]]`, C becomes `[[19, 22], [43, 50]]`.
#
# Two counts, for 64 x 64 matrices and tiles of 32: at most 1.2 times the bytes that tiles of this size need, and no bank
# conflict, with at most 4 of the 32 lanes idle. Every product of the model is built on these iterations.

# %% exercise="matmul_shared_tiles"
# include kernels/matmul_3_shared_tiles.cu matmul_shared_tiles: two tiles, a loop over K, and the write

# %% [markdown]
# ## 2. Transpose a matrix
#
# y (N, M) = x (M, N) transposed: `y[j * M + i] = x[i * N + j]`. A block has 32 x 32 threads, with enough blocks along x for the
# columns of x and along y for its rows. For x `[[1, 2, 3], [4, 5, 6]]`, y becomes `[[1, 4], [2, 5], [3, 6]]`.
#
# Without a tile, either the reads or the writes go down a column. A tile in shared memory helps. Three counts, for 64 x 96
# numbers: at most 4 sectors for each request that reads global memory, at most 4 for each that writes, and no bank conflict. They
# are reached by whole warps, with at most 4 idle lanes, and with each number read and written once.

# %% exercise="transpose"
r"""
__global__ void transpose(const float* x, float* y, int M, int N) {
    // yours: a tile, loaded along the rows of x and written along the rows of y
    __shared__ float tile[32][33];
    int i = blockIdx.y * 32 + threadIdx.y;
    int j = blockIdx.x * 32 + threadIdx.x;
    if (i < M && j < N) {
        tile[threadIdx.y][threadIdx.x] = x[i * N + j];
    }
    __syncthreads();
    int row = blockIdx.x * 32 + threadIdx.y;  // of y
    int column = blockIdx.y * 32 + threadIdx.x;
    if (row < N && column < M) {
        y[row * M + column] = tile[threadIdx.x][threadIdx.y];
    }
    // end
}
"""

# %% [markdown]
# ## 3. Find the faults: the gradient of the weights
#
# A layer computes `Y = X W`, with X (M, K), W (K, N) and Y (M, N). In the backward pass it gets the upstream gradient dY, and
# needs the gradient of its weights. The weight `W[k][n]` is multiplied by `X[m][k]` in each row m, and the product is added to
# `Y[m][n]`. So by the chain rule
#
# `dW[k][n]` = the sum over m of `X[m][k] * dY[m][n]`.
#
# For X `[[1, 2], [3, 4]]` and dY `[[1, 0], [0, 10]]`, dW becomes `[[1, 30], [2, 40]]`. This kernel computes dW (K, N) from
# tiles of 8 x 8, and it has two faults. The reports name the lines. Run the cell first. (Each matrix of weights in the model
# gets its gradient in this way.)

# %% exercise="weight_gradient"
r"""
__global__ void weight_gradient(const float* X, const float* dY, float* dW, int M, int N, int K) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int k = blockIdx.y * 8 + y, n = blockIdx.x * 8 + x;  // this thread's element of dW
    int column = blockIdx.y * 8 + x;                     // the column of X that it loads
    // yours: fix what follows
    float sum = 0.0f;
    for (int m = 0; m < M; m += 8) {
        a[y][x] = m + y < M && column < K ? X[(m + y) * K + column] : 0.0f;
        b[y][x] = m + y < M && n < N ? dY[(m + y) * N + n] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 8; t++) {
            sum += a[t][y] * b[t][x];
        }
        __syncthreads();
    }
    if (k < K && n < N) {
        dW[k * N + n] = sum;
    }
    // instead
    // if (k >= K || n >= N) {
    //     return;
    // }
    // float sum = 0.0f;
    // for (int m = 0; m < M; m += 8) {
    //     a[y][x] = m + y < M && column < K ? X[(m + y) * K + column] : 0.0f;
    //     b[y][x] = m + y < M && n < N ? dY[(m + y) * N + n] : 0.0f;
    //     __syncthreads();
    //     for (int t = 0; t < 8; t++) {
    //         sum += a[t][y] * b[t][x];
    //     }
    // }
    // dW[k * N + n] = sum;
    // end
}
"""

# %% [markdown]
# ## 4. How far apart? (stretch)
#
# X (M, K) and Y (N, K) hold points, one in each row. Write the squared distance of each point of X from each point of Y into D
# (M, N): `D[i][j]` is the sum over k of `(X[i][k] - Y[j][k])` squared. For X `[[0, 0]]` and Y `[[3, 4], [1, 0]]`, D becomes
# `[[25, 1]]`.
#
# A block has 16 x 16 threads, with enough blocks along x for the columns of D and along y for its rows. Two counts, for 48
# points of 32 numbers each: at most 1.2 times the bytes that tiles of 16 need, and at most 1.1 wavefronts for each
# request to shared memory, with at most 4 idle lanes. (To find the nearest of many vectors is how a text is looked up by
# its meaning.)

# %% exercise="pairwise_distances"
r"""
__global__ void pairwise_distances(const float* X, const float* Y, float* D, int M, int N, int K) {
    // yours: tiles of X and of Y, and a sum of squares
    __shared__ float a[16][16], b[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    int other = blockIdx.x * 16 + y;  // the row of Y that this thread loads
    float sum = 0.0f;
    for (int k = 0; k < K; k += 16) {
        a[y][x] = i < M && k + x < K ? X[i * K + k + x] : 0.0f;
        b[y][x] = other < N && k + x < K ? Y[other * K + k + x] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 16; t++) {
            float apart = a[y][t] - b[x][t];
            sum += apart * apart;
        }
        __syncthreads();
    }
    if (i < M && j < N) {
        D[i * N + j] = sum;
    }
    // end
}
"""

# %% [markdown]
# ## 5. Challenge: a product with few bytes (stretch)
#
# C (M, N) = A (M, K) B (K, N) once more. But now a block has 256 threads in one row, `threadIdx.x` from 0 to 255, and must
# compute 64 x 64 numbers of C. There are enough blocks along x for the columns of C and along y for its rows.
#
# The count is the bytes that it moves for 64 x 64 matrices: one block. If every number moved once it would be 49,152. Ours goes
# over its 64 x 64 numbers in 16 tiles, one after the other, and moves three times as much. How near can you come? Your tries
# are remembered.

# %% exercise="matmul_few_bytes"
r"""
__global__ void matmul_few_bytes(const float* A, const float* B, float* C, int M, int N, int K) {
    // yours: 64 x 64 numbers of C by 256 threads
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int part = 0; part < 16; part++) {
        int i = blockIdx.y * 64 + part / 4 * 16 + y;
        int j = blockIdx.x * 64 + part % 4 * 16 + x;
        float sum = 0.0f;
        for (int k = 0; k < K; k += 16) {
            a[y][x] = i < M && k + x < K ? A[i * K + k + x] : 0.0f;
            b[y][x] = k + y < K && j < N ? B[(k + y) * N + j] : 0.0f;
            __syncthreads();
            for (int t = 0; t < 16; t++) {
                sum += a[y][t] * b[t][x];
            }
            __syncthreads();
        }
        if (i < M && j < N) {
            C[i * N + j] = sum;
        }
    }
    // end
}
"""
