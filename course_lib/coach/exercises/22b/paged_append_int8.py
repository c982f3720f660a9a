"""Rows of keys and values become codes of 8 bits, four to a word, and a scale."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices.packing import pack_rows, row_words


def cases(random):
    def case(label, n, G, d, N=4):
        slots = random.permutation(n + 3)[:n].astype(np.int32)
        return Case(label, *random.normal(size=(2, n, G, d)).astype(np.float32), slots, -(-(n + 3) // N), N)

    k = np.array([[[1.27, -0.3, 0.02, 0.5]]], np.float32)
    yield Case("one word", k, -k, np.array([2], np.int32), 1, 4)
    yield case("three numbers", 2, 1, 3)
    yield case("five numbers", 3, 2, 5)
    yield Case(
        "a row of zeros", np.zeros((1, 1, 6), np.float32), np.ones((1, 1, 6), np.float32), np.array([0], np.int32), 1, 1
    )
    yield case("more words than lanes", 2, 2, 134)
    yield case("20 tokens", 20, 3, 64)


def written(k, v, slots, P, N, pack=pack_rows):
    made = []
    for x in (k, v):
        pages = np.zeros((P * N, k.shape[1], row_words(k.shape[2])), np.uint32)
        pages[slots] = pack(x)
        made.append(pages)
    return tuple(made)


def packed(code, order=(0, 1, 2, 3)):
    """`pack_rows`, with the codes that `code` makes of x divided by its scales (n, G, d); order: of the bytes of a word."""

    def pack(x):
        scales = np.abs(x).max(-1, keepdims=True) / np.float32(127)
        codes = code(x / np.where(scales == 0, np.float32(1), scales)).astype(np.int64)
        codes = np.pad(codes, ((0, 0), (0, 0), (0, -x.shape[-1] % 4))).reshape(*x.shape[:2], -1, 4)
        words = np.bitwise_or.reduce(codes << 8 * np.array(order), axis=-1) & 0xFFFFFFFF
        return np.concatenate([words.astype(np.uint32), scales.view(np.uint32)], axis=-1)

    return lambda *inputs: written(*inputs, pack)


def launch(kernel, k, v, slots, P, N):
    n, G, d = k.shape
    pages = [cuda.zeros((P * N, G, row_words(d)), np.uint32) for _ in range(2)]
    kernel((n * G + 1) // 2, 64, (cuda.asarray(k), cuda.asarray(v), *pages, cuda.asarray(slots), n * G, G, d))
    return tuple(pages)


exercise = Exercise(
    title="Keys and values in 8 bits",
    minutes=10,
    core=False,
    language="cuda",
    defines="paged_append_int8",
    target="kernel:paged_attention.cu",
    cases=cases,
    results=("k_pages", "v_pages"),
    reference=written,
    call=launch,
    hints=(
        "A lane makes a whole word. Its codes are those of x[4 * w], x[4 * w + 1] and so on, as long as the index is below d.",
        "The code is (int)rintf(x[4 * w + i] / scale), and 0 where the scale is 0. Of a negative code only the lowest 8 bits may "
        "reach the word: & 255.",
        "for (int i = 0; i < 4 && 4 * w + i < d; i++) word |= (unsigned)(code & 255) << 8 * i;",
    ),
    example='''// Two numbers of 16 bits, with a sign, in a word: the first in the lower half.
__device__ unsigned two_in_a_word(int a, int b) { return (unsigned)(a & 65535) | (unsigned)(b & 65535) << 16; }
''',
    wrong=[
        Wrong(Changed((" & 255)", ")")),
              "The sign of a negative code spills over the codes behind it: keep 8 bits of each, & 255.",
              like=packed(np.rint)),
        Wrong(Changed(("(int)rintf(scale == 0.0f ? 0.0f : x[4 * w + i] / scale)",
                       "(int)(scale == 0.0f ? 0.0f : x[4 * w + i] / scale)")),
              "Codes are cut off towards zero here. The nearest one is rintf of the quotient.",
              like=packed(lambda x: np.trunc(x).astype(np.int64) & 255)),
        Wrong(Changed(("<< 8 * i", "<< 8 * (3 - i)")),
              "The first code of a word belongs in its lowest bits; here it is in the highest.",
              like=packed(lambda x: np.rint(x).astype(np.int64) & 255, (3, 2, 1, 0))),
    ],
)  # fmt: skip
