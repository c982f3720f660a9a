"""Open challenge: attention of one head with as few bytes moved as possible."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import extreme_attention

D, GRID, BLOCK, SHARED = 16, 2, 32, 32_768
ROUNDS = "for (int first = blockIdx.x * blockDim.x; first < T; first += gridDim.x * blockDim.x) {"


def cases(random):
    shapes = {"two queries, three keys": (2, 3), "one of each": (1, 1), "one query": (1, 70), "one key": (70, 1),
              "more than two blocks, ragged": (131, 45), "96 and 96": (96, 96), "520 queries": (520, 2),
              "520 keys": (2, 520)}  # fmt: skip
    for label, (T, S) in shapes.items():
        yield Case(label, *(random.normal(size=(n, D)).astype(np.float32) for n in (T, S, S)))
    for label, arrays in extreme_attention(random, 3, 40, D):
        yield Case(label, *arrays)


def attend(q, k, v, divided=True):
    scores = q.astype(np.float64) @ k.T / math.sqrt(D)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return ((e / e.sum(axis=1, keepdims=True) if divided else e) @ v).astype(np.float32)


def one_each(q, k, v):
    y = np.full_like(q, np.nan)
    y[: GRID * BLOCK] = attend(q[: GRID * BLOCK], k, v)
    return y


def launch(kernel, q, k, v):
    y = cuda.empty(q.shape)  # (T, D)
    kernel(GRID, BLOCK, (*map(cuda.asarray, (q, k, v)), y, len(q), len(k)), SHARED)
    return y


def not_scaled(q, k, v):
    return attend(q * np.float32(4), k, v)


exercise = Exercise(
    title="Challenge: attention with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="attention_few_bytes",
    cases=cases,
    reference=attend,
    call=launch,
    measured="96 and 96",
    flops=4 * 96 * 96 * D,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Read the lines of the report that move most. Which arrays are read more than once? Which requests load sectors of "
        "which they use only an eighth?",
        "A row of q has 64 bytes. If each of 32 lanes reads its own row, number by number, every request touches 32 sectors. "
        "Let the block load the rows into `shared` together, as it does with k.",
        "32,768 bytes hold 512 rows. And a thread may own two queries, or three: then each tile that is loaded serves two or "
        "three times as many queries.",
    ),
    example='''// The dot product of each row of a (T, 16) and each row of b (S, 16): y (T, S). Tiles of both lie
// in shared memory. A block of 32 threads owns 32 rows of a, and loops over b. All threads load rows together, and
// neighbouring lanes write neighbouring numbers of y.
__global__ void all_products(const float* a, const float* b, float* y, int T, int S) {
    __shared__ float a_tile[32 * 17], b_tile[32 * 17];
    int first = blockIdx.x * 32, lane = threadIdx.x;
    for (int i = lane; i < 512; i += 32) a_tile[i / 16 * 17 + i % 16] = first * 16 + i < T * 16 ? a[first * 16 + i] : 0.0f;
    for (int start = 0; start < S; start += 32) {
        __syncthreads();
        for (int i = lane; i < 512; i += 32) b_tile[i / 16 * 17 + i % 16] = start * 16 + i < S * 16 ? b[start * 16 + i] : 0.0f;
        __syncthreads();
        for (int row = 0; row < min(32, T - first); row++) {
            float sum = 0.0f;
            for (int d = 0; d < 16; d++) sum += a_tile[row * 17 + d] * b_tile[lane * 17 + d];
            if (start + lane < S) y[(first + row) * S + start + lane] = sum;
        }
    }
}
''',
    wrong=[
        Wrong(Changed((ROUNDS, "for (int first = blockIdx.x * blockDim.x; first < T; first += T) {")),
              "Each thread computed one query, and then stopped. There are only 64 threads in all, so each must loop over "
              "several queries.", like=one_each),
        Wrong(Changed(("out[d] / l", "out[d]")), "The rows of y are not divided by the sum of the weights.",
              like=lambda q, k, v: attend(q, k, v, divided=False)),
        Wrong(Changed((" / sqrtf(D)", "")), "The scores are not divided by the square root of D, which is 4.", like=not_scaled),
        Wrong(Changed(("            __syncthreads();\n            for (int i", "            for (int i")),
              "A race on `shared`: threads overwrite what others still read, or read what is not yet written. Which barrier is "
              "missing?",
              when=lambda seen: any(issue.kind == "race" and "__shared__" in issue.message for issue in seen.issues)),
        Wrong(Changed((ROUNDS, "for (int first = blockIdx.x * blockDim.x; first + threadIdx.x < T; first += gridDim.x * "
                               "blockDim.x) {")),
              "Some threads never reach a barrier at which the others wait.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
    ],
)  # fmt: skip
