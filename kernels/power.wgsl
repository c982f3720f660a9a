// a to the power of b, elementwise with broadcasting; a negative number has powers for whole exponents. Twin of arithmetic.cu.
//
// Promise: whole exponents up to 64 by repeated squaring, so that squares and cubes are as exact as products.
// Constants: T and U, f32; FIRST, whether a number stands first.

// include "binary.wgsl"

fn apply(a: f32, b: f32) -> f32 {
    if (b == trunc(b) && abs(b) <= 64.0) {
        var result = 1.0;
        var square = a;
        for (var left = u32(abs(b)); left > 0; left /= 2) {
            if (left % 2 == 1) {
                result *= square;
            }
            square *= square;
        }
        return select(result, 1.0 / result, b < 0.0);
    }
    if (a < 0.0 && b == trunc(b)) {
        let odd = abs(b) < 16777216.0 && u32(abs(b)) % 2 == 1;
        return select(1.0, -1.0, odd) * pow(-a, b);
    }
    return pow(a, b);
}
