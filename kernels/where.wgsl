// Selection between two arrays by a condition, with broadcasting: words of any type. Twin of `where` in compare.cu.

// include "group.wgsl"
// include "view.wgsl"

struct Views {
    sizes: array<vec4<u32>, 2>,
    c_strides: array<vec4<i32>, 2>,
    a_strides: array<vec4<i32>, 2>,
    b_strides: array<vec4<i32>, 2>,
    axes: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> views: Views;
@group(0) @binding(1) var<storage, read> condition: array<u32>;
@group(0) @binding(2) var<storage, read> a: array<u32>;
@group(0) @binding(3) var<storage, read> b: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(THREADS)
fn choose(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < views.n) {
        if (condition[offset_of(i, views.axes, views.sizes, views.c_strides)] != 0) {
            y[i] = a[offset_of(i, views.axes, views.sizes, views.a_strides)];
        } else {
            y[i] = b[offset_of(i, views.axes, views.sizes, views.b_strides)];
        }
    }
}
