"""Kernels as a beginner writes them by mistake: without an end, beyond all memory, larger than a GPU. The page answers each.

KERNELS: what it is -> (text, launch, what the page must tell: the kind of an issue, or words of its sentence).
"""

LOOP, STACK, FAR = "timeout", "stack overflow", "out-of-bounds"


def kernel(body: str, before: str = "", **launch) -> tuple[str, dict]:
    """A text around a body that has `float* y` of 64 zeros and `int n`, which is 64."""
    return f"{before}\n__global__ void k(float* y, int n) {{\n{body}\n}}\n", launch


SHARED = "s[threadIdx.x] = 1; __syncthreads(); y[threadIdx.x] = s[threadIdx.x];"
KERNELS = {
    "a loop without a body": (kernel("for (;;) {}"), LOOP),
    "a flag that nobody sets": (kernel("while (y[0] == 0) {}\ny[1] = 2;"), LOOP),
    "a block that waits for a later one": (
        kernel("if (blockIdx.x == 0) while (atomicAdd(y, 0.0f) == 0); else atomicAdd(y, 1.0f);", grid=2),
        LOOP,
    ),
    "a loop that does not count": (kernel("for (int i = 0; i < n;) y[i] = 1;"), LOOP),
    "barriers for ever": (kernel("for (;;) __syncthreads();"), LOOP),
    "shuffles for ever": (
        kernel("float v = 0; while (v < 1) v = __shfl_down_sync(0xffffffff, v, 1);\ny[0] = v;"),
        LOOP,
    ),
    "goto": (kernel("again: goto again;"), LOOP),
    "a clock": (kernel("long long t = clock64(); while (clock64() - t < 1000000000000000LL);\ny[0] = 1;"), LOOP),
    "sleep": (kernel("for (;;) __nanosleep(1000);"), LOOP),
    "malloc without end": (kernel("for (;;) { float* p = (float*)malloc(1 << 20); p[0] = 1; }"), LOOP),
    "printf without end": (kernel('for (;;) printf("%d\\n", threadIdx.x);', "#include <cstdio>", block=1024), LOOP),
    "a million blocks": (kernel("y[threadIdx.x % n] += blockIdx.x;", grid=1000000, block=1024), LOOP),
    "unsigned below zero": (kernel("for (unsigned i = n - 1; i >= 0; i--) y[i] = 1;"), FAR),
    "recursion through two functions": (
        kernel("y[0] = a(n);", "__device__ int b(int n);\n__device__ int a(int n) { return b(n + 1) * 2; }\n"
               "__device__ int b(int n) { return a(n) + 1; }"),
        STACK,
    ),
    "a local array of 4 MB": (kernel("float a[1000000];\nfor (int i = 0; i < n; i++) a[i] = i;\ny[0] = a[n - 1];"), STACK),
    "a local array of 2 GB": (kernel("float a[500000000];\nfor (int i = 0; i < n; i++) a[i] = i;\ny[0] = a[n - 1];"), STACK),
    "a shared array of 4 MB": (kernel(f"__shared__ float s[1000000]; {SHARED}"), "at most 49,152"),
    "a shared array of 1 GB": (kernel(f"__shared__ float s[250000000]; {SHARED}"), "at most 49,152"),
    "dynamic shared memory of 4 GB": (
        kernel(f"extern __shared__ float s[]; {SHARED}", sharedBytes=4_000_000_000),
        "a GPU has at most 232,448",
    ),
    "a device array of 400 MB": (kernel("d[n] = 1; y[0] = d[n];", "__device__ float d[100000000];"), "has room for 32 MB"),
    "an array with first values of 200 MB": (
        kernel("y[0] = d[n];", "__device__ float d[50000000] = {1.0f};"),
        "has room for 32 MB",
    ),
    "alloca": (kernel("float* a = (float*)alloca(n * 1000000);\na[0] = y[0] = 1;", "#include <alloca.h>"), "alloca()"),
    "trap": (kernel("__trap();"), "crash"),
    "exit": (kernel("exit(1);", "#include <cstdlib>"), "exit() or abort() was called"),
    "no return": (kernel("y[0] = f(n);", "__device__ float f(int n) { if (n < 0) return 1; }"), "crash"),
    "4 GB away": (kernel("y[1 << 30] = 1;"), FAR),
    "4 GB before": (kernel("y[n - (1 << 30)] = 1;"), FAR),
    "4 GB away in steps of 16 bytes": (kernel("((float4*)y)[n << 22] = make_float4(1, 1, 1, 1);"), FAR),
    "an address": (kernel("*(float*)0xdeadbeefULL = 1;"), FAR),
    "a null pointer": (kernel("float* p = nullptr;\np[threadIdx.x] = 1;"), "null-pointer"),
    "a number as a function": (kernel("((void (*)(int))n)(1);"), "points to no function"),
    "a string nowhere": (kernel('printf("%s", (char*)0xdeadbeefULL);', "#include <cstdio>"), "crash"),
    "memset of 2 GB": (kernel("memset(y, 0, 1u << 31);"), FAR),
    "a grid of 2^31 blocks": (kernel("y[0] = 1;", grid=2**31 - 1, block=1024), "Use a grid-stride loop"),
    "a block of 2048 threads": (kernel("y[0] = 1;", block=2048), "a GPU takes at most 1,024"),
    "templates without end": (
        kernel("y[0] = F<0>::v;", "template <int N> struct F { static const int v = F<N + 1>::v; };"),
        "maximum depth",
    ),
    "an open comment": (("/* __global__ void k(float* y, int n) { }", {}), "unterminated /* comment"),
}  # fmt: skip


def jobs() -> list[dict]:
    """Each as a run of the engine, with half a second for its launch."""
    y = {"name": "y", "dtype": "float32", "shape": [64], "zeros": True}
    return [
        {"run": {"text": text, "grid": 1, "block": 32, "timeout": 0.5, "args": [y, 64], **launch}}
        for (text, launch), _ in KERNELS.values()
    ]
