"""What PTX instructions do, as C++ (PTX ISA 8.5, chapter 9): the ones that public kernels use.

`translate` takes instructions as texts and gives C++ statements over registers: `sim_r0` for `%0`, `sim_l_name` for a register
that the statement declares itself. What they call is in include/simulator/inline_ptx.h. Modifiers that would change a result and
are not known, `.sat` or `.rz`, make an instruction an unknown one.
"""

import re
from collections.abc import Callable

from course_lib.cuda.programs.ptx_memory import MemoryInstructions
from course_lib.cuda.programs.ptx_operands import SPACES, TYPES, Unknown, declare

KNOWN = {"trap", "exit", "ret", "activemask.b32", ".reg"}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
             "hs": ">="}  # fmt: skip
_SIMPLE = {  # of two or three values of the instruction's type
    "add": "{0} + {1}", "sub": "{0} - {1}", "div": "{0} / {1}", "rem": "{0} % {1}", "and": "{0} & {1}", "or": "{0} | {1}",
    "xor": "{0} ^ {1}", "not": "~{0}", "neg": "-{0}", "fma": "sim_ptx::fused({0}, {1}, {2})", "min": "sim_ptx::least({0}, {1})",
    "max": "sim_ptx::most({0}, {1})", "abs": "sim_ptx::size({0})", "sqrt": "sqrt({0})", "rcp": "1 / {0}",
    "rsqrt": "1 / sqrt({0})", "ex2": "exp2({0})", "lg2": "log2({0})", "sin": "sin({0})", "cos": "cos({0})", "tanh": "tanh({0})",
    "copysign": "copysign({1}, {0})", "sad": "({0} < {1} ? {1} - {0} : {0} - {1}) + {2}",
}  # fmt: skip


def split_predicate(part: str) -> tuple[str, str]:
    """(`@!p` or nothing, the instruction)."""
    match = re.match(r"(@!?%?\w+)\s+(.*)", part, re.DOTALL)
    return (match[1], match[2]) if match else ("", part)


def translate(parts: list[str], registers: dict[str, str]) -> list[str]:
    """C++ statements for instructions. registers: the kind of each, by name; those that are declared are added."""
    code = []
    for part in parts:
        condition, instruction = split_predicate(" ".join(part.split()))
        name, _, rest = instruction.partition(" ")
        if name == ".reg":
            code += declare(rest, registers)
            continue
        one = _Instruction(name, rest, registers)
        try:
            said = one.code()
            if condition:
                flag = one.value(condition.lstrip("@!"), "bool")
                said = f"if ({'!' if '!' in condition else ''}{flag}) {{ {said} }}"
        except (Unknown, KeyError, IndexError, ValueError, StopIteration):  # of a form that it has not got here
            said = f'sim_ptx::unknown("the PTX instruction {name} is not simulated");'
        code.append(said)
    return code


class _Instruction(MemoryInstructions):
    """One instruction. A method for each name; `_SIMPLE` has the others."""

    def code(self) -> str:
        method: Callable[[], str] | None = getattr(self, f"_{self.base}", None)
        if method:
            return method()
        if self.base in _SIMPLE:
            self.only()
            if TYPES[self.type].startswith("__") and self.base not in ("add", "sub", "fma"):
                raise Unknown
            if self.type == "pred" and self.base == "not":
                return self.set(f"!{self.values(1)[0]}")
            return self.set(_SIMPLE[self.base].format(*self.values(1)))
        raise Unknown

    # ---- moves and conversions -----------------------------------------------------------------------------------------

    def _mov(self) -> str:
        target, source = self.operands
        if target.startswith("{"):
            parts = self.group(target)
            bits = 64 // len(parts) if self.type.endswith("64") else 32 // len(parts)
            whole = self.value(source, "uint64_t")
            return " ".join(self.set(f"{whole} >> {i * bits}", p, f"uint{bits}_t") for i, p in enumerate(parts))
        if source.startswith("{"):
            parts = self.group(source)
            bits = 64 // len(parts) if self.type.endswith("64") else 32 // len(parts)
            pieces = (f"uint64_t({self.value(p, f'uint{bits}_t')}) << {i * bits}" for i, p in enumerate(parts))
            return self.set(" | ".join(pieces))
        return self.set(self.value(source, TYPES[self.type]))

    def _cvta(self) -> str:
        return self.set(self.value(self.operands[1], "uint64_t"))

    def _cvt(self) -> str:
        target, source = self.types
        if target in ("f16x2", "bf16x2"):
            self.only()
            half = "__floats2half2_rn" if target == "f16x2" else "__floats2bfloat162_rn"
            high, low = (self.value(o, "float") for o in self.operands[1:])
            return self.set(f"{half}({low}, {high})", kind=TYPES[target])
        value = self.value(self.operands[1], TYPES[source])
        rounding = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
        self.only(*rounding)
        if source in ("f32", "f64"):
            value = next((f"{call}({value})" for name, call in rounding.items() if name in self.parts), value)
        return self.set(value, kind=TYPES[target])

    def _selp(self) -> str:
        return self.set(f"{self.value(self.operands[3], 'bool')} ? {self.values(1)[0]} : {self.values(1)[1]}")

    def _setp(self) -> str:
        self.only(self.parts[0])
        a, b = self.values(1)
        return self.set(f"{a} {_COMPARED[self.parts[0]]} {b}", kind="bool")

    # ---- arithmetic ----------------------------------------------------------------------------------------------------

    def _mul(self, more: str = "") -> str:
        self.only("lo", "hi", "wide")
        a, b = (self.value(operand, TYPES[self.type]) for operand in self.operands[1:3])
        kind = TYPES[self.type]
        if "wide" in self.parts or "hi" in self.parts:
            bits = int(self.type[1:])
            wide = (
                f"{'' if self.type[0] == 's' else 'unsigned '}__int128"
                if bits == 64
                else kind.replace(str(bits), str(2 * bits))
            )
            if "hi" in self.parts:
                return self.set(f"({kind})(({wide}){a} * {b} >> {bits}){more}")
            return self.set(f"({wide}){a} * {b}{more}", kind=wide)
        return self.set(f"{a} * {b}{more}")

    def _mad(self) -> str:
        if self.type.startswith("f"):
            self.only()
            return self.set("sim_ptx::fused(" + ", ".join(self.values(1)) + ")")
        wide = TYPES[self.type].replace("32", "64") if "wide" in self.parts else TYPES[self.type]
        return self._mul(f" + {self.value(self.operands[3], wide)}")

    def _shift(self, sign: str) -> str:
        kind, bits = TYPES[self.type], int(self.type[1:])
        value, by = self.value(self.operands[1], kind), self.value(self.operands[2], "uint32_t")
        beyond = f"{value} < 0 ? -1 : 0" if sign == ">>" and self.type[0] == "s" else "0"
        return self.set(f"{by} < {bits} ? {value} {sign} {by} : {beyond}")

    def _shl(self) -> str:
        return self._shift("<<")

    def _shr(self) -> str:
        return self._shift(">>")

    def _call(self, form: str) -> str:
        self.only()
        return self.set(
            form.format(*self.values(1, "uint64_t" if self.type.endswith("64") else "uint32_t")), kind="uint32_t"
        )

    def _popc(self) -> str:
        return self._call("__builtin_popcountll({0})")

    def _clz(self) -> str:
        return self._call("__clzll({0})" if self.type.endswith("64") else "__clz({0})")

    def _brev(self) -> str:
        return self._call("__brev({0})") if self.type == "b32" else self.set(f"__brevll({self.values(1)[0]})")

    def _bfind(self) -> str:
        if self.type.startswith("s"):
            raise Unknown
        return self._call("63 - __clzll({0})")

    def _bfe(self) -> str:
        if self.type != "u32":
            raise Unknown
        return self._call("sim_ptx::field({0}, {1}, {2})")

    def _bfi(self) -> str:
        if self.type != "b32":
            raise Unknown
        return self._call("sim_ptx::insert({0}, {1}, {2}, {3})")

    def _prmt(self) -> str:
        return self._call("__byte_perm({0}, {1}, {2})")

    def _lop3(self) -> str:
        return self._call("sim_ptx::lop3({0}, {1}, {2}, {3})")

    def _shf(self) -> str:
        side, clamp = self.parts[0], "c" if "clamp" in self.parts else ""
        return self.set(f"__funnelshift_{side}{clamp}(" + ", ".join(self.values(1)) + ")")

    def _dp4a(self) -> str:
        return self.set("__dp4a(" + ", ".join(self.values(1)) + ")")

    # ---- warps and tensor cores ----------------------------------------------------------------------------------------

    def _bar(self) -> str:
        if self.parts[:2] == ["warp", "sync"]:
            return f"__syncwarp({self.value(self.operands[0], 'unsigned')});"
        if (self.parts[:1] != ["sync"] and self.parts[:2] != ["cta", "sync"]) or self.operands != ["0"]:
            raise Unknown
        return "__syncthreads();"

    _barrier = _bar

    def _membar(self) -> str:
        return {"cta": "__threadfence_block();", "gl": "__threadfence();", "sys": "__threadfence_system();"}[
            self.parts[0]
        ]

    def _fence(self) -> str:
        self.only("acq_rel", "sc")
        return "__threadfence_block();" if "cta" in self.parts else "__threadfence();"

    def _activemask(self) -> str:
        return self.set("__activemask()", kind="uint32_t")

    def _shfl(self) -> str:
        ways = {"idx": "__shfl_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "bfly": "__shfl_xor_sync"}
        value, by, width, mask = self.values(1, "uint32_t")
        return self.set(f"{ways[self.parts[1]]}({mask}, {value}, {by}, 32 - ({width} >> 8 & 31))")

    def _vote(self) -> str:
        way = next(part for part in self.parts if part in ("ballot", "any", "all", "uni"))
        if way == "uni":
            raise Unknown
        kind = "uint32_t" if way == "ballot" else "bool"
        flag, mask = self.operands[1], self.value(self.operands[2], "unsigned")
        return self.set(f"__{way}_sync({mask}, {self.value(flag, 'bool')})", kind=kind)

    def _redux(self) -> str:
        value, mask = self.value(self.operands[1], TYPES[self.type]), self.value(self.operands[2], "unsigned")
        return self.set(f"__reduce_{self.parts[1]}_sync({mask}, {value})")

    def _ldmatrix(self) -> str:
        self.only("x1", "x2", "x4", "m8n8", "trans", *SPACES)
        many = next(part for part in self.parts if part in ("x1", "x2", "x4"))
        call = f"ptx::ldmatrix_{many}{'_trans' if 'trans' in self.parts else ''}"
        parts = " ".join(self.set(f"sim_v[{i}]", one, "uint32_t") for i, one in enumerate(self.group(self.operands[0])))
        return f"{{ unsigned sim_v[{many[1]}]; {call}(sim_v, {self.pointer(self.operands[1], 'char')}); {parts} }}"

    def _mma(self) -> str:
        shape, (sums, kind, *_) = next(p for p in self.parts if p.startswith("m16")), self.types
        self.only(shape, "row", "col")
        if shape not in ("m16n8k16", "m16n8k8") or kind not in ("f16", "bf16") or sums not in ("f32", "f16"):
            raise Unknown
        d, a, b, c = (self.group(operand) for operand in self.operands)
        lists = [", ".join(self.value(one, "uint32_t") for one in group) for group in (a, b)]
        c_kind = "float" if sums == "f32" else "uint32_t"
        lists.append(", ".join(self.value(one, c_kind) for one in c))
        parts = " ".join(self.set(f"sim_d[{i}]", one, c_kind) for i, one in enumerate(d))
        given = f"const unsigned sim_a[4] = {{{lists[0]}}}, sim_b[2] = {{{lists[1]}}}; const {c_kind} sim_c[] = {{{lists[2]}}};"
        call = f"{c_kind} sim_d[{len(d)}]; sim_ptx::multiply_{kind}(sim_d, sim_a, sim_b, sim_c);"
        return f"{{ {given} {call} {parts} }}"

    # ---- the rest ------------------------------------------------------------------------------------------------------

    def _trap(self) -> str:
        return "__trap();"

    def _nanosleep(self) -> str:
        return f"__nanosleep({self.value(self.operands[0], 'unsigned')});"
