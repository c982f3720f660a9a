// Sine and cosine to the last bits of a float: WGSL promises 11 bits of its own, and only between -pi and pi.

// sin(x + half pi): half is 0 for the sine, 0.5 for the cosine. |x| up to some thousands: beyond, a float is a coarse angle.
// x + half pi minus the nearest multiple of pi is found with pi in three parts; its sine by the Taylor series, whose next term is
// below 6e-8 up to pi / 2.
fn sine(x: f32, half: f32) -> f32 {
    let multiple = round(x * 0.318309886 + half);
    let times = multiple - half;
    let r = ((x - times * 3.140625) - times * 9.67502593994140625e-4) - times * 1.50995799e-7;
    let square = r * r;
    var series = -1.0 / 39916800.0;
    series = series * square + 1.0 / 362880.0;
    series = series * square - 1.0 / 5040.0;
    series = series * square + 1.0 / 120.0;
    series = series * square - 1.0 / 6.0;
    let value = r + r * square * series;
    return select(value, -value, fract(multiple * 0.5) != 0.0);
}
