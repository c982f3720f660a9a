"""Open challenge: all three gradients of attention in one launch, with as few bytes moved as possible."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

D, GRID, BLOCK, SHARED = 16, 2, 32, 32_768
ROUNDS = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < T; i += gridDim.x * blockDim.x) {"


def cases(random):
    for label, T in {
        "two tokens": 2,
        "one token": 1,
        "one block": 32,
        "more tokens than threads": 77,
        "96 tokens": 96,
        "200 tokens": 200,
    }.items():
        q, k, v, dy = (random.normal(size=(T, D)).astype(np.float32) for _ in range(4))
        P, y = forward(q, k, v)
        logsumexp = (scores(q, k) - np.log(P))[:, 0]
        yield Case(label, q, k, v, dy, logsumexp.astype(np.float32), (dy * y).sum(axis=1).astype(np.float32))


def scores(q, k):
    return q.astype(np.float64) @ k.T / math.sqrt(D)


def forward(q, k, v):
    e = np.exp(scores(q, k))
    P = e / e.sum(axis=1, keepdims=True)
    return P, P @ v


def variant(rows=None, swapped=False, shift=True):
    def gradients(q, k, v, dy, logsumexp, delta):
        P = np.exp(scores(q, k) - logsumexp[:, None])
        dS = P * (dy.astype(np.float64) @ v.T - shift * delta[:, None]) / math.sqrt(D)
        found = [x.astype(np.float32) for x in (dS @ k, dS.T @ q, P.T @ dy)]
        for x in found:
            x[rows or len(x) :] = np.nan
        return (found[0], found[2], found[1]) if swapped else tuple(found)

    return gradients


def launch(kernel, q, *others):
    T, results = len(q), [cuda.empty(q.shape) for _ in range(3)]  # (T, D) each
    kernel(GRID, BLOCK, (*map(cuda.asarray, (q, *others)), *results, T), SHARED)
    return tuple(results)


exercise = Exercise(
    title="Challenge: all gradients with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="attention_backward_few_bytes",
    cases=cases,
    reference=variant(),
    call=launch,
    results=("dq", "dk", "dv"),
    tolerance=2e-5,
    measured="96 tokens",
    flops=10 * 96 * 96 * D,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Read the lines of the report that move most. All lanes request the same number of k: how many bytes of its sector are "
        "used?",
        "Tiles in `shared`, loaded by the whole block, serve 32 owners at once. A thread's own rows can be loaded through "
        "`shared` too, so that neighbouring lanes read neighbouring numbers.",
        "32,768 bytes hold 512 rows of 16: q, k, v and dy of 96 tokens are 384. Once they are there, each block needs nothing "
        "more from global memory but logsumexp and delta. More than 128 tokens come in tiles.",
    ),
    example='''// y = A B for square matrices of 32 x 32, by one block of 32 threads: both are loaded once, row by row.
__global__ void product(const float* A, const float* B, float* y) {
    __shared__ float a[32 * 33], b[32 * 32];
    int lane = threadIdx.x;
    for (int i = lane; i < 1024; i += 32) a[i / 32 * 33 + lane] = A[i], b[i] = B[i];
    __syncthreads();
    for (int row = 0; row < 32; row++) {
        float sum = 0.0f;
        for (int k = 0; k < 32; k++) sum += a[row * 33 + k] * b[k * 32 + lane];
        y[row * 32 + lane] = sum;
    }
}
''',
    wrong=[
        Wrong(Changed((ROUNDS, "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < T; i += T) "
                               "{")),
              "Each thread computed the gradients of one token, and then stopped. There are only 64 threads in all, so each "
              "must loop over several tokens.",
              like=variant(rows=GRID * BLOCK)),
        Wrong(Changed(("dk[i * D + d] = sum_k[d], dv[i * D + d] = sum_v[d]", "dk[i * D + d] = sum_v[d], dv[i * D + d] = "
                                                                             "sum_k[d]")),
              "dk and dv are exchanged: dv sums weights times dy, dk gradients times q.", like=variant(swapped=True)),
        Wrong(Changed(("            for (int d = 0; d < D; d++) sum_q[d] += ds * k[s * D + d];\n",
                       "            for (int d = 0; d < D; d++) sum_q[d] += ds * k[s * D + d], dk[s * D + d] += ds * q[i * D + "
                       "d];\n"),
                      (", dk[i * D + d] = sum_k[d]", "")),
              "A race: two threads access the same number, perhaps from two blocks. Which number has two owners, or which "
              "barrier is missing?", when=lambda seen: "race" in seen.kinds),
        Wrong(Changed((ROUNDS, ROUNDS + "\n        shared[threadIdx.x] = 0.0f;\n"
                                        "        __syncthreads();")),
              "Some threads never reach a barrier at which the others wait.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
    ],
)  # fmt: skip
