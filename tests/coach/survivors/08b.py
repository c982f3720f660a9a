"""Mutants of chapter 08b that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "best_rectangle": {
        "best = 1 -> best = 0": "equivalent: TM = 1 always divides",
        "for TM in range(1, sums + 1): -> for TM in range(1, sums - 1):": "equivalent: TM is at most the root of sums, and 1 is where it begins",
        "for TM in range(1, sums + 1): -> for TM in range(1, sums + 0):": "equivalent: TM is at most the root of sums, and 1 is where it begins",
        "for TM in range(1, sums + 1): -> for TM in range(1, sums + 1 - 1):": "equivalent: TM is at most the root of sums, and 1 is where it begins",
        "return best, sums // best -> return best, sums / best": "harmless: best divides sums, and 2.0 counts as 2",
    },
    "matmul_register_tiles_1d": {
        "a[i / BK][i % BK] = row < M && inner < K ? A[(size_t)row * K + inner] : 0.0f; -> a[i / BK][i % BK] = row < M && inner < K ? A[(size_t)row * K + inner] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
        "b[i / BN][i % BN] = inner < K && column < N ? B[(size_t)inner * N + column] : 0.0f; -> b[i / BN][i % BN] = inner < K && column < N ? B[(size_t)inner * N + column] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
    },
    "gemm": {
        "a[t][r] = row < M && term < end ? A[offset] : 0.0f; -> a[t][r] = row < M && term < end ? A[offset] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
        "b[t][c] = column < N && term < end ? B[offset] : 0.0f; -> b[t][c] = column < N && term < end ? B[offset] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
    },
    "transpose_float4": {
        "*(float4*)(y + (j + 0) * M + i) = make_float4(row[0].x, row[1].x, row[2].x, row[3].x); -> *(float4*)(y + (j - 0) * M + i) = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);": "equivalent: 0 is added or taken away",
    },
    "matmul_few_requests": {
        "__shared__ float a[8][64 + 4], b[8][64]; -> __shared__ float a[8][63 + 4], b[8][64];": "harmless: an array is longer than it need be",
        "__shared__ float a[8][64 + 4], b[8][64]; -> __shared__ float a[8][64 + 3], b[8][64];": "harmless: an array is longer than it need be",
        "for (int k = 0; k < K; k += 8) { -> for (int k = 0; k <= K; k += 8) {": "equivalent: the slice that is added holds zeros",
        "a[e % 8][e / 8] = row < M && term < K ? A[row * K + term] : 0.0f; -> a[e % 8][e / 8] = row < M && term < K ? A[row * K + term] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
        "b[e / 64][e % 64] = other < K && column < N ? B[other * N + column] : 0.0f; -> b[e / 64][e % 64] = other < K && column < N ? B[other * N + column] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
    },
}
