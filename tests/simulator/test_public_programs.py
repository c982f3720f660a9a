"""What public programs use beside kernels: files in C, atomics of the host, properties, clocks, the ranges of a profiler."""

import pytest

from course_lib.cuda import CompileError
from course_lib.cuda.programs import build, verdict

pytestmark = pytest.mark.slow


def run(file, checked: bool, options=(), **settings):
    return verdict.run(build.compile_program([file], options, checked), (), capture=True, **settings)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (
            "namespace of { int f(int); }\nint main() {\n  return of::f(2); }",
            r"p\.cu, line 2: 'f' is declared, but no file that",
        ),
        (
            'extern "C" int cuInit(int);\nint main() {\n  return cuInit(0); }',
            r"p\.cu, line 2: the driver's functions are not",
        ),
        ("int cudaNew(int);\nint main() {\n  return cudaNew(0); }", r"p\.cu, line 2: cudaNew is not simulated"),
    ],
)
def test_a_function_that_no_file_defines_is_told_before_the_program_runs(declared, sentence, tmp_path):
    (tmp_path / "p.cu").write_text(f"#include <cstdio>\n{declared}\n")
    with pytest.raises(CompileError, match=sentence) as caught:
        run(tmp_path / "p.cu", True)
    assert caught.value.line == 2


@pytest.mark.parametrize("checked", [False, True])
def test_a_variable_of_the_device_is_copied_by_its_address(compiler, checked, tmp_path):
    (tmp_path / "v.cu").write_text(
        "__device__ int table[4];\n"
        "__global__ void add(int* x) { x[threadIdx.x] += 10 * threadIdx.x; }\n"
        "int main() { int *at, y[5] = {1, 2, 3, 4, 5}; cudaGetSymbolAddress((void**)&at, table);\n"
        "  if (cudaMemcpy(at, y, sizeof table, cudaMemcpyHostToDevice)) return 1;\n"
        "  add<<<1, 4>>>(at); cudaMemset(at + 3, 0, 4);\n"
        "  if (cudaMemcpy(y, at + 1, 12, cudaMemcpyDeviceToHost)) return 2;\n"
        "  cudaMemcpy(at, y, sizeof y, cudaMemcpyHostToDevice);\n"
        "  return y[0] + y[1] + y[2] + y[3]; }\n"
    )
    found, _ = run(tmp_path / "v.cu", checked)
    assert found.code == 12 + 23 + 0 + 4
    assert [(one.kind, one.line) for one in found.findings] == [("api-error", 7)], found.findings
    assert "less room" in found.findings[0].message


@pytest.mark.parametrize("checked", [False, True])
def test_kernels_and_the_host_read_the_clock(compiler, checked, tmp_path):
    (tmp_path / "t.cu").write_text(
        "#include <ctime>\n#include <cuda_runtime.h>\n"
        "__global__ void wait(clock_t* at, long ticks) { clock_t first = clock(); at[0] = first;\n"
        "  while (clock() - first < ticks) {}\n  at[1] = clock() - first; }\n"
        "int main() { clock_t *at, now = clock(); cudaMallocManaged(&at, 16); wait<<<1, 1>>>(at, 1000);\n"
        "  cudaDeviceSynchronize(); bool right = at[0] > 0 && at[1] >= 1000 && clock() >= now;\n"
        "  cudaFree(at); return right ? 0 : 1; }\n"
    )
    found, _ = run(tmp_path / "t.cu", checked)
    assert found.ok and found.code == 0, found.findings


def test_plain_cpp_of_a_program_may_have_functions_of_a_kernels_names(tmp_path):
    (tmp_path / "a.cu").write_text(
        "unsigned of_host(unsigned, unsigned);\n"
        "__global__ void least(unsigned* x) { x[0] = umin(x[0], 3) + 10 * umax(x[1], 4u); }\n"
        "int main() { unsigned* x; cudaMallocManaged(&x, 8); x[0] = 5; x[1] = 2; least<<<1, 1>>>(x);\n"
        "  cudaDeviceSynchronize(); int y = x[0] + of_host(7, 2); cudaFree(x); return y; }\n"
    )
    (tmp_path / "b.cpp").write_text(
        "static unsigned umin(unsigned a, unsigned b) { return a < b ? a + 100 : b + 100; }\n"
        "unsigned of_host(unsigned a, unsigned b) { return umin(a, b); }\n"
    )
    program = build.compile_program([tmp_path / "a.cu", tmp_path / "b.cpp"], (), True)
    found, _ = verdict.run(program, (), capture=True)
    assert found.code == 43 + 102 and not found.findings


def test_the_fast_build_reads_no_further_than_the_text_does(compiler, tmp_path):
    """Eight sums for each component of a float4: g++ 12 loads 32 bytes for its 16, the last time past the array's end."""
    (tmp_path / "four.cu").write_text(
        "__global__ void products(const float* a, const float* b, float* out, int n) {\n"
        "  float sums[8][8] = {};\n"
        "  for (int k = 0; k < n; k += 4) {\n"
        "    float4 right[8];\n"
        "    for (int u = 0; u < 8; u++) right[u] = *reinterpret_cast<const float4*>(b + u * n + k);\n"
        "    for (int i = 0; i < 8; i++) {\n"
        "      float4 left = *reinterpret_cast<const float4*>(a + i * n + k);\n"
        "      for (int j = 0; j < 8; j++) {\n"
        "        sums[i][j] += left.x * right[j].x; sums[i][j] += left.y * right[j].y;\n"
        "        sums[i][j] += left.z * right[j].z; sums[i][j] += left.w * right[j].w; } } }\n"
        "  for (int i = 0; i < 64; i++) out[i] = sums[i / 8][i % 8]; }\n"
        "int main() { const int n = 128; float x[8 * n], *a, *b, *out, y[64]; int sum = 0;\n"
        "  for (int i = 0; i < 8 * n; i++) x[i] = i / n + 1;\n"
        "  cudaMalloc(&a, sizeof x); cudaMalloc(&b, sizeof x); cudaMalloc(&out, sizeof y);\n"
        "  cudaMemcpy(a, x, sizeof x, cudaMemcpyHostToDevice); cudaMemcpy(b, x, sizeof x, cudaMemcpyHostToDevice);\n"
        "  products<<<1, 1>>>(a, b, out, n); cudaMemcpy(y, out, sizeof y, cudaMemcpyDeviceToHost);\n"
        "  for (int i = 0; i < 64; i++) sum += y[i] == n * (i / 8 + 1) * (i % 8 + 1);\n"
        "  cudaFree(a); cudaFree(b); cudaFree(out); return sum; }\n"
    )
    found, _ = run(tmp_path / "four.cu", False)
    assert found.code == 64 and not found.findings, found.findings


@pytest.mark.parametrize(("gpu", "megabytes"), [("a100", 30), ("t4", 0)])
def test_a_part_of_the_cache_may_be_set_aside_on_the_cards_that_can(gpu, megabytes, tmp_path):
    (tmp_path / "l2.cu").write_text(
        "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int same;\n"
        "  cudaDeviceGetAttribute(&same, cudaDevAttrMaxPersistingL2CacheSize, 0);\n"
        "  cudaStream_t s; cudaStreamCreate(&s); cudaStreamAttrValue v = {};\n"
        "  v.accessPolicyWindow.num_bytes = p.accessPolicyMaxWindowSize;\n"
        "  if (cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v)) return 100;\n"
        "  return same == p.persistingL2CacheMaxSize ? p.persistingL2CacheMaxSize >> 20 : 101; }\n"
    )
    found, _ = run(tmp_path / "l2.cu", False, gpu=gpu)
    assert found.code == megabytes


def test_atomics_of_the_host_may_meet_those_of_a_kernel(compiler, tmp_path):
    (tmp_path / "atomics.cu").write_text(
        "#include <atomic>\n#include <memory>\n"
        "__global__ void add(int* x) { atomicAdd_system(x, 1); x[1] = 1; }\n"
        "int main() { int* x; cudaMallocManaged(&x, 16); for (int i = 0; i < 4; i++) x[i] = 0;\n"
        "  add<<<1, 32>>>(x);\n"
        "  __sync_fetch_and_add(x, 10); __sync_val_compare_and_swap(x, 42, 50); __sync_lock_test_and_set(x + 2, 7);\n"
        "  int old = __atomic_load_n(x, __ATOMIC_ACQUIRE); __atomic_store_n(x, old, __ATOMIC_RELEASE);\n"
        "#ifdef EARLY\n  __sync_fetch_and_or(x + 1, 2);\n#endif\n"
        "  cudaDeviceSynchronize();\n"
        "  std::atomic<long long> a{5}; a++; long long six = 6; a.compare_exchange_strong(six, 1 << 20);\n"
        "  std::atomic<char> c{3}; c ^= 1; std::atomic<unsigned short> s{9}; s -= 4; s &= 5; std::atomic<bool> b{false};\n"
        "  auto shared = std::make_shared<int>(8); auto other = shared; bool was = b.exchange(true);\n"
        "  bool right = old == 50 && x[0] == 50 && x[2] == 7 && a == 1 << 20 && c == 2 && s == 5 && b && !was;\n"
        "  cudaFree(x); return right && *other == 8 && shared.use_count() == 2 ? 0 : 1; }\n"
    )
    found, _ = run(tmp_path / "atomics.cu", True)
    assert found.ok and found.code == 0, found.findings
    if compiler == "gcc":  # the hooks of clang leave atomics alone
        found, _ = run(tmp_path / "atomics.cu", True, options=("-DEARLY",))
        assert [(one.kind, one.line) for one in found.findings] == [("race", 9)], found.findings


def test_ranges_for_a_profiler_do_nothing(tmp_path):
    (tmp_path / "r.cu").write_text(
        "#include <nvToolsExt.h>\n#include <nvtx3/nvToolsExt.h>\n"
        'int main() { nvtxRangePush("a"); nvtxMarkA("b"); nvtxRangePop(); nvtxRangeEnd(nvtxRangeStart("c")); return 6; }\n'
    )
    found, _ = run(tmp_path / "r.cu", False)
    assert found.code == 6 and not found.findings


def test_what_a_c_file_defines_has_the_name_that_c_gives_it(tmp_path):
    (tmp_path / "a.cu").write_text('extern "C" int of_c(int);\nint main() { return of_c(20); }\n')
    (tmp_path / "b.c").write_text("#include <math.h>\nint of_c(int x) { return (int)sqrt(x * 5.0) + x; }\n")
    program = build.compile_program([tmp_path / "a.cu", tmp_path / "b.c"], (), True)
    found, _ = verdict.run(program, (), capture=True)
    assert found.code == 30
