# %% [markdown]
# # 08b Registers: exercises
#
# The lecture: [08b Registers](../notebooks/08b_registers.ipynb).

# %% [markdown]
# ## The best rectangle
#
# A thread is to keep exactly `sums` sums in registers, `TM` x `TN`. Return `TM, TN` with the fewest reads for each
# multiply-add, the smaller number first. For 8 sums it is `(2, 4)`: 6 reads for 8 multiply-adds, where 1 x 8 needs 9.

# %% exercise="best_rectangle" lecture=true
def best_rectangle(sums):
    # yours: of all integers with TM * TN == sums, the best two
    best = 1
    for TM in range(1, sums + 1):
        if sums % TM == 0 and TM * TM <= sums:
            best = TM
    return best, sums // best
    # end


# %% [markdown]
# ## Four columns for each thread
#
# y (N) = x (K) times A (K, N): `y[j]` is the sum over k of `x[k] * A[k][j]`. A block is one warp, and owns the 128 columns from
# `blockIdx.x * 128` on; N is a multiple of 128. So each thread owns four columns. Which four is yours to choose. The goal is
# the fewest bytes: read each number of A once, and x[k] once for all four.

# %% exercise="row_times_matrix" lecture=true
r"""
__global__ void row_times_matrix(const float* x, const float* A, float* y, int N, int K) {
    float sum[4] = {};
    int first = blockIdx.x * 128 + threadIdx.x;
    // yours: four sums, and the writes
    for (int k = 0; k < K; k++) {
        float left = x[k];
        for (int c = 0; c < 4; c++) sum[c] += left * A[k * N + first + 32 * c];
    }
    for (int c = 0; c < 4; c++) y[first + 32 * c] = sum[c];
    // end
}
"""

# %% [markdown]
# ## Sums of four
#
# `y[i]` becomes the sum of the four numbers of `x` from `x[4 * i]` on; `x` has 4 n numbers, and begins at a multiple of 16
# bytes. The goal is one request to read for each warp. For x `[1, 2, 3, 4]`, y is `[10]`.

# %% exercise="sums_of_four" lecture=true
r"""
__global__ void sums_of_four(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // yours: read one float4, and add its parts
        float4 v = *(const float4*)(x + 4 * i);
        y[i] = v.x + v.y + v.z + v.w;
        // end
    }
}
"""

# %% [markdown]
# ## Find the fault: a double buffer
#
# This product loads the next tiles while it multiplies the present ones, so one barrier for each iteration should be enough. C
# (M, N) = A (M, K) B (K, N), with blocks of 16 x 16 threads, one number of C for each. The order of some lines is
# wrong. Run the cell, and read the report: which two lines race? (The products of the model use a double buffer as well.)

# %% exercise="double_buffer" lecture=true
r"""
__global__ void double_buffer(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[2][16][16], b[2][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    a[0][y][x] = row < M && x < K ? A[row * K + x] : 0.0f;
    b[0][y][x] = y < K && column < N ? B[y * N + column] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    int half = 0;
    for (int k = 16; k < K + 16; k += 16) {
        float next_a = row < M && k + x < K ? A[row * K + k + x] : 0.0f;
        float next_b = k + y < K && column < N ? B[(k + y) * N + column] : 0.0f;
        for (int t = 0; t < 16; t++) {
            sum += a[half][y][t] * b[half][t][x];
        }
        // yours: fix the order of these lines
        half = 1 - half;
        a[half][y][x] = next_a;
        b[half][y][x] = next_b;
        __syncthreads();
        // instead
        // __syncthreads();
        // half = 1 - half;
        // a[half][y][x] = next_a;
        // b[half][y][x] = next_b;
        // end
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
"""

# %% [markdown]
# ## Two layouts
#
# A has `M` rows and `K` terms. It lies in memory as (M, K), or, if `transposed`, as (K, M). At which offset from its first
# number is the one of row `row` and term `term`?


# %% exercise="offset_of_term" lecture=true
def offset_of_term(transposed, row, term, M, K):
    # yours: the offset in both layouts
    return term * M + row if transposed else row * K + term
    # end


# %% [markdown]
# ## 1. A column of results for each thread
#
# C (M, N) = A (M, K) B (K, N), float32. A block computes `BM` x `BN` numbers of C and has `BM / TM * BN` threads in one row.
# Each thread computes `TM` numbers, one below the other. The sum is made in slices of `BK` terms: `BM` x `BK` numbers of A and
# `BK` x `BN` of B in shared memory. `BM * BK` and `BK * BN` are multiples of the number of threads. There are enough blocks
# along x for the columns of C and along y for its rows. What lies outside of A and B counts as zero. For A `[[1, 2], [3, 4]]`
# and B `[[5, 6], [7, 8]]`, C becomes `[[19, 22], [43, 50]]`.
#
# Two counts, for 64 x 64 matrices with `BM = BN = 64`, `BK = TM = 8`: at most 1.2 times the bytes that such tiles need, and at
# most 9 requests that read shared memory for 8 multiply-adds of a warp, 9,216 in all. This is kernel 4.

# %% exercise="matmul_register_tiles_1d"
# include kernels/matmul_4_register_tiles_1d.cu matmul_register_tiles_1d: slices, TM sums in registers, and the writes

# %% [markdown]
# ## 2. The product that trains: four layouts
#
# C (M, N) is the product of A and B. With `TRANSPOSE_A` A lies in memory transposed, as (K, M); else as (M, K). With
# `TRANSPOSE_B` B lies as (N, K); else as (K, N). For A `[[1, 2], [3, 4]]` the memory holds 1, 2, 3, 4 without `TRANSPOSE_A`,
# and 1, 3, 2, 4 with it; the product is the same. A block computes `BM` x `BN` numbers, each thread `TM` x `TN` of them, and
# all of that is written already. The loads are yours: in each iteration, `a[t][r]` becomes the number of A in row `first_row +
# r`, term `k + t`, and `b[t][c]` the number of B in term `k + t`, column `first_column + c`. Terms from `end` on, rows from M
# on and columns from N on are zeros.
#
# The threads are numbered from 0 to `THREADS - 1`, `threadIdx.x`; there may be fewer threads than a slice has numbers. (The
# sum may be split into parts, `begin` to `end`, and a launch may hold many products, number `blockIdx.z`: that is written,
# too.) Counts, for all four layouts of 64 x 64 matrices: at most 4 sectors for each request that reads global memory, with at
# most 4 idle lanes, and each block reads each number of its slices once.
#
# When it passes, `course.use_my_answers()` lets it do the products of a model that trains on the simulator: the gradients of
# all layers.

# %% exercise="gemm"
r"""
template <bool TRANSPOSE_A, bool TRANSPOSE_B, int BM, int BN, int BK, int TM, int TN>
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K, long long stride_a, long long stride_b,
                     int split) {
    constexpr int ACROSS = BN / TN, THREADS = BM / TM * ACROSS;
    __shared__ float a[BK][BM + 4], b[BK][BN + 4];
    int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    int y = threadIdx.x / ACROSS * TM, x = threadIdx.x % ACROSS * TN;
    A += blockIdx.z * stride_a;
    B += blockIdx.z * stride_b;
    C += (size_t)blockIdx.z * M * N;
    int begin = blockIdx.z * split, end = split > 0 ? min(begin + split, K) : K;
    float sum[TM][TN] = {};
    for (int k = begin; k < end; k += BK) {
        // yours: fill a and b, for all layouts of A and B
        for (int e = threadIdx.x; e < BM * BK; e += THREADS) {
            int t = TRANSPOSE_A ? e / BM : e % BK;
            int r = TRANSPOSE_A ? e % BM : e / BK;
            int row = first_row + r, term = k + t;
            size_t offset = TRANSPOSE_A ? (size_t)term * M + row : (size_t)row * K + term;
            a[t][r] = row < M && term < end ? A[offset] : 0.0f;
        }
        for (int e = threadIdx.x; e < BN * BK; e += THREADS) {
            int t = TRANSPOSE_B ? e % BK : e / BN;
            int c = TRANSPOSE_B ? e / BK : e % BN;
            int column = first_column + c, term = k + t;
            size_t offset = TRANSPOSE_B ? (size_t)column * K + term : (size_t)term * N + column;
            b[t][c] = column < N && term < end ? B[offset] : 0.0f;
        }
        // end
        __syncthreads();
        for (int t = 0; t < BK; t++) {
            float right[TN];
            for (int c = 0; c < TN; c++) right[c] = b[t][x + c];
            for (int r = 0; r < TM; r++) {
                float left = a[t][y + r];
                for (int c = 0; c < TN; c++) sum[r][c] += left * right[c];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++) {
        for (int c = 0; c < TN; c++) {
            int row = first_row + y + r, column = first_column + x + c;
            if (row < M && column < N) C[(size_t)row * N + column] = sum[r][c];
        }
    }
}
"""

# %% [markdown]
# ## 3. Transpose four by four (stretch)
#
# y (N, M) = x (M, N) transposed, where M and N are multiples of 4, and x and y begin at multiples of 16 bytes. A block has 8 x
# 8 threads for 32 x 32 numbers, so a thread has 4 x 4 of them: read four rows of four, and write four columns as four rows. No
# shared memory is needed. If x holds the numbers 0 to 15 in four rows, the first row of y is 0, 4, 8, 12. There are enough
# blocks along x for the columns of x and along y for its rows.
#
# One count, for 64 x 96 numbers: at most 96 requests to global memory, which is one for each `float4` of a warp, 48 to read
# and 48 to write. (`make_float4(a, b, c, d)` makes one of four numbers; `v.x`, `v.y`, `v.z`, `v.w` are its parts.)

# %% exercise="transpose_float4"
r"""
__global__ void transpose_float4(const float* x, float* y, int M, int N) {
    // yours: sixteen numbers in registers, transposed there
    int i = blockIdx.y * 32 + threadIdx.y * 4;
    int j = blockIdx.x * 32 + threadIdx.x * 4;
    if (i < M && j < N) {
        float4 row[4];
        for (int r = 0; r < 4; r++) {
            row[r] = *(const float4*)(x + (i + r) * N + j);
        }
        *(float4*)(y + (j + 0) * M + i) = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
        *(float4*)(y + (j + 1) * M + i) = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
        *(float4*)(y + (j + 2) * M + i) = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
        *(float4*)(y + (j + 3) * M + i) = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
    }
    // end
}
"""

# %% [markdown]
# ## 4. Challenge: a product with few requests to shared memory (stretch)
#
# C (M, N) = A (M, K) B (K, N). A block has 64 threads in one row and must compute 64 x 64 numbers of C; it must be right for any
# sizes. The count is the number of requests to shared memory, to read and to write, for 128 x 128 x 64. Ours lets each thread
# compute 8 x 8 numbers, and reads them one by one. How few can it be? Your tries are remembered.

# %% exercise="matmul_few_requests"
r"""
__global__ void matmul_few_requests(const float* A, const float* B, float* C, int M, int N, int K) {
    // yours: 64 x 64 numbers of C by 64 threads
    __shared__ float a[8][64 + 4], b[8][64];
    int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    int y = threadIdx.x / 8, x = threadIdx.x % 8;  // owns the rows y, y + 8, ... and the columns x, x + 8, ...
    float sum[8][8] = {};
    for (int k = 0; k < K; k += 8) {
        for (int e = threadIdx.x; e < 64 * 8; e += 64) {
            int row = first_row + e / 8, term = k + e % 8;
            a[e % 8][e / 8] = row < M && term < K ? A[row * K + term] : 0.0f;
            int column = first_column + e % 64, other = k + e / 64;
            b[e / 64][e % 64] = other < K && column < N ? B[other * N + column] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < 8; t++) {
            float left[8], right[8];
            for (int r = 0; r < 8; r++) left[r] = a[t][y + 8 * r];
            for (int c = 0; c < 8; c++) right[c] = b[t][x + 8 * c];
            for (int r = 0; r < 8; r++) {
                for (int c = 0; c < 8; c++) sum[r][c] += left[r] * right[c];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++) {
        for (int c = 0; c < 8; c++) {
            int row = first_row + y + 8 * r, column = first_column + x + 8 * c;
            if (row < M && column < N) C[row * N + column] = sum[r][c];
        }
    }
    // end
}
"""
