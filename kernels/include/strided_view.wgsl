// Where element i of a view lies: what strided_copy.wgsl and strided_add.wgsl are told of it.

// include "view.wgsl"

struct View {
    sizes: array<vec4<u32>, 2>,
    strides: array<vec4<i32>, 2>,
    axes: u32,
    offset: i32,
    n: u32,
}
@group(0) @binding(0) var<uniform> view: View;

fn in_view(i: u32) -> i32 {
    return view.offset + place(i, view.axes, view.sizes, view.strides);
}
