// Keys and values in pages: new rows to their slots, and the rows of one text in order. Twin of paged_append and paged_gather in
// paged_attention.cu.
//
// Promise: paged_append: rows slots[i] of the pages (P N, row) become those of k and v (count, row). paged_gather: y (count, row), the
//   first rows of the text with this block table; row j lies in row j % N of page table[j / N]. A thread owns an element.
// Limits: slots and pages inside (the launch code checks); no slot twice.

// include "group.wgsl"

struct Args {
    count: u32,
    row: u32, // the G D numbers of a token
    N: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> k: array<u32>;
@group(0) @binding(2) var<storage, read> v: array<u32>;
@group(0) @binding(3) var<storage, read> slots: array<i32>;
@group(0) @binding(4) var<storage, read_write> k_pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> v_pages: array<u32>;

@compute @workgroup_size(THREADS)
fn paged_append(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.count * args.row) {
        let at = u32(slots[i / args.row]) * args.row + i % args.row;
        k_pages[at] = k[i];
        v_pages[at] = v[i];
    }
}

@group(0) @binding(1) var<storage, read> pages: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<i32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(THREADS)
fn paged_gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.count * args.row) {
        let j = i / args.row;
        y[i] = pages[(u32(table[j / args.N]) * args.N + j % args.N) * args.row + i % args.row];
    }
}
