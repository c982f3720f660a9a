// The view that strided_copy.wgsl and strided_add.wgsl work on, and the offset of its element i.

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
    return view.offset + offset_of(i, view.axes, view.sizes, view.strides);
}
