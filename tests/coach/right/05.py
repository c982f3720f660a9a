"""Right answers to the exercises of chapter 5, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "least_seconds": [
        """def least_seconds(operations, moved, bandwidth, peak):
    if operations / moved < peak / bandwidth:
        return moved / bandwidth
    return operations / peak
""",
        """def least_seconds(operations, moved, bandwidth, peak):
    return float(np.max([moved / bandwidth, operations / peak]))
""",
    ],
    "weighted_square": [
        Changed(("float d = x[i] - target[i];", "float s = x[i];\n    s -= target[i];\n    s *= s;"),
                ("weight[i] * d * d", "s * weight[i]")),
        Changed(("weight[i] * d * d", "weight[i] * powf(d, 2.0f)")),
    ],
    "reverse_fours": [
        Changed(("*(const float4*)(x + 4 * i)", "((const float4*)x)[i]"),
                ("*(float4*)(y + 4 * i) = back", "((float4*)y)[i] = back")),
        Changed(("float4 back = {p.w, p.z, p.y, p.x};", "float first = p.x, second = p.y;\n        "
                 "p.x = p.w;\n        p.w = first;\n"
                 "        p.y = p.z;\n        p.z = second;"), ("= back", "= p")),
        Changed(("float4 back = {p.w, p.z, p.y, p.x};", "float4* to = (float4*)y + i;"),
                ("*(float4*)(y + 4 * i) = back", "*to = make_float4(p.w, p.z, p.y, p.x)")),
    ],
    "product_backward": [
        Changed(("da[i] = dy[i] * b[i];", "float up = dy[i];\n    da[i] = b[i] * up;"),
                ("db[i] = dy[i] * a[i]", "db[i] = a[i] * up")),
        Changed(("da[i] = dy[i] * b[i];\n    db[i] = dy[i] * a[i];",
                 "for (int k = i; k < n; k += gridDim.x * blockDim.x) {\n        da[k] = dy[k] * b[k];\n"
                 "        db[k] = dy[k] * a[k];\n    }")),
    ],
    "gelu_naive": [
        """__global__ void gelu_naive(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float own = x[i], cube = own * own * own;
        y[i] = 0.5f * own * (1.0f + tanhf(0.7978845608f * (own + 0.044715f * cube)));
    }
}
""",
        """__device__ float gate(float x) {
    return 1.0f / (1.0f + expf(-1.5957691216f * (x + 0.044715f * powf(x, 3.0f))));
}

__global__ void gelu_naive(const float* x, float* y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    y[t] = x[t] * gate(x[t]);
}
""",
    ],
    "gelu_forward": [
        """#include "vector.cuh"

__device__ float gelu(float x) {
    float half_u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(half_u));
}

template <int N> __global__ void gelu_forward(const float* x, float* y, int n) {
    int packs = n / N, threads = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = first; k < packs; k += threads) {
        Pack<float, N> p = ((const Pack<float, N>*)x)[k];
        for (int j = 0; j < N; j++) p.item[j] = gelu(p.item[j]);
        ((Pack<float, N>*)y)[k] = p;
    }
    for (int i = packs * N + first; i < n; i += threads) y[i] = gelu(x[i]);
}
""",
        Changed(("if (i + N <= n) {", "if (i > n) return;\n    if (n - i >= N) {")),
    ],
    "bias_gelu_forward": [
        """#include "vector.cuh"

__device__ float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

template <int N> __global__ void bias_gelu_forward(const float* x, const float* bias, float* y, int rows, int F) {
    int pack = blockIdx.x * blockDim.x + threadIdx.x, packs = F / N, row = blockIdx.y;
    if (pack >= packs) return;
    Pack<float, N> own = ((const Pack<float, N>*)bias)[pack];
    while (row < rows) {
        Pack<float, N> in = ((const Pack<float, N>*)x)[row * packs + pack], out;
        for (int j = 0; j < N; j++) out.item[j] = gelu(own.item[j] + in.item[j]);
        ((Pack<float, N>*)y)[row * packs + pack] = out;
        row = row + gridDim.y;
    }
}
""",
        Changed(("for (int row = blockIdx.y; row < rows; row += gridDim.y) {",
                 "for (int k = 0; k * gridDim.y + blockIdx.y < rows; k++) {\n        int row = k * gridDim.y + blockIdx.y;")),
    ],
    "gelu_backward": [
        """#include "vector.cuh"

__device__ float slope(float x) {
    float u = 1.5957691216f * (x + 0.044715f * x * x * x);
    float t = tanhf(0.5f * u);
    float du = 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * du;
}

template <int N> __global__ void gelu_backward(const float* dy, const float* x, float* dx, int n) {
    for (int i = N * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += N * gridDim.x * blockDim.x) {
        int count = min(N, n - i);
        Pack<float, N> p, d;
        if (count == N) p = *(const Pack<float, N>*)(x + i), d = *(const Pack<float, N>*)(dy + i);
        for (int j = 0; j < count; j++) dx[i + j] = count == N ? d.item[j] * slope(p.item[j]) : dy[i + j] * slope(x[i + j]);
    }
}
""",
        Changed(("return gate + x * gate * (1.0f - gate) * 1.5957691216f * (1.0f + 0.134145f * x * x);",
                 "float own = x * (1.0f - gate) * (1.5957691216f + 0.2140644488f * x * x);\n    return gate * (1.0f + own);")),
    ],
    "copy_rows": [
        """template <class T>
__global__ void copy_rows(const T* x, T* y, long long x_row, long long y_row, int rows, int columns) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, across = gridDim.x * blockDim.x;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y) {
        const T* from = x + row * x_row;
        T* to = y + row * y_row;
        for (int column = first; column < columns; column += across) to[column] = from[column];
    }
}
""",
        Changed(("if (column >= columns) return;", "if (column > columns - 1) return;"),
                ("y[row * y_row + column] = x[row * x_row + column];",
                 "*(y + row * y_row + column) = *(x + row * x_row + column);")),
    ],
    "swiglu_forward": [
        """#include "vector.cuh"

template <int N> __global__ void swiglu_forward(const float* x, float* y, int size, int F) {
    int packs = F / N, threads = gridDim.x * blockDim.x;
    const Pack<float, N>* from = (const Pack<float, N>*)x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < size / N; k += threads) {
        int row = k / packs;
        Pack<float, N> g = from[k + row * packs], u = from[k + (row + 1) * packs], out;
        for (int j = 0; j < N; j++) {
            float z = g.item[j];
            out.item[j] = z / (1.0f + expf(-z)) * u.item[j];
        }
        ((Pack<float, N>*)y)[k] = out;
    }
}
""",
        Changed(("const long long gate = i / F * 2 * F + i % F, up = gate + F;",
                 "const long long row = i / F, gate = i + row * F, up = i + (row + 1) * F;")),
    ],
    "binary": [
        Changed(("if (i + N <= n) {", "const bool whole = n - i >= N;\n    if (whole) {"),
                ("for (; i < n; i++) y[i] = Op::of(a[i], b[i]);", "while (i < n) {\n            y[i] = Op::of(a[i], "
                                                                  "b[i]);\n            i += 1;\n        }")),
        Changed(("long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);\n    if (i + N <= n) {",
                 "int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x, i = n - n % N;\n    for "
                 "(int k = me; k < n / N; k += threads) {"),
                ("(a + i)", "(a + k * N)"), ("(b + i)", "(b + k * N)"), ("(y + i)", "(y + k * N)"),
                ("} else {\n        for (; i < n; i++)", "}\n    if (me == 0) {\n        for (; i < n; i++)")),
    ],
    "swiglu_backward": [
        """template <int N> __global__ void swiglu_backward(const float* dy, const float* x, float* dx, int size, int F) {
    int first = N * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + N && i < size; i++) {
        int gate = i + i / F * F, up = gate + F;
        float e = expf(-x[gate]), s = 1.0f / (1.0f + e), silu = x[gate] * s;
        dx[up] = dy[i] * silu;
        dx[gate] = dy[i] * x[up] * (s + silu * (1.0f - s));
    }
}
""",
        Changed(("d.item[j] * u.item[j] * s * (1.0f + z * (1.0f - s))", "d.item[j] * u.item[j] * (s + z * s - z * s * s)")),
    ],
    "dropout": [
        """#include "philox.cuh"

extern "C" __global__ void dropout(const float* x, const unsigned* random, float* y, unsigned long long threshold, float scale,
                                   unsigned site, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 words = philox(make_uint4(i, 0, random[2], site), make_uint2(random[0], random[1]));
    unsigned own[4] = {words.x, words.y, words.z, words.w};
    for (int j = 0; j < 4; j++) {
        int k = 4 * i + j;
        if (k < n) y[k] = own[j] < threshold ? 0.0f : scale * x[k];
    }
}
""",
        """#include "philox.cuh"

extern "C" __global__ void dropout(const float* x, const unsigned* random, float* y, unsigned long long threshold, float scale,
                                   unsigned site, int n) {
    for (int k = 4 * (blockIdx.x * blockDim.x + threadIdx.x), end = min(k + 4, n); k < end; k++) {
        uint4 words = philox(make_uint4(k / 4, 0, random[2], site), make_uint2(random[0], random[1]));
        unsigned word = k % 4 == 0 ? words.x : k % 4 == 1 ? words.y : k % 4 == 2 ? words.z : words.w;
        y[k] = x[k] * (word >= threshold ? scale : 0.0f);
    }
}
""",
    ],
    "unary": [
        Changed(("if (i + N <= n) {", "if (n - i >= N) {")),
        Changed(("    if (i + N <= n) {\n        Pack<T, N> p = *(const Pack<T, N>*)(x + i);\n        for (int j = 0; j < N; "
                 "j++) "
                 "p.item[j] = Op::of(p.item[j]);\n        *(Pack<T, N>*)(y + i) = p;\n    } else {\n        for (; i < n; i++) "
                 "y[i] = Op::of(x[i]);\n    }", "    for (int j = 0; j < N && i + j < n; j++) y[i + j] = Op::of(x[i + j]);")),
    ],
    "compare": [
        Changed(("    if (i < n) y[i] = Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)]);",
                 "    if (i >= n) return;\n    long long from_a = 0, from_b = 0, rest = i;\n"
                 "    for (int axis = view_a.axes - 1; axis >= 0; axis--) {\n"
                 "        from_a += rest % view_a.sizes[axis] * view_a.strides[axis];\n"
                 "        from_b += rest % view_b.sizes[axis] * view_b.strides[axis];\n"
                 "        rest /= view_a.sizes[axis];\n    }\n    y[i] = Op::of(a[from_a], b[from_b]);")),
        Changed(("    if (i < n) y[i] = Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)]);",
                 "    for (; i < n; i += (long long)gridDim.x * blockDim.x) {\n        T left = a[offset_of(view_a, i)], right = "
                 "b[offset_of(view_b, i)];\n        y[i] = Op::of(left, right);\n    }")),
    ],
    "where": [
        Changed(("    if (i < n) y[i] = condition[offset_of(view_c, i)] ? a[offset_of(view_a, i)] : b[offset_of(view_b, i)];",
                 "    if (i >= n) return;\n"
                 "    if (condition[offset_of(view_c, i)]) {\n"
                 "        y[i] = a[offset_of(view_a, i)];\n"
                 "    } else {\n"
                 "        y[i] = b[offset_of(view_b, i)];\n"
                 "    }")),
        Changed(("    if (i < n) y[i] = condition[offset_of(view_c, i)] ? a[offset_of(view_a, i)] : b[offset_of(view_b, i)];",
                 "    if (i >= n) return;\n"
                 "    T chosen = b[offset_of(view_b, i)];\n"
                 "    if (condition[offset_of(view_c, i)]) chosen = a[offset_of(view_a, i)];\n"
                 "    y[i] = chosen;")),
    ],
    "cast": [
        Changed(("return x != (From)0;", "return x < (From)0 || x > (From)0;"),
                ("    if (i < n) y[i]", "    if (i >= n) return;\n    y[i]")),
        Changed(("return x != (From)0;", "return x ? true : false;"),
                ("    if (i < n) y[i]", "    for (; i < n; i += gridDim.x * blockDim.x) y[i]")),
    ],
    "fill": [
        Changed(("    if (i < n) y[i] = value;", "    if (i >= n) return;\n    y[i] = value;")),
        """template <class T> __global__ void fill(T* y, T value, int n) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) y[i] = value;
}
""",
    ],
    "copy": [
        """#include "vector.cuh"

template <class T, int N> __global__ void copy(const T* x, T* y, int n) {
    int me = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int k = me; k < n / N; k += threads) ((Pack<T, N>*)y)[k] = ((const Pack<T, N>*)x)[k];
    for (int i = n / N * N + me; i < n; i += threads) y[i] = x[i];
}
""",
        Changed(("if (i + N <= n) {", "if (n - i >= N) {")),
    ],
    "strided_write": [
        Changed(("    if (i < n) x[offset + offset_of(view, i)] = values[i];",
                 "    if (i >= n) return;\n    long long at = offset, rest = i;\n    for (int axis = view.axes - 1; axis >= 0; "
                 "axis--) {\n        at += rest % view.sizes[axis] * view.strides[axis];\n        rest /= "
                 "view.sizes[axis];\n    }\n    x[at] = values[i];")),
        Changed(("    if (i < n) x[offset + offset_of(view, i)] = values[i];",
                 "    for (x += offset; i < n; i += (long long)gridDim.x * blockDim.x) x[offset_of(view, i)] = values[i];")),
    ],
    "measure_roofline": [
        """def measure_roofline(work, device, clock, moved, flops):
    times = []
    device.synchronize()
    times.append(clock())
    work()
    device.synchronize()
    times.append(clock())
    return [moved / np.diff(times)[0], flops / moved]
""",
        Changed(("return moved / seconds, flops / moved", "return np.array([moved / seconds, flops / moved])")),
    ],
    "scale_device_scalar": [
        Changed(("    const float by = factor[0];\n", ""), ("p.item[j] *= by", "p.item[j] *= factor[0]"),
                ("by * x[i]", "*factor * x[i]")),
        Changed(("if (i + N <= n) {", "if (n - i >= N) {")),
    ],
    "residual_add": [
        """#include "vector.cuh"

template <int N> __global__ void residual_add(const float* x, const float* residual, float* y, int n) {
    int me = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, packs = n / N;
    for (int k = me; k < packs; k += threads) {
        Pack<float, N> sum = ((const Pack<float, N>*)residual)[k], p = ((const Pack<float, N>*)x)[k];
        for (int j = 0; j < N; j++) sum.item[j] = p.item[j] + sum.item[j];
        ((Pack<float, N>*)y)[k] = sum;
    }
    for (int i = packs * N + me; i < n; i += threads) y[i] = residual[i] + x[i];
}
""",
        Changed(("for (; i < n; i++) y[i] = x[i] + residual[i];", "while (i < n) {\n            y[i] = x[i] + residual[i];\n"
                                                                  "            i++;\n        }")),
    ],
    "bias_gelu_backward": [
        """#include "vector.cuh"

__device__ float slope(float x) {
    float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
}

template <int N>
__global__ void bias_gelu_backward(const float* dy, const float* x, const float* bias, float* dx, float* partial, int rows,
                                   int F) {
    int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int j = 0; j < N && f + j < F; j++) {
        float sum = 0.0f;
        for (int row = blockIdx.y; row < rows; row += gridDim.y) {
            float d = dy[row * F + f + j] * slope(x[row * F + f + j] + bias[f + j]);
            dx[row * F + f + j] = d;
            sum += d;
        }
        partial[blockIdx.y * F + f + j] = sum;
    }
}
""",
        Changed(("Pack<float, N> sum = {};", "Pack<float, N> sum;\n    for (int j = 0; j < N; j++) sum.item[j] = 0.0f;")),
    ],
}  # fmt: skip
