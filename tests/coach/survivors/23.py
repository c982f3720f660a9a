"""Mutants of chapter 23 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "chunked_attention": {
        "between = np.exp(np.minimum(G[:, None] - G[None], 0))  # (C, C, D): from step s to step t -> between = np.exp(np.minimum(G[:, None] - G[None], 1))  # (C, C, D): from step s to step t": "equivalent: exponents above 0 are those of later steps, which the mask hides",
    },
    "recurrence_scan": {
        "for (int tile = 0; tile < T; tile += THREADS) { -> for (int tile = 0; tile <= T; tile += THREADS) {": "equivalent: the tile that is added has no steps",
        "const Affine own = t < T ? Affine{a[row + t], b[row + t]} : Affine{1.0f, 0.0f}; -> const Affine own = t < T ? Affine{a[row + t], b[row + t]} : Affine{2.0f, 0.0f};": "equivalent: steps beyond T come last, and nothing reads the state after them",
        "const Affine own = t < T ? Affine{a[row + t], b[row + t]} : Affine{1.0f, 0.0f}; -> const Affine own = t < T ? Affine{a[row + t], b[row + t]} : Affine{1.0f, 1.0f};": "equivalent: steps beyond T come last, and nothing reads the state after them",
    },
    "scan_tree": {
        "if (node < COUNT) { -> if (node <= COUNT) {": "equivalent: a node is odd, and COUNT is even",
    },
    "warp_prefix_sums": {
        "for (int step = 1; step < 32; step *= 2) { -> for (int step = 1; step <= 32; step *= 2) {": "equivalent: no lane is 32 or more",
        "for (int step = 1; step < 32; step *= 2) { -> for (int step = 1; step < 33; step *= 2) {": "equivalent: no lane is 32 or more",
    },
    "look_back": {
        "if (tile > 0) { -> if (true) {": "harmless: the first tile publishes its aggregate as well, which nobody needs",
        "if (tile > 0) { -> if (tile >= 0) {": "harmless: the first tile publishes its aggregate as well, which nobody needs",
        "if (tile > 0) { -> if (tile > 1) {": "harmless: whoever looks back to tile 1 waits until it has its prefix",
    },
}
