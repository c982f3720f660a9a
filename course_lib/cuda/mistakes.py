"""The beginner's commonest compile errors: what g++, clang and NVRTC say, and what to do about it.

Each entry: a pattern for the compiler's message (any of the three), optionally one for the line of code, and a sentence.
Groups of the patterns may be used in the sentence as {0}, {1}, ... The first that matches wins.
"""

# ruff: noqa: E501 (a table: one pattern a line)
import re

Q = "[‘'\"`]"  # the quotation marks that compilers use
E = "[’'\"]"

TYPES = "The types do not fit. A pointer (float*) is an array, a float is one number: did you mean an element, a[i], or an address, &a[i]?"
LEFT = "The left side of = must be something that can be stored to, such as a variable or array element. For a comparison write ==."

# fmt: off
MISTAKES: list[tuple[str, str | None, str]] = [
    (r"sim_inline_assembly|asm", r"\basm\b",
     "Inline assembly is not simulated. The course's PTX instructions are functions in kernels/include/ptx.cuh."),
    (r"grid_sync_is_not_simulated|grid-wide sync", None,
     "The whole grid cannot wait for itself here: end the kernel and launch a second one."),
    (r"template|expected primary-expression before|no instance of constructor", r"\b(Pack|Row)\b(?:(?!\s*<)|<[^,<>]*>)",
     "{c0} is a template: the compiler must know its arguments wherever it stands, as in Pack<float, 4> or Row<64, 4, 1>."),
    (rf"{Q}?(?:None|null|nil){E}? (?:was not declared|is undefined)|undeclared identifier {Q}(?:None|null|nil){E}|identifier {Q}(?:None|null|nil){E} is undefined", None,
     "C++ writes the null pointer as nullptr."),
    (rf"(?:{Q}(True|False){E} (?:was not declared|is undefined)|undeclared identifier {Q}(True|False){E}|identifier {Q}(True|False){E})", None,
     "C++ writes true and false in lower case."),
    (rf"{Q}(and|or|not|elif|def|pass|in|is){E}|(?:expected {Q};{E}|expected a {Q};{E}).*", r"\b(elif|def|pass|range\s*\(|len\s*\()",
     "That is Python. C++ writes `else if (...)`, `for (int i = 0; i < n; i++)`, and braces around every block."),
    (r"expected ['‘`\"]?\(|expected a [\"']\(", r"\b(?:if|for|while)\b\s*[^\s(]",
     "C++ writes parentheses after if, for and while, and braces around what follows: if (i < n) { ... }, for (int i = 0; i < n; i++) { ... }."),
    (r"(?:invalid|unrecognized) preprocessing directive", None,
     "A # begins no comment in C++: write // in front of a note."),
    (r"too many characters in character constant|(?:invalid conversion|cannot initialize|no matching function|incompatible).*", r"\bprintf\s*\(\s*[^\"\s]",
     'printf begins with a text in double quotes, with a blank for each value: printf("%d\\n", i). Single quotes are for one letter.'),
    (r"(?:invalid operands|expression must have).*", r'"\s*%',
     'printf takes its values after commas: printf("%d\\n", i).'),
    (r"(?:invalid operands|expression must have).*", r"\w\]?\s*\^",
     "^ is no power in C++: write x * x, or powf(x, y)."),
    (r"\bambiguous\b|more than one instance of overloaded", r"\w\s*\(",
     "Several functions fit, since the arguments have different types. Give them one type: 0.0f beside a float, 0 beside an int."),
    (rf"{Q}(print|len|range|math|np|numpy|sum){E} (?:was not declared|is undefined)|undeclared identifier {Q}(print|len|range|math|np|numpy|sum){E}|identifier {Q}(print|len|range|math|np|numpy|sum){E} is undefined|there are no arguments to {Q}(print|len|range|sum){E}", None,
     "{0} is Python's. C++ has printf, for loops, expf, logf, sqrtf, fabsf and fmaxf; the length of an array comes as an argument of its own."),
    (r"expected .*", r"=[^=].*\bif\b.*\belse\b",
     "C++ writes `a if test else b` as test ? a : b."),
    (rf"{Q}\w+{E} has not been declared", r"\(",
     "Each argument of a function has a type of its own: float s, int n."),
    (r"variable or field .* declared void", None,
     "The compiler does not know a type between these parentheses. An array is a pointer, such as float* x; a number is an int or a float."),
    (r"expected .*,.* or .*\.\.\.|brackets are not allowed here|expected [`'‘\"]?\)|expected a .*\)", r"\w\s*\[\s*\]\s*\w",
     "An array comes as a pointer: write float* x in place of float[] x."),
    (r"numeric literal operator|invalid suffix|invalid digit|literal operator", r"(?<![\w.])(\d+)f\b",
     "A float needs its point: write {c0}.0f, not {c0}f."),
    (r"format .*(?:expects|specifies)|more '%' conversions", None,
     "Each blank in printf needs a value of its kind: %d an int, %u an unsigned int, %lld a long long, %f a float or double."),
    (r"missing terminating|missing closing quote|expected expression|expected an expression", r'^[^"]*"(?:[^"]*"[^"]*")*[^"]*$',
     'A text in quotes does not end on its line. Is there a \\n in it? Then put an r before the quotes of Python: r\"\"\"...\"\"\".'),
    (rf"(?:{Q}(threadidx|ThreadIdx|thread_idx|blockidx|BlockIdx|block_idx|blockdim|BlockDim|block_dim|griddim|GridDim|threadId|blockId){E}|(?:identifier|undeclared identifier) {Q}(threadidx|ThreadIdx|thread_idx|blockidx|BlockIdx|blockdim|BlockDim|griddim|threadId|blockId){E})", None,
     "The four built-in variables are spelled threadIdx, blockIdx, blockDim and gridDim, each with .x, .y and .z."),
    (rf"(?:has no member (?:named )?|no member named ){Q}(\w+){E}.*", r"(threadIdx|blockIdx|blockDim|gridDim)",
     "threadIdx, blockIdx, blockDim and gridDim have the members x, y and z."),
    (r"(?:invalid operands|no match for|no operator).*", r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?!\s*\.)",
     "{c0} is three numbers; say which one: {c0}.x, {c0}.y or {c0}.z."),
    (r"(?:cannot convert|no viable conversion|no suitable conversion|invalid cast|no suitable (?:user-defined )?conversion).*", r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?!\s*\.)",
     "{c0} is three numbers; say which one: {c0}.x, {c0}.y or {c0}.z."),
    (rf"{Q}__syncthread{E}|{Q}(syncthreads|_syncthreads|__sync_threads){E}", None,
     "The barrier is spelled __syncthreads(): two underscores, plural."),
    (r"redeclar|redefinition|conflicting declaration|has already been declared|shadows a parameter", None,
     "This name is declared twice in the same braces. Leave the type out the second time to assign to it."),
    (rf"{Q}__(global|device|shared)_?{E}|{Q}_*(global|device|shared)_*{E}(?: does not name a type)?", None,
     "CUDA's words have two underscores on each side: __global__, __device__, __shared__."),
    (r"forbids declaration of|type specifier is required|requires a type specifier|no storage class or type specifier|explicit type is missing", None,
     "A type is missing in front of the name: int, float, float*, ... A kernel begins with `__global__ void`."),
    (r"must return|kernel must return|__global__.*(?:return|void)|return-statement with a value|void function .*should not return a value|return value type does not match|in function returning ['‘]void['’]", None,
     "A kernel returns void; write results into an array that it gets as an argument."),
    (r"control reaches end|no return statement|non-void function does not return|missing return statement", None,
     "This function promises a value but does not `return` one on every way through."),
    (r"expression must be a modifiable lvalue", r"[-+/%]\s*\w+\s*=[^=]", LEFT),  # NVRTC's words for two mistakes
    (r'value of type "[^"]*\*" cannot be (?:used to initialize|assigned to) an entity of type "[^"*]*"', None, TYPES),
    (r"discards qualifiers|assignment of read-only|cannot assign to.*const|expression must be a modifiable lvalue|read-only variable is not assignable|of const-qualified type", None,
     "What is marked `const` may only be read. Write to another array, or take the `const` away from the parameter."),
    (rf"invalid conversion from {Q}const (\w+)|cannot initialize a \w+ of type '[^']*\*'.*'const |invalid conversion.*const|a value of type {Q}const |const.*incompatible|no matching function.*const", None,
     "A pointer to const data cannot become a pointer to data that may change: add `const` on the left side."),
    (r"lvalue required|expression is not assignable|expression must be a modifiable lvalue|left operand of assignment", None,
     LEFT),
    (rf"(?:invalid types|subscripted value|array subscript|expression must have pointer-to-object type|no operator {Q}\[\])", r"\[",
     "Only arrays and pointers take [ ]. Is a * missing where it is declared (float* a)? A two-dimensional array in memory is one pointer: a[i * columns + j]."),
    (r"invalid operands|no match for .operator%|integral", r"%",
     "% works on whole numbers only; for floats there is fmodf(a, b)."),
    (r"invalid operands.*\*\)?['’)]|expression must have arithmetic", None,
     "One side is a pointer, a whole array. Take one element of it: a[i]."),
    (r"invalid types .* for array subscript|array subscript is not an integer|array subscript.*(?:float|double)|expression must have integral", None,
     "An index is a whole number: use int, and integer division."),
    (r"expected primary-expression before.*|expected expression|expected an expression", r"\*\*",
     "C++ has no ** operator: write x * x, or powf(x, y)."),
    (r"indirection requires pointer|invalid type argument of unary|operand of .\*. must be a pointer", r"\*\*",
     "C++ has no ** operator: write x * x, or powf(x, y)."),
    (r"expected primary-expression before.*|expected expression|expected an expression", r"//\s*\d|\w\s*//\s*\w",
     "// begins a comment in C++. Division of whole numbers with / already rounds towards zero."),
    (r"expected primary-expression before ['‘]\.['’]|does not refer to a value|type name is not allowed", r"\b([A-Z]\w*)\.\w",
     "{c0} is a type, and behind the name of a type stands :: in place of a point: {c0}::..."),
    (r"could not convert|no viable conversion|no suitable constructor", r"\breturn\s+[^{;(]+,[^;]*;",
     "A struct is given back in braces: return {a, b};"),
    (r"too (few|many) arguments|no matching function for call|candidate function|cannot convert .* to|no instance of overloaded", r"\w\s*\(",
     "The call does not fit the function: compare the number and the types of its arguments with the declaration."),
    (r"expected ['‘]\)['’]|expected (?:a )?[`'‘\"]?\)|to match this", None,
     "A parenthesis is opened and not closed. Count ( and ) on this line and the one before."),
    (r"expected ['‘`\"]?\}|at end of input|expected declaration before end|reached end of file|extraneous closing brace|expected declaration before ['‘]\}|expected a declaration", None,
     "The braces do not balance: every { needs one }. Look at the line where this block began."),
    (r"expected initializer before|expected unqualified-id|expected function body|after top level declarator|expected a [\"']\{", None,
     "Something is missing in the line before: a semicolon, or the { with which a function begins."),
    (r"expected ['‘`\"]?(?:,['’]? or ['‘]?)?;['’`]? before ['‘`]\w|expected [\"']?;[\"']? (?:after|at end)|expected a [\"'];", r"[\w\])] +[A-Za-z_]\w*[^;]*;\s*$",
     "A semicolon is missing, here or at the end of the line before; or an operator, such as *, between two values."),
    (r"expected ['‘`\"]?(?:,['’]? or ['‘]?)?;|expected a [\"'];|missing ';'", None,
     "A semicolon is missing, here or at the end of the line before."),
    (rf"does not name a type|unknown type name {Q}(\w+){E}|identifier {Q}\w+_t{E} is undefined", None,
     "The compiler does not know this type. C++'s are int, float, double, bool, char, and unsigned int; every variable is declared with one."),
    (rf"{Q}(\w+){E} was not declared|undeclared identifier {Q}(\w+){E}|identifier {Q}(\w+){E} is undefined|there are no arguments to {Q}(\w+){E}", None,
     "The name {0} is not known here. Is it spelled right, declared above with a type, and inside the same braces?"),
    (r"cannot convert|no viable conversion|invalid conversion|cannot initialize|incompatible|cannot be used to initialize|cannot be assigned", None,
     TYPES),
    (r"called object|is not a function|cannot be used as a function|expression preceding parentheses", None,
     "This is called like a function but is not one. Is a * missing between a value and a parenthesis?"),
    (r"No such file|file not found|cannot open source file", None,
     "This header is not there. Kernels need few: cuda_fp16.h, cuda_bf16.h, cooperative_groups.h, mma.h, and include/ptx.cuh of the course."),
    (r"break statement not within|continue statement not within|['‘]break['’] statement not in|may only be used within", None,
     "break and continue belong inside a loop; to leave a kernel write return;."),
    (r"storage size of .* isn.t (?:known|constant)|variable.length array|not an integral constant expression|must be a constant|expression must have a constant value|initializer.*constant", None,
     "The size of an array in a kernel must be known when it is compiled: use a constant, a template parameter, or extern __shared__."),
    (r"template argument|no matching function.*template|candidate template ignored|type/value mismatch", None,
     "A template's arguments must be known when it is compiled: numbers or types, as in kernel<32>."),
    (r"stray|missing terminating|invalid suffix|unterminated|unrecognized token|extra text after expected", None,
     "A character or number is written as C++ does not know it: look for quotes, a decimal comma, or a stray sign."),
    (r"narrowing", None, "A value would lose digits here: write the conversion yourself, (int)x or (float)x."),
]
# fmt: on


def sentence_for(message: str, code: str) -> str:
    """The sentence for a compiler's message about a line of code, or nothing: never a guess."""
    for pattern, in_code, sentence in MISTAKES:
        said = re.search(pattern, message)
        if not said:
            continue
        seen = re.search(in_code, code) if in_code else None
        if in_code and not seen:
            continue
        groups = [group for group in said.groups() if group] or [""]
        return sentence.replace("{0}", groups[0]).replace("{c0}", seen.group(1) if seen and seen.groups() else "")
    return ""
