// GELU in the tanh form (Hendrycks and Gimpel 2016): x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its gradient.

// include "tanh.wgsl"

const ROOT_2_PI = 0.7978845608;

fn gelu(x: f32) -> f32 {
    return 0.5 * x * (1.0 + safe_tanh(ROOT_2_PI * (x + 0.044715 * x * x * x)));
}

fn gelu_grad(x: f32) -> f32 {
    let t = safe_tanh(ROOT_2_PI * (x + 0.044715 * x * x * x));
    let du = ROOT_2_PI * (1.0 + 3.0 * 0.044715 * x * x);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * du;
}
