// Matrix products that multiply in bfloat16 and sum in float32: C (N, M) = A (N, K) B (K, M), all float32 in memory.
//
// A and B are rounded to nearest even and packed in pairs of neighbouring k, since the processor's instruction adds two
// products at a time: sum += a[k] b[k] + a[k + 1] b[k + 1]. Then C is made in tiles, as in matmul.h, a slice of K at a time,
// whose part of B stays in the first cache. Where there is no such instruction, float32 does the same, only slower.
// Where it has AMX, amx.h does all this by tiles.
#include "amx.h"
#include "matmul.h"
#include "threads.h"
#if defined(__AVX512BF16__)
#include <immintrin.h>
#define INSTRUCTION "AVX-512 BF16"
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#include <arm_neon.h>
#define INSTRUCTION "NEON BF16"
#else
#define INSTRUCTION ""
#endif

typedef uint32_t Pair;  // an even k in the lower half, the next k in the upper one
typedef Tile<float>::Vector Floats;

template <> struct Tile<Pair> {
    typedef Pair Vector __attribute__((vector_size(VECTOR)));
    typedef float Sum;
    static constexpr long LANES = Tile<float>::LANES, COLUMNS = Tile<float>::COLUMNS;
    static Floats add_product(Floats sum, Vector row, Pair factor) {
#if defined(__AVX512BF16__)
        return (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)row, (__m512bh)(Vector{} + factor));
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
        return (Floats)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)row, (bfloat16x8_t)(Vector{} + factor));
#else
        const Vector factors = Vector{} + factor;
        sum += (Floats)(row << 16) * (Floats)(factors << 16);  // a bfloat16 is the upper half of a float32
        return sum + (Floats)(row & 0xffff0000) * (Floats)(factors & 0xffff0000);
#endif
    }
};

constexpr long COLUMNS = Tile<Pair>::COLUMNS, LANES = Tile<Pair>::LANES;
constexpr long SLICE = 128;  // pairs: 16 to 24 KB of B for a tile
constexpr long BLOCK_N = 96, BLOCK_M = 8 * COLUMNS;  // of C, for one thread; 96 is a multiple of each ROWS in matmul.h

inline Pair rounded(float x) {  // in the upper half
    Pair bits;
    std::memcpy(&bits, &x, sizeof bits);
    const Pair nan = bits | 0x400000, number = bits + 0x7fff + (bits >> 16 & 1);
    return ((bits & 0x7fffffff) > 0x7f800000 ? nan : number) & 0xffff0000;
}
inline Pair pair(float first, float second) { return rounded(first) >> 16 | rounded(second); }

// x (count, K) to rows of pairs, `line` apart; rows of zeros up to `all`.
static void pack_by_rows(const float *x, long count, long K, Pair *to, long line, long all) {
    parallel_ranges(all, 16, [=](long start, long stop) {
        for (long row = start; row < stop; row++) {
            const float *from = x + row * K;
            Pair *pairs = to + row * line;
            const long whole = row < count ? K / 2 : 0, rest = row < count ? K % 2 : 0;
            for (long p = 0; p < whole; p++) pairs[p] = pair(from[2 * p], from[2 * p + 1]);
            if (rest) pairs[whole] = pair(from[K - 1], 0);
            std::fill(pairs + whole + rest, pairs + line, 0);
        }
    });
}

// x (K, count) to panels (pairs of K, WIDTH), the last filled up with zeros.
template <long WIDTH> void pack_by_columns(const float *x, long count, long K, Pair *panels) {
    constexpr long GROUP = 4;  // panels that are written at once, so that x is read by whole lines of the cache
    const long pairs = (K + 1) / 2;
    parallel_ranges(pieces_of(count, WIDTH), GROUP, [=](long start, long stop) {
        for (long p = 0; p < pairs; p++) {
            const float *first = x + 2 * p * count, *second = 2 * p + 1 < K ? first + count : nullptr;
            for (long panel = start; panel < stop; panel++) {
                Pair *to = panels + (panel * pairs + p) * WIDTH;
                const long column = panel * WIDTH;
                if (second && column + WIDTH <= count)
                    for (long j = 0; j < WIDTH; j++) to[j] = pair(first[column + j], second[column + j]);
                else
                    for (long j = 0; j < WIDTH; j++)
                        to[j] = column + j < count ? pair(first[column + j], second ? second[column + j] : 0) : 0;
            }
        }
    });
}

// x (count, K) to the same panels, by squares that are transposed in registers.
static void pack_transposed_pairs(const float *x, long count, long K, Pair *panels) {
    const long pairs = (K + 1) / 2;
    parallel_for(pieces_of(count, LANES), [=](long piece) {
        const long start = piece * LANES, rows = std::min(LANES, count - start);
        Pair *panel = panels + start / COLUMNS * COLUMNS * pairs + start % COLUMNS;
        for (long p = 0; p < pairs; p += LANES) {
            Tile<Pair>::Vector square[LANES] = {};
            for (long i = 0; i < rows; i++) {
                const float *from = x + (start + i) * K + 2 * p;
                Pair *row = (Pair *)&square[i];
                if (2 * (p + LANES) <= K)
                    for (long j = 0; j < LANES; j++) row[j] = pair(from[2 * j], from[2 * j + 1]);
                else
                    for (long j = 0; 2 * (p + j) < K; j++)
                        row[j] = pair(from[2 * j], 2 * (p + j) + 1 < K ? from[2 * j + 1] : 0);
            }
            transpose<LANES / 2>(square);
            for (long j = 0; j < std::min(LANES, pairs - p); j++)
                *(Tile<Pair>::Vector *)(panel + (p + j) * COLUMNS) = square[j];
        }
    });
}

// A as it was packed: with its rows one after the other, or in panels of ROWS columns.
struct Rows {
    const Pair *pairs;
    long line;  // of a row, 0 for panels
    long count;  // pairs of K
};

// A tile of C from row n of A on, over `count` pairs from k on; `columns` begins at the same k.
template <bool ADD> void add_slice(const Rows &a, long n, long k, long count, const Pair *columns, float *c, long c_row) {
    if (a.line)
        tile<ADD>(count, a.pairs + n * a.line + k, a.line, 1, columns, COLUMNS, c, c_row);
    else
        tile<ADD>(count, a.pairs + n * a.count + k * ROWS, 1, ROWS, columns, COLUMNS, c, c_row);
}

// C (N, M) = A B. a is (N, K), or (K, N) if it is to be transposed; b is (K, M), or (M, K).
extern "C" void product_bf16(int transpose_a, int transpose_b, const float *a, const float *b, float *c, long N, long K,
                             long M) {
    if (amx::granted() && amx::product<1>(transpose_a, transpose_b, a, b, c, N, K, M)) return;
    const long pairs = (K + 1) / 2, all = padded(N, ROWS), across = pieces_of(M, BLOCK_M);
    const long line = padded(pairs, LANES) + LANES;  // not a power of two: all rows would share a few places of the cache
    Pair *rows = scratch<Pair>(all * line + padded(M, COLUMNS) * pairs), *columns = rows + all * line;
    if (transpose_a)
        pack_by_columns<ROWS>(a, N, K, rows);
    else
        pack_by_rows(a, N, K, rows, line, all);
    if (transpose_b)
        pack_transposed_pairs(b, M, K, columns);
    else
        pack_by_columns<COLUMNS>(b, M, K, columns);
    const Rows packed{rows, transpose_a ? 0 : line, pairs};
    parallel_for(pieces_of(N, BLOCK_N) * across, [=](long piece) {
        const long n0 = piece / across * BLOCK_N, m0 = piece % across * BLOCK_M;
        const long n1 = std::min(N, n0 + BLOCK_N), m1 = std::min(M, m0 + BLOCK_M);
        for (long k = 0; k < pairs; k += SLICE)
            for (long m = m0; m < m1; m += COLUMNS)
                for (long n = n0; n < n1; n += ROWS) {
                    const long count = std::min(SLICE, pairs - k), height = std::min<long>(ROWS, N - n);
                    const long width = std::min(COLUMNS, M - m);
                    const Pair *panel = columns + m * pairs + k * COLUMNS;
                    float *to = c + n * M + m;
                    const auto add = k ? add_slice<true> : add_slice<false>;  // the first slice begins the sum
                    if (height == ROWS && width == COLUMNS) {
                        add(packed, n, k, count, panel, to, M);
                        continue;
                    }
                    float edge[ROWS * COLUMNS] = {};  // a tile that juts out of C
                    for (long i = 0; i < height; i++) std::copy_n(to + i * M, width, edge + i * COLUMNS);
                    add(packed, n, k, count, panel, edge, COLUMNS);
                    for (long i = 0; i < height; i++) std::copy_n(edge + i * COLUMNS, width, to + i * M);
                }
    });
}

extern "C" const char *bf16_instruction() { return amx::granted() ? "AMX BF16" : INSTRUCTION; }
