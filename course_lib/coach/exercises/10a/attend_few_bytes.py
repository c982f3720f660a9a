"""Open challenge: attention of one head with as few bytes moved as possible."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.kernels import bytes_moved

D, GRID, BLOCK, SHARED = 16, 2, 32, 32_768
ROUNDS = "for (int first = blockIdx.x * blockDim.x; first < T; first += gridDim.x * blockDim.x) {"


def cases(random):
    shapes = {"two queries, three keys": (2, 3), "one of each": (1, 1), "one query": (1, 70), "one key": (70, 1),
              "more than two blocks, ragged": (131, 45), "96 and 96": (96, 96)}  # fmt: skip
    for label, (T, S) in shapes.items():
        yield Case(label, *(random.normal(size=(n, D)).astype(np.float32) for n in (T, S, S)))


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
    defines="attend_few_bytes",
    cases=cases,
    reference=attend,
    call=launch,
    measured="96 and 96",
    flops=4 * 96 * 96 * D,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    mistakes=[
        Mistake("Each thread took one query, and then stopped. There are 64 threads in all, so each must go on.", like=one_each),
        Mistake("The rows of y are not divided by the sum of the weights.", like=lambda q, k, v: attend(q, k, v, divided=False)),
        Mistake("The scores are not divided by the square root of D, which is 4.", like=not_scaled),
        Mistake("A race on `shared`: threads overwrite what others still read, or read what is not yet there. Which barrier is "
                "missing?",
                when=lambda seen: any(issue.kind == "race" and "__shared__" in issue.message for issue in seen.issues)),
        Mistake("Some threads never come to a barrier where the others wait.",
                when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
    ],
    hints=(
        "Read the lines of the report that move most. Which arrays pass more than once? Which requests fetch sectors of which "
        "they use "
        "an eighth?",
        "A row of q has 64 bytes. If 32 lanes read 32 rows at once, number by number, every request touches 32 sectors. Let the "
        "block bring rows into `shared` together, as it does with k.",
        "32,768 bytes hold 512 rows. And a thread may own two queries, or three: then a tile serves twice as many before it "
        "goes.",
    ),
    sibling='''// The product of each pair of rows of a (T, 16) and b (S, 16): y (T, S). Tiles of both lie in shared
// memory; a block of 32 owns 32 rows of a, and b passes. All threads fetch rows together, and y is written along its rows.
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
    right=[
        """const int D = 16;

// Without shared memory: each thread walks along all keys by itself.
__global__ void attend_few_bytes(const float* q, const float* k, const float* v, float* y, int T, int S) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < T; t += gridDim.x * blockDim.x) {
        float out[D] = {}, top = -INFINITY, total = 0.0f;
        for (int s = 0; s < S; s++) {
            float score = 0.0f;
            for (int d = 0; d < D; d++) score += q[t * D + d] * k[s * D + d];
            score *= 0.25f;
            float higher = fmaxf(top, score), shrink = expf(top - higher), weight = expf(score - higher);
            for (int d = 0; d < D; d++) out[d] = out[d] * shrink + weight * v[s * D + d];
            total = total * shrink + weight;
            top = higher;
        }
        for (int d = 0; d < D; d++) y[t * D + d] = out[d] / total;
    }
}
""",
        """const int D = 16, WIDE = D + 1, TILE = 32, OWN = 3;

// A thread owns up to OWN queries, so a tile of keys serves 32 OWN of them; rows of q and y pass through shared memory.
__global__ void attend_few_bytes(const float* q, const float* k, const float* v, float* y, int T, int S) {
    extern __shared__ float shared[];
    float *rows = shared, *k_tile = rows + OWN * 32 * WIDE, *v_tile = k_tile + TILE * D;
    for (int first = blockIdx.x * 32 * OWN; first < T; first += gridDim.x * 32 * OWN) {
        int count = min(32 * OWN, T - first);
        __syncthreads();
        for (int i = threadIdx.x; i < count * D; i += 32) rows[i / D * WIDE + i % D] = q[first * D + i] / sqrtf(D);
        __syncthreads();
        float own[OWN][D], out[OWN][D] = {}, top[OWN], total[OWN] = {};
        for (int r = 0; r < OWN; r++) {
            top[r] = -INFINITY;
            for (int d = 0; d < D; d++) own[r][d] = threadIdx.x + 32 * r < count ? rows[(threadIdx.x + 32 * r) * WIDE + d] : 0.0f;
        }
        for (int start = 0; start < S; start += TILE) {
            int keys = min(TILE, S - start);
            __syncthreads();
            for (int i = threadIdx.x; i < keys * D; i += 32) k_tile[i] = k[start * D + i], v_tile[i] = v[start * D + i];
            __syncthreads();
            for (int s = 0; s < keys; s++)
                for (int r = 0; r < OWN; r++) {
                    float score = 0.0f;
                    for (int d = 0; d < D; d++) score += own[r][d] * k_tile[s * D + d];
                    float higher = fmaxf(top[r], score), shrink = expf(top[r] - higher), weight = expf(score - higher);
                    for (int d = 0; d < D; d++) out[r][d] = out[r][d] * shrink + weight * v_tile[s * D + d];
                    total[r] = total[r] * shrink + weight, top[r] = higher;
                }
        }
        for (int r = 0; r < OWN; r++)
            if (threadIdx.x + 32 * r < count)
                for (int d = 0; d < D; d++) rows[(threadIdx.x + 32 * r) * WIDE + d] = out[r][d] / total[r];
        __syncthreads();
        for (int i = threadIdx.x; i < count * D; i += 32) y[first * D + i] = rows[i / D * WIDE + i % D];
    }
}
""",
    ],
    wrong=[
        Wrong(Changed((ROUNDS, "for (int first = blockIdx.x * blockDim.x; first < T; first += T) {")),
                "There are 64 threads in all"),
        Wrong(Changed(("out[d] / total", "out[d]")), "by the sum of the weights"),
        Wrong(Changed((" / sqrtf(D)", "")), "not divided by the square root"),
        Wrong(Changed(("            __syncthreads();\n            for (int i", "            for (int i")), "A race on `shared`"),
        Wrong(Changed((ROUNDS, "for (int first = blockIdx.x * blockDim.x; first + threadIdx.x < T; first += gridDim.x * "
                               "blockDim.x) {")),
              "never come to a barrier"),
    ],
)  # fmt: skip
