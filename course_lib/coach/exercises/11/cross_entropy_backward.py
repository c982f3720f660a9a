"""The gradient of a loss whose probabilities were never stored: one exponential for each number."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

IGNORE, ROWS, LARGE = -1, 8, 1024  # the large vocabulary: of the measured case


def cases(random):
    yield Case("one row of two", np.array([[1, 3]], np.float32), np.array([0], np.int32), np.float32(1), IGNORE)
    for label, n, V, kind, size in (("three rows", 3, 5, np.int32, 1), ("targets of 64 bits", 4, 7, np.int64, 1),
                                    ("large logits", 2, 20, np.int32, 300), ("two rows of 300", 2, 300, np.int32, 1),
                                    (f"{ROWS} rows of {LARGE}", ROWS, LARGE, np.int32, 1)):  # fmt: skip
        logits, targets = size * random.normal(size=(n, V)), random.integers(0, V, n).astype(kind)
        yield Case(label, logits.astype(np.float32), targets, np.float32(1), IGNORE)
    few = random.normal(size=(3, 4)).astype(np.float32), np.array([2, IGNORE, 0], np.int32)
    yield Case("a row that does not count", *few, np.float32(1), IGNORE)
    yield Case("an upstream gradient of 2", *few, np.float32(2), IGNORE)
    yield Case("nothing counts", few[0], np.full(3, IGNORE, np.int32), np.float32(1), IGNORE)
    for ignore in (-100, 3):
        yield Case(f"{ignore} does not count", few[0], np.array([2, ignore, 0], np.int32), np.float32(1), ignore)
    yield Case("a number of 64 bits to ignore", few[0], np.array([2, 2**32 + 1, 0]), np.float32(1), 2**32 + 1)


def logsumexp(logits):
    wide = logits.astype(np.float64)  # (n, V)
    top = wide.max(1, keepdims=True)
    return top + np.log(np.exp(wide - top).sum(1, keepdims=True))  # (n, 1)


def gradient(logits, targets, dloss, ignore, mean=True, one=1.0, upstream=True):
    """dlogits (n, V). The options leave a part out."""
    probabilities = np.exp(logits - logsumexp(logits))  # (n, V)
    # A row that does not count, here with the target 0, is set to 0 below.
    probabilities[np.arange(len(logits)), np.where(targets == ignore, 0, targets)] -= one
    dx = probabilities * (dloss if upstream else 1.0) / (max(1, (targets != ignore).sum()) if mean else 1)
    return np.where((targets == ignore)[:, None], 0, dx).astype(np.float32)


def launch(kernel, logits, targets, dloss, ignore):
    n, V = logits.shape
    dlogits, kept = cuda.empty((n, V)), cuda.asarray(np.array([(targets != ignore).sum()], np.int32))
    lse = cuda.asarray(logsumexp(logits)[:, 0].astype(np.float32))
    args = cuda.asarray(dloss.reshape(1)), cuda.asarray(logits), cuda.asarray(targets), lse, kept, dlogits, V, ignore
    kernel.instance("int" if targets.dtype == np.int32 else "long long")((n, (V + 255) // 256), 256, args)
    return dlogits


def without(**options):
    return lambda *inputs: gradient(*inputs, **options)


def all_counted(logits, targets, dloss, ignore):
    """Rows that do not count get a gradient too: their probabilities, minus 1 where `ignore` is a class."""
    dx = np.exp(logits - logsumexp(logits))
    for row, target in enumerate(targets):
        dx[row, target : target + 1] -= 0 <= target < dx.shape[1]
    return (dx * dloss / max(1, (targets != ignore).sum())).astype(np.float32)


exercise = Exercise(
    title="Cross-entropy, the backward pass",
    minutes=15,
    core=False,
    language="cuda",
    defines="cross_entropy_backward",
    instances=("int", "long long"),
    target="kernel:cross_entropy_backward.cu",
    cases=cases,
    reference=gradient,
    call=launch,
    tolerance=1e-4,
    measured=f"{ROWS} rows of {LARGE}",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.65 * 8 * ROWS * LARGE)],
    hints=(
        "Block (i, j) owns 256 columns of row i, and each thread one: c = blockIdx.y * blockDim.x + threadIdx.x, if c < V.",
        "The probability of token c is exp(logit - logsumexp of the row). Subtract 1 where c is the target.",
        "long long at = (long long)i * V + c, target = targets[i]; float scale = dloss[0] / max(1, kept[0]), p = expf("
        "logits[at] - logsumexp[i]); dlogits[at] = target == ignore ? 0.0f : (p - (c == target ? 1.0f : 0.0f)) * scale;",
    ),
    example='''// The backward pass of the mean of logsumexp squared (the z-loss of the lecture).
__global__ void z_backward(const float* dloss, const float* logits, const float* logsumexp, float* dlogits, int n, int V) {
    int i = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < V) {
        float z = logsumexp[i];
        dlogits[i * V + c] = dloss[0] / n * 2.0f * z * expf(logits[i * V + c] - z);
    }
}
''',
    wrong=[
        Wrong(Changed(("int i = blockIdx.x, c = blockIdx.y *", "int i = blockIdx.y, c = blockIdx.x *")),
              "Only row 0 is written. The number of the row is blockIdx.x; blockIdx.y counts the groups of 256 columns.",
              when=lambda seen: seen.label == "three rows" and isinstance(seen.got, np.ndarray) and not seen.issues
                  and np.isnan(seen.got[1:]).all() and not np.isnan(seen.got[0]).any(),
              once="which rows were written, and which were not"),
        Wrong(Changed(("(p - (c == target ? 1.0f : 0.0f)) * scale", "p * scale")),
              "The 1 of the target is missing: the gradient of its logit is its probability minus 1.", like=without(one=0.0)),
        Wrong(Changed(("dloss[0] / max(1, kept[0])", "dloss[0]")),
              "The gradient is not divided by the number of rows that count, kept[0]: the loss is their mean.",
              like=without(mean=False)),
        Wrong(Changed(("dloss[0] / max(1, kept[0])", "1.0f / max(1, kept[0])")),
              "dloss[0] is missing: every gradient is multiplied by the upstream gradient.", like=without(upstream=False)),
        Wrong(Changed(("target == ignore ? 0.0f : ", "")),
              "A row whose target is `ignore` must get a gradient of 0 throughout.",
              like=all_counted),
        Wrong(Changed(("max(1, kept[0])", "kept[0]"), ("target == ignore ? 0.0f : (p - (c == target ? 1.0f : 0.0f)) * scale",
                                                       "(target == ignore ? 0.0f : p - (c == target ? 1.0f : 0.0f)) * scale")),
              "kept[0] is 0 if no row counts: dloss[0] / 0 is infinite, and 0 times that is nan. Divide by 1 then.",
              when=lambda seen: seen.label == "nothing counts" and isinstance(seen.got, np.ndarray)
                  and np.isnan(seen.got).any() and not seen.issues, once="the only case of which no row counts, and no number"),
        Wrong(Changed(("__expf(logits[at] - logsumexp[i])", "expf(logits[at]) / expf(logsumexp[i])")),
              "exp(logit) overflows for large logits. Subtract the logsumexp first: exp(logit - logsumexp) is never above 1.",
              when=lambda seen: np.abs(seen.inputs[0]).max() > 88 and np.isnan(seen.got).any(),
              once="the only logits whose exp overflows, and no number"),
    ],
)  # fmt: skip
