"""Find the fault: a tile is overwritten while other threads still read it."""

import math

import numpy as np

from course_lib import cuda, lexer
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extreme_attention

D, BLOCK = 8, 64


def cases(random):
    shapes = {"three queries, two tiles": (3, 20), "one query, one key": (1, 1), "one whole tile": (32, 16),
              "two blocks": (77, 50), "more queries than keys": (130, 5)}  # fmt: skip
    for label, (T, S) in shapes.items():
        yield Case(label, *(random.normal(size=(n, D)).astype(np.float32) for n in (T, S, S)))
    for label, arrays in extreme_attention(random, 3, 40, D):
        yield Case(label, *arrays)


def attend(q, k, v):
    scores = q.astype(np.float64) @ k.T / math.sqrt(D)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True) @ v).astype(np.float32)


def launch(kernel, q, k, v):
    y = cuda.empty(q.shape)  # (T, D)
    arrays = [cuda.asarray(array) for array in (q, k, v)]
    kernel(-(-len(q) // BLOCK), BLOCK, (*arrays, y, len(q), len(k)))
    return y


def barriers(seen):
    """Where in the loop over tiles stands a barrier: before the tile is written, after it?"""
    text = lexer.read(seen.text).code
    loop = text[text.index("for (int start") :].split("for (int s = 0; s < keys")[0]
    before, _, after = loop.partition("k_tile[")
    return "__syncthreads" in before, "__syncthreads" in after


exercise = Exercise(
    title="Find the fault: a tile too soon",
    minutes=10,
    core=False,
    language="cuda",
    defines="tiled_attention",
    cases=cases,
    reference=attend,
    call=launch,
    hints=(
        "Run the cell: the report names the line that reads and the line that writes. In which iteration of the loop is each?",
        "There is a barrier between loading a tile and reading it. What stands between reading it and loading the next?",
        "One more __syncthreads(); as the first statement of the loop's body, before anything is loaded.",
    ),
    example='''// Sums of the 32 rows of x (32, n): each thread owns one, and 32 columns lie in shared memory; 32 divides n.
__global__ void row_sums(const float* x, float* y, int n) {
    __shared__ float tile[32][33];
    float sum = 0.0f;
    for (int start = 0; start < n; start += 32) {
        __syncthreads();  // no thread reads the previous tile any more
        for (int row = 0; row < 32; row++) tile[row][threadIdx.x] = x[row * n + start + threadIdx.x];
        __syncthreads();  // the tile is complete
        for (int c = 0; c < 32; c++) sum += tile[threadIdx.x][c];
    }
    y[threadIdx.x] = sum;
}
''',
    wrong=[
        Wrong(Changed(("        __syncthreads();\n        for (int i", "        for (int i"),
                      ("            v_tile[i / D][i % D] = v[start * D + i];\n        }\n        __syncthreads();\n",
                       "            v_tile[i / D][i % D] = v[start * D + i];\n        }\n        __syncthreads();\n"
                       "        __syncthreads();\n")),
              "A race: a thread that is done with a tile already loads the next one, while others still read this one.",
              when=lambda seen: "race" in seen.kinds and barriers(seen) == (False, True)),
        Wrong(Changed(("            v_tile[i / D][i % D] = v[start * D + i];\n        }\n        __syncthreads();\n",
                       "            v_tile[i / D][i % D] = v[start * D + i];\n        }\n")),
              "A race: a thread reads the tile before the others have loaded their part. They must wait for each other after "
              "loading, too.",
              when=lambda seen: barriers(seen) == (True, False)
                  and any(i.kind == "race" or (i.kind == "uninitialised-read" and "__shared__" in i.message)
                  for i in seen.issues)),
        Wrong(Changed(("        int keys = min(TILE, S - start);\n        __syncthreads();\n",
                       "        int keys = min(TILE, S - start);\n        if (t < T) __syncthreads();\n"),
                      ("        }\n        __syncthreads();\n        for (int s", "        }\n"
                                                                                  "        if (t < T) __syncthreads();\n"
                                                                                  "        for (int s")),
              "Some threads never reach a barrier at which the others wait. Every thread of the block must reach it, whether "
              "it loads something or not.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
        Wrong(Changed(("            k_tile[i / D][i % D] = k[start * D + i];\n"
                       "            v_tile[i / D][i % D] = v[start * D + i];\n"
                       "        }\n        __syncthreads();\n",
                       "            k_tile[i / D][i % D] = k[start * D + i];\n        }\n        __syncthreads();\n"
                       "        for (int i = threadIdx.x; i < keys * D; i += blockDim.x) v_tile[i / D][i % D] = v[start * D + "
                       "i];\n")),
              "Both barriers are there, and yet two threads race. One barrier must stand before the first number of the tile "
              "is written, and one after the last.",
              when=lambda seen: "race" in seen.kinds and barriers(seen) == (True, True)),
    ],
)  # fmt: skip
