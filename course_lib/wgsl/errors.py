"""What the compiler of WGSL says, as a sentence for a person, with the line of the text that it was given.

The commonest mistakes of those who come from CUDA C++ or Python have sentences of their own; of the others the compiler's words
stay.
"""

from __future__ import annotations

import re

from course_lib.devices.webgpu.source import ShaderError

CPLUSPLUS_TYPES = {
    "float": "f32",
    "int": "i32",
    "double": "f32",
    "unsigned": "u32",
    "unsigned int": "u32",
    "uint": "u32",
    "float4": "vec4<f32>",
    "half": "f32",
    "auto": "let or var",
}
INDEX = (
    "{} is CUDA's. WGSL hands such numbers to the entry point: write `{}` in its list of parameters, and use that name."
)
BUILTIN = {
    "threadIdx": "@builtin(local_invocation_id) thread: vec3<u32>",
    "blockIdx": "@builtin(workgroup_id) group: vec3<u32>",
    "gridDim": "@builtin(num_workgroups) groups: vec3<u32>",
}
FUNCTIONS = {
    "__syncthreads": "`workgroupBarrier()`", "expf": "`exp`", "logf": "`log`", "sqrtf": "`sqrt`", "tanhf": "`tanh`",
    "fmaxf": "`max`", "fminf": "`min`", "fabsf": "`abs`", "powf": "`pow`", "rsqrtf": "`inverseSqrt`",
    "atomicAdd": "`atomicAdd(&place, number)`, on `atomic<u32>` or `atomic<i32>` only",
}  # fmt: skip
CONVERT = "Nothing converts by itself: write `f32(...)`, `u32(...)` or `i32(...)` where it is needed."
UNSIGNED = "begin a counter with `0u`, which is a u32 as sizes and ids are, or write `u32(...)`."
KINDS = {"Uint": "u32", "Sint": "i32", "Float": "f32", "Bool": "bool"}
OPERATIONS = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Modulo": "%", "Less": "<", "LessEqual": "<=",
    "Greater": ">", "GreaterEqual": ">=", "Equal": "==", "NotEqual": "!=",
}  # fmt: skip


class NoAdapterError(ShaderError):
    """There is nothing on this machine that runs WGSL. A notebook shows the sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def explained(said: str, code: list[str]) -> tuple[str, int | None]:
    """A compiler's message -> a sentence, and the number of the line, counted from 1. code: the lines that were compiled."""
    at = re.search(r"[ :](\d+):(\d+)\n", said)
    line, column = (int(at[1]), int(at[2])) if at else (None, 0)
    if at and re.search(r"cannot convert elements|inconsistent type|invalid function call|redefinition", said):
        line = max(
            int(row) for row in re.findall(r"^ *(\d+) │", said, re.M)
        )  # the first may be where a name was declared
        column = 0 if line != int(at[1]) else column
    if line and "is not a boolean scalar" in said and (name := re.match(r"\w+", code[line - 1][column - 1 :])):
        asked = re.compile(rf"\b(if|while)\b[\s(]*{name[0]}[\s)]*{{")
        line = next((number for number, row in enumerate(code[line - 1 :], line) if asked.search(row)), line)
    text = code[line - 1] if line and line <= len(code) else ""
    first = re.search(r"(?:parsing|validation) error: ([^\n]*)", said)
    reason = first[1].strip() if first else next((row.strip() for row in said.splitlines()[::-1] if row.strip()), said)
    if "left-hand side" in reason and any(re.match(r"var\s+\w+\s*:", row) for row in code):
        said += "isn't compatible with address space"  # that is what is wrong, told where it is used
    words = _of_parsing(reason, text, column, said) or _of_types(said) or _of_entry(said)
    if words is None:
        detail = re.findall(r"^ *= (.*)$", said, re.M)
        words = f"The compiler says: {detail[-1] if detail and 'invalid' in reason else reason}."
    if "expected `;`" in reason and line and text[: column - 1].strip() == "":
        while line > 1 and not code[line - 2].strip():
            line -= 1
        line -= 1  # the compiler stands at the next word, the learner looks at the line that has no end
    return words, line


def _of_parsing(reason: str, text: str, column: int, said: str) -> str | None:
    before = text[: column - 1].split()
    word = re.search(r'found "([^"]*)"', reason)
    unknown = re.search(r"identifier: `(\w+)`", reason)
    if "expected `;`" in reason and word and word[1] == "?":
        return "WGSL has no `a ? b : c`. `select(c, b, a)` gives b where a is true and c where not, or write an `if`."
    if "expected `;`" in reason and (cast := re.search(r"\(\s*(\w+)\s*\)\s*$", text[: column - 1])):
        if (kind := CPLUSPLUS_TYPES.get(cast[1], cast[1])) in KINDS.values():
            return f"`({cast[1]})` in front of a value is C++. WGSL writes a conversion as a call: `{kind}(value)`."
    if "expected `;`" in reason and re.search(r"\belif\b", text):
        return "WGSL writes `else if`, not `elif`."
    if "expected `;`" in reason and re.search(r"\bvar\s+\w+\s*\[", text):
        return "An array has its length in its type: `var name: array<f32, 4>;`."
    if "expected `;`" in reason:
        return "A `;` is missing at the end of a statement."
    if re.search(r"__shared__", text[: column - 1]):
        return "`__shared__` is CUDA's. Here it is `var<workgroup> NAME: array<f32, 256>;`, outside of all functions."
    if word and word[1] == "#":
        return "A comment begins with `//`."
    if word and word[1].startswith(('"', "\\")):
        return "WGSL has no text in quotation marks, and cannot print."
    if "expected `)`" in reason and word and word[1] == "=":
        return "`=` gives a value. To compare, write `==`."
    if word and word[1] in ("++", "--"):
        return "`++` and `--` are no part of an expression here: write `i++;` in a line before or behind."
    if "assignment or increment" in reason and before and before[-1].lstrip("({") in CPLUSPLUS_TYPES:
        kind = before[-1].lstrip("({")
        name = word[1] if word else "name"
        if kind == "unsigned" and name == "int":
            kind, name = "unsigned int", [*re.findall(r"\w+", text[column - 1 :]), "name"][1]
        return (
            f"`{kind} {name}` is C++. In WGSL a variable that changes is `var {name} = ...;`, and a value that does not is "
            f"`let {name} = ...;`." + ("" if kind == "auto" else f" The type is {CPLUSPLUS_TYPES[kind]}.")
        )
    if unknown and unknown[1] == "blockDim":
        return "blockDim is CUDA's. In WGSL a workgroup has the size that stands in @workgroup_size: use that number."
    if unknown and unknown[1] in BUILTIN:
        return INDEX.format(unknown[1], BUILTIN[unknown[1]])
    if unknown and unknown[1] == "INFINITY":
        return "WGSL has no `INFINITY`: hand it to the kernel as a number, or begin with the first element."
    if unknown and unknown[1] in FUNCTIONS:
        return f"WGSL has no `{unknown[1]}`: here it is {FUNCTIONS[unknown[1]]}."
    if unknown and unknown[1] in CPLUSPLUS_TYPES:
        return f"WGSL has no type `{unknown[1]}`: it is `{CPLUSPLUS_TYPES[unknown[1]]}`, in conversions too."
    if unknown:
        return f"The name `{unknown[1]}` is not known here: is it spelled right, and declared above or as a binding?"
    if "expected global item" in reason and word and word[1].startswith("__"):
        other = {"__shared__": "`var<workgroup> NAME: array<f32, 256>;`", "__global__": "`@compute @workgroup_size(256) fn`",
                 "__device__": "a plain `fn`"}.get(word[1])  # fmt: skip
        return f"`{word[1]}` is CUDA's." + (f" Here it is {other}." if other else "")
    if "expected `{`" in reason:
        return "After `if`, `else`, `for` and `while` WGSL requires braces, even around a single statement."
    if word and word[1] in ("and", "or"):
        return f"WGSL writes `{'&&' if word[1] == 'and' else '||'}`, not `{word[1]}`."
    if "expected statement" in reason and word and word[1] in ("", "}"):
        return "A `}` is missing: a brace is opened and never closed."
    if "left-hand side" in reason and "address space" not in said:
        name = re.search(r"declaring `(\w+)`", said)
        if name and re.search(rf"\b(let|const) {name[1]}\b", text + said):
            return f"`let` names a value that never changes. Declare `{name[1]}` with `var` to assign to it."
        return "Parameters and `let` never change. Make a `var` of it: `var copy = name;`."
    if "reference type to be one of" in reason:
        return "`++` and `--` need a variable: declare it with `var`, as i32 or u32."
    if kinds := re.search(r"type of `(\w+)` is expected to be `(\w+)`, but got `(\w+)`", reason):
        said = f"`{kinds[1]}` is declared as {kinds[2]} and given {_a(kinds[3])}."
        return f"{said} Nothing converts by itself: write `{kinds[2]}(...)`."
    if kinds := re.search(r"cannot convert elements of `(\w+)` to `(\w+)`", reason):
        whole = {kinds[1], kinds[2]} == {"u32", "i32"}
        return f"Numbers of two types meet, {kinds[1]} and {kinds[2]}. Nothing converts by itself: " + (
            UNSIGNED if whole else f"write `{kinds[2]}(...)`."
        )
    if field := re.search(r"invalid field accessor `(\w+)`", reason):
        return f"There is no `.{field[1]}` here: a struct has the fields of its declaration, a vec3 has x, y and z."
    if call := re.search(r"inconsistent type passed as argument #\d+ to `(\w+)`", reason):
        return f"`{call[1]}` is given numbers of two types. {CONVERT}"
    if value := re.search(r"type `(\w+)` cannot represent the abstract value `(-?[\d.]+)`", said):
        return f"{value[2]} cannot be {_a(value[1])}" + (
            ": that type has no negative numbers." if value[1] == "u32" else "."
        )
    if "overflowed" in reason or "cannot represent the abstract value" in said:
        return (
            "This number is infinite or not a number, and WGSL allows no such constant. Hand it to the kernel as a number, or "
            "begin with the first element."
        )
    if "local variables can only use" in said:
        return "`var<workgroup>` stands outside of all functions: it belongs to the workgroup, not to one thread."
    if "workgroup size is missing" in reason:
        return "`@compute` needs a `@workgroup_size(256)` beside it: how many threads a workgroup has."
    if "needs a type specifier" in reason:
        return "A variable needs a type or a first value: `var s = 0.0;` or `var s: f32;` (which is 0)."
    if "must be a pointer" in said and "**" in text:
        return "WGSL has no `**`: multiply, or use `pow(x, y)`."
    if "const context" in reason and re.match(r"\s*const\b", text):
        return "A `const` is known when the text is compiled. What is computed while the kernel runs is a `let`."
    if "const context" in reason:
        return "The length of an array is fixed when the text is compiled: use a literal or a `const`."
    if "unused return value" in reason:
        return "The result of this call is not used. Assign it, or drop the line."
    if "is recursive" in reason:
        return "No function of WGSL may call itself, not even by way of another."
    if "redefinition" in reason:
        return f"This name is declared twice in one place: {reason}."
    return None


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'if' else 'a'} {kind}"


def _of_types(said: str) -> str | None:
    pair = re.search(r"Operation (\w+) can't work with \[\d+\] \(of type (.*)\) and \[\d+\] \(of type (.*)\)", said)
    if (
        pair
        and pair[1] in OPERATIONS
        and len(set(re.findall(r"kind: (\w+)", pair[0]))) == 1
        and pair[0].count("Vector") == 1
    ):
        whole, single = ("left", "right") if "Vector" in pair[2] else ("right", "left")
        return (
            f"`{OPERATIONS[pair[1]]}` has a vector on its {whole} and one number on its {single}. Of a vector of ids take a "
            "component, as in `group.x`; of others convert the number: `vec4(number)`."
        )
    if pair and pair[1] in OPERATIONS:
        one, other = (
            KINDS.get(found[0], "?") if (found := re.findall(r"kind: (\w+)", side)) else "?"
            for side in pair.group(2, 3)
        )
        convert = f"Nothing converts by itself: {UNSIGNED}" if {one, other} == {"i32", "u32"} else CONVERT
        return f"`{OPERATIONS[pair[1]]}` has {_a(one)} on its left and {_a(other)} on its right. {convert}"
    if place := re.search(r"Argument (\d+) value \[\d+\] doesn't match the type", said):
        return (
            f"Argument {int(place[1]) + 1} of this call has another type than the function declares there: look at the order of "
            "the arguments, and whether one needs `f32(...)` or `u32(...)`."
        )
    if "doesn't match the type stored in" in said:
        return (
            "What is written has another type than its place: a number where a vector belongs, a vector where a number does, or "
            "one that needs `f32(...)` or `u32(...)`."
        )
    if "conflict with other resource" in said:
        return "Two arrays have the same number in `@binding(...)`: each needs its own."
    if "Abstract types may only appear in constant expressions" in said:
        return (
            "A plain number stands here where it fits nothing: beside a true or false, or behind a `return` where the function "
            "promises no number, for example."
        )
    if "condition" in said and "not a boolean" in said:
        return "A condition must be true or false, no number: compare it with something, as in `n > 0`."
    if "writing to this location is not permitted" in said:
        return "This buffer may only be read. What is written must be declared as `var<storage, read_write>`."
    if "Accessing with index" in said:
        return "An index is one whole number, u32 or i32. Of a vector take a component: `id.x`."
    if "isn't compatible with address space" in said:
        return (
            "A `var` outside of functions must say where it lies: `var<workgroup>` is shared by a workgroup, `var<private>` is "
            "each thread's own."
        )
    if "`return` expression Some" in said:
        return (
            "What stands behind `return` has another type than the function promises after `->`, or it promises none."
        )
    if "does not match the declared return type" in said:
        return "This function promises a result after `->`, and there is a way through it without `return`."
    return None


def _of_entry(said: str) -> str | None:
    if "return values must all have bindings" in said:
        return "A parameter of the entry point has no `@builtin(...)`: it says which number the parameter is."
    if "Built-in type for" in said:
        return "A parameter with `@builtin` has the wrong type: ids are `vec3<u32>`, local_invocation_index is `u32`."
    if "cannot have `@location` or `@builtin`" in said:
        return "Parameters with `@builtin` belong to an entry point: `@compute @workgroup_size(256)` must stand before this `fn`."
    if name := re.search(r"Unable to find entry point '(\w+)'", said):
        return f"There is no entry point named {name[1]}: keep that name, and `@compute @workgroup_size(...)` before its `fn`."
    if found := re.search(r"workgroup size \[(.*?)\] \((\d+) total", said):
        return f"A workgroup of {found[2]} threads is more than this adapter takes. 256 are allowed everywhere."
    return None
