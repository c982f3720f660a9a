// A view of y gains the elements of x: strided_add of strided_copy.cu.
//
// Limits: as in strided_copy.wgsl.
// Constants: T, the type of the elements.

// include "group.wgsl"
// include "view.wgsl"

struct View {
    sizes: array<vec4<u32>, 2>,
    strides: array<vec4<i32>, 2>,
    axes: u32,
    offset: i32,
    n: u32,
}
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

@compute @workgroup_size(THREADS)
fn strided_add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < view.n) {
        y[view.offset + place(i, view.axes, view.sizes, view.strides)] += x[i];
    }
}
