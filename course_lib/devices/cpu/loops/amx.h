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
#define AMX_TILES
#include <atomic>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace amx {

constexpr long SIDE = 16;           // rows of a tile, and pairs or sums in one of them
constexpr long TILE = SIDE * SIDE;  // pairs of a packed tile: 1 KB; its parts follow one another, then the next along k
constexpr long DEPTH = 48;          // tiles of K, times parts, before C is written: measured, less costs more
constexpr long BLOCK_N = 128, BLOCK_M = 64;  // rows of C for one thread, columns of B
constexpr long PIECES = 8;                   // at least, for several cores; more would cut A into parts more often

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

// Which words, of 16 bits, become the 32 of a vector of bfloat16: those of numbers 0 .. 31 in a row, or, PAIRED, of 0 beside 16, 1
// beside 17 and so on, as pairs in columns want them. A number has one or two words, and the last is taken.
template <bool PAIRED, int words> struct Order {
    alignas(64) uint16_t from[2 * SIDE] = {};
    constexpr Order() {
        for (int i = 0; i < 2 * SIDE; i++) from[i] = words * (PAIRED ? i % 2 * SIDE + i / 2 : i) + words - 1;
    }
};

// The next part of x and y, which keep the rest: rounded if it is the only part, else the upper halves as they are.
template <long PARTS, bool PAIRED> inline Pairs take(__m512 &x, __m512 &y) {
    static constexpr Order<PAIRED, PARTS == 1 ? 1 : 2> order;
    const __m512i from = _mm512_load_si512(order.from);
    if (PARTS == 1) return (Pairs)_mm512_permutexvar_epi16(from, (__m512i)_mm512_cvtne2ps_pbh(y, x));
    const __m512i upper = _mm512_set1_epi32(int(0xffff0000)), part = _mm512_permutex2var_epi16((__m512i)x, from, (__m512i)y);
    x = _mm512_sub_ps(x, (__m512)_mm512_and_si512((__m512i)x, upper));  // exact
    y = _mm512_sub_ps(y, (__m512)_mm512_and_si512((__m512i)y, upper));
    return (Pairs)part;
}

// One tile of `rows` rows, from two vectors each: load(row, first or second). Says whether all is finite (of three parts only).
template <long PARTS, bool PAIRED, class Load> inline bool pack_tile(Pair *to, bool transposed, long rows, Load load) {
    Pairs tile[PARTS][SIDE] = {};
    __m512 rest{};  // infinity less itself is NaN
    for (long i = 0; i < rows; i++) {
        __m512 x = load(i, 0), y = load(i, 1);
        for (long part = 0; part < PARTS; part++) tile[part][i] = take<PARTS, PAIRED>(x, y);
        if (PARTS > 1) rest = _mm512_add_ps(rest, _mm512_add_ps(x, y));
    }
    for (long part = 0; part < PARTS; part++)
        if (transposed) transpose<SIDE / 2>(tile[part]);
    std::memcpy(to, tile, sizeof tile);
    return _mm512_cmp_ps_mask(rest, rest, _CMP_UNORD_Q) == 0;
}

// Tiles of x (count, K), rows `stride` apart, whose pairs are neighbours in a row: a tile is 16 rows of 16 pairs, and `line` pairs
// lie between a strip of tiles and the next. `transposed` exchanges the sides of a tile. Zeros fill those at the edges.
template <long PARTS>
bool pack_rows_of_pairs(const float *x, long stride, long count, long K, Pair *tiles, long line, bool transposed) {
    bool finite = true;
    for (long start = 0; start < count; start += SIDE)
        for (long k = 0; k < K; k += 2 * SIDE) {
            const float *from = x + start * stride + k;
            const __mmask16 lanes[2] = {first(K - k), first(K - k - SIDE)};
            finite &= pack_tile<PARTS, false>(
                tiles + start / SIDE * line + k / (2 * SIDE) * PARTS * TILE, transposed, std::min(SIDE, count - start),
                [=](long i, long half) {
                    const float *row = from + i * stride + half * SIDE;
                    __builtin_prefetch(row + SIDE * stride);
                    return _mm512_maskz_loadu_ps(lanes[half], row);
                });
        }
    return finite;
}

// The same of x (K, count), whose pairs are neighbours in a column: a tile is 16 pairs of rows by 16 columns.
template <long PARTS>
bool pack_columns_of_pairs(const float *x, long stride, long count, long K, Pair *tiles, long line, bool transposed) {
    bool finite = true;
    for (long k = 0; k < K; k += 2 * SIDE)
        for (long start = 0; start < count; start += SIDE) {
            const float *from = x + k * stride + start;
            const long rows = std::min(2 * SIDE, K - k);
            const __mmask16 lanes = first(count - start);
            finite &= pack_tile<PARTS, true>(
                tiles + start / SIDE * line + k / (2 * SIDE) * PARTS * TILE, transposed, (rows + 1) / 2, [=](long i, long half) {
                    const long row = 2 * i + half;
                    __builtin_prefetch(from + (row + 2 * SIDE) * stride);
                    return row < rows ? _mm512_maskz_loadu_ps(lanes, from + row * stride) : __m512{};
                });
        }
    return finite;
}

// A matrix with numbers (count, K), rows `stride` apart, or with its pairs in columns (K, count).
struct Operand {
    const float *x;
    long stride;
    bool in_columns;
    template <long PARTS> bool pack(long start, long count, long k, long K, Pair *tiles, long line, bool transposed) const {
        if (in_columns) return pack_columns_of_pairs<PARTS>(x + k * stride + start, stride, count, K, tiles, line, transposed);
        return pack_rows_of_pairs<PARTS>(x + start * stride + k, stride, count, K, tiles, line, transposed);
    }
};

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
    for (long k = 0; k < count * PARTS * TILE; k += PARTS * TILE) {
        const auto rows = [=](long part) {
            _tile_loadd(4, a0 + k + part * TILE, 64);
            _tile_loadd(5, a1 + k + part * TILE, 64);
        };
        const auto columns = [=](long part) {
            _tile_loadd(6, b0 + k + part * TILE, 64);
            _tile_loadd(7, b1 + k + part * TILE, 64);
        };
        const auto multiply = [] {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        };
        if (PARTS > 1) {  // the small products first, each with one of the two sides that are there already
            rows(0), columns(2), multiply();
            columns(1), multiply();
            rows(1), multiply();
            columns(0), multiply();
            rows(2), multiply();
            rows(0), multiply();
        } else {
            rows(0), columns(0), multiply();
        }
    }
    _tile_stored(0, c, bytes);
    _tile_stored(1, c + SIDE, bytes);
    _tile_stored(2, below, bytes);
    _tile_stored(3, below + SIDE, bytes);
}

// C (N, M) = A B, each of A and B as it is or transposed. Of three parts: false if not all are finite, and C is to be done again.
//
// B is packed once, for all threads; A by each thread that needs it, a block of rows and of K that stays in the L2 cache.
template <long PARTS>
bool product(bool transpose_a, bool transpose_b, const float *a, const float *b, float *c, long N, long K, long M) {
    const Operand left{a, transpose_a ? N : K, transpose_a}, right{b, transpose_b ? K : M, !transpose_b};
    const long deep = pieces_of(K, 2 * SIDE), line = deep * PARTS * TILE;  // tiles, pairs of a strip
    const long depth = pieces_of(deep, pieces_of(deep, DEPTH / PARTS)), a_line = depth * PARTS * TILE;
    Pair *of_b = scratch<Pair>(padded(pieces_of(M, SIDE), 2) * line);
    std::atomic<bool> finite{true};
    const bool by_k = right.in_columns;  // as the numbers lie in memory
    parallel_ranges(by_k ? K : M, by_k ? 2 * SIDE : BLOCK_M, [=, &finite](long start, long stop) {
        const long m = by_k ? 0 : start, k = by_k ? start : 0, columns = by_k ? M : stop - start, rows = by_k ? stop - start : K;
        Pair *to = of_b + m / SIDE * line + k / (2 * SIDE) * PARTS * TILE;
        if (!right.pack<PARTS>(m, columns, k, rows, to, line, transpose_b)) finite = false;
    });
    const long strips = pieces_of(N, BLOCK_N), groups = std::min(pieces_of(PIECES, strips), pieces_of(M, 4 * BLOCK_M));
    const long width = padded(pieces_of(M, groups), BLOCK_M);
    parallel_for(finite ? strips * groups : 0, [=, &finite](long piece) {
        const Shapes shapes;
        _tile_loadconfig(&shapes);
        const long n0 = piece / groups * BLOCK_N, m0 = piece % groups * width;
        const long n1 = std::min(N, n0 + BLOCK_N), m1 = std::min(M, m0 + width);
        Pair *rows = scratch<Pair, 1>(BLOCK_N / SIDE * a_line);
        for (long k = 0; k < deep; k += depth) {
            const long count = std::min(depth, deep - k), start = k * 2 * SIDE;
            if (!left.pack<PARTS>(n0, n1 - n0, start, std::min(K - start, count * 2 * SIDE), rows, a_line, transpose_a))
                finite = false;
            for (long m = m0; m < m1; m += 2 * SIDE)
                for (long n = n0; n < n1; n += 2 * SIDE) {
                    const Pair *a0 = rows + (n - n0) / SIDE * a_line, *b0 = of_b + m / SIDE * line + k * PARTS * TILE;
                    const long height = N - n, wide = M - m;
                    float *to = c + n * M + m;
                    if (height >= 2 * SIDE && wide >= 2 * SIDE) {
                        ask_to_write(to, M, 2 * SIDE, 2 * SIDE);
                        block<PARTS>(k, count, a0, a0 + a_line, b0, b0 + line, to, M);
                        continue;
                    }
                    alignas(64) float edge[4 * TILE];  // a block that juts out of C
                    const long high = std::min(2 * SIDE, height), cells = std::min(2 * SIDE, wide);
                    for (long i = 0; k && i < high; i++) std::copy_n(to + i * M, cells, edge + i * 2 * SIDE);
                    block<PARTS>(k, count, a0, a0 + a_line, b0, b0 + line, edge, 2 * SIDE);
                    for (long i = 0; i < high; i++) std::copy_n(edge + i * 2 * SIDE, cells, to + i * M);
                }
        }
        _tile_release();
    });
    return finite;
}

}  // namespace amx
#else
namespace amx {
inline bool granted() { return false; }
template <long> bool product(bool, bool, const float *, const float *, float *, long, long, long) { return false; }
}  // namespace amx
#endif
