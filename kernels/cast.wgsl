// Type conversion: y[i] = U(x[i]); to bool, 1 where x is not 0. Twin of cast.cu.
//
// Constants: T and U, the types before and after; BOOL, whether the result is a bool.

// include "group.wgsl"

struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<U>;

@compute @workgroup_size(THREADS)
fn convert(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        y[i] = select(U(x[i]), U(x[i] != T(0)), BOOL);
    }
}
