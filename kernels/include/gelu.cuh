// GELU in the tanh form (Hendrycks and Gimpel 2016): x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its gradient.
//
// (1 + tanh(u)) / 2 is the sigmoid of 2u, so GELU is x times a gate between 0 and 1, for one exponential; nothing cancels.
// Architectures: all.
#pragma once

__device__ __forceinline__ float gelu_gate(float x) {
    return 1.0f / (1.0f + expf(-1.5957691216f * (x + 0.044715f * x * x * x)));  // 2 sqrt(2/pi)
}

__device__ __forceinline__ float gelu(float x) { return x * gelu_gate(x); }

// d gelu / dx: the gate, plus x times the derivative of the gate.
__device__ __forceinline__ float gelu_grad(float x) {
    const float gate = gelu_gate(x);
    return gate + x * gate * (1.0f - gate) * 1.5957691216f * (1.0f + 0.134145f * x * x);
}
