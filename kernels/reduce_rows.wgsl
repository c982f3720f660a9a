// Sums or maxima along the last axis: each row of x (rows, K) in `parts` parts of `each` elements. Twin of reduce_rows.cu.
//
// Promise: y (rows, parts). A workgroup owns a part; the same order of summation on every run.
// Limits: fewer than 2^31 elements.   Constants: T, MAX.

// include "group.wgsl"
// include "number.wgsl"

struct Args {
    nothing: u32,
    rows: u32,
    K: u32,
    parts: u32,
    each: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

var<workgroup> tree: array<T, THREADS>;

@compute @workgroup_size(THREADS)
fn reduce_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let own = group_index(group, groups); // row `own / parts`, part `own % parts`
    var value = bitcast<T>(args.nothing);
    if (own < args.rows * args.parts) {
        let first = own % args.parts * args.each;
        let end = min(first + args.each, args.K);
        for (var k = first + lane; k < end; k += THREADS) {
            value = merge(value, x[own / args.parts * args.K + k]);
        }
    }
    tree[lane] = value;
    for (var half = THREADS / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            tree[lane] = merge(tree[lane], tree[lane + half]);
        }
    }
    if (lane == 0 && own < args.rows * args.parts) {
        y[own] = tree[0];
    }
}
