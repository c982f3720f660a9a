// Softmax along the rows of a strip of attention scores, and its gradient, by the vectors of matmul.h.
//
// A row's largest score, or its sum, is a vector at first, whose lanes are still to be joined. Those of as many rows as there are
// lanes make a square: transposed, it gives the results of all these rows at once.
#pragma once
#include "matmul.h"

template <class R> struct PerRow {
    typedef typename Tile<R>::Vector Vector;
    static constexpr long LANES = Tile<R>::LANES;
    Vector square[LANES] = {};  // a vector for each row of a group

    template <class Join> Vector joined(Join join) {  // lane i: the lanes of row i
        transpose<LANES / 2>(square);
        for (long i = 1; i < LANES; i++) square[0] = join(square[0], square[i]);
        return square[0];
    }
};

// 2^t for t <= 0: 2^n 2^f with n the nearest integer, whose exponent is added to that of the Taylor series. NaN stays NaN.
inline Tile<float>::Vector power_of_two(Tile<float>::Vector t) {
    typedef Tile<float>::Vector Vector;
    typedef int32_t Integers __attribute__((vector_size(VECTOR)));
    const Vector lowest = Vector{} - 127.0f;  // whose 2^n is 0
    t = t < lowest ? lowest : t;
    const Integers n = __builtin_convertvector(t - 0.5f, Integers);  // cut off towards 0
    const Vector f = t - __builtin_convertvector(n, Vector);
    Vector series = Vector{} + 1.52527338e-5f;  // (log 2)^7 / 7!, and so on
    series = series * f + 1.54035304e-4f;
    series = series * f + 1.33335581e-3f;
    series = series * f + 9.61812911e-3f;
    series = series * f + 5.55041087e-2f;
    series = series * f + 2.40226507e-1f;
    series = series * f + 6.93147181e-1f;
    series = series * f + 1.0f;
    return (Vector)((Integers)series + (n << 23));
}
inline Tile<double>::Vector power_of_two(Tile<double>::Vector t) {
    for (long i = 0; i < Tile<double>::LANES; i++) t[i] = std::exp2(t[i]);
    return t;
}

template <class R> inline typename Tile<R>::Vector &vector_at(R *x) { return *(typename Tile<R>::Vector *)x; }

constexpr double LOG2_E = 1.4426950408889634;

// What a row does not see becomes `hidden`, in the vectors from `first` to `stop`.
template <class R> inline void hide(R *row, long seen, long first, long stop, R hidden) {
    typedef typename Tile<R>::Vector Vector;
    Vector place;
    for (long i = 0; i < Tile<R>::LANES; i++) place[i] = R(i);
    for (long s = first; s < stop; s += Tile<R>::LANES)
        vector_at(row + s) = place < R(seen - s) ? vector_at(row + s) : Vector{} + hidden;
}

// work(start, stop, first, count) for each group of rows: what hides scores lies between their columns `first` and `count`. Row i
// sees its first seen(i) scores, no fewer than the row before.
template <long LANES, class Seen, class Work> inline void by_groups(long rows, Seen seen, Work work) {
    for (long start = 0; start < rows; start += LANES) {
        const long stop = std::min(rows, start + LANES);
        work(start, stop, seen(start) / LANES * LANES, padded(seen(stop - 1), LANES));
    }
}

// Scores, in rows that are `line` apart, become weights exp(scale (score - m)), with m the largest score and l the sum of a row.
// What a row does not see becomes 0, as far as `end`. m and l have room for a whole number of groups.
template <class R, class Seen>
void softmax_rows(R *scores, long line, long rows, R scale, Seen seen, long end, R *m, R *l) {
    typedef typename Tile<R>::Vector Vector;
    constexpr long LANES = Tile<R>::LANES;
    const R factor = scale * R(LOG2_E);
    by_groups<LANES>(rows, seen, [=](long start, long stop, long first, long count) {
        PerRow<R> largest, sums;
        for (long i = start; i < stop; i++) {
            R *row = scores + i * line;
            hide(row, seen(i), first, count, -R(INFINITY));
            Vector best = vector_at(row);
            for (long s = LANES; s < count; s += LANES) best = vector_at(row + s) > best ? vector_at(row + s) : best;
            largest.square[i - start] = best;
        }
        vector_at(m + start) = largest.joined([](Vector a, Vector b) { return a > b ? a : b; });
        for (long i = start; i < stop; i++) {
            R *row = scores + i * line;
            const R shift = m[i] * factor;
            Vector sum{};
            for (long s = 0; s < count; s += LANES) {
                const Vector weight = power_of_two(vector_at(row + s) * factor - shift);
                vector_at(row + s) = weight;
                sum += weight;
            }
            for (long s = count; s < end; s += LANES) vector_at(row + s) = Vector{};
            sums.square[i - start] = sum;
        }
        vector_at(l + start) = sums.joined([](Vector a, Vector b) { return a + b; });
    });
}

// The vector of the first `count` elements at x, which may lie anywhere; zeros fill it up.
template <class R> inline typename Tile<R>::Vector some_of(const R *x, long count) {
    typename Tile<R>::Vector vector{};
    std::memcpy(&vector, x, (count < Tile<R>::LANES ? count : Tile<R>::LANES) * sizeof(R));
    return vector;
}

// From scores and from the gradient of the weights, dy v^T, to the weights and the gradient of the scores, in place. Rows of dy
// and of y, (D), are `step` apart; all else is as above.
template <class R, class Seen>
void softmax_rows_backward(R *scores, R *dweights, long line, long rows, R scale, Seen seen, long end, const R *logsumexp,
                           const R *dy, const R *y, long step, long D) {
    typedef typename Tile<R>::Vector Vector;
    constexpr long LANES = Tile<R>::LANES;
    const R factor = scale * R(LOG2_E);
    by_groups<LANES>(rows, seen, [=](long start, long stop, long first, long count) {
        PerRow<R> products;
        for (long i = start; i < stop; i++) {
            ask_for(y + (i + AHEAD) * step, D);
            Vector sum{};
            long d = 0;
            for (; d + LANES <= D; d += LANES) sum += some_of(dy + i * step + d, LANES) * some_of(y + i * step + d, LANES);
            if (d < D) sum += some_of(dy + i * step + d, D - d) * some_of(y + i * step + d, D - d);
            products.square[i - start] = sum;
        }
        const Vector along = products.joined([](Vector a, Vector b) { return a + b; });  // a row's sum of weights * dweights
        for (long i = start; i < stop; i++) {
            R *w = scores + i * line, *d = dweights + i * line;
            hide(w, seen(i), first, count, -R(INFINITY));
            hide(d, seen(i), first, count, R(0));
            const R shift = logsumexp[i] * R(LOG2_E), mean = along[i - start];
            for (long s = 0; s < count; s += LANES) {
                const Vector weight = power_of_two(vector_at(w + s) * factor - shift);
                vector_at(w + s) = weight;
                vector_at(d + s) = weight * (vector_at(d + s) - mean) * scale;
            }
            for (long s = count; s < end; s += LANES) vector_at(w + s) = vector_at(d + s) = Vector{};
        }
    });
}
