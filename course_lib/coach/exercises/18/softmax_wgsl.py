"""Softmax: a workgroup for each row, two reductions, and barriers in uniform control flow."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import SUMS_TWICE, extremes, summed_twice, unwritten

LOWEST = float("-inf")
FOLDED = "two rows of two workgroups, one more than rows"
PLAIN, CAUSAL, TWICE = "CAUSAL=False", "CAUSAL=True", "sums_twice<CAUSAL=False>"


def cases(random):
    for label, rows, T, S, kind in (("one row of one", 1, 1, 1, PLAIN), ("one row of three", 1, 1, 3, PLAIN),
                                    ("four rows of five", 4, 1, 5, PLAIN), ("rows longer than a workgroup", 2, 1, 300, PLAIN),
                                    ("with a mask, 3 x 3", 3, 3, 3, CAUSAL), ("with a mask, more columns than "
                                                                              "rows", 4, 2, 5, CAUSAL),
                                    ("with a mask, rows longer than a workgroup", 3, 3, 300, CAUSAL),
                                    (FOLDED, 3, 1, 7, PLAIN)):  # fmt: skip
        x = random.normal(0, 2, size=(rows, S)).astype(np.float32)
        yield Case(label, x, T, kind, (2, 2) if label == FOLDED else rows)
    for label, x in extremes(random, (2, 40)):
        yield Case(label, x, 1, PLAIN, 2)
    x = random.normal(0, 2, size=(2, 300)).astype(np.float32)
    x[:, 280] = 200.0
    yield Case("the largest stands behind the first 256", x, 1, PLAIN, 2)
    yield Case("group_sum, called twice", random.normal(0, 2, size=(2, 256)).astype(np.float32), 1, TWICE, 1)


def launch(kernel, x, T, kind, groups):
    if kind == TWICE:
        return summed_twice(kernel.instance(kind), x)
    y = unwritten(x.shape)
    kernel.instance(kind)(groups, x=x, y=y, rows=len(x), T=T, S=x.shape[1], lowest=LOWEST)
    return y


def softmax(x, T, kind, groups=0, shift=True, fewer=0):
    x = x.astype(np.float64)
    if kind == TWICE:
        return x.sum(axis=1, keepdims=True).repeat(256, axis=1)
    rows, S = x.shape
    seen = (
        np.arange(S) < (S - T + np.arange(rows) % T + 1 - fewer)[:, None] if kind == CAUSAL else np.ones(x.shape, bool)
    )
    top = np.where(seen, x, -np.inf).max(1, keepdims=True) if shift else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.where(seen, np.exp(np.where(seen, x, 0) - top), 0.0)
        return e / e.sum(1, keepdims=True)


def powers(x, T, kind, groups):
    y = softmax(x, T, kind)
    return y if kind == TWICE else y / y.max(1, keepdims=True)


def one_less(x, T, kind, groups):
    """The mask hides one number more; a row that is masked throughout becomes zeros."""
    return np.nan_to_num(softmax(x, T, kind, fewer=int(kind == CAUSAL)))


def own_sums(x, T, kind, groups):
    """Every thread divides by the sum of its own numbers, 0 by 0 where they are too small for float32."""
    y, (rows, S) = softmax(x, T, kind), x.shape
    if kind == TWICE:
        return y
    y = y.astype(np.float32)
    with np.errstate(invalid="ignore"):
        for lane in range(min(256, S)):
            y[:, lane::256] /= y[:, lane::256].sum(1, keepdims=True)
    return np.where(np.arange(S) < (S - T + np.arange(rows) % T + 1)[:, None], y, 0) if kind == CAUSAL else y


exercise = Exercise(
    title="Softmax of a row",
    minutes=20,
    test_out=True,
    language="wgsl",
    seconds=30,
    defines="softmax_forward",
    instances=(PLAIN, CAUSAL, TWICE),
    given=SUMS_TWICE,
    target="wgsl:softmax.wgsl",
    cases=cases,
    reference=softmax,
    call=launch,
    tolerance=1e-5,
    hints=(
        "group_sum is group_max with + in place of max. In the kernel: find the maximum, then the sum of exponentials, then "
        "write.",
        "Each step is a loop `for (var c = lane; c < seen; c += THREADS)` over x[row * args.S + c], then a call that all threads "
        "make.",
        "var m = args.lowest; loop: m = max(m, ...); m = group_max(lane, m); the same with l += exp(... - m) and group_sum; "
        "then y[...] = exp(... - m) / l for c < seen, 0 for the rest. If row >= "
        "args.rows, let seen be 0, and write nothing.",
    ),
    example="""// The mean of each row, by a workgroup: all threads get the same sum. (group_sum is in reduce.wgsl.)
// include "reduce.wgsl"

struct Args {
    rows: u32,
    C: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn row_mean(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    for (var c = lane; c < args.C; c += THREADS) {
        sum += x[group.x * args.C + c];
    }
    sum = group_sum(lane, sum);
    if (lane == 0) {
        y[group.x] = sum / f32(args.C);
    }
}
""",
    wrong=[
        Wrong(Changed(("    let inside = row < args.rows;", "    let inside = row < args.rows;\n    if (lane >= args.S) {\n"
                                                           "        return;\n    }")),
              "A thread returns before a barrier at which others wait for it. Where it has no number, its loops are empty by "
              "themselves: let it stay, and reach every barrier.",
              when=lambda seen: re.search(r"\blane\b[^;{}]*\{\s*return;", seen.text)
                  and len({i.line for i in seen.issues if i.kind == "divergent-barrier"}) > 1),
        Wrong(Changed(("        workgroupBarrier();\n        if (lane < half) {\n            tree[lane] += tree",
                       "        if (lane < half) {\n            workgroupBarrier();\n            tree[lane] += tree")),
              "A barrier is reached by some threads only: all 256 must reach it, equally often. Put it outside the `if`, and "
              "do not call group_max or group_sum inside a loop over a thread's numbers.",
              when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(Changed(("    let total = tree[0];\n    workgroupBarrier();", "    let total = tree[0];")),
              "The last barrier of group_sum is missing: a fast thread begins the next reduction, and writes to `tree`, while a "
              "slow one still has to read the total of this one.",
              when=lambda seen: seen.label == "group_sum, called twice" and "race" in seen.kinds),
        Wrong(Changed(("            tree[lane] += tree[lane + half];\n        }\n    }\n    workgroupBarrier();\n    let total",
                       "            tree[lane] += tree[lane + half];\n        }\n    }\n    let total")),
              "Some threads read the total in `tree` while others still add to it, or already use it for the next reduction: a "
              "barrier must stand before the total is read, and one after it.",
              when=lambda seen: any(i.kind == "race" and "`tree[0]`" in i.message for i in seen.issues)),
        Wrong(Changed(("        if (lane < half) {\n            tree[lane] += tree[lane + half];\n        }\n",
                       "        tree[lane] += tree[lane + half];\n")),
              "All threads add, so one reads what another changes at the same time. Only the first `half` of them may: "
              "if (lane < half).",
              when=lambda seen: "race" in seen.kinds
                  and not re.search(r"\bif\b", seen.text.partition("fn group_sum")[2].partition("return")[0])),
        Wrong(Changed(("        workgroupBarrier();\n        if (lane < half) {\n            tree[lane] += tree",
                       "        if (lane < half) {\n            tree[lane] += tree")),
              "A thread reads a number of `tree` that another has not written yet: each halving needs a workgroupBarrier "
              "before it.",
              when=lambda seen: "race" in seen.kinds and any("`tree[" in issue.message for issue in seen.issues)),
        Wrong(Changed(("group_index(group, groups)", "group.x")),
              "The workgroups of a launch may be arranged in several rows, here 2 in each. group_index(group, groups) takes "
              "that into account.",
              when=lambda seen: seen.label == FOLDED and not re.search(r"group_index|group\.y", seen.text)),
        Mistake("Two threads write the same number of y. Thread `lane` owns the numbers lane, lane + THREADS, ... of the row.",
                when=lambda seen: any(i.kind == "race" and "`y[" in i.message for i in seen.issues)),
        Wrong(Changed(("    m = group_max(lane, m);", "    m = 0.0;")),
              "The largest number is not subtracted: exp of a large number overflows a float.",
              when=lambda seen: np.abs(seen.inputs[0]).max() > 88 and np.isnan(seen.got).any()),
        Wrong(Changed(("var m = args.lowest;", "var m = 0.0;")),
              "All numbers of this row are far below 0, and so is the largest of them: begin with args.lowest.",
              when=lambda seen: seen.label == "all far below zero" and np.isnan(seen.got).any(),
              once="the only row so far below 0, and no number"),
        Wrong(Changed(("    l = group_sum(lane, l);\n", "")),
              "Each thread divides by its own sum. The sum of the row comes from group_sum, which all threads call.",
              like=own_sums),
        Wrong(Changed(("        } else {\n            y[start + c] = 0.0;\n        }", "        }")),
              "Masked numbers must become 0: write y for c from `seen` to args.S, too.",
              when=lambda seen: seen.inputs[2] == CAUSAL and not np.nan_to_num(seen.got[seen.expected == 0]).any()
                  and np.isnan(seen.got[seen.expected == 0]).all()),
        Wrong(Changed(("select(args.S, args.S - args.T + row % args.T + 1, CAUSAL)", "args.S")),
              "The mask is missing or reversed: with CAUSAL only the first `seen` numbers of a row count, without it all.",
              when=lambda seen: seen.inputs[2] == CAUSAL
                  and np.allclose(seen.got, softmax(*seen.inputs[:2], PLAIN), atol=1e-5)),
        Wrong(Changed(("row % args.T + 1, CAUSAL", "row % args.T, CAUSAL")),
              "The mask hides one number too many: with CAUSAL the first S - T + row % T + 1 count.", like=one_less),
        Wrong(Changed((" / l;", ";")), "These are the exponentials, not yet divided by their sum.", like=powers),
        Mistake("Only the first 256 numbers of a row are written: thread `lane` must go on with lane + THREADS, and so on.",
                when=lambda seen: seen.inputs[0].shape[1] > 256 and np.isnan(seen.got[:, 256:]).all()
                and not np.isnan(seen.got[:, :256]).any()),
        Wrong(Changed(("var m = args.lowest;", "let m = args.lowest;")),
              generic="`let` names a value that never changes"),
    ],
)  # fmt: skip
