"""A whole model in one launch: which array does a block own, and is there a copy in bfloat16?"""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import of_bfloat16_bits, rounded
from course_lib.cuda.memory import address

NAMES = "beta1", "beta2", "eps", "max_norm", "rate", "correction1", "correction2"
USUAL = dict(zip(NAMES, (0.9, 0.95, 1e-8, 1.0, 0.05, 0.5, 0.25), strict=True))
OTHER = dict(zip(NAMES, (0.8, 0.99, 0.1, 2e-6, 0.02, 0.6, 0.4), strict=True))
EACH, THREADS, MOST = 16, 32, 72


def cases(random):
    def lists(*sizes):
        made = [[random.normal(size=n).astype(np.float32) for _ in range(3)] for n in sizes]
        return [
            (p, g, m, random.uniform(0.1, 1, size=n).astype(np.float32))
            for n, (p, g, m) in zip(sizes, made, strict=True)
        ]

    yield Case("one array of three", lists(3), (0.1,), None, False, USUAL)
    yield Case("three small arrays", lists(5, 1, 7), (0.1, 0.0, 0.1), None, False, USUAL)
    yield Case("seven arrays", lists(*range(1, 8)), (0.1,) * 7, None, False, USUAL)
    yield Case("an array of several blocks", lists(3, 1300, 2), (0.1, 0.1, 0.0), None, False, USUAL)
    yield Case("gradients that are too long", lists(40, 600), (0.0, 0.1), 4.0, False, USUAL)
    yield Case("gradients that are short enough", lists(9, 2), (0.0, 0.1), 0.5, False, USUAL)
    yield Case("copies in 16 bits", lists(5, 513), (0.1, 0.1), None, True, USUAL)
    nothing, tiny = np.zeros(3, np.float32), np.array([0, 1e-7, -3e-8], np.float32)
    yield Case(
        "gradients that are almost 0", [(np.ones(3, np.float32), tiny, nothing, nothing)], (0.1,), None, False, USUAL
    )
    yield Case("other settings, and a very short gradient", lists(3, 2), (0.0, 0.2), 2e-6, False, OTHER)


def stepped(lists, decays, norm, copies, settings, clip=True, decayed=True, inside=False, most=1.0):
    beta1, beta2, eps, max_norm, rate, correction1, correction2 = settings.values()
    found = []
    for (p, g, m, v), decay in zip(lists, decays, strict=True):
        p, g, m, v = (a.astype(np.float64) for a in (p, g, m, v))
        if norm is not None and clip:
            g = g * min(most, max_norm / (norm + 1e-6))
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        below = np.sqrt(v / correction2 + eps) if inside else np.sqrt(v / correction2) + eps
        p = p * (1 - rate * (decay if decayed else 0)) - rate * (m / correction1) / below
        found += [a.astype(np.float32) for a in (p, m, v)]
        if copies:
            found.append(rounded(found[-3]))
    return tuple(found)


def launch(kernel, lists, decays, norm, copies, settings):
    from course_lib.devices.gpu.optimiser import ARRAYS

    beta1, beta2, eps, max_norm, *in_memory = settings.values()
    arrays, end, there, halves = np.zeros((), ARRAYS), 0, [], []
    for k, own in enumerate(lists):
        there.append([cuda.asarray(a.copy()) for a in own])
        halves.append(cuda.zeros(len(own[0]), np.uint16))
        for name, array in zip(("parameter", "gradient", "first", "second"), there[-1], strict=True):
            arrays[name][k] = address(array)
        arrays["copy"][k] = address(halves[-1]) if copies else 0
        end += -(-len(own[0]) // (THREADS * EACH))
        arrays["size"][k], arrays["end"][k], arrays["decay"][k] = len(own[0]), end, decays[k]
    arrays["count"] = len(lists)
    settings, length = cuda.asarray(np.array(in_memory, np.float32)), None
    if norm is not None:
        length = cuda.asarray(np.array([norm], np.float32))
    kernel(end, THREADS, (arrays[()], settings, length, beta1, 1 - beta1, beta2, 1 - beta2, eps, max_norm))
    found = []
    for (p, _, m, v), half in zip(there, halves, strict=True):
        found += [p, m, v]
        if copies:
            found.append(of_bfloat16_bits(half))
    return tuple(found)


exercise = Exercise(
    title="AdamW for a whole model",
    minutes=20,
    language="cuda",
    defines="adamw_step",
    target="kernel:adamw.cu",
    cases=cases,
    reference=stepped,
    call=launch,
    tolerance=1e-4,
    hints=(
        "First find k: the first array with blockIdx.x < arrays.end[k]. A loop over the list is enough.",
        "The block's number within its array is blockIdx.x minus arrays.end[k - 1] (0 for the first array). It owns EACH * "
        "blockDim.x numbers; thread t the numbers (block * EACH + j) * blockDim.x + t.",
        "for (int j = 0; j < EACH; j++) { int i = (block * EACH + j) * blockDim.x + threadIdx.x; if (i >= arrays.size[k]) "
        "return; ... } and inside the formula of exercise 1, with beta1, rest1, beta2, rest2, eps and arrays.decay[k] in place "
        "of its numbers, and gi = arrays.gradient[k][i] * clip, with clip = norm ? fminf(1.0f, max_norm / (norm[0] + "
        "1e-6f)) : 1.0f; then if (arrays.copy[k]) arrays.copy[k][i] = __float2bfloat16(pi);",
    ),
    example='''// All arrays of a list multiplied by one number, in one launch.
extern "C" __global__ void scale_all(const __grid_constant__ Arrays arrays, const float* factor) {
    int k = 0;
    while (blockIdx.x >= arrays.end[k]) k++;
    int block = blockIdx.x - (k > 0 ? arrays.end[k - 1] : 0);
    for (int j = 0; j < EACH; j++) {
        int i = (block * EACH + j) * blockDim.x + threadIdx.x;
        if (i < arrays.size[k]) arrays.parameter[k][i] *= factor[0];
    }
}
''',
    wrong=[
        Wrong(Changed(("norm ? fminf(1.0f, max_norm / (norm[0] + 1e-6f)) : 1.0f", "fminf(1.0f, max_norm / (norm[0] + 1e-6f))")),
              "norm may be null: then nothing is clipped, and norm[0] must not be read.",
              when=lambda seen: "null-pointer" in seen.kinds and any("norm" in issue.source for issue in seen.issues)),
        Wrong(Changed(("        if (copy) copy[i]", "        copy[i]")), "copy may be null: then there is no copy to write.",
              when=lambda seen: "null-pointer" in seen.kinds and any("copy" in issue.source for issue in seen.issues)),
        Wrong(Changed(("fminf(1.0f, max_norm / (norm[0] + 1e-6f))", "max_norm / (norm[0] + 1e-6f)")),
              "Gradients that are short enough become longer here: the factor is at most 1, min(1, max_norm / (norm[0] + 1e-6)).",
              like=lambda *inputs: stepped(*inputs, most=np.inf)),
        Wrong(Changed(("g[i] * clip", "g[i]")),
              "The gradients are not clipped: multiply them by min(1, max_norm / (norm[0] + 1e-6)).",
              like=lambda *inputs: stepped(*inputs, clip=False)),
        Wrong(Changed(("1.0f - rate * arrays.decay[low]", "1.0f")),
              "The weight decay is missing: p is multiplied by 1 - rate * decay of its array.",
              like=lambda *inputs: stepped(*inputs, decayed=False)),
        Wrong(Changed(("sqrtf(vi / correction2) + eps", "sqrtf(vi / correction2 + eps)")),
              "eps is added after the root: inside it, 1e-8 acts as 1e-4, and small gradients hardly matter.",
              like=lambda *inputs: stepped(*inputs, inside=True)),
        Wrong(Changed(("(sqrtf(vi / correction2) + eps)", "sqrtf(vi / correction2)")),
              "Where a gradient was always 0, 0 is divided by 0. Add eps to the root, so that the denominator is never 0.",
              when=lambda seen: seen.label == "gradients that are almost 0" and np.isnan(seen.got[0][0]),
              once="the only gradient that was always 0, and no number"),
        Wrong(Changed(("blockIdx.x - (low ? arrays.end[low - 1] : 0)", "blockIdx.x")),
              "The second array is as it was. Block number arrays.end[k] is the first one of array k + 1. And blockIdx.x counts "
              "the blocks of all arrays: within its own, a block is number blockIdx.x minus the end of the previous array.",
              when=lambda seen: seen.label == "three small arrays" and isinstance(seen.got, tuple) and not seen.issues
                  and np.array_equal(seen.got[3], seen.inputs[0][1][0]),
              once="the first array is stepped, and the second is as it was"),
    ],
)  # fmt: skip
