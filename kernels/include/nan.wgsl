// Not a number, told by its bits: a comparison of x with itself may be taken away by a driver that expects no such numbers.

fn is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
