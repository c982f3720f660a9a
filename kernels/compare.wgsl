// Comparisons, elementwise with broadcasting: 1 where they hold, 0 elsewhere. Twin of compare.cu.
//
// Constants: T, the type of the elements; U, i32; OP, 0 equal, 1 not equal, 2 less, 3 less or equal; FIRST.

// include "binary.wgsl"

fn apply(a: T, b: T) -> i32 {
    switch OP {
        case 0u: { return i32(a == b); }
        case 1u: { return i32(a != b); }
        case 2u: { return i32(a < b); }
        default: { return i32(a <= b); }
    }
}
