"""Mutants of chapter 18 that may pass, and why: see course_lib/coach/mutation.py."""

ONE_ZERO = "equivalent for finite numbers: beyond K the other factor is 0, and beyond N and M nothing is written"

SURVIVORS = {
    "matmul_wgsl": {
        "const SLICE = 8u; -> const SLICE = 9u;": "equivalent: any length of a slice gives the product",
        "for (var k = 0u; k < args.K; k += SLICE) { -> for (var k = 0u; k <= args.K; k += SLICE) {": (
            "equivalent: where K is a whole number of slices, one more of zeros is added"
        ),
        "of_a[i % SLICE][i / SLICE] = 0.0; -> ;": ONE_ZERO,
        "of_a[i % SLICE][i / SLICE] = 0.0; -> of_a[i % SLICE][i / SLICE] = 1.0;": ONE_ZERO,
        "of_b[i / 64][i % 64] = 0.0; -> ;": ONE_ZERO,
        "of_b[i / 64][i % 64] = 0.0; -> of_b[i / 64][i % 64] = 1.0;": ONE_ZERO,
    },
}
