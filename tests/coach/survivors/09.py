"""Mutants of chapter 09 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "gemm_logsumexp": {
        "part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), __shfl_xor_sync(0xffffffffu, part.l, step)}); -> part = merge(part, {__shfl_down_sync(0xffffffffu, part.m, step), __shfl_xor_sync(0xffffffffu, part.l, step)});": "harmless: the lane that writes is the first of its row, whose butterfly goes down only",
        "part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), __shfl_xor_sync(0xffffffffu, part.l, step)}); -> part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), __shfl_down_sync(0xffffffffu, part.l, step)});": "harmless: the lane that writes is the first of its row, whose butterfly goes down only",
        "if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row -> if ((threadIdx.y & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row": "harmless: every lane of a row has its part, so any may write it",
        "if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row -> if ((threadIdx.x & (2 + widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row": "harmless: every lane of a row has its part, so any may write it",
        "if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row -> if ((threadIdx.x & (2 * widest - narrowest)) != 0 && row < M) {  // one of the lanes with this row": "harmless: every lane of a row has its part, so any may write it",
        "if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {  // one of the lanes with this row -> if ((threadIdx.x & (2 * widest - narrowest)) == 1 && row < M) {  // one of the lanes with this row": "harmless: every lane of a row has its part, so any may write it",
    },
    "gemm_swiglu": {
        "if (N % 2 == 0 && j + 1 < N) { -> if (N / 2 == 0 && j + 1 < N) {": "harmless: the two numbers are written one by one",
        "if (N % 2 == 0 && j + 1 < N) { -> if (N % 2 == 0 && j + 0 < N) {": "equivalent: j and N are even here",
        "if (N % 2 == 0 && j + 1 < N) { -> if (N % 2 == 0 && j + 1 <= N) {": "equivalent: j and N are even here",
    },
}
