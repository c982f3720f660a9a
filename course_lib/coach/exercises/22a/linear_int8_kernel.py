"""The product that reads weights of 8 bits: a warp for each output, two words for each lane at a time."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.devices.packing import pack_int8

WARPS = 4
LARGE = "one row of 1536"


def cases(random):
    def case(label, n, K, M, bias=False):
        return Case(
            label, random.normal(size=(n, K)).astype(np.float32), random.integers(-128, 128, (M, K)).astype(np.int8),
            random.uniform(0.001, 0.01, M).astype(np.float32), random.normal(size=M).astype(np.float32) if bias else None,
        )  # fmt: skip

    yield case("two words", 1, 8, 3)
    yield case("one word", 1, 4, 3)
    yield case("K no multiple of 4", 1, 5, 2, bias=True)
    yield case("an odd number of words", 2, 100, 5)
    yield case("more words than two for each lane", 2, 388, 4, bias=True)
    yield case("three words and a bit", 3, 301, 5)
    yield case(LARGE, 1, 1536, 16)


def product(x, codes, scales, bias):
    """y (n, M)"""
    y = x.astype(np.float64) @ codes.astype(np.float64).T * scales
    return (y + (0 if bias is None else bias)).astype(np.float32)


def without_sign(x, codes, scales, bias):
    return product(x, codes.view(np.uint8), scales, bias)


def words_kept(keep):
    """The product over the words w of a row for which keep(w)."""

    def of(x, codes, scales, bias):
        return product(x, np.where(keep(np.arange(codes.shape[1]) // 4), codes, 0), scales, bias)

    return of


def launch(kernel, x, codes, scales, bias):
    (n, K), M = x.shape, len(codes)
    y = cuda.empty((n, M))
    words = pack_int8(np.pad(codes, ((0, 0), (0, -K % 4))))
    given = [cuda.asarray(array) if array is not None else 0 for array in (x, words, scales, bias)]
    run = kernel.instance("4" if K % 4 == 0 else "1")
    run((-(-M // WARPS), n), 32 * WARPS, (*given, y, n, K, M))
    return y


BYTE = "(signed char)(pair[%d] >> 8 * i)"

exercise = Exercise(
    title="A product with weights of 8 bits",
    minutes=12,
    core=False,
    language="cuda",
    defines="linear_int8",
    instances=("4", "1"),
    target="kernel:linear_int8.cu",
    cases=cases,
    reference=product,
    call=launch,
    tolerance=1e-4,
    measured=LARGE,
    # Each float4 of x lies 32 bytes from the next lane's, so each request moves twice what it uses. So does one for a word of a
    # pair, and as g++ counts, a word is read anew for each of its four bytes.
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.1 * 16 * 1536 * (8 + 2 * 4))],
    hints=(
        "Lane l begins at word 2l, and goes on in steps of 64. Two words hold the codes of k = 4w .. 4w + 7, which is what Eight "
        "loads from k = 4w on.",
        "Code i of a word is its byte i: (signed char)(word >> 8 * i) drops the bytes above it and keeps the sign.",
        "Word w is multiplied with values[0] to values[3], and word w + 1, if w + 1 < line, with values[4] to values[7]: sum += "
        "(signed char)(word >> 8 * i) * values[i], with a loop over i that is unrolled.",
    ),
    example='''// One number for each warp: how many bytes of a row are negative, four to a word.
__global__ void negative_bytes(const unsigned* words, int* y, int line, int M) {
    const int m = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (m >= M) return;
    int sum = 0;
    for (int w = lane; w < line; w += 32)
        for (int i = 0; i < 4; i++) sum += (signed char)(words[(long long)m * line + w] >> 8 * i) < 0;
    sum = (int)warp_sum<32>((float)sum);
    if (lane == 0) y[m] = sum;
}
''',
    wrong=[
        Wrong(Changed((BYTE % 0, "(pair[0] >> 8 * i & 255)"), (BYTE % 1, "(pair[1] >> 8 * i & 255)")),
              "The bytes are read without their sign: 255 is the code -1. Convert to signed char.", like=without_sign),
        Wrong(Changed(("for (int w = 2 * lane; w < line; w += 64)", "for (int w = 2 * lane; w < min(line, 64); w += 64)")),
              "Each lane takes two words. A longer row needs a loop, in steps of 64.", like=words_kept(lambda w: w < 64)),
        Wrong(Changed(("if (w + 1 < line)", "if (false)")),
              "The second word of each pair is left out.", like=words_kept(lambda w: w % 2 == 0)),
        Wrong(Changed(("            if (w + 1 < line) {\n", "            {\n")),
              "Where line is odd, the last pair of a row has one word: read the second only if w + 1 < line.",
              when=lambda seen: -(-seen.inputs[0].shape[1] // 4) % 2 == 1 and "out-of-bounds" in seen.kinds),
    ],
)  # fmt: skip
