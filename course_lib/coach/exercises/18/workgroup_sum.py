"""Find the fault: a barrier in divergent control flow, and none where one is needed."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import SUMS_TWICE, summed_twice

EACH, TWICE = 8192, "sums_twice<>"


def cases(random):
    for label, n in (("one number", 1), ("five numbers", 5), ("a workgroup's 256", 256), ("more numbers than threads", 700),
                     ("two groups, ragged", EACH + 37)):  # fmt: skip
        yield Case(label, random.normal(1, 1, size=n).astype(np.float32))
    yield Case("group_sum, called twice", random.normal(1, 1, size=(2, 256)).astype(np.float32))


def launch(kernel, x):
    if x.ndim == 2:
        return summed_twice(kernel.instance(TWICE), x)
    groups = -(-len(x) // EACH)
    partial = np.full(groups + 2, -1, np.float32)
    kernel(groups, x=x, partial=partial, n=len(x), first=2)
    return partial


def squares(x):
    if x.ndim == 2:
        return x.astype(np.float64).sum(axis=1, keepdims=True).repeat(256, axis=1)
    parts = [np.square(x[i : i + EACH].astype(np.float64)).sum() for i in range(0, len(x), EACH)]
    return np.array([-1, -1, *parts])


def waits_in_the_loop(text):
    """Does a barrier stand in the loop over the halves, before the addition?"""
    return "workgroupBarrier" in text[text.index("half > 0") : text.index("tree[lane] +=")]


exercise = Exercise(
    title="Find the fault: a sum of 256 threads",
    minutes=10,
    core=False,
    language="wgsl",
    seconds=30,
    defines="global_norm_squares",
    instances=("", TWICE),
    given=SUMS_TWICE,
    target="wgsl:global_norm.wgsl",
    cases=cases,
    reference=squares,
    call=launch,
    tolerance=1e-4,
    hints=(
        "In group_sum one barrier is in the wrong place, and others are missing; global_norm_squares is right. Which lines "
        "does the report name?",
        "A barrier belongs where all 256 threads reach it: in the loop, before the `if`. And what must happen before tree[0] "
        "is read?",
        "In the loop: workgroupBarrier(); if (lane < half) { ... }. After the loop: workgroupBarrier(); let total = tree[0]; "
        "and one more barrier, so that no thread overwrites the tree while others still read it.",
    ),
    example="""// The numbers of a workgroup, shifted by one: each thread writes its own, all wait, each reads its neighbour's.
var<workgroup> line: array<f32, 64>;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn shift(@builtin(local_invocation_index) lane: u32) {
    line[lane] = x[lane];
    workgroupBarrier();
    y[lane] = line[(lane + 1) % 64];
}
""",
    wrong=[
        Wrong(Changed(("        workgroupBarrier();\n        if (lane < half) {",
                       "        if (lane < half) {\n            workgroupBarrier();")),
              "A barrier waits for all threads of the workgroup, and this one is in an `if` that only some enter. Put it "
              "before the `if`, in the loop.", when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(Changed(("    workgroupBarrier();\n    let total", "    let total")),
              "The loop is right now, but tree[0] may be read before the last addition is written: a workgroupBarrier is "
              "missing after the loop.",
              when=lambda seen: any(i.kind == "race" and "`tree[0]`" in i.message and "total" in i.source for i in seen.issues)
                  and not any(i.kind == "race" and "half" in i.source for i in seen.issues)),
        Wrong(Changed(("    let total = tree[0];\n    workgroupBarrier();", "    let total = tree[0];")),
              "One call is right now. In the next a fast thread writes to `tree` while a slow one still has to read the total of "
              "this one: a workgroupBarrier is missing after that is read.",
              when=lambda seen: seen.label == "group_sum, called twice" and "race" in seen.kinds),
        Wrong(Changed(("        workgroupBarrier();\n        if (lane", "        if (lane")),
              "A thread reads what another may not have written yet: the loop needs a workgroupBarrier before each addition.",
              when=lambda seen: "race" in seen.kinds and not waits_in_the_loop(seen.text)),
        Wrong(Changed(("        if (lane < half) {\n            tree[lane] += tree[lane + half];\n        }\n",
                       "        tree[lane] += tree[lane + half];\n")),
              "All threads add, so one reads what another changes at the same time. Only the first `half` of them may: "
              "if (lane < half).",
              when=lambda seen: bool(seen.kinds & {"race", "out-of-bounds"}) and "lane < half" not in seen.text),
        Wrong(Changed(("THREADS / 2", "THREADS / 4")), "Half of the threads are left out: the first `half` is THREADS / 2.",
              when=lambda seen: "THREADS / 4" in seen.text and seen.got[2] < seen.expected[2]),
    ],
)  # fmt: skip
