// y = apply(a, b) elementwise, for three kinds of operands: contiguous arrays, an array and a number, a strided view for each.
// A file that includes this says what `apply` is.
//
// Constants: T, the type of the elements; FIRST, whether the number stands first.

// include "group.wgsl"
// include "view.wgsl"

struct Sizes {
    n: u32,
}
struct Number {
    n: u32,
    number: u32,
}
struct Views {
    sizes: array<vec4<u32>, 2>,
    a_strides: array<vec4<i32>, 2>,
    b_strides: array<vec4<i32>, 2>,
    axes: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Sizes;
@group(0) @binding(0) var<uniform> numbered: Number;
@group(0) @binding(0) var<uniform> views: Views;
@group(0) @binding(1) var<storage, read> a: array<T>;
@group(0) @binding(2) var<storage, read> b: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<U>;

@compute @workgroup_size(THREADS)
fn binary(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        y[i] = apply(a[i], b[i]);
    }
}

@compute @workgroup_size(THREADS)
fn with_number(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < numbered.n) {
        let number = bitcast<T>(numbered.number);
        if (FIRST) {
            y[i] = apply(number, a[i]);
        } else {
            y[i] = apply(a[i], number);
        }
    }
}

@compute @workgroup_size(THREADS)
fn broadcast(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
             @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < views.n) {
        let at_a = offset_of(i, views.axes, views.sizes, views.a_strides);
        let at_b = offset_of(i, views.axes, views.sizes, views.b_strides);
        y[i] = apply(a[at_a], b[at_b]);
    }
}
