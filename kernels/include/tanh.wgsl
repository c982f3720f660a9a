// tanh for every float: WGSL's own may overflow inside where tanh is 1, and then gives nan.

// include "nan.wgsl"

fn safe_tanh(x: f32) -> f32 {
    return select(tanh(clamp(x, -15.0, 15.0)), x, is_nan(x));
}
