// nvcuda::wmma: products of 16x16x16, 32x8x16 and 8x32x16. Halves and bfloat16 are summed in float, 8-bit integers exactly
// in int.
//
// Which lane holds which element is unspecified on a GPU; here lane l holds elements l*8 .. l*8+7 in row order.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simulator/matrices.h"

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

// Call `touch` once per element, so that each access is checked.
template <class F, class Touch> SIM_INLINE void sim_each_element(F& f, bool by_column, unsigned stride, Touch touch) {
    for (int i = 0; i < F::num_elements; i++) {
        int element = sim_lane() * F::num_elements + i, row = element / F::columns, column = element % F::columns;
        touch(f.x[i], by_column ? column * stride + row : row * stride + column);
    }
}

template <class Use, int M, int N, int K, class T, class Layout>
SIM_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const T* p, unsigned stride, SIM_HERE) {
    SIM_CHECK_TILE(p, stride, file, line)
    __syncwarp(0xffffffffu, file, line);
    sim_each_element(f, std::is_same<Layout, col_major>::value, stride, [&](T& x, unsigned at) { x = p[at]; });
}
template <int M, int N, int K, class T>
SIM_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned stride, layout_t layout, SIM_HERE) {
    SIM_CHECK_TILE(p, stride, file, line)
    __syncwarp(0xffffffffu, file, line);
    sim_each_element(f, layout == mem_col_major, stride, [&](T& x, unsigned at) { x = p[at]; });
}
template <int M, int N, int K, class T>
SIM_INLINE void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout, SIM_HERE) {
    SIM_CHECK_TILE(p, stride, file, line)
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

template <class T> constexpr bool sim_is_byte = std::is_same<T, signed char>::value || std::is_same<T, unsigned char>::value;
template <class F> using sim_element = std::remove_reference_t<decltype(std::declval<F>().x[0])>;

// Which types a GPU multiplies, and the type of the accumulator.
template <class A, class B, class C, class D> struct sim_product {
    using Input = sim_element<A>;
    using Sum = std::conditional_t<sim_is_byte<Input>, long long, float>;
    static constexpr bool small = std::is_same<Input, __half>::value || std::is_same<Input, __nv_bfloat16>::value;
    static constexpr bool floats = std::is_same<C, float>::value && std::is_same<D, float>::value;
    static constexpr bool halves = std::is_same<Input, __half>::value && !std::is_integral<C>::value && !std::is_integral<D>::value;
    static_assert(std::is_same<Input, sim_element<B>>::value, "mma_sync takes two matrices of the same type");
    static_assert(small || sim_is_byte<Input>, "wmma is simulated for half, __nv_bfloat16, signed char and unsigned char");
    static_assert(!sim_is_byte<Input> || (std::is_same<C, int>::value && std::is_same<D, int>::value),
                  "wmma sums signed char and unsigned char in accumulators of int");
    static_assert(!small || floats || halves, "wmma sums half in accumulators of float or half, and __nv_bfloat16 in float");
};
// A sum of integers wraps around as int does, or stays at its limits.
template <bool SATURATE> SIM_INLINE SIM_UNCHECKED float sim_finish(float sum) { return sum; }
template <bool SATURATE> SIM_INLINE SIM_UNCHECKED int sim_finish(long long sum) {
    return (int)(SATURATE && sum > INT_MAX ? INT_MAX : SATURATE && sum < INT_MIN ? INT_MIN : sum);
}

// The last lane to arrive computes the product for all 32.
template <bool SATURATE, class D, class A, class B, class C> SIM_UNCHECKED void sim_multiply(uint64_t* values, uint32_t members) {
    using Operands = sim_operands<D, A, B, C>;
    using Sum = typename sim_product<A, B, sim_element<C>, sim_element<D>>::Sum;
    constexpr int M = A::rows, K = A::columns, N = B::columns;
    Sum a[M * K] = {}, b[K * N] = {};
    for (int lane = 0; lane < 32; lane++) {
        if (!(members >> lane & 1)) continue;
        auto* lane_operands = reinterpret_cast<Operands*>(values[lane]);
        for (int i = 0; i < A::num_elements; i++) a[lane * A::num_elements + i] = (Sum)lane_operands->a->x[i];
        for (int i = 0; i < B::num_elements; i++) b[lane * B::num_elements + i] = (Sum)lane_operands->b->x[i];
    }
    for (int element = 0; element < M * N; element++) {
        if (!(members >> element / C::num_elements & 1)) continue;
        auto* operands = reinterpret_cast<Operands*>(values[element / C::num_elements]);
        int row = element / N, column = element % N, i = element % C::num_elements;
        Sum sum = (Sum)operands->c->x[i];
        for (int k = 0; k < K; k++) sum += a[row * K + k] * b[k * N + column];
        operands->d->x[i] = sim_finish<SATURATE>(sum);
    }
}

template <class D, class A, class B, class C>
SIM_WAITS void mma_sync(D& d, const A& a, const B& b, const C& c, bool saturate = false, SIM_HERE) {
    sim_operands<D, A, B, C> operands{&d, &a, &b, &c};
    const sim::Action action = saturate ? sim_multiply<true, D, A, B, C> : sim_multiply<false, D, A, B, C>;
    SIM_WARP_SYNC(MATRIX, 0xffffffffu, reinterpret_cast<uint64_t>(&operands), action)
    (void)sim_values;
    SIM_CHECK_WARP(file, line)
}

}  // namespace wmma
}  // namespace nvcuda
