"""Mutants of chapter 18 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "matmul_wgsl": {
        "const SLICE = 8u; -> const SLICE = 9u;": "equivalent: any length of a slice gives the product",
    },
}
