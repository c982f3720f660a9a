// Matrix products by AMX, where the processor has it: a unit that multiplies whole tiles of bfloat16 and sums in float32.
//
// A tile is 16 rows of 64 bytes. One instruction adds to 16 x 16 sums of float32 the product of 16 rows of 32 bfloat16 of A
// and 16 rows of 16 pairs of B, pair p of column m being B[2p][m], B[2p + 1][m]. There are eight tile registers: a block of
// 2 x 2 tiles of C takes four, and each tile of A and of B that is loaded is used twice. (Intel's manual, volume 1, chapter 18.)
//
// PARTS = 1 is the product in bfloat16. PARTS = 3 is one in float32, for the unit is more than six times as fast as vectors of
// float32: the 24 bits of a number are cut into three bfloat16 of 8, and of the nine products the three are left out that lie
// below what float32 keeps. (Henry, Tang and Heinecke 2019, "Leveraging the bfloat16 artificial intelligence datatype".)
#pragma once
#include "matmul.h"
#include "threads.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__) && defined(__linux__)
#include <atomic>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace amx {

constexpr long SIDE = 16;           // rows of a tile, and pairs or sums in one of them
constexpr long TILE = SIDE * SIDE;  // pairs of a packed tile: 1 KB; its parts follow one another, then the next along k
constexpr long DEPTH = 48;          // tiles of K, times parts, before C is written: measured, less costs more
constexpr long BLOCK_N = 128, BLOCK_M = 64;  // of C, for one thread

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

// The upper halves of the next part of x, which keeps the rest: rounded if it is the only part, else cut off, which is exact.
template <long PARTS> inline __m512 take(__m512 &x) {
    const __m512 part = (__m512)_mm512_and_si512((__m512i)x, _mm512_set1_epi32(int(0xffff0000)));
    x = _mm512_sub_ps(x, part);
    return part;
}
template <> inline __m512 take<1>(__m512 &x) { return x; }

// A strip of tiles along K, each from 32 vectors: load(k tile, row, first or second half). Says whether all was finite.
template <long PARTS, class Load, class Join> bool pack_tile(Pair *to, bool turn, long rows, Load load, Join join) {
    Pairs squares[PARTS][SIDE] = {};
    __m512 rest{};  // 0 while all is finite: infinity less itself is NaN
    for (long i = 0; i < rows; i++) {
        __m512 x = load(i, 0), y = load(i, 1);
        if (PARTS > 1) rest = _mm512_or_ps(rest, _mm512_or_ps(_mm512_sub_ps(x, x), _mm512_sub_ps(y, y)));
        for (long part = 0; part < PARTS; part++) {
            const __m512 left = take<PARTS>(x), right = take<PARTS>(y);
            squares[part][i] = join((__m512i)_mm512_cvtne2ps_pbh(right, left));
        }
    }
    for (long part = 0; part < PARTS; part++)
        if (turn) transpose<SIDE / 2>(squares[part]);
    std::memcpy(to, squares, sizeof squares);
    return _mm512_cmp_ps_mask(rest, rest, _CMP_UNORD_Q) == 0;
}

// Tiles of x (count, K), whose pairs are neighbours in a row: a tile is 16 rows of 16 pairs. `turn` exchanges its sides.
// Zeros fill the tiles at the edges. Says whether all numbers are finite (of three parts only).
template <long PARTS> bool pack_rows_of_pairs(const float *x, long count, long K, Pair *tiles, bool turn) {
    const long across = pieces_of(K, 2 * SIDE);
    std::atomic<bool> finite{true};
    parallel_for(pieces_of(count, SIDE), [=, &finite](long strip) {
        const long start = strip * SIDE;
        for (long at = 0; at < across; at++) {
            const float *from = x + start * K + at * 2 * SIDE;
            const __mmask16 lanes[2] = {first(K - at * 2 * SIDE), first(K - at * 2 * SIDE - SIDE)};
            const bool fine = pack_tile<PARTS>(
                tiles + (strip * across + at) * PARTS * TILE, turn, std::min(SIDE, count - start),
                [=](long i, long half) { return _mm512_maskz_loadu_ps(lanes[half], from + i * K + half * SIDE); },
                [](__m512i pairs) { return (Pairs)pairs; });
            if (!fine) finite = false;
        }
    });
    return finite;
}

// The same of x (K, count), whose pairs are neighbours in a column: a tile is 16 pairs of rows by 16 columns.
template <long PARTS> bool pack_columns_of_pairs(const float *x, long count, long K, Pair *tiles, bool turn) {
    const long across = pieces_of(K, 2 * SIDE);
    std::atomic<bool> finite{true};
    parallel_for(across, [=, &finite](long at) {
        const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,  //
                                               23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        const long k = at * 2 * SIDE, rows = std::min(2 * SIDE, K - k);
        for (long start = 0; start < count; start += SIDE) {
            const float *from = x + k * count + start;
            const __mmask16 lanes = first(count - start);
            const bool fine = pack_tile<PARTS>(
                tiles + (start / SIDE * across + at) * PARTS * TILE, turn, (rows + 1) / 2,
                [=](long i, long half) {
                    const long row = 2 * i + half;
                    return row < rows ? _mm512_maskz_loadu_ps(lanes, from + row * count) : __m512{};
                },
                [=](__m512i pairs) { return (Pairs)_mm512_permutexvar_epi16(order, pairs); });
            if (!fine) finite = false;
        }
    });
    return finite;
}

// C's block of 2 x 2 tiles, `stride` floats from row to row = or += `count` tiles of A's two strips times B's.
template <long PARTS>
void block(bool add, long count, const Pair *a0, const Pair *a1, const Pair *b0, const Pair *b1, float *c, long stride) {
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
    for (long k = 0; k < count * PARTS * TILE; k += PARTS * TILE)
        for (long i = PARTS - 1; i >= 0; i--) {
            _tile_loadd(4, a0 + k + i * TILE, 64);
            _tile_loadd(5, a1 + k + i * TILE, 64);
            for (long j = PARTS - 1 - i; j >= 0; j--) {
                _tile_loadd(6, b0 + k + j * TILE, 64);
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(2, 5, 6);
                _tile_loadd(7, b1 + k + j * TILE, 64);
                _tile_dpbf16ps(1, 4, 7);
                _tile_dpbf16ps(3, 5, 7);
            }
        }
    _tile_stored(0, c, bytes);
    _tile_stored(1, c + SIDE, bytes);
    _tile_stored(2, below, bytes);
    _tile_stored(3, below + SIDE, bytes);
}

// C (N, M) = A B, each of A and B as it is or transposed. Of three parts: false, and C is untouched, if not all are finite.
template <long PARTS>
bool product(bool transpose_a, bool transpose_b, const float *a, const float *b, float *c, long N, long K, long M) {
    const long deep = pieces_of(K, 2 * SIDE), line = deep * PARTS * TILE;  // tiles, pairs of a strip
    const long strips = padded(pieces_of(N, SIDE), 2), columns = padded(pieces_of(M, SIDE), 2);
    Pair *of_a = scratch<Pair>((strips + columns) * line), *of_b = of_a + strips * line;
    const auto pack_a = transpose_a ? pack_columns_of_pairs<PARTS> : pack_rows_of_pairs<PARTS>;
    const auto pack_b = transpose_b ? pack_rows_of_pairs<PARTS> : pack_columns_of_pairs<PARTS>;
    if (!pack_a(a, N, K, of_a, transpose_a) || !pack_b(b, M, K, of_b, transpose_b)) return false;
    const long across = pieces_of(M, BLOCK_M), depth = pieces_of(deep, pieces_of(deep, DEPTH / PARTS));
    parallel_for(pieces_of(N, BLOCK_N) * across, [=](long piece) {
        const Shapes shapes;
        _tile_loadconfig(&shapes);
        const long n0 = piece / across * BLOCK_N, m0 = piece % across * BLOCK_M;
        const long n1 = std::min(N, n0 + BLOCK_N), m1 = std::min(M, m0 + BLOCK_M);
        for (long k = 0; k < deep; k += depth)
            for (long m = m0; m < m1; m += 2 * SIDE)
                for (long n = n0; n < n1; n += 2 * SIDE) {
                    const Pair *a0 = of_a + n / SIDE * line + k * PARTS * TILE;
                    const Pair *b0 = of_b + m / SIDE * line + k * PARTS * TILE;
                    const long count = std::min(depth, deep - k), height = N - n, width = M - m;
                    float *to = c + n * M + m;
                    if (height >= 2 * SIDE && width >= 2 * SIDE) {
                        block<PARTS>(k, count, a0, a0 + line, b0, b0 + line, to, M);
                        continue;
                    }
                    alignas(64) float edge[4 * TILE];  // a block that juts out of C
                    const long rows = std::min(2 * SIDE, height), cells = std::min(2 * SIDE, width);
                    for (long i = 0; k && i < rows; i++) std::copy_n(to + i * M, cells, edge + i * 2 * SIDE);
                    block<PARTS>(k, count, a0, a0 + line, b0, b0 + line, edge, 2 * SIDE);
                    for (long i = 0; i < rows; i++) std::copy_n(edge + i * 2 * SIDE, cells, to + i * M);
                }
        _tile_release();
    });
    return true;
}

}  // namespace amx
#else
namespace amx {
inline bool granted() { return false; }
template <long> bool product(bool, bool, const float *, const float *, float *, long, long, long) { return false; }
}  // namespace amx
#endif
