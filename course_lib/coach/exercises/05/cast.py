"""From one type to another: truncating, rounding and comparing with zero."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond, bfloat16_bits, of_bfloat16_bits, whole_numbers

BLOCK = 64
TYPES = {"float": np.float32, "int": np.int32, "long long": np.int64, "bool": np.bool_, "__nv_bfloat16": np.uint16}


def cases(random):
    some = np.array([0.5, -0.5, 0.0, 2.75, -2.75, 3.0, -0.0], np.float32)
    yield Case("is it zero?", some[:3].copy(), "float", "bool")
    yield Case("truncated towards zero", some, "float", "int")
    yield Case("integers to floats", random.integers(-99, 99, 70).astype(np.int32), "int", "float")
    yield Case(
        "small, negative and large ones as bool",
        np.array([1e-30, -3, 1e30, 0, np.inf] * 15, np.float32),
        "float",
        "bool",
    )
    yield Case("to bfloat16", np.append(random.normal(size=66), [1.00390625, 1.01171875]).astype(np.float32), "float",
               "__nv_bfloat16")  # fmt: skip
    yield Case(
        "back from bfloat16", bfloat16_bits(random.normal(size=130).astype(np.float32)), "__nv_bfloat16", "float"
    )
    yield Case("int numbers that no float holds", whole_numbers(random, 5, np.int32), "int", "long long")
    yield Case(
        "long long numbers that no float holds", whole_numbers(random, 5, np.int32).astype(np.int64), "long long", "int"
    )
    far = np.array([0, 1, 2**32, 2**40 + 1], np.int64)  # the lower 32 bits of one are 0
    yield Case("long long numbers beyond an int", far, "long long", "bool")


def right(x, source, to):
    if to == "__nv_bfloat16":
        return bfloat16_bits(x)
    if source == "__nv_bfloat16":
        return of_bfloat16_bits(x)
    return x.astype(TYPES[to])


def launch(kernel, x, source, to):
    y = cuda.empty(len(x), TYPES[to])
    kernel.instance(f"{source}, {to}")((len(x) + BLOCK - 1) // BLOCK, BLOCK, (cuda.asarray(x), y, len(x)))
    return y


def for_bool(of):
    """Right but for bool, where `of` decides."""
    return lambda x, source, to: of(x) if to == "bool" else right(x, source, to)


def rounded(x, source, to):
    if to in ("int", "long long"):
        return np.rint(x.astype(np.float32)).astype(TYPES[to])  # rintf takes a float
    y = right(x, source, to)
    return np.rint(y) if source == "__nv_bfloat16" else y


exercise = Exercise(
    title="From one type to another",
    minutes=10,
    core=False,
    language="cuda",
    defines="cast",
    instances=("float, bool", "float, int", "int, float", "float, __nv_bfloat16", "__nv_bfloat16, float",
               "int, long long", "long long, int", "long long, bool"),
    target="kernel:cast.cu",
    cases=cases,
    reference=right,
    call=launch,
    hints=(
        "The kernel is one line for each thread, as in chapter 04. What is new is only who does the cast: Cast<To, From>::of.",
        "For bool, compare x with a zero of its own type: (From)0.",
        "return x != (From)0; and in the kernel: int i = blockIdx.x * blockDim.x + threadIdx.x; "
        "if (i < n) y[i] = Cast<To, From>::of(x[i]);",
    ),
    example='''// A scaled copy in another type: a rule for all types, and another for integers of 8 bits.
template <class To> struct Fit {
    static __device__ To of(float x) { return (To)x; }
};
template <> struct Fit<signed char> {
    static __device__ signed char of(float x) { return (signed char)fminf(fmaxf(x, -128.0f), 127.0f); }
};

template <class To> __global__ void fit(const float* x, To* y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Fit<To>::of(by * x[i]);
}
''',
    wrong=[
        Wrong(Changed(("return x != (From)0;", "return (int)x;")),
              "0.5 became false: it was truncated to an integer first. Only 0 itself is false.",
              like=for_bool(lambda x: x.astype(int if x.dtype == np.float32 else np.int32) != 0)),
        Wrong(Changed(("return x != (From)0;", "return x > (From)0;")),
              "Negative numbers became false. Whatever is not 0 is true.", like=for_bool(lambda x: x > 0)),
        Wrong(Changed(("return x != (From)0;", "return x == (From)0;")), "True and false are swapped: 0 is false.",
              like=for_bool(lambda x: x == 0)),
        Wrong(Changed(("static __device__ To of(From x) { return (To)x; }", "static __device__ To of(From x) { return "
                                                                            "(To)rintf(x); }")),
              "The floats were rounded to integers. `(To)x` truncates: it drops the fraction, as C++ does.",
              like=rounded),
        Wrong(Changed(("if (i < n) y[i]", "y[i]")), "There are more threads than numbers: those with i >= n must do nothing.",
              when=lambda seen: beyond(seen, len(seen.inputs[0]), BLOCK)),
    ],
)  # fmt: skip
