"""Mutants of chapter 08a that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "matmul_few_bytes": {
        "b[y][x] = k + y < K && j < N ? B[(k + y) * N + j] : 0.0f; -> b[y][x] = k + y < K && j < N ? B[(k + y) * N + j] : 1.0f;": "equivalent: beyond K the other tile holds 0, and beyond N nothing is written",
    },
}
