"""Right answers to the exercises of chapter 6, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "count_above": [
        Changed(("if (i < n && x[i] > limit) atomicAdd(count, 1);",
                 "if (i >= n) return;\n    atomicAdd(&count[0], x[i] > limit ? 1 : 0);")),
        Changed(("if (i < n && x[i] > limit) atomicAdd(count, 1);",
                 "if (i == 0) {\n        int found = 0;\n        for (int k = 0; k < n; k++) found += x[k] > limit;\n"
                 "        count[0] = found;\n    }")),
    ],
    "roll_in_place": [
        Changed(("if (t < n) part[t] = x[t];", "part[t] = t < n ? x[t] : 0.0f;"),
                ("part[(t + 1) % n]", "part[t < n - 1 ? t + 1 : 0]")),
        Changed(("if (t < n) part[t] = x[t];", "float next = t < n ? x[(t + 1) % n] : 0.0f;"),
                ("part[(t + 1) % n]", "next")),
        Changed(("part[t] = x[t]", "part[(t + n - 1) % n] = x[t]"), ("part[(t + 1) % n]", "part[t]")),
    ],
    "sum_of_8_lanes": [
        Changed(("int step = 4; step > 0; step /= 2", "int step = 1; step < 8; step *= 2")),
        Changed(("for (int step = 4; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffff, v, step);",
                 "v += __shfl_xor_sync(0xffffffff, v, 4);\n    v += __shfl_xor_sync(0xffffffff, v, 2);\n"
                 "    v += __shfl_xor_sync(0xffffffff, v, 1);")),
    ],
    "see_weighted": [
        """def see_weighted(m, l, total, x, value):
    if x <= m:
        weight = math.exp(x - m)
        return m, l + weight, total + weight * value
    factor = math.exp(m - x)
    return x, l * factor + 1, total * factor + value
""",
        """def see_weighted(m, l, total, x, value):
    new = np.maximum(m, x)
    old, own = np.exp(np.array([m, x]) - new)
    return [new, l * old + own, total * old + own * value]
""",
    ],
    "row_max": [
        """#include "ops.cuh"

// Down instead of across: then lane 0 of the group tells the others.
template <int LANES, class Op, class T> __device__ T warp_reduce(T v) {
    for (int step = LANES / 2; step > 0; step /= 2) v = Op::of(v, __shfl_down_sync(0xffffffffu, v, step, LANES));
    return __shfl_sync(0xffffffffu, v, 0, LANES);
}

template <int THREADS, int N> __global__ void row_max(const float* x, float* y, int C) {
    __shared__ float part[THREADS];
    float top = -INFINITY;
    for (int c = threadIdx.x; c < C; c += THREADS) top = fmaxf(top, x[blockIdx.x * C + c]);
    part[threadIdx.x] = top;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
""",
        Changed(("for (int step = LANES / 2; step > 0; step /= 2)", "for (int step = 1; step < LANES; step *= 2)"),
                ("if (threadIdx.x == 0) y[blockIdx.x] = m;", "if (threadIdx.x == THREADS - 1) y[blockIdx.x] = m;")),
    ],
    "softmax_online": [
        Changed(("if (x <= part.m) return {part.m, part.l + (x == -INFINITY ? 0.0f : expf(x - part.m))};\n    "
                 "return {x, part.l * expf(part.m - x) + 1.0f};",
                 "if (x == -INFINITY) return part;\n    return merge(part, {x, 1.0f});")),
        """#include "reduce.cuh"

__device__ int columns(int row, int S, int T) { return T > 0 ? S - T + row % T + 1 : S; }

template <int THREADS> __global__ void softmax_2_online(const float* x, float* y, int S, int T) {
    int seen = columns(blockIdx.x, S, T), first = blockIdx.x * S;
    float top = -1e30f, total = 0.0f;
    for (int c = threadIdx.x; c < seen; c += THREADS) {
        float own = x[first + c], next = fmaxf(top, own);
        total = total * expf(top - next) + expf(own - next);
        top = next;
    }
    float all = block_max<THREADS>(top);
    total = block_sum<THREADS>(total * expf(top - all));
    for (int c = threadIdx.x; c < S; c += THREADS) {
        if (c < seen) {
            y[first + c] = expf(x[first + c] - all) / total;
        } else {
            y[first + c] = 0.0f;
        }
    }
}
""",
    ],
    "softmax_backward_kernel": [
        """template <int THREADS> __global__ void softmax_backward_1_two_pass(const float* dy, const float* y, float* dx, int S) {
    __shared__ float part[THREADS];
    int first = blockIdx.x * S, t = threadIdx.x;
    part[t] = 0.0f;
    for (int c = t; c < S; c += THREADS) part[t] += y[first + c] * dy[first + c];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] += part[t + half];
    }
    __syncthreads();
    for (int c = t; c < S; c += THREADS) dx[first + c] = y[first + c] * dy[first + c] - y[first + c] * part[0];
}
""",
        Changed(("dx[c] = y[c] * (dy[c] - dot)", "dx[c] = dy[c] * y[c] - dot * y[c]")),
    ],
    "min_max_scale": [
        """__global__ void min_max_scale(const float* x, float* y, int C) {
    __shared__ float highs[64], lows[64];
    const float* row = x + blockIdx.x * C;
    int t = threadIdx.x;
    highs[t] = -INFINITY;
    lows[t] = INFINITY;
    for (int c = t; c < C; c += 64) {
        highs[t] = fmaxf(highs[t], row[c]);
        lows[t] = fminf(lows[t], row[c]);
    }
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            highs[t] = fmaxf(highs[t], highs[t + half]);
            lows[t] = fminf(lows[t], lows[t + half]);
        }
    }
    __syncthreads();
    for (int c = t; c < C; c += 64) y[blockIdx.x * C + c] = (row[c] - lows[0]) / (highs[0] - lows[0]);
}
""",
        """#include "reduce.cuh"

__global__ void min_max_scale(const float* x, float* y, int C) {
    const float* row = x + blockIdx.x * C;
    float high = -INFINITY, low = INFINITY;
    for (int c = threadIdx.x; c < C; c += 64) {
        high = fmaxf(high, row[c]);
        low = fminf(low, row[c]);
    }
    float top = block_max<64>(high), bottom = -block_max<64>(-low);
    for (int c = threadIdx.x; c < C; c += 64) y[blockIdx.x * C + c] = (row[c] - bottom) / (top - bottom);
}
""",
    ],
    "reduce_columns": [
        """#include "ops.cuh"

template <class Op, class T, class A>
__global__ void reduce_columns(const T* x, A* y, A nothing, int outer, int K, int inner, int parts, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int matrix = i / inner, column = i - matrix * inner;
    if (matrix >= outer) return;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
        const T* next = x + (matrix * K + part * each) * inner + column;
        int left = K - part * each < each ? K - part * each : each;
        A result = nothing;
        while (left-- > 0) {
            result = Op::of((A)*next, result);
            next += inner;
        }
        y[(matrix * parts + part) * inner + column] = result;
    }
}
""",
        Changed(("const int end = min((part + 1) * each, K);\n        for (int k = part * each; k < end; k++)",
                 "for (int k = part * each; k < part * each + each && k < K; k++)")),
    ],
    "argmax": [
        """template <class T> __global__ void argmax(const T* x, long long* y, int results, int n, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= results) return;
    const T* place = x + i / inner * n * inner + i % inner;
    long long best = 0;
    T top = place[0];
    for (int k = 0; k < n; k++, place += inner) {
        if (top != top) break;
        if (*place > top || *place != *place) {
            top = *place;
            best = k;
        }
    }
    y[i] = best;
}
""",
        Changed(("value > largest || (value != value && largest == largest)", "largest == largest && !(value <= largest)")),
    ],
    "reduce_rows": [
        """#include "reduce.cuh"
#include "vector.cuh"

template <class Op, class T, class A, int N, int LANES>
__global__ void reduce_rows(const T* x, A* y, A nothing, int rows, int K, int parts, int each) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread & (LANES - 1), row = thread / LANES / parts;
    int part = thread / LANES - row * parts, left = row < rows ? (K - part * each < each ? K - part * each : each) : 0;
    const Pack<T, N>* packs = (const Pack<T, N>*)(x + (row < rows ? row * K + part * each : 0));
    A result = nothing;
    for (int k = lane; N * k < left; k += LANES) {
        Pack<T, N> p = packs[k];
        for (int j = 0; j < N; j++) result = Op::of((A)p.item[j], result);
    }
    for (int step = 1; step < LANES; step *= 2) result = Op::of(result, __shfl_xor_sync(0xffffffffu, result, step));
    if (row < rows && lane == 0) y[row * parts + part] = result;
}
""",
        Changed(("if (lane == 0 && own", "if (own")),  # all lanes write the same
        Changed(("const int end = min(begin + each, K);\n        for (int k = begin + N * lane; k < end; k += N * LANES)",
                 "for (int k = begin + N * lane; k < begin + each && k < K; k += N * LANES)")),
    ],
    "sum_4_vectors": [
        Changed(("sum += (p.item[0] + p.item[1]) + (p.item[2] + p.item[3]);", "for (int j = 0; j < 4; j++) sum += p.item[j];"),
                ("if (first < n % 4) sum += x[n / 4 * 4 + first];", "if (n - 1 - first >= n / 4 * 4) sum += x[n - 1 - first];")),
        """#include "reduce.cuh"
#include "vector.cuh"

template <int THREADS> __global__ void sum_4_vectors(const float* x, float* partial, int n) {
    __shared__ float s[THREADS];
    int t = threadIdx.x;
    s[t] = 0.0f;
    for (int i = 4 * (blockIdx.x * THREADS + t); i < n; i += 4 * gridDim.x * THREADS) {
        if (i + 4 <= n && i / 4 / THREADS % gridDim.x == blockIdx.x) {
            Pack<float, 4> p = *(const Pack<float, 4>*)(x + i);
            s[t] += p.item[0] + p.item[1] + p.item[2] + p.item[3];
        }
    }
    if (blockIdx.x == 0 && t == 0)
        for (int i = n - n % 4; i < n; i++) s[0] += x[i];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) partial[blockIdx.x] = s[0];
}
""",
    ],
    "softmax_forward": [
        """#include "reduce.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void softmax_forward(const float* x, float* y, int rows, int S, int T) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int seen = T > 0 ? S - T + row % T + 1 : S;
        float own[N * ITEMS], top = -INFINITY, total = 0.0f;
        for (int k = 0; k < N * ITEMS; k++) {
            int c = k * THREADS + threadIdx.x;
            own[k] = c < seen ? x[row * S + c] : -INFINITY;
            top = fmaxf(top, own[k]);
        }
        top = block_max<THREADS>(top);
        for (int k = 0; k < N * ITEMS; k++) total += expf(own[k] - top);
        total = block_sum<THREADS>(total);
        for (int k = 0; k < N * ITEMS; k++) {
            int c = k * THREADS + threadIdx.x;
            if (c < S) y[row * S + c] = expf(own[k] - top) / total;
        }
    }
}
""",
        """#include "reduce.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void softmax_forward(const float* x, float* y, int rows, int S, int T) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int seen = T > 0 ? S - T + row % T + 1 : S;
        float top = -INFINITY, total = 0.0f;
        for (int c = threadIdx.x; c < seen; c += THREADS) top = fmaxf(top, x[row * S + c]);
        top = block_max<THREADS>(top);
        for (int c = threadIdx.x; c < seen; c += THREADS) total += expf(x[row * S + c] - top);
        total = block_sum<THREADS>(total);
        for (int c = threadIdx.x; c < S; c += THREADS) y[row * S + c] = c < seen ? expf(x[row * S + c] - top) / total : 0.0f;
    }
}
""",
    ],
}  # fmt: skip
