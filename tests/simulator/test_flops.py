"""Counted floating-point operations against the textbook, under both compilers: what is written is what counts."""

import pickle

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, sanitize, zeros

F, I = np.float32, np.int32
N = 100

# What one thread of 100 does: the text, and its operations as one counts them by hand.
COUNTED = {
    "copy": ("y[i] = x[i];", 0),
    "add": ("y[i] = x[i] + y[i];", 1),
    "axpy": ("y[i] = 2.0f * x[i] + y[i];", 2),
    "fma": ("y[i] = fmaf(x[i], x[i], y[i]);", 2),
    "sign, comparison, conversion": (
        "y[i] = x[i] > 0.5f ? -x[i] : fabsf(x[i]) > (float)i ? floorf(x[i]) : (int)x[i];",
        0,
    ),
    "division by a number": ("y[i] = x[i] / 3.0f - 1.0f;", 2),
    "square root": ("y[i] = sqrtf(x[i] * x[i]);", 2),
    "reciprocal square root": ("y[i] = rsqrtf(x[i]);", 1),
    "functions": ("y[i] = expf(x[i]) + tanhf(x[i]) + powf(x[i], 2.0f) + __logf(x[i]);", 7),
    "gelu": ("float u = x[i]; y[i] = 0.5f * u * (1.0f + tanhf(0.79788456f * (u + 0.044715f * u * u * u)));", 9),
    "maximum": ("y[i] = fmaxf(x[i], fminf(y[i], 1.0f));", 2),
    "a number worked out beforehand": ("y[i] = x[i] * (2.0f / 3.0f);", 1),
    "written twice": ("y[i] = expf(x[i] * x[i]) + x[i] * x[i];", 4),
    "doubles": ("double d = x[i]; y[i] = (float)(d * d + exp(d));", 3),
    "large unsigned numbers": ("unsigned long long big = i; y[i] = (float)big * 2.0f + (float)(unsigned)i;", 2),
    "a loop": ("float s = 0.0f; for (int j = 0; j < 7; j++) s += x[i] * j; y[i] = s;", 14),
    "vectors": ("float4 v = make_float4(x[i], 1, 2, 3); y[i] = v.x * v.y + v.z * v.w;", 3),
    "a lambda": ("auto f = [&](float u) { return u * u + 1.0f; }; y[i] = f(f(x[i]));", 4),
    "atomics": ("atomicAdd(&y[0], x[i]); atomicMax((int*)&y[1], i);", 1),
    "half": ("half h = __float2half(x[i]); h = h * h + h; y[i] = __half2float(hrsqrt(h));", 3),
    "half pairs": ("half2 h = __float2half2_rn(x[i]); y[i] = __low2float(__hfma2(h, h, h) + h);", 6),
    "bfloat16": ("__nv_bfloat16 b = __float2bfloat16(x[i]); y[i] = (float)(b * b);", 1),
    "integers": ("y[i] = (i * 5 + 7) / 3 % 11;", 0),
}


def test_elementwise(compiler):
    kernels = [
        f"__global__ void k{number}(const float* x, float* y, int n) {{\n"
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    {text}\n}}"
        for number, (text, _) in enumerate(COUNTED.values())
    ]
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + "\n".join(kernels)
    x = np.random.default_rng(0).random(N, dtype=F) + 0.5
    counted = {}
    for number, what in enumerate(COUNTED):
        report = sanitize(Kernel(source, f"k{number}"), 4, 32, (x, np.ones(N, F), N))
        counted[what] = report.flops / N
    assert counted == {what: flops for what, (_, flops) in COUNTED.items()}


def test_kernels_of_the_course(compiler):
    n = 1000
    x, y = np.ones(n, F), np.ones(n, F)
    assert sanitize(Kernel("vector_add.cu", "vector_add"), 8, 128, (x, y, zeros(n), n)).flops == n
    assert sanitize(Kernel("saxpy.cu", "saxpy_2_grid_stride"), 3, 128, (2.0, x, y, n)).flops == 2 * n
    # -1.59 (x + 0.0447 x x x) is 5, the function 1, 1 / (1 + it) 2, x times it 1
    assert sanitize(Kernel("gelu.cu", "gelu_forward<4>"), 2, 128, (x, y, n)).flops == 9 * n
    for name, file, M, K, N in (
        ("matmul_naive", "matmul_1_naive.cu", 33, 20, 40),
        ("matmul_shared_tiles<32>", "matmul_3_shared_tiles.cu", 64, 32, 96),
    ):
        a, b, c = np.ones((M, K), F), np.ones((K, N), F), np.zeros((M, N), F)
        block = (16, 16) if "naive" in name else (32, 32)
        grid = (-(-N // block[0]), -(-M // block[1]))
        report = sanitize(Kernel(file, name), grid, block, (a, b, c, M, N, K))
        assert report.flops == 2 * M * N * K, name
        assert (c == K).all()


TOGETHER = """
#include <mma.h>
#include "ptx.cuh"
using namespace nvcuda;
__global__ void warp_sum(const float* x, float* y) {
    float v = x[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(~0u, v, step);
    if (threadIdx.x == 0) y[0] = v;
}
__global__ void tree(const float* x, float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = s[0];
}
__global__ void tensor_cores(const half* a, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void fragments(float* y) {
    float d[4] = {0, 0, 0, 0};
    unsigned a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    ptx::mma_m16n8k16_f16(d, a, b, d);
    y[blockIdx.x * 32 + threadIdx.x] = d[0];
}
"""


def test_threads_together(compiler):
    x = np.ones(64, F)
    for name, block, args, flops in (
        ("warp_sum", 32, (x, zeros(1)), 5 * 32),  # five steps, in which every lane adds
        ("tree", 64, (x, zeros(1)), 63),  # 64 numbers are added up
        ("tensor_cores", 32, (np.ones(256, np.float16), zeros(256)), 2 * 16**3),
        ("fragments", 32, (zeros(96),), 2 * 16 * 8 * 16),
    ):
        report = sanitize(Kernel(TOGETHER, name), 3 if name == "fragments" else 1, block, args)
        assert report.flops == flops * report.grid[0], name


def test_the_launch_that_was_checked_is_counted(compiler, capsys):
    """Its inputs as they were, its constants as they were uploaded; nothing is printed twice, no result changes."""
    source = """__constant__ float limit[1];
    __global__ void halve(float* x, int n) {
        int i = threadIdx.x;
        if (i == 0) printf("once\\n");
        while (x[i] > limit[0]) x[i] *= 0.5f;
    }"""
    kernel, x = Kernel(source, "halve"), asarray(np.array([8, 1, 1024], F))
    kernel.upload("limit", np.array([2], F))
    report = sanitize(kernel, 1, 3, (x, 3))
    assert list(x) == [2, 1, 2]
    x[:] = 0
    assert report.flops == 2 + 0 + 9
    assert capsys.readouterr().out == "once\n" and list(x) == [0, 0, 0]
    assert sanitize(kernel, 1, 3, (x, 3)).flops == 0


def test_what_cannot_be_counted_says_so(monkeypatch):
    kernel = Kernel("__global__ void f(float* x, int i) { x[i] = 1.0f; }", "f")
    with pytest.raises(ValueError, match="has issues"):
        sanitize(kernel, 1, 1, (zeros(4), 4)).roofline(1e12, 1e13)
    inside = zeros(4)
    with pytest.raises(ValueError, match="Pass flops="):
        sanitize(kernel, 1, 1, (inside.ctypes.data, 0)).roofline(1e12, 1e13)
    monkeypatch.setattr("course_lib.cuda.sanitizer.MOST_KEPT", 8)
    report = sanitize(kernel, 1, 1, (zeros(4), 0))
    for without_inputs in (report, pickle.loads(pickle.dumps(report))):
        with pytest.raises(ValueError, match="too large"):
            without_inputs.roofline(1e12, 1e13)
    assert report.roofline(1e12, 1e13, flops=320).intensity == 10
