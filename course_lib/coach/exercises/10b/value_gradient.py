"""Find the fault: threads that own queries add to what belongs to a key."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Exercise, Wrong
from course_lib.coach.shared_cases import beyond

D, BLOCK = 8, 32
HEAD = """const int D = 8;

__global__ void value_gradient(const float* P, const float* dy, float* dv, int T, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
"""


def cases(random):
    yield Case(
        "two tokens",
        np.array([[1, 0], [0.25, 0.75]], np.float32),
        np.repeat(np.array([[1.0], [4.0]], np.float32), D, 1),
    )
    shapes = {"one query": (1, 3), "one key": (4, 1), "fewer queries than keys": (3, 40), "more queries than keys": (70, 5),
              "fifty tokens": (50, 50)}  # fmt: skip
    for label, (T, S) in shapes.items():
        P = random.random((T, S))
        yield Case(
            label, (P / P.sum(axis=1, keepdims=True)).astype(np.float32), random.normal(size=(T, D)).astype(np.float32)
        )


def reference(P, dy):
    return (P.astype(np.float64).T @ dy).astype(np.float32), True


def launch(kernel, P, dy):
    """dv, and whether two runs with the threads in different orders gave the same bits."""
    (T, S), runs = P.shape, []
    for seed in (1, 2):
        dv = cuda.zeros((S, D))
        kernel(-(-max(T, S) // BLOCK), BLOCK, (cuda.asarray(P), cuda.asarray(dy), dv, T, S), seed=seed)
        runs.append(np.array(dv))
    return runs[0], bool(np.array_equal(*runs))


def not_transposed(P, dy):
    """The weights by row, where P is square: P times dy."""
    if P.shape[0] != P.shape[1]:
        raise IndexError
    return (P.astype(np.float64) @ dy).astype(np.float32), True


def last_query(P, dy):
    return P[-1][:, None] * dy[-1], True


exercise = Exercise(
    title="Find the fault: who may write?",
    minutes=10,
    core=False,
    language="cuda",
    defines="value_gradient",
    cases=cases,
    reference=reference,
    call=launch,
    results=("dv", "whether two runs agree to the bit"),
    hints=(
        "Run the cell: the report names the line, and two threads that write the same number. To which key does it belong?",
        "dv has a row for each key. If each thread owns a key, no two threads write the same number. What does a thread loop "
        "over then?",
        "if (i < S) { float sum[D] = {}; for t in 0 .. T - 1: sum[d] += P[t * S + i] * dy[t * D + d]; then write row i of dv. }",
    ),
    example='''// How often each of V tokens occurs among n: thread i owns token i, and loops over all positions.
__global__ void count_tokens(const int* tokens, int* count, int n, int V) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= V) return;
    int found = 0;
    for (int t = 0; t < n; t++) found += tokens[t] == i;
    count[i] = found;
}
''',
    wrong=[
        Wrong(HEAD + """    if (i >= T) return;
    for (int s = 0; s < S; s++)
        for (int d = 0; d < D; d++) atomicAdd(&dv[s * D + d], P[i * S + s] * dy[i * D + d]);
}
""",
              "The sums are right, but their last digits depend on which thread came first: atomicAdd fixes no order. Let one "
              "thread own each key, and alone add to it.",
              when=lambda seen: not seen.issues and seen.got[1] is False
                  and np.allclose(seen.got[0], seen.expected[0], atol=1e-4)),
        Wrong(HEAD + """    if (i >= T) return;
    for (int s = 0; s < S; s++) {
        for (int d = 0; d < D; d++) dv[s * D + d] += P[i * S + s] * dy[i * D + d];
        __syncwarp(__activemask());
    }
}
""", "A race: several threads add to the same numbers of dv, in no fixed order.",
              when=lambda seen: any(issue.kind == "race" and "'dv'" in issue.message for issue in seen.issues)),
        Wrong(HEAD + """    if (i >= S) return;
    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++) dv[i * D + d] = P[t * S + i] * dy[t * D + d];
}
""", "Only the last query is left in dv: add to what is there, or to a sum in the thread's own variables.", like=last_query),
        Wrong(HEAD + """    if (i >= S) return;
    for (int d = 0; d < D; d++) dv[i * D + d] = P[i] * dy[d];
}
""", "Only the first query is in dv: key i needs the sum over all of them.",
              like=lambda P, dy: (P[0][:, None] * dy[0], True)),
        Wrong(HEAD + """    if (i >= S) return;
    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++) dv[i * D + d] += P[i * S + t] * dy[t * D + d];
}
""", "Thread i reads row i of the weights. Key i needs its *column*: P[t * S + i] for every query t.",
              when=lambda seen: None if seen.issues else np.allclose(seen.got[0], not_transposed(*seen.inputs)[0], atol=1e-4)),
        Wrong(HEAD + """    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++) dv[i * D + d] += P[t * S + i] * dy[t * D + d];
}
""", "There are S keys: threads from S on must do nothing.",
              when=lambda seen: beyond(seen, seen.inputs[0].shape[1], BLOCK)),
    ],
)  # fmt: skip
