"""Mutants of chapter 07 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "residual_layernorm_forward": {
        "if (threadIdx.x == 0) mean[row] = m, rstd[row] = r; -> if (threadIdx.x == 1) mean[row] = m, rstd[row] = r;": "harmless: every thread has the mean of the block, so any may write it",
    },
}
