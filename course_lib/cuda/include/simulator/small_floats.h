// Conversions between float and the two 16-bit formats, rounding to nearest, ties to even.
#pragma once
#include "language.h"

namespace sim {

SIM_INLINE SIM_UNCHECKED uint32_t float_bits(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}
SIM_INLINE SIM_UNCHECKED float bits_float(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return x;
}

SIM_INLINE SIM_UNCHECKED uint16_t float_to_bfloat16(float x) {
    uint32_t bits = float_bits(x);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
SIM_INLINE SIM_UNCHECKED float bfloat16_to_float(uint16_t h) { return bits_float(uint32_t(h) << 16); }

// half: 1 sign, 5 exponent, 10 mantissa bits.
SIM_NO_OPERATION SIM_UNCHECKED uint16_t float_to_half_portable(float x) {
    uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x47800000) return uint16_t(sign | 0x7c00);  // 65536 and more
    if (magnitude < 0x38800000) {                                 // below 2^-14: the sum rounds at half's last bit
        return uint16_t(sign | (float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000));
    }
    return uint16_t(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
}
SIM_NO_OPERATION SIM_UNCHECKED float half_to_float_portable(uint16_t h) {
    uint32_t sign = uint32_t(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00) return bits_float(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    return bits_float(sign | float_bits(bits_float(magnitude << 13) * 0x1p112f));  // the product is exact
}

#if defined(__F16C__)
SIM_INLINE SIM_UNCHECKED uint16_t float_to_half(float x) {
    typedef float Four __attribute__((vector_size(16)));
    typedef short Eight __attribute__((vector_size(16)));
    Four from = {x, 0, 0, 0};
    Eight to;
    __asm__("vcvtps2ph $0, %1, %0" : "=x"(to) : "x"(from));
    return (uint16_t)to[0];
}
SIM_INLINE SIM_UNCHECKED float half_to_float(uint16_t h) {
    typedef float Four __attribute__((vector_size(16)));
    typedef short Eight __attribute__((vector_size(16)));
    Eight from = {(short)h, 0, 0, 0, 0, 0, 0, 0};
    Four to;
    __asm__("vcvtph2ps %1, %0" : "=x"(to) : "x"(from));
    return to[0];
}
#else
SIM_INLINE SIM_UNCHECKED uint16_t float_to_half(float x) { return float_to_half_portable(x); }
SIM_INLINE SIM_UNCHECKED float half_to_float(uint16_t h) { return half_to_float_portable(h); }
#endif

}  // namespace sim

// Arithmetic, comparisons and pairs are the same for both formats: TYPE with 16 bits `bits`, PAIR of two of them.
#define SIM_SMALL_FLOAT(TYPE, PAIR, FROM_FLOAT, TO_FLOAT)                                                      \
    struct TYPE##_raw { unsigned short x; };                                                                   \
    struct PAIR##_raw { unsigned short x, y; };                                                                \
    struct TYPE {                                                                                              \
        uint16_t bits;                                                                                         \
        TYPE() = default;                                                                                      \
        TYPE(const TYPE##_raw& raw) : bits(raw.x) {}                                                           \
        operator TYPE##_raw() const { return {bits}; }                                                         \
        TYPE(float x) : bits(FROM_FLOAT(x)) {}                                                                 \
        TYPE(double x) : bits(FROM_FLOAT((float)x)) {}                                                         \
        TYPE(int x) : bits(FROM_FLOAT((float)x)) {}                                                            \
        TYPE(unsigned x) : bits(FROM_FLOAT((float)x)) {}                                                       \
        TYPE(short x) : bits(FROM_FLOAT((float)x)) {}                                                          \
        TYPE(unsigned short x) : bits(FROM_FLOAT((float)x)) {}                                                 \
        TYPE(long long x) : bits(FROM_FLOAT((float)x)) {}                                                      \
        TYPE(unsigned long long x) : bits(FROM_FLOAT((float)x)) {}                                             \
        operator float() const { return TO_FLOAT(bits); }                                                      \
        TYPE& operator+=(const TYPE& o) { return *this = TYPE((float)*this + (float)o); }                      \
        TYPE& operator-=(const TYPE& o) { return *this = TYPE((float)*this - (float)o); }                      \
        TYPE& operator*=(const TYPE& o) { return *this = TYPE((float)*this * (float)o); }                      \
        TYPE& operator/=(const TYPE& o) { return *this = TYPE((float)*this / (float)o); }                      \
    };                                                                                                         \
    SIM_INLINE TYPE operator+(const TYPE& a, const TYPE& b) { return TYPE((float)a + (float)b); }              \
    SIM_INLINE TYPE operator-(const TYPE& a, const TYPE& b) { return TYPE((float)a - (float)b); }              \
    SIM_INLINE TYPE operator*(const TYPE& a, const TYPE& b) { return TYPE((float)a * (float)b); }              \
    SIM_INLINE TYPE operator/(const TYPE& a, const TYPE& b) { return TYPE((float)a / (float)b); }              \
    SIM_INLINE TYPE operator-(const TYPE& a) { return TYPE(-(float)a); }                                       \
    SIM_INLINE TYPE operator+(const TYPE& a) { return a; }                                                     \
    SIM_INLINE bool operator==(const TYPE& a, const TYPE& b) { return (float)a == (float)b; }                  \
    SIM_INLINE bool operator!=(const TYPE& a, const TYPE& b) { return (float)a != (float)b; }                  \
    SIM_INLINE bool operator<(const TYPE& a, const TYPE& b) { return (float)a < (float)b; }                    \
    SIM_INLINE bool operator>(const TYPE& a, const TYPE& b) { return (float)a > (float)b; }                    \
    SIM_INLINE bool operator<=(const TYPE& a, const TYPE& b) { return (float)a <= (float)b; }                  \
    SIM_INLINE bool operator>=(const TYPE& a, const TYPE& b) { return (float)a >= (float)b; }                  \
    SIM_INLINE TYPE __hadd(TYPE a, TYPE b) { return a + b; }                                                   \
    SIM_INLINE TYPE __hsub(TYPE a, TYPE b) { return a - b; }                                                   \
    SIM_INLINE TYPE __hmul(TYPE a, TYPE b) { return a * b; }                                                   \
    SIM_INLINE TYPE __hdiv(TYPE a, TYPE b) { return a / b; }                                                   \
    SIM_INLINE TYPE __hneg(TYPE a) { return -a; }                                                              \
    SIM_INLINE TYPE __habs(TYPE a) { return TYPE(fabsf((float)a)); }                                           \
    SIM_INLINE TYPE __hfma(TYPE a, TYPE b, TYPE c) { return TYPE(fmaf((float)a, (float)b, (float)c)); }        \
    SIM_INLINE TYPE __hmax(TYPE a, TYPE b) { return TYPE(fmaxf((float)a, (float)b)); }                         \
    SIM_INLINE TYPE __hmin(TYPE a, TYPE b) { return TYPE(fminf((float)a, (float)b)); }                         \
    SIM_INLINE bool __heq(TYPE a, TYPE b) { return a == b; }                                                   \
    SIM_INLINE bool __hne(TYPE a, TYPE b) { return a < b || a > b; }                                           \
    SIM_INLINE bool __hlt(TYPE a, TYPE b) { return a < b; }                                                    \
    SIM_INLINE bool __hle(TYPE a, TYPE b) { return a <= b; }                                                   \
    SIM_INLINE bool __hgt(TYPE a, TYPE b) { return a > b; }                                                    \
    SIM_INLINE bool __hge(TYPE a, TYPE b) { return a >= b; }                                                   \
    SIM_INLINE bool __hisnan(TYPE a) { return (float)a != (float)a; }                                          \
    SIM_INLINE int __hisinf(TYPE a) { return (float)a == INFINITY ? 1 : (float)a == -INFINITY ? -1 : 0; }      \
    SIM_INLINE TYPE hexp(TYPE a) { return TYPE(expf((float)a)); }                                              \
    SIM_INLINE TYPE hexp2(TYPE a) { return TYPE(exp2f((float)a)); }                                            \
    SIM_INLINE TYPE hlog(TYPE a) { return TYPE(logf((float)a)); }                                              \
    SIM_INLINE TYPE hlog2(TYPE a) { return TYPE(log2f((float)a)); }                                            \
    SIM_INLINE TYPE hsqrt(TYPE a) { return TYPE(sqrtf((float)a)); }                                            \
    SIM_OPERATION TYPE hrsqrt(TYPE a) { return TYPE(1.0f / sqrtf((float)a)); }                                    \
    SIM_INLINE TYPE hrcp(TYPE a) { return TYPE(1.0f / (float)a); }                                             \
    SIM_INLINE TYPE hsin(TYPE a) { return TYPE(sinf((float)a)); }                                              \
    SIM_INLINE TYPE hcos(TYPE a) { return TYPE(cosf((float)a)); }                                              \
    SIM_INLINE TYPE hfloor(TYPE a) { return TYPE(floorf((float)a)); }                                          \
    SIM_INLINE TYPE hceil(TYPE a) { return TYPE(ceilf((float)a)); }                                            \
    SIM_INLINE TYPE htrunc(TYPE a) { return TYPE(truncf((float)a)); }                                          \
    SIM_INLINE TYPE hrint(TYPE a) { return TYPE(rintf((float)a)); }                                            \
    struct alignas(4) PAIR {                                                                                   \
        TYPE x, y;                                                                                             \
        PAIR() = default;                                                                                      \
        PAIR(TYPE x, TYPE y) : x(x), y(y) {}                                                                   \
        typedef uint32_t __attribute__((may_alias)) Whole;                                                     \
        PAIR& operator+=(const PAIR& o) { x += o.x, y += o.y; return *this; }                                  \
        PAIR& operator*=(const PAIR& o) { x *= o.x, y *= o.y; return *this; }                                  \
    };                                                                                                         \
    SIM_PAIR_OPERATION(TYPE, PAIR, operator+, __hadd2, +)                                                      \
    SIM_PAIR_OPERATION(TYPE, PAIR, operator-, __hsub2, -)                                                      \
    SIM_PAIR_OPERATION(TYPE, PAIR, operator*, __hmul2, *)                                                      \
    SIM_PAIR_OPERATION(TYPE, PAIR, operator/, __h2div, /)                                                      \
    SIM_INLINE PAIR __hfma2(PAIR a, PAIR b, PAIR c) { return PAIR(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
    SIM_INLINE PAIR __hmax2(PAIR a, PAIR b) { return PAIR(__hmax(a.x, b.x), __hmax(a.y, b.y)); }               \
    SIM_INLINE PAIR __hmin2(PAIR a, PAIR b) { return PAIR(__hmin(a.x, b.x), __hmin(a.y, b.y)); }               \
    SIM_INLINE PAIR __hneg2(PAIR a) { return PAIR(-a.x, -a.y); }                                               \
    SIM_INLINE PAIR __habs2(PAIR a) { return PAIR(__habs(a.x), __habs(a.y)); }                                 \
    SIM_INLINE PAIR h2exp(PAIR a) { return PAIR(hexp(a.x), hexp(a.y)); }                                       \
    SIM_INLINE PAIR h2sqrt(PAIR a) { return PAIR(hsqrt(a.x), hsqrt(a.y)); }                                    \
    SIM_INLINE PAIR h2rcp(PAIR a) { return PAIR(hrcp(a.x), hrcp(a.y)); }                                       \
    SIM_ATOMIC_LOOP(atomicAdd, TYPE, TYPE((float)old + (float)value))                                          \
    SIM_WAITS PAIR atomicAdd(PAIR* p, PAIR value) {                                                         \
        SIM_ATOMIC_ACCESS(p)                                                                                   \
        PAIR old;                                                                                              \
        uint32_t before = __atomic_load_n((PAIR::Whole*)p, __ATOMIC_RELAXED), after;                           \
        do {                                                                                                   \
            *(PAIR::Whole*)&old = before;                                                                      \
            PAIR sum(old.x + value.x, old.y + value.y);                                                        \
            after = *(PAIR::Whole*)&sum;                                                                       \
        } while (!__atomic_compare_exchange_n((PAIR::Whole*)p, &before, after, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)); \
        return old;                                                                                            \
    }

#define SIM_PAIR_OPERATION(TYPE, PAIR, OPERATOR, FUNCTION, SIGN)                                               \
    SIM_INLINE PAIR OPERATOR(const PAIR& a, const PAIR& b) { return PAIR(a.x SIGN b.x, a.y SIGN b.y); }        \
    SIM_INLINE PAIR FUNCTION(PAIR a, PAIR b) { return PAIR(a.x SIGN b.x, a.y SIGN b.y); }
