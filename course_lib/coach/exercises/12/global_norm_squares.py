"""The squares of all gradients of a model, summed in an order that never changes."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.cuda.memory import address

EACH, MOST, THREADS = 8192, 240, 64
# struct Gradients of global_norm.cu.
GRADIENTS = np.dtype(
    [("array", np.uint64, MOST), ("size", np.int32, MOST), ("end", np.int32, MOST), ("count", np.int32)], align=True
)


def cases(random):
    def arrays(*sizes):
        return [random.normal(size=n).astype(np.float32) for n in sizes]

    yield Case("one array of three", arrays(3), 0)
    yield Case("three small arrays", arrays(5, 1, 66), 0)
    yield Case("seven arrays", arrays(*range(1, 8)), 0)
    yield Case("an array of several blocks", arrays(7, 2 * EACH + 5, 9), 0)
    yield Case("an offset into partial", arrays(2, 4), 3)


def sums(gradients, first, whole=False):
    """The sums of each block. whole: each up to the end of its array."""
    found = [np.nan] * first
    for g in gradients:
        found += [(g[at : None if whole else at + EACH].astype(np.float64) ** 2).sum() for at in range(0, len(g), EACH)]
    return np.array(found, np.float32)


def launch(kernel, gradients, first):
    packed, end = np.zeros((), GRADIENTS), 0
    there = [cuda.asarray(g) for g in gradients]
    for k, g in enumerate(there):
        end += -(-len(g) // EACH)
        packed["array"][k], packed["size"][k], packed["end"][k] = address(g), len(g), end
    packed["count"] = len(there)
    partial = cuda.empty(first + end)
    kernel(end, THREADS, (packed[()], partial, first))
    return partial


exercise = Exercise(
    title="The squares of all gradients",
    minutes=15,
    core=False,
    language="cuda",
    defines="global_norm_squares",
    instances=(f"{THREADS}",),
    target="kernel:global_norm.cu",
    cases=cases,
    reference=sums,
    call=launch,
    tolerance=1e-4,
    hints=(
        "As in exercise 2: find the array, then this block's number in it. It begins at number * EACH, and has min(EACH, size - "
        "begin) numbers.",
        "Each thread adds up squares THREADS apart; block_sum<THREADS> adds up the sums of the threads; thread 0 writes.",
        "With own = gradients.array[k] + begin and that many numbers, length: for (int i = threadIdx.x; i < length; i += "
        "THREADS) sum += own[i] * own[i]; sum = block_sum<THREADS>(sum); "
        "if (threadIdx.x == 0) partial[first + blockIdx.x] = sum;",
    ),
    example='''// The largest absolute gradient among the numbers of each block.
template <int THREADS> __global__ void largest_of_all(const __grid_constant__ Gradients gradients, float* partial) {
    int k = 0;
    while (blockIdx.x >= gradients.end[k]) k++;
    int begin = (blockIdx.x - (k > 0 ? gradients.end[k - 1] : 0)) * EACH;
    int end = min(begin + EACH, gradients.size[k]);
    float most = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += THREADS) most = fmaxf(most, fabsf(gradients.array[k][i]));
    most = block_max<THREADS>(most);
    if (threadIdx.x == 0) partial[blockIdx.x] = most;
}
''',
    wrong=[
        Wrong(Changed(("min(EACH, gradients.size[low] - begin)", "gradients.size[low] - begin")),
              "The first block of an array has summed the whole array. A block owns EACH numbers, the last one what is left.",
              like=lambda gradients, first: sums(gradients, first, whole=True)),
        Wrong(Changed(("partial[first + blockIdx.x]", "partial[blockIdx.x]")),
              "Write the sum to partial[first + blockIdx.x]: a model of many arrays needs several launches, each with its own "
              "part of `partial`.",
              when=lambda seen: seen.label == "an offset into partial" and np.isnan(seen.got[2:]).all(),
              once="which numbers were written, and which were not"),
        Wrong(Changed(("min(EACH, gradients.size[low] - begin)", "EACH")),
              "The last block of an array has fewer than EACH numbers: its length is the smaller of EACH and what is left.",
              when=lambda seen: "out-of-bounds" in seen.kinds and "gradients.size" not in seen.text),
    ],
)  # fmt: skip
