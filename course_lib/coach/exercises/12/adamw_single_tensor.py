"""AdamW of one array in one kernel: each number read once and written once."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved, sectors

BETA1, BETA2, EPS, DECAY, SIZE = 0.9, 0.95, 1e-8, 0.1, 4096


def cases(random):
    for label, n, t in (("two numbers, the first step", 2, 1), ("one number, the tenth step", 1, 10), ("more than a "
                                                                                                       "block", 300, 3),
                        (f"{SIZE} numbers", SIZE, 2)):  # fmt: skip
        p, g, m = (random.normal(size=n).astype(np.float32) for _ in range(3))
        v = random.uniform(0.1, 1, size=n).astype(np.float32)
        if t == 1:
            m, v = np.zeros_like(m), np.zeros_like(v)
        yield Case(label, p, g, m, v, t, 0.01 if t == 3 else 0.05)
    nothing, tiny = np.zeros(3, np.float32), np.array([0, 1e-7, -3e-8], np.float32)
    yield Case("gradients that are almost 0", np.ones(3, np.float32), tiny, nothing, nothing, 1, 0.05)


def stepped(p, g, m, v, t, rate, **idea):
    """p, m and v after a step. idea: what a wrong formula does instead."""
    p, g, m, v = (a.astype(np.float64) for a in (p, g, m, v))
    if idea.get("coupled"):
        g = g + DECAY * p
    before = m, v
    m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * (1 if idea.get("not_squared") else g)
    average, squares = before if idea.get("old") else (before[0], v) if idea.get("old_average") else (m, v)
    corrections = (1, 1) if idea.get("uncorrected") else (1 - BETA1**t, 1 - BETA2**t)
    below = np.sqrt(squares / corrections[1] + EPS) if idea.get("inside") else np.sqrt(squares / corrections[1]) + EPS
    keeps = (
        1 if idea.get("coupled") or idea.get("no_decay") else 1 - (DECAY if idea.get("whole_decay") else rate * DECAY)
    )
    step = rate * (g if idea.get("raw") else average) / corrections[0] / below
    p = (p - step) * keeps if idea.get("late") else p * keeps - step
    m, v = (m / corrections[0], v / corrections[1]) if idea.get("stored") else (m, v)
    return tuple(a.astype(np.float32) for a in (p, m, v))


def launch(kernel, p, g, m, v, t, rate):
    p, g, m, v = (cuda.asarray(a.copy()) for a in (p, g, m, v))
    settings = cuda.asarray(np.array([rate, 1 - BETA1**t, 1 - BETA2**t], np.float32))
    kernel((len(p) + 127) // 128, 128, (p, g, m, v, settings, len(p)))
    return p, m, v


def another(**idea):
    return lambda *inputs: stepped(*inputs, **idea)


def read_again(seen):
    """Whether a right answer, with coalesced reads, moves more than one read of each array and of the settings."""
    if not all(outcome.right for outcome in seen.outcomes):
        return False
    reports = next(outcome.reports for outcome in seen.outcomes if outcome.label == f"{SIZE} numbers")
    reads = [line for report in reports for line in report.lines if (line.space, line.op) == ("global", "read")]
    return sectors("read")(reports) <= 4 and sum(line.bytes_moved for line in reads) > 1.25 * 16 * SIZE


exercise = Exercise(
    title="AdamW in one kernel",
    minutes=15,
    language="cuda",
    defines="adamw_single_tensor",
    cases=cases,
    reference=stepped,
    call=launch,
    results=("p", "m", "v"),
    tolerance=1e-4,
    measured=f"{SIZE} numbers",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.15 * 28 * SIZE)],
    hints=(
        "Read p, g, m and v into variables of the thread. Compute. Write p, m and v.",
        "First the new m and v, then p: the step uses the new ones.",
        "if (i < n): float mi = 0.9f * m[i] + 0.1f * gi; ... float pi = p[i] * (1.0f - rate * 0.1f) - rate * (mi / "
        "settings[1]) / (sqrtf(vi / settings[2]) + 1e-8f);",
    ),
    example='''// RMSProp: one running average, of the square of the gradient.
__global__ void rmsprop(float* p, const float* g, float* v, const float* rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float gi = g[i], vi = 0.99f * v[i] + 0.01f * gi * gi;
        p[i] -= rate[0] * gi / (sqrtf(vi) + 1e-8f);
        v[i] = vi;
    }
}
''',
    wrong=[
        Wrong(Changed(("sqrtf(vi / settings[2]) + 1e-8f", "sqrtf(vi / settings[2] + 1e-8f)")),
              "eps is added after the root: inside it, 1e-8 acts as 1e-4, and small gradients hardly matter.",
              like=another(inside=True)),
        Wrong(Changed(("(sqrtf(vi / settings[2]) + 1e-8f)", "sqrtf(vi / settings[2])")),
              "Where a gradient was always 0, 0 is divided by 0. Add 1e-8 to the root, so that the denominator is never 0.",
              when=lambda seen: seen.label == "gradients that are almost 0" and np.isnan(seen.got[0][0]),
              once="the only gradient that was always 0, and no number"),
        Wrong(Changed(("rate * (mi / settings[1]) / (sqrtf(vi / settings[2]) + 1e-8f)", "rate * mi / (sqrtf(vi) + 1e-8f)")),
              "The bias correction is missing. m and v begin at 0: divide m by settings[1] and v by settings[2].",
              like=another(uncorrected=True)),
        Wrong(Changed(("gi = g[i],", "gi = g[i] + 0.1f * p[i],"), ("        pi *= 1.0f - rate * 0.1f;\n", "")),
              "The weight decay was added to the gradient. In AdamW it does not enter the running averages: p is multiplied by "
              "1 - rate * decay.", like=another(coupled=True)),
        Wrong(Changed(("pi *= 1.0f - rate * 0.1f;", "pi *= 1.0f - 0.1f;")),
              "The weight decay is not multiplied by the rate: p is multiplied by 1 - rate * decay.",
              like=another(whole_decay=True)),
        Wrong(Changed(("0.05f * gi * gi", "0.05f * gi")),
              "v is the running average of the *squares* of the gradient: 0.05 g g is added.", like=another(not_squared=True)),
        Wrong(Changed(("        pi *= 1.0f - rate * 0.1f;\n", "")),
              "The weight decay is missing: p is multiplied by 1 - rate * decay.", like=another(no_decay=True)),
        Wrong(Changed(("        pi *= 1.0f - rate * 0.1f;\n", ""), ("p[i] = pi;", "p[i] = pi * (1.0f - rate * 0.1f);")),
              "The decay comes after the step here, so it makes the step smaller as well. First the decay, then the step.",
              like=another(late=True)),
        Wrong(Changed(("(mi / settings[1]) / (sqrtf(vi / settings[2])", "(m[i] / settings[1]) / (sqrtf(v[i] / settings[2])")),
              "The step is taken with m and v of the step before. Bring them up to date first.", like=another(old=True)),
        Wrong(Changed(("rate * (mi / settings[1])", "rate * (m[i] / settings[1])")),
              "The step is taken with m of the step before. Bring it up to date first.", like=another(old_average=True)),
        Wrong(Changed(("mi = 0.9f * m[i] + 0.1f * gi", "mi = (0.9f * m[i] + 0.1f * gi) / settings[1]"),
                      ("vi = 0.95f * v[i] + 0.05f * gi * gi", "vi = (0.95f * v[i] + 0.05f * gi * gi) / settings[2]"),
                      ("rate * (mi / settings[1]) / (sqrtf(vi / settings[2])", "rate * mi / (sqrtf(vi)")),
              "The corrected m and v are stored. The correction is for this step alone: store m and v as they are without it.",
              like=another(stored=True)),
        Wrong(Changed(("rate * (mi / settings[1])", "rate * (gi / settings[1])")),
              "The step uses the gradient itself. It must use the running average, m.", like=another(raw=True)),
        Wrong("""__global__ void adamw_single_tensor(float* p, const float* g, float* m, float* v, const float* settings, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.95f * v[i] + 0.05f * g[i] * g[i];
        p[i] *= 1.0f - settings[0] * 0.1f;
        p[i] -= settings[0] * (m[i] / settings[1]) / (sqrtf(v[i] / settings[2]) + 1e-8f);
    }
}
""",
              "Something is read again after a write, because the compiler cannot know that the arrays do not overlap. First "
              "read p, g, m, v and the settings into variables, and write at the end.", when=read_again),
    ],
)  # fmt: skip
