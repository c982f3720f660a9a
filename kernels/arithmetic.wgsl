// Add, subtract, multiply, divide and the larger of two: elementwise, with NumPy's broadcasting. Twin of arithmetic.cu.
//
// Promise: y = a op b; nan propagates. Power has a file of its own, for floats only.
// Constants: T and U, the type of the elements; OP, 0 to 4 in the order above; FIRST, whether a number stands first.

// include "binary.wgsl"

fn apply(a: T, b: T) -> T {
    switch OP {
        case 0u: { return a + b; }
        case 1u: { return a - b; }
        case 2u: { return a * b; }
        case 3u: { return a / b; }
        default: { return select(b, a, !(a < b || b != b)); }
    }
}
