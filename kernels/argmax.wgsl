// The index of the largest element along one axis, the first where several are equal: x (outer, K, inner). Twin of argmax.cu.
//
// Constants: T, the type of the elements.

// include "group.wgsl"

struct Args {
    K: u32,
    inner: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;

@compute @workgroup_size(THREADS)
fn argmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n) {
        return;
    }
    let first = i / args.inner * args.K * args.inner + i % args.inner;
    var best = 0u;
    var largest = x[first];
    for (var k = 1u; k < args.K; k++) {
        let value = x[first + k * args.inner];
        if (value > largest || (value != value && largest == largest)) {
            largest = value;
            best = k;
        }
    }
    y[i] = i32(best);
}
