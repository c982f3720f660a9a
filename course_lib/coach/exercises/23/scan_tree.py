"""The work-efficient scan: down the tree, where each node passes on what lies before it."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LOST = (
    "Nothing but the root's 0 comes down. The right child gets what its parent held and what the left child held: keep that in "
    "a variable before you overwrite it."
)


def cases(random):
    yield Case("64 ones", np.ones(64, np.float32), 32)
    yield Case("one number", np.array([3], np.float32), 32)
    yield Case("five numbers", np.arange(1, 6, dtype=np.float32), 32)
    for label, n in (("128 numbers", 128), ("two blocks, ragged", 200)):
        yield Case(label, random.integers(-9, 10, n).astype(np.float32) / 4, 64)


def launch(kernel, x, THREADS):
    blocks = -(-len(x) // (2 * THREADS))
    y, totals = cuda.empty(x.shape), cuda.empty(blocks)
    kernel.instance(f"{THREADS}")(blocks, THREADS, (cuda.asarray(x), y, totals, len(x)))
    return y, totals


def scanned(x, THREADS, inclusive=False, down=None, from_leaves=False):
    """Each block by itself. down: what a group does on the way down to (tree, left child, node); None: what it should.
    from_leaves: the small groups first."""
    width = 2 * THREADS
    blocks = -(-len(x) // width)
    tree = np.zeros(blocks * width, np.float32)
    tree[: len(x)] = x
    tree = tree.reshape(blocks, width)
    totals = tree.sum(axis=1)
    if down is None:
        return (np.cumsum(tree, axis=1) - (0 if inclusive else tree)).ravel()[: len(x)], totals
    half = 1
    while half < width:
        tree[:, 2 * half - 1 :: 2 * half] += tree[:, half - 1 :: 2 * half]
        half *= 2
    tree[:, -1] = 0
    halves = [2**step for step in reversed(range(half.bit_length() - 1))]  # THREADS, ..., 2, 1
    for half in reversed(halves) if from_leaves else halves:
        left, node = slice(half - 1, None, 2 * half), slice(2 * half - 1, None, 2 * half)
        tree[:, left], tree[:, node] = down(tree[:, left].copy(), tree[:, node].copy())
    return tree.ravel()[: len(x)], totals


def in_tree(down):
    return lambda x, THREADS: scanned(x, THREADS, down=down)


exercise = Exercise(
    title="Down the tree",
    minutes=10,
    language="cuda",
    defines="scan_1_tree",
    instances=("32", "64"),
    cases=cases,
    reference=scanned,
    results=("y", "totals"),
    call=launch,
    hints=(
        "The loop of the way up, the other way round: half from THREADS to 1, halved each time, each step after a barrier.",
        "A group: float left = tree[node - half]; then the left child gets tree[node], and left is added to tree[node].",
        "if (node < COUNT) { const float left = tree[node - half]; tree[node - half] = tree[node]; tree[node] += left; }",
    ),
    example='''// Down another tree: the root's number goes to all leaves, halved at each level.
__device__ void deal_out(float* tree, int count) {
    for (int half = count / 2; half > 0; half /= 2) {
        __syncthreads();
        int node = (2 * threadIdx.x + 2) * half - 1;
        if (node < count) {
            tree[node] /= 2.0f;
            tree[node - half] = tree[node];
        }
    }
}
''',
    wrong=[
        Wrong(Changed(("            tree[node] += left;\n", "")), LOST, like=in_tree(lambda left, node: (node, node))),
        Wrong(Changed(("            const float left = tree[node - half];\n", ""), ("+= left", "+= tree[node - half]")),
              LOST, like=in_tree(lambda left, node: (node, 2 * node)), also=True),
        Wrong(Changed(("half > 0; half /= 2) {\n        __syncthreads();", "half > 0; half /= 2) {")), generic="race"),
        Wrong(Changed(("int half = THREADS; half > 0; half /= 2", "int half = 1; half < COUNT; half *= 2")),
              "This begins with groups of two, as on the way up. The way down begins at the root: half is THREADS first, 1 last.",
              like=lambda x, THREADS: scanned(x, THREADS, down=lambda left, node: (node, node + left), from_leaves=True)),
        Wrong(Changed(("int half = THREADS; half > 0", "int half = THREADS; half > 1")),
              "The last level is missing: groups of two, with half = 1.",
              like=lambda x, THREADS: (last_missing(x, THREADS), scanned(x, THREADS)[1])),
    ],
)  # fmt: skip


def last_missing(x, THREADS):
    """The pairs of leaves are as they were on the way up and down to them."""
    width = 2 * THREADS
    padded = np.concatenate([x, np.zeros(-len(x) % width, np.float32)]).reshape(-1, width)
    before = np.cumsum(padded, axis=1) - padded
    out = padded.copy()
    out[:, 1::2] = before[:, ::2]
    return out.ravel()[: len(x)]
