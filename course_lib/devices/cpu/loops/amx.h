// The product of product_bf16.cpp by AMX, where the processor has it: a unit that multiplies whole tiles at once.
//
// A tile is 16 rows of 64 bytes. One instruction adds to 16 x 16 sums of float32 the product of 16 rows of 32 bfloat16 of A
// and 16 rows of 16 pairs of B, pair p of column m being B[2p][m], B[2p + 1][m]. There are eight tile registers: a block of
// 2 x 2 tiles of C takes four, and each tile of A and of B that is loaded is used twice. (Intel's manual, volume 1, chapter 18.)
#pragma once
#include "matmul.h"
#include "threads.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace amx {

constexpr long SIDE = 16;                     // rows of a tile, and pairs or sums in one of them
constexpr long TILE = SIDE * SIDE;            // pairs of a packed tile: 1 KB, one after the other along k
constexpr long DEPTH = 12;                    // tiles of K at a time: two columns of tiles of B, 24 KB, stay in the L1 cache
constexpr long BLOCK_N = 128, BLOCK_M = 128;  // of C, for one thread

typedef uint32_t Pair;
typedef Pair Pairs __attribute__((vector_size(64)));

// A process must ask Linux for the tiles' registers, 8 KB of each thread's state, before the first instruction (state 18).
inline bool granted() {
    static const bool yes = syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18) == 0;
    return yes;
}

struct alignas(64) Shapes {  // of the eight registers: all are whole tiles
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline __mmask16 first(long count) { return __mmask16(count >= SIDE ? 0xffff : count > 0 ? (1u << count) - 1 : 0); }

// Tiles of x (count, K), whose pairs are neighbours in a row: a tile is 16 rows of 16 pairs. `turn` exchanges its sides.
// Zeros fill the tiles at the edges.
inline void pack_rows_of_pairs(const float *x, long count, long K, Pair *tiles, bool turn) {
    const long across = pieces_of(K, 2 * SIDE);
    parallel_for(pieces_of(count, SIDE), [=](long strip) {
        const long start = strip * SIDE, rows = std::min(SIDE, count - start);
        for (long at = 0; at < across; at++) {
            const long k = at * 2 * SIDE;
            const __mmask16 low = first(K - k), high = first(K - k - SIDE);
            Pairs square[SIDE] = {};
            for (long i = 0; i < rows; i++) {
                const float *from = x + (start + i) * K + k;
                const __m512 left = _mm512_maskz_loadu_ps(low, from), right = _mm512_maskz_loadu_ps(high, from + SIDE);
                square[i] = (Pairs)_mm512_cvtne2ps_pbh(right, left);
            }
            if (turn) transpose<SIDE / 2>(square);
            std::memcpy(tiles + (strip * across + at) * TILE, square, sizeof square);
        }
    });
}

// The same of x (K, count), whose pairs are neighbours in a column: a tile is 16 pairs of rows by 16 columns.
inline void pack_columns_of_pairs(const float *x, long count, long K, Pair *tiles, bool turn) {
    const long across = pieces_of(K, 2 * SIDE);
    parallel_for(across, [=](long at) {
        const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,  //
                                               23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        for (long start = 0; start < count; start += SIDE) {
            const __mmask16 lanes = first(count - start);
            Pairs square[SIDE] = {};
            for (long p = 0, k = at * 2 * SIDE; p < SIDE && k < K; p++, k += 2) {
                const float *from = x + k * count + start;
                const __m512 even = _mm512_maskz_loadu_ps(lanes, from);
                const __m512 odd = k + 1 < K ? _mm512_maskz_loadu_ps(lanes, from + count) : __m512{};
                square[p] = (Pairs)_mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(odd, even));
            }
            if (turn) transpose<SIDE / 2>(square);
            std::memcpy(tiles + (start / SIDE * across + at) * TILE, square, sizeof square);
        }
    });
}

// C's tiles (two rows, two columns of them, `stride` floats from row to row) = or += `count` tiles of A's two strips times B's.
inline void block(bool add, long count, const Pair *a0, const Pair *a1, const Pair *b0, const Pair *b1, float *c, long stride) {
    const long bytes = stride * sizeof(float);
    float *below = c + SIDE * stride;
    if (add) {
        _tile_loadd(0, c, bytes);
        _tile_loadd(1, c + SIDE, bytes);
        _tile_loadd(2, below, bytes);
        _tile_loadd(3, below + SIDE, bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (long k = 0; k < count * TILE; k += TILE) {
        _tile_loadd(4, a0 + k, 64);
        _tile_loadd(6, b0 + k, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b1 + k, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a1 + k, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, bytes);
    _tile_stored(1, c + SIDE, bytes);
    _tile_stored(2, below, bytes);
    _tile_stored(3, below + SIDE, bytes);
}

inline void product(bool transpose_a, bool transpose_b, const float *a, const float *b, float *c, long N, long K, long M) {
    const long deep = pieces_of(K, 2 * SIDE), line = deep * TILE;  // tiles, pairs of a strip
    const long strips = padded(pieces_of(N, SIDE), 2), columns = padded(pieces_of(M, SIDE), 2);
    Pair *of_a = scratch<Pair>((strips + columns) * line), *of_b = of_a + strips * line;
    (transpose_a ? pack_columns_of_pairs : pack_rows_of_pairs)(a, N, K, of_a, transpose_a);
    (transpose_b ? pack_rows_of_pairs : pack_columns_of_pairs)(b, M, K, of_b, transpose_b);
    const long across = pieces_of(M, BLOCK_M), depth = pieces_of(deep, pieces_of(deep, DEPTH));
    parallel_for(pieces_of(N, BLOCK_N) * across, [=](long piece) {
        const Shapes shapes;
        _tile_loadconfig(&shapes);
        const long n0 = piece / across * BLOCK_N, m0 = piece % across * BLOCK_M;
        const long n1 = std::min(N, n0 + BLOCK_N), m1 = std::min(M, m0 + BLOCK_M);
        for (long k = 0; k < deep; k += depth)
            for (long m = m0; m < m1; m += 2 * SIDE)
                for (long n = n0; n < n1; n += 2 * SIDE) {
                    const Pair *a0 = of_a + n / SIDE * line + k * TILE, *b0 = of_b + m / SIDE * line + k * TILE;
                    const long count = std::min(depth, deep - k), height = N - n, width = M - m;
                    float *to = c + n * M + m;
                    if (height >= 2 * SIDE && width >= 2 * SIDE) {
                        block(k, count, a0, a0 + line, b0, b0 + line, to, M);
                        continue;
                    }
                    alignas(64) float edge[4 * TILE];  // a block that juts out of C
                    const long rows = std::min(2 * SIDE, height), cells = std::min(2 * SIDE, width);
                    for (long i = 0; k && i < rows; i++) std::copy_n(to + i * M, cells, edge + i * 2 * SIDE);
                    block(k, count, a0, a0 + line, b0, b0 + line, edge, 2 * SIDE);
                    for (long i = 0; i < rows; i++) std::copy_n(edge + i * 2 * SIDE, cells, to + i * M);
                }
        _tile_release();
    });
}

}  // namespace amx
#else
namespace amx {
inline bool granted() { return false; }
inline void product(bool, bool, const float *, const float *, float *, long, long, long) {}
}  // namespace amx
#endif
