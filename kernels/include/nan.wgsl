// nan, recognised by its bits: a driver that assumes that there are none may optimise x != x away.

fn is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
