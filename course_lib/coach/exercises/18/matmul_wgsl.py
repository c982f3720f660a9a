"""Open challenge: a matrix product by tiles that reads as few bytes of storage buffers as possible."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.shaders import BYTES, bytes_moved
from course_lib.coach.shared_cases import two_writers, unwritten

NAIVE = """struct Args {
    N: u32,
    M: u32,
    K: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(16, 16)
fn matmul(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
    for (var row = group.y * 64 + thread.y; row < min(args.N, group.y * 64 + 64); row += 16) {
        for (var column = group.x * 64 + thread.x; column < min(args.M, group.x * 64 + 64); column += 16) {
            var sum = 0.0;
            for (var k = 0u; k < args.K; k++) {
                sum += a[row * args.K + k] * b[k * args.M + column];
            }
            y[row * args.M + column] = sum;
        }
    }
}
"""


def cases(random):
    for label, N, K, M in (("one number", 1, 1, 1), ("2 x 3 times 3 x 2", 2, 3, 2), ("one row", 1, 20, 70),
                           ("one column", 70, 9, 1), ("four tiles, ragged", 65, 19, 67),
                           ("128 x 96, with K = 80", 128, 80, 96)):  # fmt: skip
        yield Case(label, random.normal(size=(N, K)).astype(np.float32), random.normal(size=(K, M)).astype(np.float32))


def launch(kernel, a, b):
    (N, K), M = a.shape, b.shape[1]
    y = unwritten((N, M))
    kernel((-(-M // 64), -(-N // 64)), a=a, b=b, y=y, N=N, M=M, K=K)
    return y


exercise = Exercise(
    title="Challenge: a product with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="wgsl",
    seconds=30,
    defines="matmul",
    cases=cases,
    reference=lambda a, b: a.astype(np.float64) @ b,
    call=launch,
    tolerance=1e-4,
    measured="128 x 96, with K = 80",
    flops=2 * 128 * 96 * 80,
    goals=[Goal(BYTES, bytes_moved)],
    hints=(
        "First write a right one: each thread owns 16 numbers of y, and loops over K. Then load slices together, as in chapter "
        "08.",
        "A slice of 8 along K: 64 x 8 numbers of a and 8 x 64 of b, 512 each, two for each of 256 threads. Zeros out of "
        "bounds. Barrier, use, barrier.",
        "Each group must read its rows of a and its columns of b once: so a is read once for each tile along M, and b once for "
        "each along N. Fewer bytes would need larger tiles, and the tile is given.",
    ),
    example="""// A tile of 64 numbers, loaded together and read by all threads: y[i] = the sum over j of x[j] / (1 + |i - j|).
var<workgroup> tile: array<f32, 64>;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn blurred(@builtin(local_invocation_index) lane: u32) {
    tile[lane] = x[lane];
    workgroupBarrier();
    var sum = 0.0;
    for (var j = 0u; j < 64; j++) {
        sum += tile[j] / (1.0 + abs(f32(lane) - f32(j)));
    }
    y[lane] = sum;
}
""",
    wrong=[
        Wrong(Changed(("        workgroupBarrier();\n        for (var s", "        for (var s")),
              "A slice is read before all threads have loaded it, or overwritten while others still read it: one "
              "workgroupBarrier belongs after loading, and one after use.",
              when=lambda seen: any(i.kind == "race" and "`y[" not in i.message and "reads" in i.message
                  for i in seen.issues)),
        Mistake("Two threads load the same number of a slice. Each number of it belongs to one thread.",
                when=lambda seen: any(i.kind == "race" and "`y[" not in i.message for i in seen.issues)),
        Mistake("Two threads write the same number of y. Each number of the tile belongs to one thread.",
                when=two_writers),
        Wrong(Changed(("if (row < args.N && column < args.M) {", "if (row < args.N) {")),
              "y is written out of bounds: write only where row < args.N and column < args.M.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "`y[" in i.message for i in seen.issues)),
        Wrong(Changed(("if (down < args.K && column < args.M) {", "if (column < args.M) {")),
              "A thread reads a or b out of bounds. WebGPU may return any number of the array then: use 0 instead.",
              when=lambda seen: any(i.kind == "out-of-bounds"
                  and i.message.startswith(("a thread reads `a[", "a thread reads `b[")) for i in seen.issues)),
        Mistake("Some threads never reach a barrier. None may return before it, or skip it in an `if`, and the loop over "
                "slices has the same number of iterations for all.",
                when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(NAIVE.replace("row += 16", "row += 64").replace("column += 16", "column += 64"),
              "Only the first 16 rows and columns of each tile are written: with 256 threads each owns 16 numbers of y.",
              when=lambda seen: not np.isnan(seen.got[:16, :16]).any() and seen.got[:64, :64].size > seen.got[:16, :16].size
                  and np.isnan(seen.got[16:64, 16:64]).all() and np.isnan(seen.got[:16, 16:64]).all()),
    ],
)  # fmt: skip
