// Integer intrinsics.
#pragma once
#include "vectors.h"

// Templates, so that plain C++ of a program may have functions of these names, as beside NVIDIA's headers.
template <int = 0> SIM_INLINE unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
template <int = 0> SIM_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
template <int = 0> SIM_INLINE long long llmin(long long a, long long b) { return b < a ? b : a; }
template <int = 0> SIM_INLINE long long llmax(long long a, long long b) { return a < b ? b : a; }
template <int = 0> SIM_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
template <int = 0> SIM_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

SIM_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIM_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIM_INLINE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
SIM_INLINE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
SIM_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIM_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIM_INLINE unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++, x >>= 1) r = r << 1 | (x & 1);
    return r;
}
SIM_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
SIM_INLINE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
SIM_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SIM_INLINE int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
SIM_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
SIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIM_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIM_INLINE unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? (unsigned)b - a : (unsigned)a - b); }
SIM_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
SIM_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
SIM_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
SIM_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> (4 * i), byte = bytes >> (8 * (pick & 7)) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
// The n-th set bit counted from bit `base`: upwards for n > 0, downwards for n < 0, `base` itself for 0. -1: there is none.
SIM_INLINE unsigned __fns(unsigned mask, unsigned base, int n) {
    if (n == 0) return mask >> base & 1 ? base : 0xffffffffu;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += n > 0 ? 1 : -1)
        if (mask >> bit & 1 && (n > 0 ? --n : ++n) == 0) return (unsigned)bit;
    return 0xffffffffu;
}
SIM_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIM_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// Averages that do not overflow; `r` rounds up.
SIM_INLINE int __hadd(int a, int b) { return (int)(((int64_t)a + b) >> 1); }
SIM_INLINE int __rhadd(int a, int b) { return (int)(((int64_t)a + b + 1) >> 1); }
SIM_INLINE unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b) >> 1); }
SIM_INLINE unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b + 1) >> 1); }

// Products of the bytes of two words, and of the halves of one with two bytes of the other. Sums wrap around.
SIM_INLINE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c = (int)((unsigned)c + (int8_t)(a >> i) * (int8_t)(b >> i));
    return c;
}
SIM_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}
SIM_INLINE int __dp4a(char4 a, char4 b, int c) {
    return (int)((unsigned)c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
SIM_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
SIM_INLINE int __dp2a_lo(int a, int b, int c) {
    return (int)((unsigned)c + (int16_t)a * (int8_t)b + (int16_t)(a >> 16) * (int8_t)(b >> 8));
}
SIM_INLINE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
SIM_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
SIM_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
SIM_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return (int)((unsigned)c + a.x * b.x + a.y * b.y); }
SIM_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return (int)((unsigned)c + a.x * b.z + a.y * b.w); }
SIM_INLINE unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + (unsigned)a.x * b.x + (unsigned)a.y * b.y; }
SIM_INLINE unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + (unsigned)a.x * b.z + (unsigned)a.y * b.w; }
