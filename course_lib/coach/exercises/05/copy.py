"""A plain copy: what every other memory-bound kernel is measured against."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import LAST_MISSING, WHOLE_PACK, whole_numbers, whole_pack

BLOCK = 64
TYPES = {"unsigned int, 4": np.uint32, "unsigned int, 1": np.uint32, "unsigned short, 8": np.uint16}


def cases(random):
    for label, kind, n in (("one word", "unsigned int, 1", 1), ("one pack", "unsigned int, 4", 4),
                           ("a pack and three more", "unsigned int, 4", 7), ("packs of eight", "unsigned short, 8", 1037),
                           ("words one by one", "unsigned int, 1", 150), ("1024 words", "unsigned int, 4", 1024)):  # fmt: skip
        if label == "1024 words":
            yield Case("words that no float holds", kind, whole_numbers(random, 7, np.uint32))
        yield Case(label, kind, random.integers(1, 60_000, n).astype(TYPES[kind]))


def launch(kernel, kind, x):
    y, N = cuda.empty(len(x), x.dtype), int(kind[-1])
    kernel.instance(kind)((len(x) + BLOCK * N - 1) // (BLOCK * N), BLOCK, (cuda.asarray(x), y, len(x)))
    return y


exercise = Exercise(
    title="The copy that others are measured by",
    minutes=10,
    core=False,
    language="cuda",
    defines="copy",
    instances=tuple(TYPES),
    target="kernel:strided_copy.cu",
    cases=cases,
    reference=lambda kind, x: x,
    call=launch,
    measured="1024 words",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=8)],
    hints=(
        "It is `scale` of the lecture without the factor.",
        "Where i + N <= n, one pack goes from x to y; else what is left goes number by number.",
        "if (i + N <= n) { *(Pack<T, N>*)(y + i) = *(const Pack<T, N>*)(x + i); } else { for (; i < n; i++) y[i] = x[i]; }",
    ),
    example='''// The same backwards: pack k of x becomes pack (packs - 1 - k) of y. N divides n.
#include "vector.cuh"

template <class T, int N> __global__ void packs_backwards(const T* x, T* y, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, packs = n / N;
    if (k < packs) ((Pack<T, N>*)y)[packs - 1 - k] = ((const Pack<T, N>*)x)[k];
}
''',
    wrong=[
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")), WHOLE_PACK,
              when=lambda seen: "Pack" in seen.text
                  and whole_pack(seen, len(seen.inputs[1]), int(seen.inputs[0][-1]), BLOCK)),
        Wrong(Changed(("for (; i < n; i++) y[i] = x[i];", "return;")), LAST_MISSING,
              when=lambda seen: not seen.issues and len(seen.inputs[1]) % int(seen.inputs[0][-1])
                  and np.array_equal(seen.got[: len(seen.got) // int(seen.inputs[0][-1]) * int(seen.inputs[0][-1])],
                  seen.expected[: len(seen.got) // int(seen.inputs[0][-1]) * int(seen.inputs[0][-1])])),
        Wrong(Changed(("long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x)",
                       "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x")),
              "A pack must begin at a multiple of its own size: thread i owns the N numbers from number N * i on.",
              when=lambda seen: "misaligned-access" in seen.kinds),
        Wrong(Changed(("*(Pack<T, N>*)(y + i) = *(const Pack<T, N>*)(x + i);", "for (int j = 0; j < N; j++) y[i + j] = x[i + "
                                                                               "j];")), generic="the goal is not reached"),
    ],
)  # fmt: skip
