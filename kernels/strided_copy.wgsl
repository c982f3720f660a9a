// Copies between contiguous memory and a strided view, both ways; and fill.
//
// Promise: y[i] = element i of the view of x, or the reverse. Twin of strided_copy.cu; words of any type, nothing is computed.
// Limits: views of up to 8 axes; to write, no two elements of the view may have the same address.

// include "group.wgsl"
// include "strided_view.wgsl"

struct Fill {
    value: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> filling: Fill;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(THREADS)
fn strided_copy(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < view.n) {
        y[i] = x[in_view(i)];
    }
}

@compute @workgroup_size(THREADS)
fn strided_write(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < view.n) {
        y[in_view(i)] = x[i];
    }
}

@compute @workgroup_size(THREADS)
fn fill(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < filling.n) {
        y[i] = filling.value;
    }
}
