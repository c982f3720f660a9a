// Rows added up by index, in the order of the indices: the backward of a gather and of an embedding. Twin of scatter_add.cu.
//
// Promise: y (rows, C), the sum of the updates (n, C) of each row, from the positions that sort_by_row.wgsl found. No atomics.
// Constants: T, the type of the elements.

// include "group.wgsl"

struct Args {
    rows: u32,
    C: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> updates: array<T>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<T>;

@compute @workgroup_size(THREADS)
fn scatter_add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.rows * args.C) {
        return;
    }
    let row = i / args.C;
    var total = T(0);
    for (var k = starts[row]; k < starts[row + 1]; k++) {
        total += updates[positions[k] * args.C + i % args.C];
    }
    y[i] = total;
}
