// The rest of the 16-bit formats' intrinsics: conversions, pairs element by element, comparisons.
#pragma once
#include "math.h"
#include "rounding.h"
#include "small_floats.h"

namespace sim {

// The next 16-bit float, up or down, by its bits.
SIM_INLINE SIM_UNCHECKED uint16_t step(uint16_t bits, bool up) {
    if (!(bits & 0x7fff)) return up ? 0x0001 : 0x8001;
    return uint16_t((bits >> 15) == up ? bits - 1 : bits + 1);
}
// From the nearest to the one that a directed mode wants: a result on the wrong side of x moves by one step.
template <class T> SIM_INLINE SIM_UNCHECKED T round_zero(T near, float x) {
    if (x > 0 ? (float)near > x : (float)near < x) near.bits = step(near.bits, x < 0);
    return near;
}
template <class T> SIM_INLINE SIM_UNCHECKED T round_up(T near, float x) {
    if ((float)near < x) near.bits = step(near.bits, true);
    return near;
}
template <class T> SIM_INLINE SIM_UNCHECKED T round_down(T near, float x) {
    if ((float)near > x) near.bits = step(near.bits, false);
    return near;
}
// An integer rounded to odd (the last bit is set if it is not exact): rounding that again then rounds the integer.
template <class I> SIM_INLINE SIM_UNCHECKED float round_to_odd(I x) {
    float f = (float)x;
    if ((__int128)f == (__int128)x) return f;
    uint32_t bits = float_bits(f);
    if ((__int128)f < 0 ? (__int128)f < (__int128)x : (__int128)f > (__int128)x) bits--;
    return bits_float(bits | 1);
}

}  // namespace sim

// An ordered comparison with NaN is false, an unordered one (u) is true, also for !=.
#define SIM_SMALL_COMPARISON(TYPE, PAIR, NAME, SIGN)                                                                 \
    SIM_INLINE bool __h##NAME##u(TYPE a, TYPE b) { return a SIGN b || __hisnan(a) || __hisnan(b); }                  \
    SIM_INLINE bool __hb##NAME##2(PAIR a, PAIR b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }             \
    SIM_INLINE bool __hb##NAME##u2(PAIR a, PAIR b) { return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y); }      \
    SIM_INLINE PAIR __h##NAME##2(PAIR a, PAIR b) { return PAIR(TYPE((int)__h##NAME(a.x, b.x)), TYPE((int)__h##NAME(a.y, b.y))); } \
    SIM_INLINE PAIR __h##NAME##u2(PAIR a, PAIR b) {                                                                  \
        return PAIR(TYPE((int)__h##NAME##u(a.x, b.x)), TYPE((int)__h##NAME##u(a.y, b.y)));                           \
    }                                                                                                                \
    SIM_INLINE bool operator SIGN(const PAIR& a, const PAIR& b) { return a.x SIGN b.x && a.y SIGN b.y; }
#define SIM_SMALL_FUNCTION(PAIR, NAME) \
    SIM_INLINE PAIR h2##NAME(PAIR a) { return PAIR(h##NAME(a.x), h##NAME(a.y)); }
#define SIM_SMALL_VARIANTS(TYPE, PAIR, NAME)                                                                         \
    SIM_INLINE TYPE __h##NAME##_rn(TYPE a, TYPE b) { return __h##NAME(a, b); }                                       \
    SIM_INLINE PAIR __h##NAME##2_rn(PAIR a, PAIR b) { return __h##NAME##2(a, b); }                                   \
    SIM_INLINE TYPE __h##NAME##_sat(TYPE a, TYPE b) { return sim_saturate(__h##NAME(a, b)); }                        \
    SIM_INLINE PAIR __h##NAME##2_sat(PAIR a, PAIR b) { return PAIR(__h##NAME##_sat(a.x, b.x), __h##NAME##_sat(a.y, b.y)); }
#define SIM_SMALL_INTEGER(TYPE, NAME, KIND, T, THROUGH)                                                              \
    SIM_INLINE TYPE __##KIND##2##NAME##_rn(T x) { return TYPE(sim::round_to_odd(x)); }                                        \
    SIM_INLINE TYPE __##KIND##2##NAME##_rz(T x) { return sim::round_zero(TYPE(sim::round_to_odd(x)), sim::round_to_odd(x)); }          \
    SIM_INLINE TYPE __##KIND##2##NAME##_ru(T x) { return sim::round_up(TYPE(sim::round_to_odd(x)), sim::round_to_odd(x)); }            \
    SIM_INLINE TYPE __##KIND##2##NAME##_rd(T x) { return sim::round_down(TYPE(sim::round_to_odd(x)), sim::round_to_odd(x)); }          \
    SIM_INLINE T __##NAME##2##KIND##_rn(TYPE h) { return sim_fit<T>(THROUGH##_rn((float)h)); }                       \
    SIM_INLINE T __##NAME##2##KIND##_rz(TYPE h) { return sim_fit<T>(THROUGH##_rz((float)h)); }                       \
    SIM_INLINE T __##NAME##2##KIND##_ru(TYPE h) { return sim_fit<T>(THROUGH##_ru((float)h)); }                       \
    SIM_INLINE T __##NAME##2##KIND##_rd(TYPE h) { return sim_fit<T>(THROUGH##_rd((float)h)); }

template <class T, class From> SIM_INLINE T sim_fit(From v) {
    constexpr int least = std::is_signed<T>::value ? SHRT_MIN : 0, most = std::is_signed<T>::value ? SHRT_MAX : USHRT_MAX;
    if constexpr (sizeof(T) == sizeof(From)) return v;
    else return (T)(v < (From)least ? (From)least : v > (From)most ? (From)most : v);
}
template <class T> SIM_INLINE T sim_saturate(T a) { return T(__saturatef((float)a)); }

#define SIM_SMALL_CONVERSIONS(TYPE, PAIR, NAME)                                                                      \
    SIM_INLINE float __##NAME##2float(TYPE h) { return h; }                                                          \
    SIM_INLINE TYPE __float2##NAME(float x) { return TYPE(x); }                                                      \
    SIM_INLINE TYPE __float2##NAME##_rn(float x) { return TYPE(x); }                                                 \
    SIM_INLINE TYPE __double2##NAME(double x) { return TYPE(x); }                                                    \
    SIM_INLINE PAIR __float2##NAME##2_rn(float x) { return PAIR(TYPE(x), TYPE(x)); }                                 \
    SIM_INLINE PAIR __floats2##NAME##2_rn(float x, float y) { return PAIR(TYPE(x), TYPE(y)); }                       \
    SIM_INLINE PAIR __float22##NAME##2_rn(float2 v) { return PAIR(TYPE(v.x), TYPE(v.y)); }                           \
    SIM_INLINE float2 __##NAME##22float2(PAIR h) { return make_float2(h.x, h.y); }                                   \
    SIM_INLINE PAIR __##NAME##2##NAME##2(TYPE h) { return PAIR(h, h); }                                              \
    SIM_INLINE PAIR __halves2##NAME##2(TYPE a, TYPE b) { return PAIR(a, b); }                                        \
    SIM_INLINE PAIR make_##NAME##2(TYPE a, TYPE b) { return PAIR(a, b); }                                            \
    SIM_INLINE TYPE __low2##NAME(PAIR h) { return h.x; }                                                             \
    SIM_INLINE TYPE __high2##NAME(PAIR h) { return h.y; }                                                            \
    SIM_INLINE float __low2float(PAIR h) { return h.x; }                                                             \
    SIM_INLINE float __high2float(PAIR h) { return h.y; }                                                            \
    SIM_INLINE PAIR __low2##NAME##2(PAIR h) { return PAIR(h.x, h.x); }                                               \
    SIM_INLINE PAIR __high2##NAME##2(PAIR h) { return PAIR(h.y, h.y); }                                              \
    SIM_INLINE PAIR __lows2##NAME##2(PAIR a, PAIR b) { return PAIR(a.x, b.x); }                                      \
    SIM_INLINE PAIR __highs2##NAME##2(PAIR a, PAIR b) { return PAIR(a.y, b.y); }                                     \
    SIM_INLINE PAIR __lowhigh2highlow(PAIR h) { return PAIR(h.y, h.x); }                                             \
    SIM_INLINE unsigned short __##NAME##_as_ushort(TYPE h) { return h.bits; }                                        \
    SIM_INLINE short __##NAME##_as_short(TYPE h) { return (short)h.bits; }                                           \
    SIM_INLINE TYPE __ushort_as_##NAME(unsigned short bits) {                                                        \
        TYPE h;                                                                                                      \
        h.bits = bits;                                                                                               \
        return h;                                                                                                    \
    }                                                                                                                \
    SIM_INLINE TYPE __short_as_##NAME(short bits) { return __ushort_as_##NAME((unsigned short)bits); }

#define SIM_SMALL_REST(TYPE, PAIR, NAME)                                                                             \
    SIM_SMALL_COMPARISON(TYPE, PAIR, eq, ==) SIM_SMALL_COMPARISON(TYPE, PAIR, lt, <) SIM_SMALL_COMPARISON(TYPE, PAIR, le, <=) \
    SIM_SMALL_COMPARISON(TYPE, PAIR, gt, >) SIM_SMALL_COMPARISON(TYPE, PAIR, ge, >=) SIM_SMALL_COMPARISON(TYPE, PAIR, ne, !=) \
    SIM_SMALL_VARIANTS(TYPE, PAIR, add) SIM_SMALL_VARIANTS(TYPE, PAIR, sub) SIM_SMALL_VARIANTS(TYPE, PAIR, mul)      \
    SIM_INLINE TYPE hlog10(TYPE a) { return TYPE(log10f((float)a)); }                                                \
    SIM_INLINE TYPE hexp10(TYPE a) { return TYPE(exp10f((float)a)); }                                                \
    SIM_INLINE TYPE htanh(TYPE a) { return TYPE(tanhf((float)a)); }                                                  \
    SIM_SMALL_FUNCTION(PAIR, rsqrt) SIM_SMALL_FUNCTION(PAIR, log) SIM_SMALL_FUNCTION(PAIR, log2)                     \
    SIM_SMALL_FUNCTION(PAIR, log10) SIM_SMALL_FUNCTION(PAIR, exp2) SIM_SMALL_FUNCTION(PAIR, exp10)                   \
    SIM_SMALL_FUNCTION(PAIR, sin) SIM_SMALL_FUNCTION(PAIR, cos) SIM_SMALL_FUNCTION(PAIR, tanh)                       \
    SIM_SMALL_FUNCTION(PAIR, floor) SIM_SMALL_FUNCTION(PAIR, ceil) SIM_SMALL_FUNCTION(PAIR, trunc)                   \
    SIM_SMALL_FUNCTION(PAIR, rint)                                                                                   \
    SIM_INLINE PAIR operator-(const PAIR& a) { return PAIR(-a.x, -a.y); }                                            \
    SIM_INLINE PAIR operator+(const PAIR& a) { return a; }                                                           \
    SIM_INLINE TYPE& operator++(TYPE& a) { return a += TYPE(1.0f); }                                                 \
    SIM_INLINE TYPE& operator--(TYPE& a) { return a -= TYPE(1.0f); }                                                 \
    SIM_INLINE PAIR& operator-=(PAIR& a, const PAIR& b) { return a = a - b; }                                        \
    SIM_INLINE PAIR& operator/=(PAIR& a, const PAIR& b) { return a = a / b; }                                        \
    SIM_INLINE TYPE __hfma_sat(TYPE a, TYPE b, TYPE c) { return sim_saturate(__hfma(a, b, c)); }                     \
    SIM_INLINE PAIR __hfma2_sat(PAIR a, PAIR b, PAIR c) { return PAIR(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); } \
    SIM_INLINE TYPE __hfma_relu(TYPE a, TYPE b, TYPE c) {                                                            \
        TYPE r = __hfma(a, b, c);                                                                                    \
        return __hisnan(r) || (float)r > 0 ? r : TYPE(0.0f);                                                         \
    }                                                                                                                \
    SIM_INLINE PAIR __hfma2_relu(PAIR a, PAIR b, PAIR c) { return PAIR(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); } \
    SIM_INLINE TYPE __hmax_nan(TYPE a, TYPE b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }          \
    SIM_INLINE TYPE __hmin_nan(TYPE a, TYPE b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }          \
    SIM_INLINE PAIR __hmax2_nan(PAIR a, PAIR b) { return PAIR(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }         \
    SIM_INLINE PAIR __hmin2_nan(PAIR a, PAIR b) { return PAIR(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }         \
    SIM_INLINE PAIR __hisnan2(PAIR a) { return PAIR(TYPE((int)__hisnan(a.x)), TYPE((int)__hisnan(a.y))); }           \
    SIM_INLINE PAIR __hcmadd(PAIR a, PAIR b, PAIR c) {                                                               \
        TYPE x = __hfma(a.x, b.x, c.x), y = __hfma(a.x, b.y, c.y);                                                   \
        return PAIR(__hfma(-a.y, b.y, x), __hfma(a.y, b.x, y));                                                      \
    }                                                                                                                \
    SIM_INLINE TYPE __float2##NAME##_rz(float x) { return sim::round_zero(TYPE(x), x); }                             \
    SIM_INLINE TYPE __float2##NAME##_ru(float x) { return sim::round_up(TYPE(x), x); }                               \
    SIM_INLINE TYPE __float2##NAME##_rd(float x) { return sim::round_down(TYPE(x), x); }                             \
    SIM_SMALL_INTEGER(TYPE, NAME, int, int, __float2int) SIM_SMALL_INTEGER(TYPE, NAME, uint, unsigned, __float2uint) \
    SIM_SMALL_INTEGER(TYPE, NAME, short, short, __float2int) SIM_SMALL_INTEGER(TYPE, NAME, ushort, unsigned short, __float2uint) \
    SIM_SMALL_INTEGER(TYPE, NAME, ll, long long, __float2ll) SIM_SMALL_INTEGER(TYPE, NAME, ull, unsigned long long, __float2ull)
