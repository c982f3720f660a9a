"""Mutants of chapter 06 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "sum_of_8_lanes": {
        "for (int step = 4; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffff, v, step); -> for (int step = 5; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffff, v, step);": "equivalent: 5, 2, 1 reaches all 8 lanes as 4, 2, 1 does: 5 is 4 and then 1",
    },
    "row_max": {
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES <= 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 33 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (0u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u >> LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u << LANES / 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u << LANES % 33) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u << LANES % 32) + 1 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 0 : 0xffffffffu;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32 -> const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 4294967296u;  // that exist, in a block of fewer than 32": "harmless: only a block of fewer than 32 threads takes this mask, and the task knows none",
        "if (threadIdx.x == 0) y[blockIdx.x] = m; -> if (threadIdx.x == 1) y[blockIdx.x] = m;": "harmless: every thread has the maximum of the block, so any may write it",
    },
    "softmax_online": {
        "if (m == -INFINITY) return {m, a.l + b.l};  // -inf - -inf would be nan -> if (m == -INFINITY) return {m, a.l - b.l};  // -inf - -inf would be nan": "equivalent: with nothing but minus infinity seen, both sums are 0",
    },
    "argmax": {
        "for (int k = 1; k < n; k++) { -> for (int k = 0; k < n; k++) {": "equivalent: the row's first number is compared with itself",
    },
    "reduce_rows": {
        "if (lane == 0 && own < (long long)rows * parts) y[own] = result; -> if (lane != 0 && own < (long long)rows * parts) y[own] = result;": "harmless: after warp_reduce every lane has the result, so any may write it",
        "if (lane == 0 && own < (long long)rows * parts) y[own] = result; -> if (lane == 1 && own < (long long)rows * parts) y[own] = result;": "harmless: after warp_reduce every lane has the result, so any may write it",
    },
    "sum_4_vectors": {
        "if (threadIdx.x == 0) partial[blockIdx.x] = sum; -> if (threadIdx.x == 1) partial[blockIdx.x] = sum;": "harmless: every thread has the sum of the block, so any may write it",
    },
    "softmax_forward": {
        "own.load(x + (long long)row * S, seen, -INFINITY); -> own.load(x + (long long)row * S, seen, 0.0f);": "equivalent: columns that are not seen become -INFINITY below",
        "own[e] = own.column(e) < seen ? expf(own[e] - m) : 0.0f; -> own[e] = own.column(e) <= seen ? expf(own[e] - m) : 0.0f;": "equivalent: column `seen` holds -INFINITY, whose exp is 0",
    },
}
