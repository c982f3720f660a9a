// Copies of views with up to four axes whose last one has no gaps: rows of bytes, shared among threads.
#include "threads.h"
#include <cstring>

// Row (i, j, k) goes from `from + i f0 + j f1 + k f2` to `to + i t0 + j t1 + k t2`; strides and `bytes` are in bytes.
extern "C" void copy_rows(const char *from, char *to, long n0, long n1, long n2, long f0, long f1, long f2, long t0, long t1,
                          long t2, long bytes) {
    const long rows = n0 * n1 * n2, step = bytes < (1 << 16) ? (1 << 16) / bytes : 1;
    parallel_ranges(rows, step, [=](long start, long stop) {
        for (long row = start; row < stop; row++) {
            const long k = row % n2, j = row / n2 % n1, i = row / n2 / n1;
            std::memcpy(to + i * t0 + j * t1 + k * t2, from + i * f0 + j * f1 + k * f2, bytes);
        }
    });
}
