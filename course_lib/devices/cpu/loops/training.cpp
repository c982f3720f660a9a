// The optimiser: the norm of all gradients together, and AdamW over all parameters in one call.
//
// The arrays are cut into pieces of the same length, whichever array they belong to, so that threads share them evenly.
#include "numbers.h"
#include "threads.h"

constexpr long PIECE = 1 << 14;  // elements

struct Span {
    long array, start, stop;
};

static std::vector<Span> cut(const long *sizes, long arrays) {
    std::vector<Span> spans;
    for (long a = 0; a < arrays; a++)
        for (long start = 0; start < sizes[a]; start += PIECE)
            spans.push_back({a, start, start + PIECE < sizes[a] ? start + PIECE : sizes[a]});
    return spans;
}

// The sum of all squares: 1,024 numbers at a time in R, their sums in double.
extern "C" double sum_of_squares(int wide, void *const *arrays, const long *sizes, long count) {
    const std::vector<Span> spans = cut(sizes, count);
    std::vector<double> sums(spans.size());
    with_type(wide, [&](auto r) {
        using R = decltype(r);
        parallel_for(spans.size(), [&](long piece) {
            const Span span = spans[piece];
            const R *x = (const R *)arrays[span.array];
            for (long start = span.start; start < span.stop; start += 1024) {
                const long stop = start + 1024 < span.stop ? start + 1024 : span.stop;
                R sum = 0;
                for (long i = start; i < stop; i++) sum += x[i] * x[i];
                sums[piece] += sum;
            }
        });
    });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
}

// keeps[array] = 1 - learning rate * weight decay. step = learning rate / correction1, scale: what clipping leaves of g.
extern "C" void adamw_step(int wide, void *const *parameters, void *const *gradients, void *const *firsts, void *const *seconds,
                           const long *sizes, const double *keeps, long count, double beta1, double beta2, double eps,
                           double step, double correction2, double scale) {
    const std::vector<Span> spans = cut(sizes, count);
    with_type(wide, [&](auto r) {
        using R = decltype(r);
        parallel_for(spans.size(), [&](long piece) {
            const Span span = spans[piece];
            R *p = (R *)parameters[span.array], *m = (R *)firsts[span.array], *v = (R *)seconds[span.array];
            const R *gradient = (const R *)gradients[span.array];
            const R b1 = beta1, b2 = beta2, r1 = 1 - beta1, r2 = 1 - beta2, e = eps, rate = step, grow = 1 / correction2;
            const R shrink = scale, keep = keeps[span.array];
            for (long i = span.start; i < span.stop; i++) {
                const R g = gradient[i] * shrink;
                m[i] = b1 * m[i] + r1 * g;
                v[i] = b2 * v[i] + r2 * g * g;
                p[i] = keep * p[i] - rate * m[i] / (std::sqrt(v[i] * grow) + e);
            }
        });
    });
}
