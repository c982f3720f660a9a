"""Mutants of chapter 10b that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "flash_attention_delta": {
        "sum = warp_sum<8>(sum); -> sum = warp_sum<9>(sum);": "equivalent: the steps are 9 / 2, 2, 1, as those of 8",
        "if (row < B * H * T && lane == 0) delta[row] = sum; -> if (row < B * H * T && lane != 0) delta[row] = sum;": "harmless: after warp_sum every lane has the sum, so any may write it",
        "if (row < B * H * T && lane == 0) delta[row] = sum; -> if (row < B * H * T && lane == 1) delta[row] = sum;": "harmless: after warp_sum every lane has the sum, so any may write it",
    },
    "flash_attention_backward_kv": {
        "if (causal) begin = max(0, first - past) / TILE_T * TILE_T; -> if (causal) begin = max(1, first - past) / TILE_T * TILE_T;": "equivalent: 1 / TILE_T * TILE_T is 0",
        "if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f; -> if (edge && (query > T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f;": "equivalent: queries beyond T have dy 0, q 0 and delta 0, and so add 0",
        "if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f; -> if (edge && (query >= T && key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f;": "equivalent: queries beyond T add 0, and the rows of keys beyond S are not written",
        "if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f; -> if (edge && (query >= T || key - c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f;": "equivalent: the rows of keys beyond S are not written",
        "if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f; -> if (edge && (query >= T || key + c > S || (causal && key + c > past + query))) p[r][c] = 0.0f;": "equivalent: the rows of keys beyond S are not written",
    },
    "attention_backward": {
        "k, v = (x.repeat(H // G, axis=2).transpose(0, 2, 1, 3) for x in (k, v))  # (B, H, S, D) -> k, v = (x.repeat(H / G, axis=2).transpose(0, 2, 1, 3) for x in (k, v))  # (B, H, S, D)": "harmless: H / G is whole, and np.repeat takes 2.0 for 2",
        "scores = np.where(np.tri(T, S, S - T, dtype=bool), scores, scores.dtype.type(-np.inf)) -> scores = np.where(np.tri(T, S, S - T), scores, scores.dtype.type(-np.inf))": "harmless: np.where takes 1.0 for True",
    },
}
