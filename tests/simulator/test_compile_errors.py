"""The beginner's commonest compile errors, under g++ and clang: the learner's own line, and a sentence that helps."""

import pytest

from course_lib.cuda import CompileError, Kernel, KernelError, asarray, diagnostics, nvrtc, source
from tests.nvrtc_here import needs_nvrtc

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
    "infinity as a text": ("y[0] = -float('inf');", 2, "INFINITY"),
    "a text in single quotes": ("printf('%d', n);", 2, "double quotes"),
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
    "a dot behind a type": (
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
    "unknown type": ("int32 i = 0;\n    y[i] = 1.0f;", 2, "write int"),
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
    "// for division": ("int row = n // 2;\n    y[row] = 1.0f;", 2, "// begins a comment"),
    "a note behind a line without its end": ("int i = 0  // the first\n    y[i] = 1.0f;", 2, "semicolon"),
    "a note behind return": (
        "if (n < 0) return  // nothing\n    y[0] = 1.0f;",
        2,
        "semicolon is missing behind return",
    ),
    "python's colon": ("if (n > 0):\n        y[0] = 1.0f;", 2, "no colon"),
    "python's else": ("if (n > 0)\n        y[0] = 1.0f;\n    else:\n        y[0] = 2.0f;", 4, "no colon"),
    "python's for in parentheses": ("for (i in range(n)) {\n        y[i] = 1.0f;\n    }", 2, "int i = 0; i < n; i++"),
    "commas in for": ("for (int i = 0, i < n, i++) {\n        y[i] = 1.0f;\n    }", 2, "two semicolons"),
    "is None": ("if (x is not None) y[0] = 1.0f;", 2, "nullptr"),
    "python's list": ("float a[3] = [1, 2, 3];\n    y[0] = a[0];", 2, "float a[3] = {"),
    "brackets before the name of a variable": ("float[4] a;\n    y[0] = a[0];", 2, "float a[4]"),
    "a slice": ("y[0] = x[0:2];", 2, "no slices"),
    "an f-string": ('printf(f"{n}");', 2, "no f-strings"),
    "python's number": ("int big = 1_000_000;\n    y[0] = big;", 2, "1000000"),
    "python's name with a type": ("total: float = 0.0f;\n    y[0] = total;", 2, "type in front of the name"),
    "python's argument by name": (
        "}\n__device__ float g(float a) { return a; }\n__device__ void h(float* y) {\n    y[0] = g(a=1.0f);",
        5,
        "without a=",
    ),
    "python's shape": ("y[0] = x.shape[0];", 2, "come as arguments"),
    "a # behind a line": ("y[0] = 1.0f;  # one", 2, "// in front of a note"),
    "an import": ("import math;\n    y[0] = 1.0f;", 2, "#include"),
    "a wrong comparison": ("if (n === 1) y[0] = 1.0f;", 2, "compared with =="),
    "not written as Python's": ("if (n => 1) y[0] = 1.0f;", 2, "<= and >="),
    "an else without its if": (
        "if (n > 0); {\n        y[0] = 1.0f;\n    } else {\n        y[0] = 2.0f;\n    }",
        4,
        "semicolon behind if",
    ),
    "one parenthesis too many": ("y[0] = (x[0] + 1.0f));", 2, "never opened"),
    "a word of C++ as a name": ("float new = 1.0f;\n    y[0] = new;", 2, "new is a word of C++"),
    "a product without *": ("y[0] = 2x[0];", 2, "A product has a *"),
    "a decimal comma": ("float a = 1,5;\n    y[0] = a;", 2, "A number has a decimal point"),
    "base eight": ("int a = 08;\n    y[a] = 1.0f;", 2, "leave the 0 away"),
    "an index that is a float": ("float i = 0.0f;\n    y[i] = 1.0f;", 3, "whole number"),
    "quotes of a web page": ("printf(“hello”);", 2, 'left double quotation mark, U+201C), where C++ has "'),
    "a minus of a web page": ("y[0] = x[0] − 1.0f;", 2, "minus sign, U+2212), where C++ has -"),
    "a letter of another alphabet": ("y[0] = 2 · x[0];", 2, "middle dot"),
    "a blank of no width": ("y[0] =\u200b x[0];", 2, "zero width space"),
    "a web page's <": ("if (n &lt; 3) y[0] = 1.0f;", 2, "&lt; is how web pages"),
    "a comment without its end": ("/* the first\n    y[0] = 1.0f;", 2, "ends at the next */"),
    "a comment in a comment": ("/* a /* b */ c */\n    y[0] = 1.0f;", 2, "do not nest"),
    "a prompt": (">>> y[0] = 1.0f;", 2, "Delete it"),
    "capital letters": ("float Sum = 0.0f;\n    sum += x[0];\n    y[0] = Sum;", 3, "but Sum is in this text"),
    "almost a name of CUDA's": ("atomic_add(&y[0], 1.0f);", 2, "Did you mean atomicAdd?"),
    "almost a name of C++": ("y[0] = expF(x[0]);", 2, "Did you mean expf?"),
    "a variable of an inner block": (
        "if (n > 0) {\n        float v = x[0];\n    }\n    y[0] = v;",
        5,
        "the one of line 3 ends",
    ),
    "a function further down": (
        "y[0] = twice(1.0f);\n}\n__device__ float twice(float v) {\n    return 2.0f * v;",
        2,
        "in line 4",
    ),
    "an untyped argument": ("}\n__device__ void g(float* v, k) {\n    v[0] = 0.0f;", 3, "float* k, float k or int k"),
    "a name of a header of CUDA's": ("half h = __float2half(x[0]);\n    y[0] = 1.0f;", 2, "#include <cuda_fp16.h>"),
    "a template parameter of a header": ("y[0] = Op::of(x[0], x[1]);", 2, "Op is not known"),
    "a name of a header of the course": ("y[0] = warp_sum<32>(x[0]);", 2, '#include "reduce.cuh"'),
    "a name space without its header": (
        "cooperative_groups::this_thread_block().sync();",
        2,
        "#include <cooperative_groups.h>",
    ),
    "float4 plus float4": (
        "float4 a = make_float4(1, 2, 3, 4);\n    float4 b = a + a;\n    y[0] = b.x;",
        3,
        "each member",
    ),
    "an element of float4": ("float4 a = make_float4(1, 2, 3, 4);\n    y[0] = a[0];", 3, "members have names"),
    "a float for float4": ("float4 a = x[0];\n    y[0] = a.x;", 2, "make_float4"),
    "a dot behind a pointer": ("const float4* a = (const float4*)x;\n    y[0] = a.x;", 3, "a[i].x"),
    "a cast that drops const": ("float4* a = reinterpret_cast<float4*>(x);\n    y[0] = a[0].x;", 2, "const must stay"),
    "a cast without its pointer": (
        "float4 a = *reinterpret_cast<const float4>(x);\n    y[0] = a.x;",
        2,
        "a pointer type between < and >",
    ),
    "a pointer for a number of a function": ("y[0] = g(x);\n}\n__device__ float g(float v) { return v;", 2, "line 4"),
    "three values for max": ("y[0] = max(x[0], x[1], x[2]);", 2, "number and the types"),
    "an array for another": ("const float4* a = x;\n    y[0] = a[0].x;", 2, "The types do not fit"),
    "a value of a function that has none": (
        "}\n__device__ void g(float v) {}\n__device__ void h(float* y) {\n    y[0] = g(1.0f);",
        5,
        "returns nothing",
    ),
    "the same function twice": (
        "}\n__device__ float g(float v) {\n    return v;\n}\n__device__ float g(float v) {\n    return v;",
        6,
        "Two functions",
    ),
    "a function in a kernel": (
        "float twice(float v) {\n        return 2.0f * v;\n    }\n    y[0] = twice(1.0f);",
        2,
        "above the kernel",
    ),
    "a lambda that sees nothing": ("auto g = [](float v) { return n * v; };\n    y[0] = g(1.0f);", 2, "[=]"),
    "printf of the standard library": ('std::printf("%d", n);', 2, "no standard library"),
    "the standard library": ("std::vector<float> v(n);\n    y[0] = v[0];", 2, "no standard library"),
    "bits of a float": ("y[0] = x[0] << 1;", 2, "bits of whole numbers"),
    "a statement outside": ("y[0] = 1.0f;\n    }\n    y[1] = 2.0f;", 4, "outside of every function"),
    "a constant without a type": ("y[0] = 1.0f;\n}\nN = 4;\n__device__ void g() {", 4, "constexpr int N = 4"),
    "inline assembly": ('asm volatile("movl $1, %0" : "=r"(n));', 2, "is not PTX"),
}


def text(body):
    return f'extern "C" __global__ void f(const float* x, float* y, int n) {{\n    {body}\n}}\n'


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_its_line_and_its_sentence(name, compiler):
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
    "infinity as a text", "a text in single quotes", "printf of the standard library",
}  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - NOT_NVIDIAS))
def test_nvidias_words_get_the_same_sentence(name):
    body, _, words = MISTAKES[name]
    with pytest.raises(CompileError) as caught:
        nvrtc.compile_text(source.find(text(body)), ("f",), "sm_80")
    assert words in str(caught.value)


def test_there_are_120_mistakes():
    assert len(MISTAKES) >= 120


# name: (a whole text with the kernel f, its name, the faulty line or None, words of the sentence)
TEXTS = {
    "a ; behind #define": (
        "#define N 4;\n__global__ void f(float* y) {\n    for (int i = 0; i < N; i++) y[i] = 1;\n}\n",
        "f",
        3,
        "line 1 puts `4;` in",
    ),
    "a struct without its end": (
        "struct Pair { float a; }\n__global__ void f(float* y) {\n    y[0] = 1;\n}\n",
        "f",
        1,
        "semicolon",
    ),
    "a misspelt #include": ("#inlcude <math.h>\n__global__ void f(float* y) {\n    y[0] = 1;\n}\n", "f", 1, "misspelt"),
    "python's kernel": ("__global__ void f(float* y):\n    y[0] = 1.0f\n", "f", 1, "no colon"),
    "a form feed": ("\f__global__ void f(float* y) {\n    y[0] = j;\n}\n", "f", 2, "y[0] = j;"),
    "Windows' lines": (
        "__global__ void f(float* y) {\r\n    int i = 0\r\n    y[i] = 1;\r\n}\r\n",
        "f",
        2,
        "int i = 0\n",
    ),
    "tabs": (
        "__global__ void f(float* y) {\n\tint i = 0;\n\tif (i) {\n\t\ty[i] = j;\n\t}\n}\n",
        "f",
        4,
        "| y[i] = j;\n         |        ^",
    ),
    "Windows' first letter": ("\ufeff__global__ void f(float* y) {\n    y[0] = 1;\n}\n", "f", 1, "U+FEFF"),
    "a type for a number": (
        "template <int N> __global__ void f(float* y) { y[0] = N; }\n",
        "f<float>",
        None,
        "template <int N>: name an instance such as f<32>",
    ),
    "a number for a type": (
        "template <class T> __global__ void f(T* y) { y[0] = 1; }\n",
        "f<32>",
        None,
        "such as f<float>",
    ),
    "one argument for two": (
        "template <int N, bool B> __global__ void f(float* y) { y[0] = N + B; }\n",
        "f<4>",
        None,
        "such as f<32, true>",
    ),
    "no template": ("__global__ void f(float* y) { y[0] = 1; }\n", "f<4>", None, "'f', without < and >"),
    "a kernel in a namespace": ("namespace a {\n__global__ void f(float* y) { y[0] = 1; }\n}\n", "f", None, "'a::f'"),
    "an unset name in <>": (
        "template <bool B> __global__ void f(float* y) { y[0] = B; }\n",
        "f<True>",
        None,
        "write true",
    ),
    "no rule of the table": (
        'template <class T> __global__ void f(T* y) {\n    static_assert(sizeof(T) == 2, "half");\n}\n',
        "f<float>",
        2,
        "half",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_whole_text_gets_its_line_and_its_sentence(name, compiler):
    code, kernel, line, words = TEXTS[name]
    with pytest.raises(CompileError) as caught:
        Kernel(code, kernel).compiled(checked=False)
    message = str(caught.value)
    assert words in message, message
    assert caught.value.line == line, message
    assert "sim" not in message and "auto" not in message, message


def test_a_wrong_instance_does_not_stop_the_others(compiler):
    """g++ blames the simulator's header for it, clang the entry point."""
    code = "template <int N> __global__ void f(float* y) { y[0] = N; }"
    Kernel(code, "f<float>")
    y = asarray([0.0], "f")
    Kernel(code, "f<7>")((1,), (1,), (y,))
    assert y[0] == 7


def test_a_header_that_fails_is_shown_by_its_include(compiler):
    with pytest.raises(CompileError, match=r"#include <iostream>\n  Leave it out") as caught:
        Kernel("\n#include <iostream>\n" + text("y[0] = 1.0f;"), "f").compiled(checked=False)
    assert "::" not in str(caught.value) and caught.value.line == 2


@pytest.mark.parametrize("wrong", ["sim(n)", "rpmatch_(n)", "__half", "yn_"])
def test_no_name_of_the_simulator_or_of_the_host_is_proposed(wrong, compiler):
    with pytest.raises(CompileError) as caught:
        Kernel(text(f"y[0] = {wrong} + 1;"), "f").compiled(checked=False)
    assert "did you mean" not in str(caught.value)


LOOKS_LIKE_PYTHON = {  # names that Python reserves and C++ does not: only the fault itself is told
    "in": ("const float* in = x;\n    if (n > 0) y[0] = in[0]", "semicolon"),
    "in, in a loop": (
        "const float* in = x;\n    for (int i = (int)in[0]; i < m; i++) y[i] = 1.0f;",
        "name m is not known",
    ),
    "lambda": ("float lambda = 0.1f;\n    y[0] = lambda * m;", "name m is not known"),
    "del": ("float del = 0.1f;\n    del = m;", "name m is not known"),
    "hexadecimal": ("unsigned mask = 0xabcdef01u, int k = 1;\n    y[0] = mask;", "expected"),
    "a # in a text": ('printf("# %d", m);', "name m is not known"),
}


@pytest.mark.parametrize("name", LOOKS_LIKE_PYTHON)
def test_what_only_looks_like_python_is_not_blamed(name, compiler):
    body, words = LOOKS_LIKE_PYTHON[name]
    with pytest.raises(CompileError) as caught:
        Kernel(text(body), "f").compiled(checked=False)
    message = str(caught.value)
    assert words in message and "Python" not in message, message
    assert (
        "no `in`" not in message and "counts" not in message and "A product" not in message and "a note" not in message
    )


def test_a_missing_semicolon_is_shown_where_it_is_missing():
    """g++ and NVRTC point at the line behind it."""
    for log in (
        "kernel.cu:3:5: error: expected ‘,’ or ‘;’ before ‘y’",
        'kernel.cu(3): error: expected a ";"\n      y[0] = 1;\n      ^',
    ):
        error = diagnostics.explain(log, source.find("void f() {\n    int i = 0  // one\n    y[0] = 1;\n}"))
        assert error.line == 2 and "2 | int i = 0  // one" in str(error)


REFUSED = {
    "launch syntax": ("void g() { f<<<1, 32>>>(0, 0, 1); }", "kernel(grid, block, args)"),
    "host code": ("void g() { float* p; cudaMalloc(&p, 4); }", "course_lib.cuda.asarray"),
    "main": ("int main() { return 0; }", "holds kernels only"),
    "cuda::atomic": ("__device__ cuda::atomic<int> a;", "not simulated"),
    "texture": ("__global__ void g(cudaTextureObject_t t) {}", "Textures"),
    "shared with a value": ("__global__ void g() { __shared__ float s[4] = {0}; }", "begins without a value"),
    "shared pair with a value": (
        "__global__ void g() { __shared__ struct { int a, b; } s = {1, 2}; }",
        "begins without a value",
    ),
    "shared and aligned, with a value": (
        "__global__ void g() { __shared__ alignas(16) int s[2] = {3, 4}; }",
        "begins without a value",
    ),
    "shared comparison as a value": (
        "template <int N> __global__ void g() { __shared__ int s[N <= 4 ? 1 : 2] = {3}; }",
        "begins without a value",
    ),
    "shared scalar with a value": ("__global__ void g() { __shared__ int s = 3; }", "begins without a value"),
}


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize(
    ("code", "name", "line"),
    [
        ("__device__ float g(float);\n__global__ void k(float* y) { y[0] = g(1); }", "'g'", 1),
        (
            "namespace n {\n__device__ float own(float);\n}\n__global__ void k(float* y) { y[0] = n::own(1); }",
            "'own'",
            2,
        ),
        ("\n\n__global__ void k(float* y);", "'k'", 3),
    ],
)
def test_what_is_declared_needs_a_body(code, name, line, checked, compiler):
    with pytest.raises(CompileError, match=rf"line {line}: {name} is declared, but it has no body") as caught:
        Kernel(code, "k").compiled(checked)
    assert caught.value.line == line


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_by_name(name):
    more, words = REFUSED[name]
    with pytest.raises(CompileError, match=r"line 4|:4:") as caught:
        Kernel(text("y[0] = 1.0f;") + more, "f")((1,), (1,), (asarray([1.0], "f"), asarray([1.0], "f"), 1))
    assert words in str(caught.value)


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


@pytest.mark.parametrize("call", ['printf(n ? "%d\\n" : "", n)', 'printf("no number\\n", n)'])
def test_what_one_compiler_lets_pass_the_other_does_not_refuse(call, compiler):
    """clang calls more kinds of format wrong than g++."""
    Kernel("__global__ void told(int n) { " + call + "; }", "told")((1,), (1,), (0,))
