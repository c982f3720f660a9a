"""Where shared arrays lie: outside of kernels, in device functions, in namespaces, of dynamic size and of any type."""

import numpy as np
import pytest

from course_lib.cuda import Kernel, KernelError, calls, sanitize, source, symbols, zeros

F = np.float32
TURN = "{0}[threadIdx.x] = {1}; __syncthreads(); y[threadIdx.x] = (float)({0}[31 - threadIdx.x]{2});"

# name: (before the kernel, inside it before it turns 32 numbers round)
DYNAMIC = {
    "bfloat16_outside": ("#include <cuda_bf16.h>\nextern __shared__ __nv_bfloat16 s[];",
                         TURN.format("s", "__nv_bfloat16(threadIdx.x)", "")),
    "half_outside": ("#include <cuda_fp16.h>\nextern __shared__ half s[];", TURN.format("s", "half(threadIdx.x)", "")),
    "half_inside": ("#include <cuda_fp16.h>", "extern __shared__ half s[]; " + TURN.format("s", "half(threadIdx.x)", "")),
    "struct_outside": ("struct P { float a; int b; };\nextern __shared__ P s[];",
                       TURN.format("s", "P{0, (int)threadIdx.x}", ".b")),
    "namespace": ("namespace inner::most { extern __shared__ float s[]; }\nusing inner::most::s;",
                  TURN.format("s", "threadIdx.x", "")),
    "two_types": ("__device__ void clear() { extern __shared__ int numbers[]; numbers[threadIdx.x] = 0; }",
                  "clear(); __syncthreads(); extern __shared__ __align__(16) float4 s[]; "
                  + TURN.format("s", "make_float4(0, threadIdx.x, 0, 0)", ".y")),
}  # fmt: skip


@pytest.mark.parametrize("where", DYNAMIC)
def test_dynamic_shared_memory_of_any_type_and_place(where, compiler):
    before, inside = DYNAMIC[where]
    kernel = Kernel(f"{before}\n__global__ void turn(float* y) {{ {inside} }}", "turn")
    for run in (Kernel.__call__, sanitize):
        y = zeros(32)
        report = run(kernel, 1, 32, (y,), shared_mem=512)
        assert report is None or report.ok, str(report)
        np.testing.assert_array_equal(y, np.arange(32)[::-1])
    small = sanitize(kernel, 1, 32, (zeros(32),), shared_mem=60)
    assert {issue.kind for issue in small.issues} == {"out-of-bounds"}, str(small)


MEMBER = "s.f[threadIdx.x] = 31 - (int)threadIdx.x; __syncthreads(); y[threadIdx.x] = s.f[threadIdx.x];"
NUMBERS = TURN.format("s", "threadIdx.x", "")
# name: (before the kernel, its kind, inside it)
FIXED = {
    "a union of its own": ("", "void", "__shared__ union { float f[32]; int i[32]; } s; " + MEMBER),
    "a struct of its own": ("", "void", "__shared__ struct { int i; float f[32]; } s; " + MEMBER),
    "an alignment behind it": ("", "void", "__shared__ alignas(16) float s[32]; __shared__ alignas(float4) char c[16]; c[0] = 0; "
                               + NUMBERS),
    "a length that compares": ("template <int N>", "void", "__shared__ float s[N <= 32 ? 32 : 64]; " + NUMBERS),
    "launch bounds that compute": ("template <int N>", "__launch_bounds__(((N + 1) * 2) / (2 * (1)), 1) void",
                                   "__shared__ float s[N]; " + NUMBERS),
    "a limit of registers": ("", "__maxnreg__((16) * 2) void", "__shared__ float s[32]; " + NUMBERS),
    "a warpSize of its own": ("struct __builtin_align__(8) P { float a, b; };\n", "void",
                              "const int warpSize = 32; __shared__ float s[warpSize]; " + NUMBERS),
    "an operator": ("__device__ void operator+=(float2& a, float b) { a.x += b; }\n"
                    "__device__ bool operator==(float2 a, float2 b) { return a.x == b.x; }\n", "void",
                    "float2 v = {31.0f - threadIdx.x, 0}; v += 0.0f; if (v == v) y[threadIdx.x] = v.x;"),
}  # fmt: skip


@pytest.mark.parametrize("how", FIXED)
def test_shared_memory_and_kernels_as_others_declare_them(how, compiler):
    before, kind, inside = FIXED[how]
    kernel = Kernel(
        f"{before} __global__ {kind} turn(float* y) {{ {inside} }}", "turn<32>" if "N>" in before else "turn"
    )
    for run in (Kernel.__call__, sanitize):
        y = zeros(32)
        report = run(kernel, 1, 32, (y,))
        assert report is None or report.ok, str(report)
        np.testing.assert_array_equal(y, np.arange(32)[::-1])


LARGE = """
template <int N> __device__ float large(float x) {
    __shared__ float cache[N];
    cache[threadIdx.x] = x;
    __syncthreads();
    return cache[threadIdx.x ^ 1];
}
"""
HOUSE = (
    LARGE
    + """
namespace tool {
__device__ float small(float x) {
    __shared__ float few[64];
    few[threadIdx.x] = x;
    __syncthreads();
    return few[threadIdx.x ^ 1];
}
}
__device__ float through(float x) { return tool::small(x) + 1.0f; }
__shared__ float outside[64];
__global__ void none(float* y) { y[threadIdx.x] = 1.0f; }
__global__ void much(float* y) { y[threadIdx.x] = large<12000>(1.0f); }
__global__ void too_much(float* y) { y[threadIdx.x] = large<13000>(1.0f); }
__global__ void indirect(float* y) { y[threadIdx.x] = through(2.0f); }
__global__ void file_scope(float* y, int past) {
    outside[threadIdx.x] = 3.0f;
    __syncthreads();
    y[threadIdx.x] = outside[threadIdx.x + past];
}
__global__ void both(float* y, int past) {
    __shared__ float own[32];
    float* p = past < 100 ? own : outside;
    p[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = p[past - threadIdx.x];
}
"""
)


def test_a_kernel_counts_the_shared_memory_it_can_reach_and_no_other(compiler):
    for name, size in (("none", 0), ("indirect", 256), ("file_scope", 256)):
        for checked in (False, True):
            library = Kernel(HOUSE, name).compiled(checked)
            assert symbols.static_shared(library, name) == size, (name, checked)
    y = zeros(64)
    Kernel(HOUSE, "none")(1, 64, (y,))  # though other kernels of the file take 48,000 and 52,000 bytes
    Kernel(HOUSE, "indirect")(1, 64, (y,))
    assert (y == 3).all()
    with pytest.raises(KernelError, match=r"too_much: its __shared__ arrays take \d\d\d?,\d00 bytes"):
        Kernel(HOUSE, "too_much")(1, 64, (y,))


INSTANCES = LARGE + "template <int N> __global__ void one(float* y) { y[threadIdx.x] = large<N>(threadIdx.x); }"


def test_instances_that_were_compiled_together_do_not_add_up(compiler):
    """A test of paged attention failed when another, with heads of another size, had been compiled before it."""
    kernels = [Kernel(INSTANCES, f"one<{n}>") for n in (8000, 7000)]  # 32,000 and 28,000 bytes
    for kernel in kernels:
        y = zeros(32)
        kernel(1, 32, (y,))
        np.testing.assert_array_equal(y, np.arange(32) ^ 1)
    assert symbols.static_shared(kernels[0].compiled(False), "one<8000>") == 32_000


def test_shared_arrays_outside_of_kernels_are_watched(compiler):
    kernel = Kernel(HOUSE, "file_scope")
    assert sanitize(kernel, 1, 64, (zeros(64), 0)).ok
    assert {issue.kind for issue in sanitize(kernel, 1, 64, (zeros(64), 1)).issues} == {"out-of-bounds"}
    report = sanitize(kernel, 1, 32, (zeros(64), 32))
    assert [(issue.kind, issue.source[:19]) for issue in report.issues] == [
        ("uninitialised-read", "y[threadIdx.x] = ou")
    ], str(report)
    assert "'outside'" in report.issues[0].message
    report = sanitize(Kernel(HOUSE, "both"), 1, 32, (zeros(64), 31))
    assert report.ok, str(report)
    report = sanitize(Kernel(HOUSE, "both"), 1, 32, (zeros(64), 32))
    assert [(issue.kind, issue.source[:20]) for issue in report.issues] == [
        ("out-of-bounds", "y[threadIdx.x] = p[p")
    ], str(report)
    assert "'own'" in report.issues[0].message


def test_calls_are_read_off_the_text():
    text = source.find(HOUSE + "// through( in a comment {\n__global__ void user(int n) { for (;n;) { through(1); } }")
    assert calls.reached(text, "none") == {"none"}
    assert calls.reached(text, "user") == {"user", "through", "small"}
    assert calls.reached(text, "much") == {"much", "large"}
    assert "for" not in calls.functions(text)


@pytest.mark.parametrize("number", [-30, -1, 64, 100, 4000])
def test_who_leaves_a_shared_array_is_told_so_wherever_it_lies(number, compiler):
    """Beside the first and the last array of a file lies memory of the host."""
    code = """__global__ void leave(float* y, int which, int number) {
    __shared__ float a[64], b[64];
    a[threadIdx.x] = b[threadIdx.x] = 0.0f;
    float* p = which ? a : b;
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x == 3 ? number : 0];
}"""
    for which in (0, 1):
        report = sanitize(Kernel(code, "leave"), (1,), (64,), (zeros(64), which, number))
        assert [(issue.kind, issue.line) for issue in report.issues] == [("out-of-bounds", 6)], str(report)
        assert "of __shared__ '" in report.issues[0].message
