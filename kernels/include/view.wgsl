// Strided views, for memory that is not in the order of the indices: up to 8 axes, with sizes and strides.

fn offset_of(index: u32, axes: u32, sizes: array<vec4<u32>, 2>, strides: array<vec4<i32>, 2>) -> i32 {
    var s = sizes;
    var t = strides;
    var rest = index;
    var at = 0i;
    for (var axis = i32(axes) - 1; axis >= 0; axis--) {
        let size = s[axis / 4][axis % 4];
        at += i32(rest % size) * t[axis / 4][axis % 4];
        rest /= size;
    }
    return at;
}
