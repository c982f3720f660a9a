// The positions of each row: positions[starts[r] .. starts[r + 1] - 1] are those i with indices[i] = r, in order. As embedding.cu sorts.
//
// Promise: three launches in this order, no atomics. A thread owns a row and reads all n indices, which is
//   2 rows n reads, most of them from the cache, since all threads read in the same order.

// include "group.wgsl"

struct Args {
    rows: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> indices: array<i32>;
@group(0) @binding(2) var<storage, read_write> starts: array<u32>; // (rows + 1); at first how many each row has
@group(0) @binding(3) var<storage, read_write> positions: array<u32>; // (n)

@compute @workgroup_size(THREADS)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let row = element_index(group, groups, lane);
    if (row >= args.rows) {
        return;
    }
    var found = 0u;
    for (var i = 0u; i < args.n; i++) {
        found += u32(u32(indices[i]) == row);
    }
    starts[row] = found;
}

var<workgroup> sums: array<u32, THREADS>;

// One workgroup, an exclusive prefix sum: thread t sums its own run of rows, then the sums of all threads before it, then writes.
@compute @workgroup_size(THREADS)
fn prefix_sum(@builtin(local_invocation_index) lane: u32) {
    let each = (args.rows + THREADS - 1) / THREADS;
    let end = min((lane + 1) * each, args.rows);
    var total = 0u;
    for (var row = lane * each; row < end; row++) {
        total += starts[row];
    }
    sums[lane] = total;
    workgroupBarrier();
    var before = 0u;
    for (var other = 0u; other < lane; other++) {
        before += sums[other];
    }
    for (var row = lane * each; row < end; row++) {
        let own = starts[row];
        starts[row] = before;
        before += own;
    }
    if (lane == THREADS - 1) {
        starts[args.rows] = before;
    }
}

@compute @workgroup_size(THREADS)
fn sort(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let row = element_index(group, groups, lane);
    if (row >= args.rows) {
        return;
    }
    var next = starts[row];
    for (var i = 0u; i < args.n; i++) {
        if (u32(indices[i]) == row) {
            positions[next] = i;
            next++;
        }
    }
}
