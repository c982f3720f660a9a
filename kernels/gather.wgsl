// Rows of C words picked by index: y (n, C) = x[indices]; zeros for an index outside of the rows. Twin of gather.cu.

// include "group.wgsl"

struct Args {
    rows: u32,
    C: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(THREADS)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n * args.C) {
        return;
    }
    let row = u32(indices[i / args.C]); // a negative index is a large one
    if (row < args.rows) {
        y[i] = x[row * args.C + i % args.C];
    } else {
        y[i] = 0u;
    }
}
