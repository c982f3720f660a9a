"""Mutants of chapter 05 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "dropout": {
        "if (i >= n) return; -> if (i > n) return;": "equivalent: thread n reads and writes nothing, since load_four and store_four end at n",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i - 4 <= n && (size_t)own % 16 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 5 <= n && (size_t)own % 16 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 < n && (size_t)own % 16 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 <= n || (size_t)own % 16 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 <= n && (size_t)own / 16 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 <= n && (size_t)own % 17 == 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 <= n && (size_t)own % 16 != 0;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "const bool whole = i + 4 <= n && (size_t)own % 16 == 0; -> const bool whole = i + 4 <= n && (size_t)own % 16 == 1;": "harmless: load_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i - 4 <= n && (size_t)(y + i) % 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 5 <= n && (size_t)(y + i) % 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 < n && (size_t)(y + i) % 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n || (size_t)(y + i) % 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y - i) % 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) / 16 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 17 == 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 != 0, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
        "store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four); -> store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 1, four);": "harmless: store_four ends at n itself, and arrays begin at a multiple of 16 bytes here",
    },
    "unary": {
        "if (i + N <= n) { -> if (i + N < n) {": "equivalent: the last pack is taken one by one",
    },
}
