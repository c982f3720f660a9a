"""Mutants of chapter 11 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "cross_entropy_forward": {
        "if (i >= n || threadIdx.x % LANES) return; -> if (i >= n || threadIdx.y % LANES) return;": "harmless: every lane of a row has the loss, so any may write it",
        "losses[i] = target == ignore || target < 0 || target >= V ? 0.0f : lse - logits[row + target]; -> losses[i] = target == ignore || target < 0 && target >= V ? 0.0f : lse - logits[row + target];": "harmless: the task has no target outside the vocabulary, but for `ignore`",
        "losses[i] = target == ignore || target < 0 || target >= V ? 0.0f : lse - logits[row + target]; -> losses[i] = target == ignore || target < 0 || target > V ? 0.0f : lse - logits[row + target];": "harmless: the task has no target outside the vocabulary, but for `ignore`",
    },
    "cross_entropy_backward": {
        "float scale = dloss[0] / max(1, kept[0]), p = __expf(logits[at] - logsumexp[i]); -> float scale = dloss[0] / max(0, kept[0]), p = __expf(logits[at] - logsumexp[i]);": "harmless: where no row counts, every gradient is 0 without it",
    },
    "logsumexp_merge": {
        "if (part_m[part] > -INFINITY) l += part_l[part] * expf(part_m[part] - m); -> if (true) l += part_l[part] * expf(part_m[part] - m);": "harmless: only a row without any number needs the guard, and the task has none",
        "if (part_m[part] > -INFINITY) l += part_l[part] * expf(part_m[part] - m); -> if (part_m[part] >= -INFINITY) l += part_l[part] * expf(part_m[part] - m);": "harmless: only a row without any number needs the guard, and the task has none",
    },
}
