// What inline PTX is translated to (programs/inline_ptx.py): registers, and how their bits are read.
#pragma once
#include "ptx.h"

namespace sim_ptx {

using register_r = uint32_t;
using register_l = uint64_t;
using register_h = uint16_t;
using register_f = float;
using register_d = double;
using register_p = bool;

// An operand as a register, and back: a conversion, as between C++'s types of one width.
template <class R, class T> SIM_INLINE R take(const T& value) { return (R)value; }
template <class T, class R> SIM_INLINE void put(T& to, R value) { to = (std::remove_reference_t<T>)value; }

// The bits of a register as a value of another type; what is wider is cut off, what is narrower has zeros before it.
template <class T, class R> SIM_INLINE SIM_UNCHECKED T as(const R& bits) {
    if constexpr (std::is_same<T, bool>::value) return bits != R(0);
    else {
        uint64_t wide = 0;
        __builtin_memcpy(&wide, &bits, sizeof(R));
        T value;
        __builtin_memcpy((void*)&value, &wide, sizeof(T));
        return value;
    }
}
// Into a wider register: integers with their sign, as PTX extends them.
template <class R, class T> SIM_INLINE void set(R& to, const T& value) {
    if constexpr (std::is_same<R, bool>::value) to = value != T(0);
    else if constexpr (std::is_integral<T>::value && std::is_integral<R>::value) to = R(value);
    else to = as<R>(value);
}

// A 32-bit address of shared memory has the lower half of a pointer's bits: the upper half is that of any shared variable.
SIM_FUNCTION char* near_shared() {
    static thread_local char anchor[16];
    return anchor;
}
template <class T> SIM_INLINE T* address(uint64_t generic, int64_t offset) { return (T*)(generic + offset); }
template <class T> SIM_INLINE T* address(uint32_t shared, int64_t offset) {
    uint64_t anchor = (uint64_t)near_shared();
    return (T*)(anchor + int32_t(shared - uint32_t(anchor)) + offset);
}

// Vectors are one access, as wide as a GPU's.
template <class T, int N> struct Vector {
    static_assert(sizeof(T) * N <= 16, "an access has at most 16 bytes");
    using Wide = std::conditional_t<sizeof(T) * N == 16, uint4, std::conditional_t<sizeof(T) * N == 8, uint2, unsigned>>;
    SIM_INLINE void load(const T* from, T* to) {
        const Wide wide = *(const Wide*)from;
        __builtin_memcpy(to, &wide, sizeof wide);
    }
    SIM_INLINE void store(T* to, const T* from) {
        Wide wide;
        __builtin_memcpy(&wide, from, sizeof wide);
        *(Wide*)to = wide;
    }
};

template <class T> SIM_INLINE T acquire(T* p) {
    T value;
    if constexpr (sizeof(T) == 4) value = as<T>(atomicAdd((unsigned*)p, 0u));
    else if constexpr (sizeof(T) == 8) value = as<T>(atomicAdd((unsigned long long*)p, 0ull));
    else value = *(volatile T*)p;
    __threadfence();
    return value;
}
template <class T> SIM_INLINE void release(T* p, T value) {
    __threadfence();
    if constexpr (sizeof(T) == 4) atomicExch((unsigned*)p, as<unsigned>(value));
    else if constexpr (sizeof(T) == 8) atomicExch((unsigned long long*)p, as<unsigned long long>(value));
    else *(volatile T*)p = value;
}

template <class T> SIM_INLINE T least(T a, T b) { return b < a ? b : a; }
template <class T> SIM_INLINE T most(T a, T b) { return a < b ? b : a; }
SIM_INLINE float least(float a, float b) { return fminf(a, b); }
SIM_INLINE float most(float a, float b) { return fmaxf(a, b); }
SIM_INLINE double least(double a, double b) { return fmin(a, b); }
SIM_INLINE double most(double a, double b) { return fmax(a, b); }
template <class T> SIM_INLINE T size(T a) { return a < T(0) ? T(-a) : a; }
SIM_INLINE float fused(float a, float b, float c) { return fmaf(a, b, c); }
SIM_INLINE double fused(double a, double b, double c) { return fma(a, b, c); }
template <class T> SIM_INLINE T fused(T a, T b, T c) { return __hfma(a, b, c); }
SIM_INLINE __half2 fused(__half2 a, __half2 b, __half2 c) { return __hfma2(a, b, c); }
SIM_INLINE __nv_bfloat162 fused(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __hfma2(a, b, c); }

SIM_INLINE unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}
SIM_INLINE unsigned field(unsigned a, unsigned first, unsigned bits) {
    first &= 255, bits &= 255;
    if (first > 31 || !bits) return 0;
    return a >> first & (bits > 31 ? ~0u : (1u << bits) - 1);
}
SIM_INLINE unsigned insert(unsigned a, unsigned b, unsigned first, unsigned bits) {
    first &= 255, bits &= 255;
    if (first > 31 || !bits) return b;
    unsigned mask = (bits > 31 ? ~0u : (1u << bits) - 1) << first;
    return (b & ~mask) | (a << first & mask);
}
SIM_INLINE unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Bytes that the source does not have are zeros; such a copy is made at once.
SIM_INLINE void copy(char* to, const char* from, unsigned bytes, unsigned given) {
    if (given >= bytes) return ptx::sim_issue(to, from, bytes);
    unsigned words[4] = {};
    for (unsigned i = 0; i < given; i++) ((char*)words)[i] = from[i];
    if (bytes == 4) *(unsigned*)to = words[0];
    else if (bytes == 8) *(uint2*)to = uint2{words[0], words[1]};
    else *(uint4*)to = uint4{words[0], words[1], words[2], words[3]};
}
SIM_INLINE void wait_group(unsigned left) {
    unsigned group = ptx::sim_group(0);
    ptx::sim_complete_before(group > left ? group - left : 0);
}

SIM_INLINE void multiply_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4], SIM_HERE) {
    ptx::mma_m16n8k16_f16(d, a, b, c, file, line);
}
SIM_INLINE void multiply_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4], SIM_HERE) {
    ptx::mma_m16n8k16_bf16(d, a, b, c, file, line);
}
// Sums of half precision: rounded once, at the end.
SIM_INLINE void multiply_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2], SIM_HERE) {
    float wide[4], sums[4];
    for (int i = 0; i < 4; i++) wide[i] = ptx::sim_half_of<__half>(c[i / 2], i % 2);
    ptx::mma_m16n8k16_f16(sums, a, b, wide, file, line);
    for (int i = 0; i < 2; i++) d[i] = sim::float_to_half(sums[2 * i]) | unsigned(sim::float_to_half(sums[2 * i + 1])) << 16;
}

SIM_INLINE void unknown(const char* sentence, SIM_HERE) { sim_stop(sim_thread(), sentence, file, line); }

}  // namespace sim_ptx
