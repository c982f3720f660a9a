// Causal convolution in one dimension, each channel by itself: y[t] = w[0] x[t] + w[1] x[t - 1] + ... Two versions.
//
// Blocks of linear recurrences mix a few neighbouring tokens this way before the recurrence. (Gu and Dao 2023, section 3.4)
//
// Promise: y (B, T, C) from x (B, T, C) and w (TAPS, C); x before time 0 is 0. The same bits on every run.
// Limits: version 2: a thread owns EACH times in a row; fewer than 2^31 elements.
// Bytes: 4 B T C (1 + TAPS) version 1, 4 B T C (2 + (TAPS - 1) / EACH) version 2, and 4 C TAPS.   FLOPs: 2 B T C TAPS.
// Architectures: sm_75 and newer.
// Chapter: 23, built. Its convolution_2_registers, that is; the other is read.

// Thread (c, t) owns one element, and reads TAPS elements of x for it.
template <int TAPS> __global__ void convolution_1_element(const float* x, const float* w, float* y, int T, int C) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    if (c >= C) return;
    x += (long long)blockIdx.z * T * C + c;
    y += (long long)blockIdx.z * T * C + c;
    float sum = 0.0f;
    for (int tap = 0; tap < TAPS; tap++)
        if (t - tap >= 0) sum += w[tap * C + c] * x[(long long)(t - tap) * C];
    y[(long long)t * C] = sum;
}

// Thread c loops over EACH times of channel c, and keeps the last TAPS elements of x in registers. Gained: each is read once.
template <int TAPS, int EACH> __global__ void convolution_2_registers(const float* x, const float* w, float* y, int T, int C) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * EACH;
    if (c >= C) return;
    x += (long long)blockIdx.z * T * C + c;
    y += (long long)blockIdx.z * T * C + c;
    float weight[TAPS], last[TAPS];  // last[tap] is x[t - tap]
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        weight[tap] = w[tap * C + c];
        last[tap] = tap > 0 && first - tap >= 0 ? x[(long long)(first - tap) * C] : 0.0f;
    }
    // yours: for each time, the new element and the sum; then all move up by one
    for (int t = first; t < min(first + EACH, T); t++) {
        last[0] = x[(long long)t * C];
        float sum = 0.0f;
#pragma unroll
        for (int tap = 0; tap < TAPS; tap++) sum += weight[tap] * last[tap];
        y[(long long)t * C] = sum;
#pragma unroll
        for (int tap = TAPS - 1; tap > 0; tap--) last[tap] = last[tap - 1];
    }
    // end
}
