// Sums over rows, as every gradient of a bias is one: each piece of the rows sums for itself, then the pieces are added up
// in their order. How the rows are cut depends on their number alone, so the bits do not depend on the threads.
#pragma once
#include "numbers.h"
#include "threads.h"

// work(row, sums) adds what the row contributes to sums (width). total (width) becomes the sum over all rows.
template <class R, class Work> void sum_columns(long rows, long width, R *total, Work work) {
    const long size = rows > 32 * 16 ? pieces_of(rows, 32) : 16;  // at most 32 pieces, of at least 16 rows
    const long pieces = pieces_of(rows, size);
    R *partial = scratch<R>(pieces * width);
    parallel_for(pieces, [=](long piece) {
        R *sums = partial + piece * width;
        for (long j = 0; j < width; j++) sums[j] = 0;
        const long stop = (piece + 1) * size < rows ? (piece + 1) * size : rows;
        for (long row = piece * size; row < stop; row++) work(row, sums);
    });
    for (long j = 0; j < width; j++) total[j] = 0;
    for (long piece = 0; piece < pieces; piece++)
        for (long j = 0; j < width; j++) total[j] += partial[piece * width + j];
}
