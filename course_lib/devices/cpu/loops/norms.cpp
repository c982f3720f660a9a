// LayerNorm and RMSNorm, forward and backward, a row of C elements at a time. The formulas stand in the reference device.
#include "columns.h"
#include "numbers.h"
#include "threads.h"

constexpr long PIECE = 1 << 14;  // elements that one thread takes at a time

// y = norm(x + residual) * weight + bias. residual, bias and, for RMSNorm, mean may be null; total takes x + residual.
extern "C" void norm_forward(int wide, const void *x_, const void *residual_, const void *weight_, const void *bias_,
                             void *y_, void *total_, void *mean_, void *rstd_, double eps, long n, long C) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *weight = (const R *)weight_, *bias = (const R *)bias_;
        parallel_ranges(n, 1 + PIECE / C, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *x = (const R *)x_ + row * C;
                R *y = (R *)y_ + row * C;
                if (residual_) {
                    const R *residual = (const R *)residual_ + row * C;
                    R *total = (R *)total_ + row * C;
                    for (long j = 0; j < C; j++) total[j] = x[j] + residual[j];
                    x = total;
                }
                R mean = 0, square = 0;
                if (mean_) {
                    for (long j = 0; j < C; j++) mean += x[j];
                    mean /= C;
                    ((R *)mean_)[row] = mean;
                }
                for (long j = 0; j < C; j++) square += (x[j] - mean) * (x[j] - mean);
                const R rstd = 1 / std::sqrt(square / C + R(eps));
                ((R *)rstd_)[row] = rstd;
                if (bias)
                    for (long j = 0; j < C; j++) y[j] = (x[j] - mean) * rstd * weight[j] + bias[j];
                else
                    for (long j = 0; j < C; j++) y[j] = (x[j] - mean) * rstd * weight[j];
            }
        });
    });
}

// dx (+ dtotal, if given); sums (2C) takes dweight, then dbias. mean is null for RMSNorm.
extern "C" void norm_backward(int wide, const void *dy_, const void *dtotal_, const void *x_, const void *weight_,
                              const void *mean_, const void *rstd_, void *dx_, void *sums_, long n, long C) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *weight = (const R *)weight_;
        sum_columns(n, 2 * C, (R *)sums_, [=](long row, R *dweight) {
            const R *dy = (const R *)dy_ + row * C, *x = (const R *)x_ + row * C;
            R *dx = (R *)dx_ + row * C, *dbias = dweight + C;
            const R mean = mean_ ? ((const R *)mean_)[row] : 0, rstd = ((const R *)rstd_)[row];
            R constant = 0, along = 0;  // of g = dy * weight: its mean, and its mean product with xhat
            for (long j = 0; j < C; j++) {
                const R xhat = (x[j] - mean) * rstd, g = dy[j] * weight[j];
                dx[j] = g;
                constant += g;
                along += g * xhat;
                dweight[j] += dy[j] * xhat;
                dbias[j] += dy[j];
            }
            constant = mean_ ? constant / C : 0;
            along /= C;
            for (long j = 0; j < C; j++) dx[j] = (dx[j] - constant - (x[j] - mean) * rstd * along) * rstd;
            if (dtotal_)
                for (long j = 0; j < C; j++) dx[j] += ((const R *)dtotal_)[row * C + j];
        });
    });
}

// The gradient of a bias: total (width) = sum over the rows of x (rows, width).
extern "C" void column_sums(int wide, const void *x_, void *total_, long rows, long width) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        sum_columns(rows, width, (R *)total_, [=](long row, R *sums) {
            const R *x = (const R *)x_ + row * width;
            for (long j = 0; j < width; j++) sums[j] += x[j];
        });
    });
}

// y (rows, width) += bias (width)
extern "C" void add_bias(int wide, void *y_, const void *bias_, long rows, long width) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *bias = (const R *)bias_;
        parallel_ranges(rows, 1 + PIECE / width, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                R *y = (R *)y_ + row * width;
                for (long j = 0; j < width; j++) y[j] += bias[j];
            }
        });
    });
}
