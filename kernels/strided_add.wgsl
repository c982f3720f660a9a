// A view of y gains the elements of x: strided_add of strided_copy.cu.
//
// Limits: as in strided_copy.wgsl.
// Constants: T, the type of the elements.

// include "group.wgsl"
// include "strided_view.wgsl"

@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

@compute @workgroup_size(THREADS)
fn strided_add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < view.n) {
        y[in_view(i)] += x[i];
    }
}
