// Sums or maxima down the columns: x (outer, K, inner) along K, in `parts` parts of `each` rows. Twin of reduce_columns.cu.
//
// Promise: y (outer, parts, inner). A thread owns a column of a part, in order.
// Limits: fewer than 2^31 elements.   Constants: T, MAX.

// include "group.wgsl"
// include "number.wgsl"

struct Args {
    nothing: u32,
    outer: u32,
    K: u32,
    inner: u32,
    parts: u32,
    each: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

@compute @workgroup_size(THREADS)
fn reduce_columns(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane); // of y
    if (i >= args.outer * args.parts * args.inner) {
        return;
    }
    let column = i % args.inner;
    let part = i / args.inner % args.parts;
    let base = i / args.inner / args.parts * args.K;
    let end = min((part + 1) * args.each, args.K);
    var value = bitcast<T>(args.nothing);
    for (var k = part * args.each; k < end; k++) {
        value = merge(value, x[(base + k) * args.inner + column]);
    }
    y[i] = value;
}
