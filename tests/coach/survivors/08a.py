"""Mutants of chapter 08a that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "tile_reads": {
        "return (M // TM) * (N // TN) * (TM + TN) * K -> return (M / TM) * (N // TN) * (TM + TN) * K": "harmless: the tiles fit, so the quotient is whole, and 2.0 counts as 2",
        "return (M // TM) * (N // TN) * (TM + TN) * K -> return (M // TM) * (N / TN) * (TM + TN) * K": "harmless: the tiles fit, so the quotient is whole, and 2.0 counts as 2",
    },
    "count_wavefronts": {
        "return max(len({word for word in words if word % 32 == bank}) for bank in range(32)) -> return max(len({word for word in words if word % 32 == bank}) for bank in range(33))": "equivalent: no word is in bank 32",
    },
    "matmul_shared_tiles": {
        "for (int k = 0; k < K; k += TILE) { -> for (int k = 0; k <= K; k += TILE) {": "equivalent: the slice that is added holds zeros",
        "a[y][x] = row < M && k + x < K ? A[(size_t)row * K + k + x] : 0.0f; -> a[y][x] = row < M && k + x < K ? A[(size_t)row * K + k + x] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
        "b[y][x] = k + y < K && column < N ? B[(size_t)(k + y) * N + column] : 0.0f; -> b[y][x] = k + y < K && column < N ? B[(size_t)(k + y) * N + column] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
    },
    "pairwise_distances": {
        "for (int k = 0; k < K; k += 16) { -> for (int k = 0; k <= K; k += 16) {": "equivalent: the slice that is added holds zeros",
    },
    "matmul_few_bytes": {
        "for (int k = 0; k < K; k += 16) { -> for (int k = 0; k <= K; k += 16) {": "equivalent: the slice that is added holds zeros",
        "a[y][x] = i < M && k + x < K ? A[i * K + k + x] : 0.0f; -> a[y][x] = i < M && k + x < K ? A[i * K + k + x] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond M or N nothing is written",
        "b[y][x] = k + y < K && j < N ? B[(k + y) * N + j] : 0.0f; -> b[y][x] = k + y < K && j < N ? B[(k + y) * N + j] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond N nothing is written",
    },
}
