// What is done with a tile's accumulators before they are written: the epilogues of gemm.cu and gemm_bf16.cu.
//
// An epilogue is a struct with two functions. operator()(row, column, sums) takes four consecutive elements of a row of C (M, N),
// the first at (row, column); columns from N on are not written. end_of_row(row, part, widest, narrowest) is called by a whole warp
// after its part of a row; the lanes that hold elements of that row reach each other by shuffles with the steps widest,
// widest / 2, ... narrowest. A bias may be null: nothing is added.
#pragma once
#include "edges.cuh"
#include "gelu.cuh"
#include "online_softmax.cuh"

// region rows
__device__ __forceinline__ float4 operator+(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

// Rows of a matrix (M, N) of float or bfloat16, read and written four consecutive elements at a time.
template <class T> struct Rows {
    T* first;
    int N;
    bool aligned;
    __device__ Rows(T* first, int N) : first(first), N(N), aligned(row_is_aligned(first, N)) {}
    __device__ float4 load(int row, int column) const { return load_four(first + (size_t)row * N, column, N, aligned); }
    __device__ void store(int row, int column, float4 four) const { store_four(first + (size_t)row * N, column, N, aligned, four); }
};

// A bias (N), or none.
struct Bias {
    const float* bias;
    int N;
    bool aligned;
    __device__ Bias(const float* bias, int N) : bias(bias), N(N), aligned(row_is_aligned(bias, N)) {}
    __device__ float4 added_to(float4 sums, int column) const { return bias ? sums + load_four(bias, column, N, aligned) : sums; }
};
// endregion

// c = sums + bias
template <class T> struct Store {
    Rows<T> c;
    Bias bias;
    __device__ void operator()(int row, int column, float4 sums) const { c.store(row, column, bias.added_to(sums, column)); }
    __device__ void end_of_row(int, int, int, int) const {}
};

// pre = sums + bias, kept for the backward pass; c = gelu(pre)
template <class T> struct StoreGelu {
    Rows<T> c, pre;
    Bias bias;
    __device__ void operator()(int row, int column, float4 sums) const {
        const float4 x = bias.added_to(sums, column);
        pre.store(row, column, x);
        c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};

// c = sums + bias + residual
template <class T> struct StoreResidual {
    Rows<T> c, residual;
    Bias bias;
    __device__ void operator()(int row, int column, float4 sums) const {
        c.store(row, column, bias.added_to(sums, column) + residual.load(row, column));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};

// c = scale[row] * sums. RMSNorm divides each row of x by one number, and a number that multiplies a row of A multiplies the
// same row of A B: so the norm's gain can be folded into B beforehand, and its row factor applied here, after the product.
template <class T> struct StoreScaled {
    Rows<T> c;
    const float* scale;  // (M)
    __device__ void operator()(int row, int column, float4 sums) const {
        const float s = scale[row];
        c.store(row, column, make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};

// c = sums + bias, and for each row and each warp's part of it the maximum m and l, the sum of exp(element - m): what the
// cross-entropy needs of the logits, computed while they are still in registers. kernels/logsumexp_merge.cu merges the parts.
template <class T> struct StoreLogsumexp {
    Rows<T> c;
    Bias bias;
    float *part_m, *part_l;  // (M, parts) each
    int M, parts;
    OnlineSoftmax part;      // of this lane's elements of the row

    __device__ void operator()(int row, int column, float4 sums) {
        const float4 x = bias.added_to(sums, column);
        c.store(row, column, x);
        if (column < c.N) part = see(part, x.x);
        if (column + 1 < c.N) part = see(part, x.y);
        if (column + 2 < c.N) part = see(part, x.z);
        if (column + 3 < c.N) part = see(part, x.w);
    }
    __device__ void end_of_row(int row, int number, int widest, int narrowest) {
        for (int step = widest; step >= narrowest; step /= 2)
            part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), __shfl_xor_sync(0xffffffffu, part.l, step)});
        if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row
            part_m[(size_t)row * parts + number] = part.m;
            part_l[(size_t)row * parts + number] = part.l;
        }
        part = nothing_seen();
    }
};
