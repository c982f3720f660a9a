"""The loss of each row from its logsumexp and one logit; no probability is ever stored."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes


def cases(random):
    yield Case("one row of two", np.array([[1, 3]], np.float32), np.array([0], np.int32), -1)
    for label, n, V, kind, size in (("three rows", 3, 5, np.int32, 1), ("targets of 64 bits", 5, 4, np.int64, 1),
                                    ("a large vocabulary", 9, 300, np.int32, 1),
                                    ("large logits", 4, 20, np.int32, 300)):  # fmt: skip
        logits, targets = size * random.normal(size=(n, V)), random.integers(0, V, n).astype(kind)
        yield Case(label, logits.astype(np.float32), targets, -1)
    few = random.normal(size=(3, 4)).astype(np.float32)
    for ignore in (-1, -100, 3):
        yield Case(f"a row that does not count, {ignore}", few, np.array([2, ignore, 0], np.int32), ignore)
    yield Case("a number of 64 bits to ignore", few, np.array([2, 2**32 + 1, 0]), 2**32 + 1)
    for label, x in extremes(random, (3, 5)):
        yield Case(label, x, random.integers(0, 5, 3).astype(np.int32), -1)


def losses_of(logits, targets, ignore, of=lambda lse, logit: lse - logit, ignored=0.0):
    """losses and logsumexp (n). of: the loss of a row; ignored: that of a row that does not count."""
    wide = logits.astype(np.float64)  # (n, V)
    top = wide.max(1)
    lse = top + np.log(np.exp(wide - top[:, None]).sum(1))
    losses = of(lse, wide[np.arange(len(wide)), np.where(targets == ignore, 0, targets)])
    return np.where(targets == ignore, ignored, losses).astype(np.float32), lse.astype(np.float32)


def launch(kernel, logits, targets, ignore):
    n, V = logits.shape
    losses, logsumexp = cuda.empty(n), cuda.empty(n)  # (n,)
    name, lanes = ("int, 8", 8) if targets.dtype == np.int32 else ("long long, 32", 32)
    args = cuda.asarray(logits), cuda.asarray(targets), losses, logsumexp, n, V, ignore
    kernel.instance(name)((n * lanes + 63) // 64, 64, args)
    return losses, logsumexp


def counts_ignored(seen):
    """Whether only the rows that do not count are wrong, or memory was read for them."""
    counts = seen.inputs[1] != seen.inputs[2]
    right = np.allclose(seen.got[0][counts], seen.expected[0][counts], atol=1e-4)
    return not counts.all() and right and (bool(seen.issues) or (seen.got[0][~counts] != 0).all())


exercise = Exercise(
    title="Cross-entropy without probabilities",
    minutes=20,
    language="cuda",
    defines="cross_entropy_forward",
    instances=("int, 8", "long long, 32"),
    target="kernel:cross_entropy.cu",
    cases=cases,
    reference=losses_of,
    call=launch,
    results=("losses", "logsumexp"),
    tolerance=1e-4,
    hints=(
        "LANES neighbouring threads work on one row: i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES. They all call "
        "row_logsumexp, and one of them writes.",
        "Threads whose i is n or more have no row, but the rest of their warp waits for them in the shuffles: pass them a row "
        "of length 0, and return afterwards.",
        "long long row = (long long)i * V; float lse = row_logsumexp<LANES>(logits + row, i < n ? V : 0); if (i >= n || "
        "threadIdx.x % LANES) return; long long target = targets[i]; logsumexp[i] = lse; losses[i] = target == ignore ? "
        "0.0f : lse - logits[row + target];",
    ),
    example='''// The log of each row's largest probability: its logit minus the logsumexp. Near 0 where the model is confident.
template <int LANES> __global__ void confidence(const float* logits, const int* best, float* y, int n, int V) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const float lse = row_logsumexp<LANES>(logits + (long long)i * V, i < n ? V : 0);
    if (i < n && threadIdx.x % LANES == 0) {
        y[i] = logits[(long long)i * V + best[i]] - lse;
    }
}
''',
    wrong=[
        Wrong(Changed(("    const float lse =", "    if (i >= n) return;\n    const float lse =")),
              "Some lanes do not reach the shuffles inside row_logsumexp. All 32 of a warp must, also those without a row: call "
              "it first, then return.",
              when=lambda seen: bool(seen.kinds & {"missing-lanes", "divergent-barrier"})),
        Wrong(Changed(("lse - logits[row + target]", "logits[row + target] - lse")),
              "The loss has the wrong sign: it is the logsumexp minus the logit.",
              like=lambda x, t, ignore: losses_of(x, t, ignore, lambda lse, logit: logit - lse)),
        Wrong(Changed(("lse - logits[row + target]", "lse")),
              "The logit of the target is missing: the loss is the logsumexp minus that logit.",
              like=lambda x, t, ignore: losses_of(x, t, ignore, lambda lse, logit: lse)),
        Wrong(Changed(("lse - logits[row + target]", "lse - logits[target]")),
              "The target's logit is read from the first row. That of row i has the offset i * V + targets[i].",
              like=lambda x, t, ignore: losses_of(x, t, ignore, lambda lse,
                  logit: lse - x[0].astype(np.float64)[np.where(t == ignore, 0, t)])),
        Wrong(Changed(("target == ignore ||", "target == -1 ||"), ("|| target >= V", "")),
              "A row whose target is -1 gets loss 0, but `ignore` may be another number: compare the target with it.",
              when=lambda seen: seen.label.startswith("a row that does not count") and counts_ignored(seen)
                  and any(outcome.right for outcome in seen.outcomes if outcome.label.endswith("count, -1"))),
        Wrong(Changed(("const long long target = targets[i];", "const int target = targets[i];")),
              "A number of 64 bits does not fit into an `int`: `ignore` is a `long long`, so keep the target in one, too.",
              when=lambda seen: seen.label.startswith("a number of 64 bits") and counts_ignored(seen),
              once="the only number to ignore that no int holds"),
        Wrong(Changed(("target == ignore || target < 0 || target >= V ? 0.0f : lse", "lse")),
              "A row whose target is `ignore` has loss 0: check that before you read its logit.",
              when=counts_ignored),
    ],
)  # fmt: skip
