"""Mutants of chapter 22b that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "paged_append_int8": {
        "word |= (unsigned)((int)rintf(scale == 0.0f ? 0.0f : x[4 * w + i] / scale) & 255) << 8 * i; -> "
        "word |= (unsigned)((int)rintf(scale == 1.0f ? 0.0f : x[4 * w + i] / scale) & 255) << 8 * i;": "0 / 0 is not a number, and "
        "as an int it is 0 on a GPU, and on a processor a number whose lowest 8 bits are 0",
    },
    "share_budget": {
        "given = [0] * len(needed) -> given = [1] * len(needed)": "every entry is written, in one pass or the other",
    },
}
