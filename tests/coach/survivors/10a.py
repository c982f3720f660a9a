"""Mutants of chapter 10a that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "half_warp_max": {
        "for (int half = 8; half > 0; half /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, half)); -> for (int half = 9; half > 0; half /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, half));": "equivalent: 9, 4, 2, 1 reaches all 16 lanes as 8, 4, 2, 1 does: 9 is 8 and then 1",
    },
    "attention_softmax": {
        "for (int s = 1; s < seen; s++) largest = fmaxf(largest, scores[s]); -> for (int s = 0; s < seen; s++) largest = fmaxf(largest, scores[s]);": "equivalent: the maximum begins at scores[0]",
    },
    "flash_attention_forward": {
        "for (int c = 0; c < KEYS; c++) new_m = score[r][c] > new_m ? score[r][c] : new_m; -> for (int c = 0; c < KEYS; c++) new_m = score[r][c] >= new_m ? score[r][c] : new_m;": "equivalent: of two equal numbers either is the maximum",
    },
    "sliding_window_attention": {
        "int begin = max(0, first - W + 1) / TILE * TILE; -> int begin = max(1, first - W + 1) / TILE * TILE;": "equivalent: 1 / TILE * TILE is 0",
        "int begin = max(0, first - W + 1) / TILE * TILE; -> int begin = max(0, first - W - 1) / TILE * TILE;": "harmless: one tile more may be read, whose keys no query of the block sees",
        "int begin = max(0, first - W + 1) / TILE * TILE; -> int begin = max(0, first - W + 0) / TILE * TILE;": "harmless: one tile more may be read, whose keys no query of the block sees",
        "k_tile[i] = inside ? k[start * D + i] : 0.0f; -> k_tile[i] = inside ? k[start * D + i] : 1.0f;": "equivalent: keys beyond T are hidden",
        "v_tile[i] = inside ? v[start * D + i] : 0.0f; -> v_tile[i] = inside ? v[start * D + i] : 1.0f;": "equivalent: keys beyond T are hidden",
        "if (t < T && key <= t && key > t - W) { -> if (t <= T && key <= t && key > t - W) {": "equivalent: what thread T finds is not written",
    },
    "merge_attention": {
        "float one = first > 0.0f ? y1[i] : 0.0f, two = second > 0.0f ? y2[i] : 0.0f; -> float one = first > 0.0f ? y1[i] : 1.0f, two = second > 0.0f ? y2[i] : 0.0f;": "equivalent: this number is multiplied by a weight of 0",
        "float one = first > 0.0f ? y1[i] : 0.0f, two = second > 0.0f ? y2[i] : 0.0f; -> float one = first > 0.0f ? y1[i] : 0.0f, two = second > 0.0f ? y2[i] : 1.0f;": "equivalent: this number is multiplied by a weight of 0",
    },
    "attention_few_bytes": {
        "for (int first = blockIdx.x * blockDim.x; first < T; first += gridDim.x * blockDim.x) { -> for (int first = blockIdx.x * blockDim.x; first <= T; first += gridDim.x * blockDim.x) {": "equivalent: in the round that is added no query is below T",
        "float own[D], out[D] = {}, m = -INFINITY, l = 0.0f; -> float own[D], out[D] = {}, m = -INFINITY, l = 1.0f;": "equivalent: the first key rescales the sum by exp(-INFINITY), 0",
        "for (int d = 0; d < D; d++) own[d] = t < T ? q[t * D + d] / sqrtf(D) : 0.0f; -> for (int d = 0; d < D; d++) own[d] = t < T ? q[t * D + d] / sqrtf(D) : 1.0f;": "equivalent: what threads beyond T find is not written",
        "for (int start = 0; start < S; start += TILE) { -> for (int start = 0; start <= S; start += TILE) {": "equivalent: the tile that is added has no keys",
        "float score = 0.0f; -> float score = 1.0f;": "equivalent: softmax does not change where all scores grow by 1",
    },
}
