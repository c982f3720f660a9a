"""Right answers to the exercises of chapter 4, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "matrix_element": [
        Changed(("y[0] = x[i * N + j];", "const float* row = x + i * N;\n    *y = row[j];")),
        Changed(("x[i * N + j]", "x[j + N * i]")),
    ],
    "write_index": [
        """__global__ void write_index(int* y) {
    y[blockDim.x * blockIdx.x + threadIdx.x] = threadIdx.x + blockDim.x * blockIdx.x;
}
""",
        Changed(("int i", "unsigned int i")),
    ],
    "scale": [
        """__global__ void scale(const float* x, float* y, float s, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        y[i] = s * x[i];
    }
}
""",
        Changed(("if (i < n) {", "if (i >= n) return;\n    {")),
    ],
    "gather_rows": [
        """__global__ void gather_rows(const float* table, const int* rows, float* y, int n, int C) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * C; i += gridDim.x * blockDim.x) {
        int t = i / C;
        y[i] = table[rows[t] * C + (i - t * C)];
    }
}
""",
        """__global__ void gather_rows(const float* table, const int* rows, float* y, int n, int C) {
    int threads = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int t = 0; t < n; t++) {
        const float* row = table + rows[t] * C;
        for (int c = first; c < C; c += threads) {
            y[t * C + c] = row[c];
        }
    }
}
""",
    ],
    "add_bias": [
        """__global__ void add_bias(const float* x, const float* bias, float* y, int M, int N) {
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < M; i += gridDim.y * blockDim.y) {
        for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < N; j += gridDim.x * blockDim.x) {
            y[i * N + j] = bias[j] + x[i * N + j];
        }
    }
}
""",
        """__global__ void add_bias(const float* x, const float* bias, float* y, int M, int N) {
    int row = blockDim.y * blockIdx.y + threadIdx.y;
    int column = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= M || column >= N) return;
    int place = row * N + column;
    float sum = x[place];
    sum += bias[place % N];
    y[place] = sum;
}
""",
    ],
    "smooth": [
        """__global__ void smooth(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int j = max(i - 1, 0); j <= min(i + 1, n - 1); j++) {
            sum += x[j];
        }
        y[i] = sum / 3.0f;
    }
}
""",
        """__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = x[i];
    if (i > 0) sum += x[i - 1];
    if (i + 1 < n) sum += x[i + 1];
    y[i] = sum * (1.0f / 3.0f);
}
""",
    ],
    "reverse": [
        """__global__ void reverse(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1 - i; i += gridDim.x * blockDim.x) {
        float last = x[n - 1 - i];
        x[n - 1 - i] = x[i];
        x[i] = last;
    }
}
""",
        """__global__ void reverse(float* x, int n) {
    int right = blockIdx.x * blockDim.x + threadIdx.x;
    int left = n - 1 - right;
    if (right < n && left < right) {
        float a = x[left], b = x[right];
        x[left] = b;
        x[right] = a;
    }
}
""",
        """__global__ void reverse(float* x, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n / 2; i++) {
            float saved = x[i];
            x[i] = x[n - 1 - i];
            x[n - 1 - i] = saved;
        }
    }
}
""",
    ],
    "outer_product": [
        """__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = first; e < M * N; e += gridDim.x * blockDim.x) {
        y[e] = a[e / N] * b[e % N];
    }
}
""",
        """__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    int threads = gridDim.x * blockDim.x;
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < N; j += 2 * threads) {
        int k = j + threads;
        float left = b[j];
        float right = k < N ? b[k] : 0.0f;
        for (int i = 0; i < M; i++) {
            float factor = a[i];
            y[i * N + j] = factor * left;
            if (k < N) {
                y[i * N + k] = factor * right;
            }
        }
    }
}
""",
    ],
    "roll": [
        """__global__ void roll(const float* x, float* y, int shift, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += gridDim.x * blockDim.x) {
        y[((i + shift) % n + n) % n] = x[i];
    }
}
""",
        """__global__ void roll(const float* x, float* y, int shift, int n) {
    while (shift < 0) shift += n;
    while (shift >= n) shift -= n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        y[i] = i < shift ? x[n - shift + i] : x[i - shift];
        i += gridDim.x * blockDim.x;
    }
}
""",
    ],
    "flip_rows": [
        """__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int threads = gridDim.x * blockDim.x;
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < M * N; e += threads) {
        int j = e % N;
        y[e] = x[e - j + N - 1 - j];
    }
}
""",
        """__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int warps = gridDim.x * blockDim.x / 32;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    for (int i = M - 1 - warp; i >= 0; i -= warps) {
        for (int j = lane; j < N; j += 32) {
            y[(i + 1) * N - 1 - j] = x[i * N + j];
        }
    }
}
""",
    ],
}  # fmt: skip
