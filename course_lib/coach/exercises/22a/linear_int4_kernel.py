"""The product that reads weights of 4 bits: a warp for each output."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.devices.packing import pack_int4

GROUP, WARPS = 32, 4
LARGE = "one row of 1536"


def cases(random):
    def case(label, n, K, M, zeros=False, bias=False):
        J = -(-K // GROUP)
        codes = random.integers(0, 16, (M, J * GROUP), dtype=np.uint8)
        return Case(
            label, random.normal(size=(n, K)).astype(np.float32), codes, random.uniform(0.01, 0.1, (M, J)).astype(np.float32),
            random.uniform(0, 15, (M, J)).astype(np.float32) if zeros else None,
            random.normal(size=M).astype(np.float32) if bias else None,
        )  # fmt: skip

    yield case("one group", 1, 32, 1)
    yield case("K below a group", 1, 5, 3)
    yield case("zero points", 1, 64, 5, zeros=True)
    yield case("a bias", 2, 96, 6, bias=True)
    yield case("more words than lanes", 2, 388, 4)
    yield case("K no multiple of 4", 3, 301, 5, zeros=True, bias=True)
    yield case(LARGE, 1, 1536, 16)


def product(x, codes, scales, zeros, bias, zero=8.0, scaled=True, offset=0):
    """y (n, M). The options are faults."""
    K = x.shape[1]
    z = np.full_like(scales, zero) if zeros is None else zeros
    groups = (np.arange(codes.shape[1]) // GROUP + offset) % scales.shape[1]
    weight = (codes - z[:, groups]) * (scales[:, groups] if scaled else 1.0)
    y = x.astype(np.float64) @ weight[:, :K].astype(np.float64).T
    return (y + (0 if bias is None else bias)).astype(np.float32)


def no_zero_points(x, codes, scales, zeros, bias):
    return product(x, codes, scales, np.zeros_like(scales), bias)


def one_word_each(x, codes, scales, zeros, bias):
    kept = codes.astype(float).copy()
    z = np.full_like(scales, 8.0) if zeros is None else zeros
    spread = np.repeat(z, GROUP, axis=1)
    kept[:, 256:] = spread[:, 256:]
    return product(x, kept, scales, zeros, bias)


def launch(kernel, x, codes, scales, zeros, bias):
    (n, K), M = x.shape, len(codes)
    y = cuda.empty((n, M))
    given = [cuda.asarray(array) if array is not None else 0 for array in (x, pack_int4(codes), scales, zeros, bias)]
    run = kernel.instance("4" if K % 4 == 0 else "1")
    run((-(-M // WARPS), n), 32 * WARPS, (*given, y, n, K, M))
    return y


LOOP = "for (int w = lane; w < line; w += 32)"

exercise = Exercise(
    title="A product with weights of 4 bits",
    minutes=18,
    language="cuda",
    defines="linear_int4",
    instances=("4", "1"),
    target="kernel:linear_int4.cu",
    cases=cases,
    reference=product,
    call=launch,
    tolerance=1e-4,
    measured=LARGE,
    # Each float4 of x lies 32 bytes from the next lane's, so each request moves twice what it uses.
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.1 * 16 * 1536 * (0.5 + 4 / GROUP + 2 * 4))],
    hints=(
        "Lane l takes the words l, l + 32, ... of row m: words[m * line + w]. Word w holds the codes of k = 8 w .. 8 w + 7, and "
        "belongs to group w / GROUP_WORDS of row m: number m * groups + w / GROUP_WORDS of scales and zeros.",
        "Eight<N> values(x + row * K, 8 * w, K) loads the eight numbers of x that they are multiplied with; values[i] is 0 "
        "beyond K. Code i is word >> 4 * i & 15.",
        "For each w: word = words[m * line + w], an unsigned; group = m * groups + w / GROUP_WORDS; const float zero = zeros "
        "? zeros[group] : ZERO; float part = 0.0f; for (int i = 0; i < 8; i++) part += ((word >> 4 * i & 15) - zero) * "
        "values[i]; then sum += scales[group] * part;",
    ),
    example='''// One number for each warp: the sum of a row of bytes, four to a word.
__global__ void byte_sums(const unsigned* words, float* y, int line, int M) {
    const int m = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (m >= M) return;
    float sum = 0.0f;
    for (int w = lane; w < line; w += 32)
        for (int i = 0; i < 4; i++) sum += words[m * line + w] >> 8 * i & 255;
    sum = warp_sum<32>(sum);
    if (lane == 0) y[m] = sum;
}
''',
    wrong=[
        Wrong(Changed(("(word >> 4 * i & 15) - zero", "float(word >> 4 * i & 15)")),
              "The zero point is not subtracted: a code c stands for scale * (c - zero).", like=no_zero_points),
        Wrong(Changed(("sum += scales[group] * part", "sum += part")),
              "The scale of the group is missing.",
              like=lambda *inputs: product(*inputs, scaled=False)),
        Wrong(Changed((LOOP, "for (int w = lane; w < min(line, 32); w += 32)")),
              "Each lane takes one word. A row with more words than lanes needs a loop, in steps of 32.", like=one_word_each),
        Wrong(Changed(("zeros ? zeros[group] : ZERO", "zeros[group]")),
              "zeros may be null. Then the zero point is ZERO, 8.",
              when=lambda seen: "null-pointer" in seen.kinds and seen.inputs[3] is None),
    ],
)  # fmt: skip
