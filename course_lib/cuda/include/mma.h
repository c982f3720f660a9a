// nvcuda::wmma: 16x16x16 products of half or bfloat16 matrices, summed in float.
//
// Which lane holds which element is nobody's business on a GPU; here lane l holds elements l*8 .. l*8+7 in row order.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    static constexpr int rows = std::is_same<Use, matrix_b>::value ? K : M;
    static constexpr int columns = std::is_same<Use, matrix_a>::value ? K : N;
    static constexpr int num_elements = rows * columns / 32;
    static constexpr int num_storage_elements = num_elements;
    static_assert((M == 16 && N == 16 && K == 16) || (M == 32 && N == 8 && K == 16) || (M == 8 && N == 32 && K == 16),
                  "wmma is simulated for 16x16x16, 32x8x16 and 8x32x16");
    T x[num_elements];
};

template <class F, class V> SIM_INLINE void fill_fragment(F& f, V value) {
    for (int i = 0; i < F::num_elements; i++) f.x[i] = value;
}

// A function of the learner's memory, called once per element so that the checker sees each access.
template <class F, class Touch> SIM_INLINE void sim_each_element(F& f, bool by_column, unsigned stride, Touch touch) {
    for (int i = 0; i < F::num_elements; i++) {
        int element = sim_lane() * F::num_elements + i, row = element / F::columns, column = element % F::columns;
        touch(f.x[i], by_column ? column * stride + row : row * stride + column);
    }
}

template <class Use, int M, int N, int K, class T, class Layout>
SIM_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const T* p, unsigned stride, SIM_HERE) {
    __syncwarp(0xffffffffu, file, line);
    sim_each_element(f, std::is_same<Layout, col_major>::value, stride, [&](T& x, unsigned at) { x = p[at]; });
}
template <int M, int N, int K, class T>
SIM_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned stride, layout_t layout, SIM_HERE) {
    __syncwarp(0xffffffffu, file, line);
    sim_each_element(f, layout == mem_col_major, stride, [&](T& x, unsigned at) { x = p[at]; });
}
template <int M, int N, int K, class T>
SIM_INLINE void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout, SIM_HERE) {
    __syncwarp(0xffffffffu, file, line);
    sim_each_element(f, layout == mem_col_major, stride, [&](const T& x, unsigned at) { p[at] = x; });
    __syncwarp(0xffffffffu, file, line);
}

template <class D, class A, class B, class C> struct sim_operands {
    D* d;
    const A* a;
    const B* b;
    const C* c;
};

// The last lane to arrive computes the product for all 32.
template <class D, class A, class B, class C> SIM_UNCHECKED void sim_multiply(uint64_t* values, uint32_t) {
    using Operands = sim_operands<D, A, B, C>;
    constexpr int M = A::rows, K = A::columns, N = B::columns;
    float a[M * K], b[K * N];
    for (int lane = 0; lane < 32; lane++) {
        auto* lane_operands = reinterpret_cast<Operands*>(values[lane]);
        for (int i = 0; i < A::num_elements; i++) a[lane * A::num_elements + i] = (float)lane_operands->a->x[i];
        for (int i = 0; i < B::num_elements; i++) b[lane * B::num_elements + i] = (float)lane_operands->b->x[i];
    }
    for (int element = 0; element < M * N; element++) {
        auto* operands = reinterpret_cast<Operands*>(values[element / C::num_elements]);
        int row = element / N, column = element % N, i = element % C::num_elements;
        float sum = (float)operands->c->x[i];
        for (int k = 0; k < K; k++) sum += a[row * K + k] * b[k * N + column];
        operands->d->x[i] = sum;
    }
}

template <class D, class A, class B, class C>
SIM_FUNCTION void mma_sync(D& d, const A& a, const B& b, const C& c, SIM_HERE) {
    sim_operands<D, A, B, C> operands{&d, &a, &b, &c};
    SIM_MEET(ACTION, 0xffffffffu, reinterpret_cast<uint64_t>(&operands), (sim_multiply<D, A, B, C>))
    (void)sim_met;
}

}  // namespace wmma
}  // namespace nvcuda
