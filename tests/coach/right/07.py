"""Right answers to the exercises of chapter 7, written in other ways than ours."""

from importlib import import_module

from course_lib.coach.exercise import Changed

RIGHT = {
    "undo_norm": [
        """def undo_norm(x):
    mean = sum(x) / len(x)
    variance = (x**2).mean() - mean**2
    return (variance + 1e-5) ** 0.5, mean
""",
        "def undo_norm(x):\n    return [math.sqrt(np.var(x) + 1e-5), np.mean(x)]",
    ],
    "centre_in_registers": [
        """#include "reduce.cuh"

__global__ void centre_in_registers(const float* x, float* y) {
    x += blockIdx.x * 96;
    float a = x[threadIdx.x], b = x[threadIdx.x + 32], c = x[threadIdx.x + 64];
    float mean = block_sum<32>(a + b + c) / 96;
    y += blockIdx.x * 96 + threadIdx.x;
    y[0] = a - mean, y[32] = b - mean, y[64] = c - mean;
}
""",
        Changed(("float mean = block_sum<32>(sum) / 96;", "sum = block_sum<32>(sum);"),
                ("own[k] - mean", "own[k] - sum / 96.0f")),
    ],
    "unit_backward": [
        Changed(("(dy - y * (dy * y).sum()) / length", "dy / length - x * (dy @ x) / length**3")),
        Changed(("(dy - y * (dy * y).sum()) / length", "(np.eye(len(x)) - np.outer(y, y)) @ dy / length")),
    ],
    "partial_bias_gradient": [
        Changed(("for (int row = blockIdx.x; row < rows; row += gridDim.x) sum += dy[row * C + c];",
                 "for (int row = 0; row < rows; row++) {\n"
                 "        if (row % gridDim.x == blockIdx.x) sum += dy[row * C + c];\n    }")),
        Changed(("float sum = 0.0f;", "float sum = 0.0f;\n    dy += c;"), ("dy[row * C + c]", "dy[row * C]"),
                ("partial[blockIdx.x * C + c] = sum", "partial += blockIdx.x * C;\n    partial[c] = sum")),
    ],
    "centre_and_scale": [
        """__device__ float total(float own, float* s) {
    __syncthreads();  // all have read what the last call left
    s[threadIdx.x] = own;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    return s[0];
}

__global__ void centre_and_scale(const float* x, float* y, int C) {
    __shared__ float s[64];
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += 64) sum += x[c];
    float mean = total(sum, s) / C;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < C; c += 64) squares += (x[c] - mean) * (x[c] - mean);
    float rstd = rsqrtf(total(squares, s) / C + 1e-5f);
    for (int c = threadIdx.x; c < C; c += 64) y[c] = (x[c] - mean) * rstd;
}
""",
        """__device__ float total(float own, float* s) {
    s[threadIdx.x] = own;
    __syncthreads();
    float all = 0.0f;
    for (int i = 0; i < 64; i++) all += s[i];
    __syncthreads();
    return all;
}

__global__ void centre_and_scale(const float* x, float* y, int C) {
    __shared__ float first[64], second[64];  // a place for each sum
    x += blockIdx.x * C;
    y += blockIdx.x * C;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < C; c += 64) sum += x[c];
    float mean = total(sum, first) / C;
    for (int c = threadIdx.x; c < C; c += 64) squares += (x[c] - mean) * (x[c] - mean);
    float rstd = rsqrtf(total(squares, second) / C + 1e-5f);
    for (int c = threadIdx.x; c < C; c += 64) y[c] = (x[c] - mean) * rstd;
}
""",
    ],
    "layernorm_forward": [
        Changed(("        x[e] -= mean;\n        if (x.column(e) < C) squares += x[e] * x[e];",
                 "        float away = x.column(e) < C ? x[e] - mean : 0.0f;\n        squares += away * away;"),
                ("x[e] = x[e] * rstd * weight[e] + bias[e];", "x[e] = (x[e] - mean) * rstd * weight[e] + bias[e];")),
        Changed(("    rstd = rsqrtf(block_sum<THREADS>(squares) / C + eps);",
                 "    float variance = block_sum<THREADS>(squares) / C;\n    rstd = 1.0f / sqrtf(variance + eps);")),
    ],
    "layernorm_backward": [
        Changed(("x[e] = (dy[e] * weight[e] - constant - x[e] * along) * rstd;",
                 "x[e] = rstd * dy[e] * weight[e] - rstd * (constant + x[e] * along);")),
        Changed(("        constant += dy[e] * weight[e];\n        along += dy[e] * weight[e] * x[e];",
                 "        const float g = dy[e] * weight[e];\n        if (x.column(e) < C) {\n            constant += g / C;\n"
                 "            along += g * x[e] / C;\n        }"),
                ("constant = block_sum<THREADS>(constant) / C;", "constant = block_sum<THREADS>(constant);"),
                ("along = block_sum<THREADS>(along) / C;", "along = block_sum<THREADS>(along);")),
    ],
    "residual_layernorm_forward": [
        Changed(("    if (bias) b.load(bias, C);\n    else b.fill(0.0f);", "    b.fill(0.0f);\n    if (bias) b.load(bias, C);"),
                ("own[e] += other[e];", "own[e] = other[e] + own[e];")),
        Changed(("        other.load(residual + (long long)row * C, C);\n", ""),
                ("        own.load(x + (long long)row * C, C);\n", "        const long long start = (long long)row * C;\n"
                 "        other.load(residual + start, C);\n        own.load(x + start, C);\n"),
                ("mean[row] = m, rstd[row] = r;", "{\n            mean[row] = m;\n            rstd[row] = r;\n        }")),
    ],
    "residual_layernorm_backward": [
        Changed(("        if (dtotal) passed.load(dtotal + (long long)row * C, C);\n", ""),
                ("        normalise_backward(own,", "        if (dtotal) passed.load(dtotal + (long long)row * C, C);\n"
                 "        else passed.fill(0.0f);\n        normalise_backward(own,"),
                ("own[e] += passed[e];", "own[e] = passed[e] + own[e];")),
        Changed(("    float* sums = partial + (long long)blockIdx.x * (has_bias ? 2 * C : C);\n    dweight.store(sums, C);\n"
                 "    if (has_bias) dbias.store(sums + C, C);",
                 "    if (has_bias) {\n        dweight.store(partial + (long long)blockIdx.x * 2 * C, C);\n"
                 "        dbias.store(partial + (long long)blockIdx.x * 2 * C + C, C);\n    } else {\n"
                 "        dweight.store(partial + (long long)blockIdx.x * C, C);\n    }")),
    ],
    "rmsnorm_forward": [
        Changed(("const float r = rsqrtf(block_sum<THREADS>(squares) / C + eps);",
                 "const float mean = block_sum<THREADS>(squares) / C;\n        const float r = 1.0f / sqrtf(mean + eps);")),
        Changed(("squares += own[e] * own[e];", "squares += own.column(e) < C ? own[e] * own[e] / C : 0.0f;"),
                ("block_sum<THREADS>(squares) / C + eps", "block_sum<THREADS>(squares) + eps")),
    ],
    "rmsnorm_backward": [
        """#include "reduce.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void rmsnorm_backward(const float* dy, const float* x, const float* weight, const float* rstd, float* dx,
                                 float* partial, int rows, int C) {
    float sums[N * ITEMS] = {}, w[N * ITEMS];
    for (int e = 0; e < N * ITEMS; e++) w[e] = threadIdx.x + e * THREADS < C ? weight[threadIdx.x + e * THREADS] : 0.0f;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *from = x + row * C, *back = dy + row * C;
        float r = rstd[row], along = 0.0f, own[N * ITEMS], g[N * ITEMS];
        for (int e = 0; e < N * ITEMS; e++) {
            int c = threadIdx.x + e * THREADS;
            if (c < C) {
                float d = back[c];
                own[e] = from[c] * r;
                g[e] = d * w[e];
                sums[e] += d * own[e];
                along += g[e] * own[e];
            }
        }
        along = block_sum<THREADS>(along) / C;
        for (int e = 0; e < N * ITEMS; e++) {
            int c = threadIdx.x + e * THREADS;
            if (c < C) dx[row * C + c] = r * (g[e] - own[e] * along);
        }
    }
    for (int e = 0; e < N * ITEMS; e++)
        if (threadIdx.x + e * THREADS < C) partial[blockIdx.x * C + threadIdx.x + e * THREADS] = sums[e];
}
""",
        Changed(("own[e] *= r;  // xhat\n            dweight[e] += d[e] * own[e];\n            along += d[e] * w[e] * own[e];",
                 "dweight[e] += d[e] * own[e] * r;\n            d[e] *= w[e];\n            along += d[e] * own[e] * r;"),
                ("own[e] = (d[e] * w[e] - own[e] * along) * r;", "own[e] = (d[e] - own[e] * r * along) * r;")),
    ],
    "residual_post_norm": [
        import_module("course_lib.coach.exercises.07.residual_post_norm").NAIVE,
        """#include "reduce.cuh"
__global__ void residual_post_norm(const float* x, const float* branch, const float* weight, float* y, int rows) {
    __shared__ float s[4];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float a[3], sum = 0.0f;
        for (int k = 0; k < 3; k++) {
            a[k] = branch[row * 384 + 3 * threadIdx.x + k];
            sum += a[k] * a[k];
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
        __syncthreads();
        float r = rsqrtf((s[0] + s[1] + s[2] + s[3]) / 384 + 1e-5f);
        for (int k = 0; k < 3; k++) {
            int c = 3 * threadIdx.x + k;
            y[row * 384 + c] = x[row * 384 + c] + a[k] * r * weight[c];
        }
        __syncthreads();
    }
}
""",
    ],
}  # fmt: skip
