"""Dropout: random words from a counter, so that the backward pass draws the very same ones."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops
from course_lib.devices.reference.dropout import philox

BLOCK = 64
JUST = "a word that is just the threshold"


def cases(random):
    for label, n, site, probability in (("four numbers", 4, 0, 0.5), ("one number", 1, 3, 0.0), ("six numbers", 6, 2, 0.25),
                                        ("nothing is dropped", 9, 1, 0.0), ("several blocks", 700, 5, 0.4)):  # fmt: skip
        words = random.integers(1, 2**32, size=3, dtype=np.uint32)  # seed low, seed high, step
        scale = 3.0 if label == "six numbers" else 1 / (1 - probability)
        yield Case(label, (0.5 + np.arange(n)).astype(np.float32), words, probability, site, scale)
    words = random.integers(1, 2**32, size=3, dtype=np.uint32)
    drawn = philox((0, 0, words[2], 7), words[:2])  # of the first four numbers
    for part, word in zip("xyzw", drawn, strict=True):
        yield Case(f"{JUST}, {part}", np.ones(4, np.float32), words, int(word) / 2**32, 7, 2.0)
    yield Case("everything is dropped", np.ones(5, np.float32), words, 1.0, 7, 1.0)  # no word is 2^32


def launch(kernel, x, random, probability, site, scale):
    n, y, random = len(x), cuda.empty(x.shape), cuda.asarray(random)
    threshold = int(np.ceil(probability * 2**32))
    kernel((n + 4 * BLOCK - 1) // (4 * BLOCK), BLOCK, (cuda.asarray(x), random, y, threshold, scale, site, n))
    return y


def dropped(x, random, probability, site, scale):
    if probability == 1:
        return np.zeros(len(x))
    return ops("reference").dropout_forward(x.astype(np.float64), probability, random, site) * (1 - probability) * scale


def other_words(seed=None, step=None, site=None):
    """Dropout with words of another counter or key."""

    def wrong(x, random, probability, own_site, scale):
        words = random.copy()
        if seed:
            words[:2] = words[1::-1]
        if step is not None:
            words[2] = step
        return dropped(x, words, probability, own_site if site is None else site, scale)

    return wrong


def at(x, random, probability, site, scale, place):
    """Dropout in which element i takes the word of element place(i)."""
    i = np.arange(len(x))
    return dropped(np.ones(place(i).max() + 1), random, probability, site, scale)[place(i)] * x


def one_word(x, random, probability, site, scale):
    """As if the first word of each four were all of them."""
    kept = dropped(np.ones(len(x)), random, probability, site, scale)[::4]
    return np.repeat(kept, 4)[: len(x)] * x


exercise = Exercise(
    title="Dropout",
    minutes=15,
    core=False,
    language="cuda",
    defines="dropout",
    target="kernel:dropout.cu",
    cases=cases,
    reference=dropped,
    call=launch,
    hints=(
        "uint4 words = philox(make_uint4(...), make_uint2(...)); the counter's first word is the number of the thread.",
        "Number of the thread: i = blockIdx.x * blockDim.x + threadIdx.x. Its numbers are 4 * i to 4 * i + 3, as far as they "
        "are below n.",
        "make_uint4(i, 0, random[2], site), make_uint2(random[0], random[1]); then four times, if 4 * i + 1 < n and so on: "
        "y[4 * i + 1] = words.y >= threshold ? x[4 * i + 1] * scale : 0.0f;",
    ),
    example='''// Random numbers between 0 and 1, four for each thread.
#include "philox.cuh"

__global__ void uniform(const unsigned* seed, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 words = philox(make_uint4(i, 0, 0, 0), make_uint2(seed[0], seed[1]));
    unsigned own[4] = {words.x, words.y, words.z, words.w};
    for (int j = 0; j < 4 && 4 * i + j < n; j++) y[4 * i + j] = own[j] / 4294967296.0f;
}
''',
    wrong=[
        Wrong(Changed(("four.x * scale", "four.x"), ("four.y * scale", "four.y"), ("four.z * scale", "four.z"),
                      ("four.w * scale", "four.w")), "The numbers that are kept are not multiplied by `scale`.",
              like=lambda x, *rest: np.where(dropped(x, *rest) != 0, x, 0)),
        Wrong(Changed(("words.x >=", "words.x <"), ("words.y >=", "words.y <"), ("words.z >=", "words.z <"),
                      ("words.w >=", "words.w <")),
              "Kept and dropped are swapped: a number is kept if its word is at least `threshold`.",
              like=lambda x, *rest: np.where(dropped(x, *rest) == 0, x * rest[-1], 0)),
        Wrong(Changed(("make_uint2(random[0], random[1])", "make_uint2(random[1], random[0])")),
              "The two words of the key are swapped: seed low, random[0], comes first.", like=other_words(seed=True)),
        Wrong(Changed(("0, random[2], site", "0, 0, site")), "The step is missing in the counter: its third word is random[2].",
              like=other_words(step=0)),
        Wrong(Changed(("random[2], site", "random[2], 0")), "The site is missing in the counter: it is its fourth word.",
              like=other_words(site=0)),
        Wrong(Changed(("words.y >=", "words.x >="), ("words.z >=", "words.x >="), ("words.w >=", "words.x >=")),
              "All four numbers of a thread got the same word. There are four: words.x, words.y, words.z and words.w.",
              like=one_word),
        Wrong(Changed(("words.x >=", "words.x >"), ("words.y >=", "words.y >"), ("words.z >=", "words.z >"),
                      ("words.w >=", "words.w >")),
              "A number whose word *is* the threshold is kept as well: at least `threshold`, not more.",
              when=lambda seen: seen.label.startswith(JUST) and not seen.issues),
        Wrong(Changed(("make_uint4(i / 4,", "make_uint4(i,")),
              "The first word of the counter is the number of the thread, not that of its first element.",
              like=lambda *inputs: at(*inputs, lambda i: 16 * (i // 4) + i % 4)),
        Wrong("""#include "philox.cuh"

extern "C" __global__ void dropout(const float* x, const unsigned* random, float* y, unsigned long long threshold, float scale,
                                   unsigned site, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 words = philox(make_uint4(i, 0, random[2], site), make_uint2(random[0], random[1]));
        y[i] = words.x >= threshold ? x[i] * scale : 0.0f;
    }
}
""", "Each thread takes one number here, and one word of four. It owns four neighbours: one call gives words for all.",
              like=lambda *inputs: at(*inputs, lambda i: 4 * i)),
        Wrong("""#include "philox.cuh"

extern "C" __global__ void dropout(const float* x, const unsigned* random, float* y, unsigned long long threshold, float scale,
                                   unsigned site, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= n) return;
    uint4 words = philox(make_uint4(i, 0, random[2], site), make_uint2(random[0], random[1]));
    y[4 * i] = words.x >= threshold ? scale * x[4 * i] : 0.0f;
    y[4 * i + 1] = words.y >= threshold ? scale * x[4 * i + 1] : 0.0f;
    y[4 * i + 2] = words.z >= threshold ? scale * x[4 * i + 2] : 0.0f;
    y[4 * i + 3] = words.w >= threshold ? scale * x[4 * i + 3] : 0.0f;
}
""", "The last thread may own fewer than four numbers: it must not reach beyond number n - 1.",
              when=lambda seen: "out-of-bounds" in seen.kinds and len(seen.inputs[0]) % 4 > 0),
    ],
)  # fmt: skip
