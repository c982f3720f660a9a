"""What to say of a name that a compiler does not know: the same under every compiler, so none of their guesses is shown."""

import re
from difflib import get_close_matches
from functools import cache

from course_lib import lexer
from course_lib.cuda.source import KERNELS, Source

Q, E = "[‘'\"`]", "[’'\"]"  # the quotation marks that compilers use
UNKNOWN = re.compile(
    rf"{Q}(?P<a>\w+){E} (?:was not declared|has not been declared|does not name a type|is not a member of {Q}(?:sim|::))"
    rf"|(?:undeclared identifier|unknown type name|no template named) {Q}(?P<b>\w+){E}"
    rf"|identifier {Q}(?P<c>\w+){E} is undefined|there are no arguments to {Q}(?P<d>\w+){E}"
    rf"|^{Q}(?P<e>\w+){E} is not a template"
)
TRANSLATED = {
    "float32": "float", "float64": "double", "float16": "half, with #include <cuda_fp16.h>", "boolean": "bool",
    "bfloat16": "__nv_bfloat16, with #include <cuda_bf16.h>", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long", "inf": "INFINITY", "nan": "NAN", "pi": "3.14159265f", "True": "true", "False": "false",
    "TRUE": "true", "FALSE": "false", "abs": "fabsf", "string": "const char*", "str": "const char*", "var": "auto", "let": "auto",
    "restrict": "__restrict__", "stderr": "printf(...), without a place to print to",
}  # fmt: skip
HEADERS = {
    "cuda_fp16.h": r"(?:__)?half2?|__(?:float|half|low|high|int|h)\w*2?(?:half|float)\w*|__h(?:add|sub|mul|fma|div|max|min)\w*",
    "cuda_bf16.h": r"__nv_bfloat162?|nv_bfloat162?|__\w*(?:bfloat|bf16)\w*",
    "cooperative_groups.h": r"cooperative_groups|cg",
    "mma.h": r"nvcuda|wmma",
}
KNOWN = """threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_sync __shfl_down_sync __shfl_up_sync
__shfl_xor_sync __ballot_sync __any_sync __all_sync atomicAdd atomicSub atomicMax atomicMin atomicExch atomicCAS atomicOr
atomicAnd printf expf logf log2f exp2f sqrtf rsqrtf fabsf fmaxf fminf powf tanhf sinf cosf erff floorf ceilf roundf fmodf fmaf
max min float double int bool char short long unsigned void const return while switch struct template typename constexpr
make_float2 make_float3 make_float4 float2 float3 float4 int2 int4 reinterpret_cast static_cast __global__ __device__ __shared__
__constant__ __restrict__ __ldg INFINITY nullptr true false half __nv_bfloat16 size_t int64_t uint32_t""".split()


def unknown_name(message: str) -> str:
    """The name that a message calls unknown, or nothing."""
    found = UNKNOWN.search(message)
    return next(name for name in found.groups() if name) if found else ""


def differs_in_case(name: str, text: Source) -> str:
    """A name of the learner's own text that is the same but for capital letters."""
    own = _own(text.everything)
    return next((word for word in own if word.lower() == name.lower() and word != name), "") if name in own else ""


def sentence_for_name(name: str, code: str, text: Source, line: int) -> str:
    """What to do about a name that is unknown in this line of code. Never empty."""
    if own := differs_in_case(name, text):
        return (
            f"The name {name} is not known here, but {own} is in this text: capital and small letters are not the same."
        )
    if name in TRANSLATED:
        return f"C++ does not know {name}: write {TRANSLATED[name]}."
    for header, names in HEADERS.items():
        if re.fullmatch(names, name):
            alias = " and `namespace cg = cooperative_groups;`" if name == "cg" else ""
            alias = " and `using namespace nvcuda;`" if name == "wmma" else alias
            return f"{name} comes with a header: begin the file with #include <{header}>{alias}."
    if header := _course_header(name):
        return f'{name} comes with a header of the course: begin the file with #include "{header}".'
    lines = text.code.splitlines()
    made = [
        number
        for number, row in enumerate(lines, 1)
        if re.search(rf"[\w>*&]\s+[*&]?\b{name}\s*\(.*\)\s*(?:\{{|$)", row)
    ]
    if any(number > line for number in made):
        return f"{name} is declared further down, in line {made[-1]}. C++ reads from top to bottom: move it above."
    if re.search(rf"(?<!\bfor)\s*[(,]\s*{name}\s*=[^=]", code) and not re.match(r"\s*for\b", code):
        return f"C++ has no arguments by name: write the value alone, in its place, without {name}=."
    if is_header(code) and re.search(rf"[(,]\s*{name}\s*[,)]", code):
        return f"Each argument of a function has a type of its own, such as float* {name}, float {name} or int {name}."
    kind = re.search(rf"(?<![.>])\b{name}\b(?:\s*[*&]+\s*|\s+)[A-Za-z_]\w*\s*(?:[=;,)\[({{]|$)", code)
    close = get_close_matches(name.lower(), [word.lower() for word in KNOWN if word != name], 1, 0.8)
    if close:
        right = next(word for word in KNOWN if word.lower() == close[0])
        return f"The name {name} is not known here. Did you mean {right}?"
    if kind:
        return (
            f"The compiler does not know this type, {name}. C++'s are int, float, double, bool, char, and unsigned int; every "
            "variable is declared with one."
        )
    earlier = [
        n
        for n, row in enumerate(lines[: line - 1], 1)
        if re.search(rf"\b(?:{_TYPES})\s*[*&]?\s*{name}\s*[=;,\[:]", row)
    ]
    if earlier:
        return (
            f"The name {name} is not known here: the one of line {earlier[-1]} ends with the braces, or the if or for, that it "
            "stands in. Declare it before them."
        )
    if re.match(rf"\s*(?:for\s*\(\s*)?{name}\s*=[^=]", code):
        return f"The name {name} is not known here. A new variable has its type in front: int {name} = ..., float {name} = ..."
    mine = [
        word for word in _own(text.everything) if word != name and text.everything.count(word) > 1 and len(word) > 2
    ]
    if len(name) > 3 and (close := get_close_matches(name, mine, 1, 0.8)):
        return f"The name {name} is not known here. Did you mean {close[0]}?"
    return f"The name {name} is not known here. Is it spelled right, declared above with a type, and inside the same braces?"


_TYPES = "int|float|double|bool|char|unsigned|long|short|auto|half|float4|size_t"


def is_header(code: str) -> bool:
    """Whether a line declares a function."""
    return bool(re.search(r"\bvoid\b|__device__|__global__|\[[=&]?\]\s*\(|^\s*(?:\w+\s+)+\w+\(.*\)\s*\{\s*$", code))


@cache
def _own(everything: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", everything)))


@cache
def _course_header(name: str) -> str:
    """The course's header that defines a function, struct or constant of this name."""
    kind, function = (
        rf"(?:struct|class|namespace)\s+(?:alignas\(.*\)\s+)?{name}\b",
        rf"[\w>&*]\s+[*&]?{name}\s*\([^;]*\{{",
    )
    pattern = rf"{kind}|{function}|#define\s+{name}\b"
    for header in sorted((KERNELS / "include").glob("*.cuh")):
        for row in lexer.read(header.read_text("utf-8")).code.splitlines():
            known = re.sub(r"^template\s*<[^>]*>", "", row)  # its parameters are known in that template alone
            if not row[:1].isspace() and re.search(pattern, known):
                return header.name
    return ""
