"""The beginner's commonest compile errors, under g++ and clang: the learner's own line, and a sentence that helps."""

import pytest

from course_lib.cuda import CompileError, Kernel, KernelError, asarray, nvrtc, source
from tests.simulator.compilers import COMPILERS, using

# name: (body of a kernel f(const float* x, float* y, int n), its faulty line, words of the sentence)
MISTAKES = {
    "semicolon": ("int i = threadIdx.x\n    y[i] = x[i];", (2, 3), "semicolon"),
    "undeclared": ("i = threadIdx.x;\n    y[i] = 1.0f;", 2, "name i is not known"),
    "misspelt index": ("int i = threadidx.x;", 2, "spelled threadIdx"),
    "no component": ("int i = threadIdx;\n    y[i] = 1.0f;", 2, "threadIdx.x"),
    "arithmetic on dim3": ("int i = blockIdx * blockDim.x;\n    y[i] = 1.0f;", 2, "blockIdx.x"),
    "unknown component": ("int i = threadIdx.w;", 2, "x, y and z"),
    "write to const": ("x[0] = 1.0f;", 2, "const"),
    "pointer to const": ("float* p = x;\n    p[0] = 1.0f;", 2, "const"),
    "barrier misspelt": ("__syncthread();", 2, "__syncthreads()"),
    "returns a value": ("return y[0];", 2, "returns void"),
    "two subscripts": ("y[0][1] = 1.0f;", 2, "i * columns + j"),
    "subscript on a number": ("y[0] = n[0];", 2, "Only arrays"),
    "power": ("y[0] = n ** 2;", 2, "powf"),
    "python and None": ("const float* p = None;\n    y[0] = p[0];", 2, "nullptr"),
    "True": ("bool on = True;\n    y[0] = on;", 2, "lower case"),
    "percent on floats": ("y[0] = x[0] % 2.0f;", 2, "fmodf"),
    "missing parenthesis": ("if (n > 0 {\n        y[0] = 1.0f;\n    }", 2, "parenthesis"),
    "brace": ("if (n > 0) {\n        y[0] = 1.0f;", (1, 2), "brace"),
    "array for a number": ("float v = x;\n    y[0] = v;", 2, "element, a[i]"),
    "number for an array": ("float* p = n;\n    p[0] = y[0];", 2, "element, a[i]"),
    "twice declared": ("int i = 0;\n    int i = 1;\n    y[i] = 0.0f;", 3, "declared twice"),
    "an argument declared again": ("int n = 0;\n    y[n] = 0.0f;", 2, "declared twice"),
    "an argument named shared": (
        "y[0] = 1.0f;\n}\n__device__ void g(float* shared) {\n    __shared__ float shared[32];\n    shared[0] = 1.0f;",
        5,
        "declared twice",
    ),
    "a template without its arguments": (
        "y[0] = 1.0f;\n}\ntemplate <class T, int N> struct Pack { T item[N]; };\n__device__ void g(const float* x) {\n"
        "    Pack p;",
        6,
        "Pack<float, 4>",
    ),
    "a pointer to a template without its arguments": (
        "y[0] = 1.0f;\n}\ntemplate <class T, int N> struct Pack { T item[N]; };\n__device__ void g(const float* x) {\n"
        "    Pack<float, 4> p = *(const Pack*)x;",
        6,
        "Pack<float, 4>",
    ),
    "a template with too few arguments": (
        "y[0] = 1.0f;\n}\ntemplate <class T, int N> struct Pack { T item[N]; };\n__device__ void g(const float* x) {\n"
        "    Pack<float> p = *(const Pack<float, 4>*)x;",
        6,
        "Pack<float, 4>",
    ),
    "a point behind a type": (
        "struct Add { static float of(float a) { return a; } };\n    y[0] = Add.of(1.0f);",
        3,
        "Add::...",
    ),
    "a struct without braces": (
        "struct Pair { float a, b; };\n    auto f = [](Pair p) -> Pair {\n    return p.b, p.a;\n    };\n    y[0] = f({1, 2}).a;",
        4,
        "return {a, b}",
    ),
    "too few arguments": ("y[0] = fmaxf(x[0]);", 2, "number and the types"),
    "elif": ("if (n > 0) { y[0] = 1.0f; }\n    elif (n < 0) { y[0] = 2.0f; }", 3, "Python"),
    "size not constant": ("__shared__ float s[n];\n    s[0] = y[0];", 2, "constant"),
    "unknown type": ("int32 i = 0;\n    y[i] = 1.0f;", 2, "type"),
    "break outside": ("if (n > 0) break;\n    y[0] = 1.0f;", 2, "return;"),
    "missing header": ("y[0] = 1.0f;\n}\n#include <torch/torch.h>\nvoid g() {", (3, 4), "header is not there"),
    "not a function": ("y[0] = n (2);", 2, "called like a function"),
    "assign to expression": ("n + 1 = 2;\n    y[0] = n;", 2, "left side of ="),
    "python's if": ("if n > 0:\n        y[0] = 1.0f;", 2, "parentheses after if"),
    "python's for": ("for i in range(n) {\n        y[i] = 1.0f;\n    }", 2, "parentheses after if, for"),
    "python's comment": ("# the first\n    y[0] = 1.0f;", 2, "//"),
    "text in single quotes": ("printf('hello');", 2, "double quotes"),
    "float without its point": ("y[0] = 2f * x[0];", 2, "2.0f"),
    "text over two lines": ('printf("hello\n");', 2, "put an r before"),
    "a float for %d": ('printf("%d", x[0]);', 2, "%f"),
    "an int for %f": ('printf("%f", n);', 2, "%d"),
    "no value for %d": ('printf("%d %d", n);', 2, "needs a value"),
    "no type": ("y[0] = 1.0f;\n}\n__device__ g(float v) {\n    v = 0.0f;", (4,), "type is missing"),
    "printf without a text": ("printf(n);", 2, "begins with a text"),
    "python's formatting": ('printf("%d" % n);', 2, "after commas"),
    "hat as power": ("y[0] = x[0] ^ 2;", 2, "no power"),
    "max of float and int": ("y[0] = max(x[0], 0);", 2, "0.0f"),
    "print": ("print(n);", 2, "print is Python's"),
    "len": ("y[0] = len(x);", 2, "argument of its own"),
    "python's choice": ("y[0] = 1.0f if n else 2.0f;", 2, "test ? a : b"),
    "argument without a type": ("}\n__device__ void g(float v, s) {\n    v = 0.0f;", 3, "type"),
    "unknown type of an argument": ("}\n__device__ void g(list v) {", 3, "type"),
    "brackets before the name": (
        "}\n__device__ void g(float[] v) {\n    v[0] = 0.0f;",
        3,
        "float* x in place of float[] x",
    ),
    "operator left out": ("float v = x[0] n;\n    y[0] = v;", 2, "an operator"),
    "no brace after a function": (
        "}\n__device__ void g(float* v)\n    int i = 0;\n    v[i] = 0.0f;",
        (3, 4),
        "{ with which a function begins",
    ),
    "times an array": ("y[0] = 2.0f * x;", 2, "Take one element"),
    "inline assembly": ('asm volatile("mov.u32 %0, %laneid;" : "=r"(n));', 2, "ptx.cuh"),
}


def text(body):
    return f'extern "C" __global__ void f(const float* x, float* y, int n) {{\n    {body}\n}}\n'


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_its_line_and_its_sentence(name, compiler, monkeypatch):
    using(compiler, monkeypatch)
    body, lines, words = MISTAKES[name]
    lines = lines if isinstance(lines, tuple) else (lines,)
    code = text(body)
    with pytest.raises(CompileError) as caught:
        Kernel(code, "f")((1,), (1,), (asarray([1.0], "f"), asarray([1.0], "f"), 1))
    message = str(caught.value)
    assert words in message, message
    assert caught.value.line in lines, message
    assert "sim_" not in message and "simulator" not in message.split("\n  ")[0], message
    assert code.splitlines()[caught.value.line - 1].strip() in message or name == "brace"


NOT_NVIDIAS = {  # what NVIDIA's compiler accepts, or cannot know
    "a float for %d", "an int for %f", "no value for %d", "inline assembly",
}  # fmt: skip


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed: pip install cupy-cuda13x nvidia-cuda-nvrtc")
@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - NOT_NVIDIAS))
def test_nvidias_words_get_the_same_sentence(name):
    body, _, words = MISTAKES[name]
    with pytest.raises(CompileError) as caught:
        nvrtc.compile_text(source.find(text(body)), ("f",), "sm_80")
    assert words in str(caught.value)


def test_there_are_25_mistakes():
    assert len(MISTAKES) >= 25


REFUSED = {
    "launch syntax": ("void g() { f<<<1, 32>>>(0, 0, 1); }", "kernel(grid, block, args)"),
    "host code": ("void g() { float* p; cudaMalloc(&p, 4); }", "course_lib.cuda.asarray"),
    "main": ("int main() { return 0; }", "holds kernels only"),
    "cuda::atomic": ("__device__ cuda::atomic<int> a;", "not simulated"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_by_name(name):
    more, words = REFUSED[name]
    with pytest.raises(CompileError, match=r"line 4|:4:") as caught:
        Kernel(text("y[0] = 1.0f;") + more, "f")((1,), (1,), (asarray([1.0], "f"), asarray([1.0], "f"), 1))
    assert words in str(caught.value)


def test_grid_sync_is_refused():
    source = "#include <cooperative_groups.h>\n" + text("cooperative_groups::this_grid().sync();")
    with pytest.raises(CompileError, match=r"second one"):
        Kernel(source, "f")((1,), (1,), (asarray([1.0], "f"), asarray([1.0], "f"), 1))


def test_names_of_kernels():
    source = text("y[0] = 1.0f;") + "template <int N> __global__ void t(float* y) { y[0] = N; }"
    with pytest.raises(KernelError, match=r"no kernel named 'g'.*f, t"):
        Kernel(source, "g")
    with pytest.raises(KernelError, match=r"template.*t<32>"):
        Kernel(source, "t")
    with pytest.raises(CompileError, match=r"t<zero>"):
        Kernel(source, "t<zero>")((1,), (1,), (asarray([1.0], "f"),))
    with pytest.raises(KernelError, match=r"no file 'nowhere.cu'"):
        Kernel("nowhere.cu", "f")
    y = asarray([0.0], "f")
    Kernel(source, "t<7>")((1,), (1,), (y,))
    assert y[0] == 7


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("call", ['printf(n ? "%d\\n" : "", n)', 'printf("no number\\n", n)'])
def test_what_one_compiler_lets_pass_the_other_does_not_refuse(call, compiler, monkeypatch):
    """clang calls more kinds of format wrong than g++."""
    using(compiler, monkeypatch)
    Kernel("__global__ void told(int n) { " + call + "; }", "told")((1,), (1,), (0,))
