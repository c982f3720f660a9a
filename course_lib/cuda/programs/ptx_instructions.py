"""What PTX instructions do, as C++ (PTX ISA 8.5, chapter 9): the ones that public kernels use.

`translate` takes instructions as texts and gives C++ statements over registers: `sim_r0` for `%0`, `sim_l_name` for a register
that the statement declares itself. What they call is in include/simulator/inline_ptx.h. Modifiers that would change a result and
are not known, `.sat` or `.rz`, make an instruction an unknown one.
"""

import re
from collections.abc import Callable, Mapping

KNOWN = {"trap", "exit", "ret", "activemask.b32", ".reg"}
_KINDS = {"pred": "p", "f32": "f", "f64": "d", "16": "h", "32": "r", "64": "l", "8": "h"}  # of a register, by its type
_TYPES = {
    f"{letter}{bits}": f"{'' if letter == 's' else 'u'}int{bits}_t" for letter in "usb" for bits in (8, 16, 32, 64)
}
_TYPES |= {"f32": "float", "f64": "double", "pred": "bool", "f16": "__half", "f16x2": "__half2", "bf16": "__nv_bfloat16",
           "bf16x2": "__nv_bfloat162"}  # fmt: skip
_SPECIAL = {
    "laneid": "unsigned(sim_lane())", "warpid": "sim_thread() / 32", "nwarpid": "(sim_ptx::threads() + 31) / 32", "smid": "0u",
    "nsmid": "1u", "gridid": "0u", "clock": "unsigned(clock64())", "clock_hi": "unsigned(clock64() >> 32)",
    "clock64": "(uint64_t)clock64()", "globaltimer": "(uint64_t)clock64()", "lanemask_eq": "1u << sim_lane()",
    "lanemask_lt": "(1u << sim_lane()) - 1", "lanemask_le": "(2u << sim_lane()) - 1", "lanemask_ge": "~((1u << sim_lane()) - 1)",
    "lanemask_gt": "~((2u << sim_lane()) - 1)", "dynamic_smem_size": "unsigned(sim_block->launch->shared_bytes)",
    **{f"{short}.{axis}": f"{name}.{axis}" for short, name in
       (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")) for axis in "xyz"},
}  # fmt: skip
_COMPARED = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
_IGNORED = {"rn", "rni", "ftz", "approx", "full", "volatile", "relaxed", "weak", "sync", "aligned", "gpu", "cta", "sys", "nc", "noftz",
            "L1::no_allocate", "L1::evict_last", "L1::evict_first", "L1::evict_normal", "L2::128B", "L2::256B", "L2::64B", "ca", "cg",
            "cs", "lu", "cv", "wb", "wt", "shared::cta"}  # fmt: skip
_SPACES = {"global", "shared", "local", "const", "generic", "shared::cta"}
_SIMPLE = {  # of two or three values of the instruction's type
    "add": "{0} + {1}", "sub": "{0} - {1}", "div": "{0} / {1}", "rem": "{0} % {1}", "and": "{0} & {1}", "or": "{0} | {1}",
    "xor": "{0} ^ {1}", "not": "~{0}", "neg": "-{0}", "fma": "sim_ptx::fused({0}, {1}, {2})", "min": "sim_ptx::least({0}, {1})",
    "max": "sim_ptx::most({0}, {1})", "abs": "sim_ptx::size({0})", "sqrt": "sqrt({0})", "rcp": "1 / {0}", "rsqrt": "1 / sqrt({0})",
    "ex2": "exp2({0})", "lg2": "log2({0})", "sin": "sin({0})", "cos": "cos({0})", "tanh": "tanh({0})",
    "copysign": "copysign({1}, {0})", "sad": "({0} < {1} ? {1} - {0} : {0} - {1}) + {2}",
}  # fmt: skip


class _Unknown(Exception):
    """An instruction, or a form of one, that is not simulated."""


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
            code += _declare(rest, registers)
            continue
        one = _Instruction(name, rest, registers)
        try:
            said = one.code()
        except (_Unknown, KeyError, IndexError):
            said = f'sim_ptx::unknown("the PTX instruction {name} is not simulated");'
        if condition:
            flag = one.value(condition.lstrip("@!"), "bool")
            said = f"if ({'!' if '!' in condition else ''}{flag}) {{ {said} }}"
        code.append(said)
    return code


def _declare(rest: str, registers: dict[str, str]) -> list[str]:
    kind, _, names = rest.partition(" ")
    bits = re.search(r"\d+", kind)
    found = _KINDS.get(kind.strip("."), _KINDS.get(bits[0] if bits else "", "l"))
    code = []
    for name in names.split(","):
        registers[name.strip()] = found
        code.append(f"sim_ptx::register_{found} {_declared(name.strip())} = {{}};")
    return code


def _declared(name: str) -> str:
    """What a register is called in C++ that a statement declares itself."""
    return "sim_l_" + re.sub(r"\W", "_", name)


class _Instruction:
    """One instruction: its name in parts, its operands, the registers that there are."""

    def __init__(self, name: str, rest: str, registers: Mapping[str, str]):
        self.base, *self.parts = name.split(".")
        self.operands = [o.strip() for o in re.split(r",(?![^\[{]*[\]}])", rest)] if rest.strip() else []
        self.registers = registers
        self.types = [part for part in self.parts if part in _TYPES]
        self.type = self.types[-1] if self.types else ""

    def code(self) -> str:
        method: Callable[[], str] | None = getattr(self, f"_{self.base}", None)
        if method:
            return method()
        if self.base in _SIMPLE:
            self._only()
            return self._set(_SIMPLE[self.base].format(*self._values(1)))
        raise _Unknown

    # ---- operands -----------------------------------------------------------------------------------------------------

    def name(self, operand: str) -> str:
        if operand not in self.registers:
            raise _Unknown
        return f"sim_r{operand[1:]}" if operand[1:].isdigit() else _declared(operand)

    def value(self, operand: str, kind: str) -> str:
        """An operand's bits as a value of that C++ type."""
        if operand in self.registers:
            name = self.name(operand)
            return f"{kind}({name})" if self.registers[operand] == "n" else f"sim_ptx::as<{kind}>({name})"
        if special := re.match(r"%([a-z]\w*(?:\.[xyz])?)$", operand):
            return f"{kind}({_SPECIAL[special[1]]})"
        if bits := re.match(r"0[fF]([0-9a-fA-F]{8})$", operand):
            return f"sim_ptx::as<{kind}>(0x{bits[1]}u)"
        if re.match(r"-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?)[uU]?$", operand):
            return f"{kind}({operand})"
        raise _Unknown

    def _values(self, first: int, kind: str = "") -> list[str]:
        return [self.value(operand, kind or _TYPES[self.type]) for operand in self.operands[first:]]

    def _set(self, expression: str, operand: str | None = None, kind: str = "") -> str:
        target = self.operands[0] if operand is None else operand
        if target == "_":
            return f"{expression};"
        return f"sim_ptx::set({self.name(target)}, ({kind or _TYPES[self.type]})({expression}));"

    def _only(self, *known: str) -> None:
        """Raise for a modifier that is neither a type, nor known to change nothing, nor one of these."""
        if any(p not in _TYPES and p not in _IGNORED and p not in known for p in self.parts):
            raise _Unknown

    def _pointer(self, operand: str, kind: str) -> str:
        match = re.match(r"\[\s*(%?\w+)\s*(?:\+\s*(-?\w+))?\s*\]$", operand)
        if not match:
            raise _Unknown
        return f"sim_ptx::address<{kind}>({self.name(match[1])}, {match[2] or 0})"

    def _group(self, operand: str) -> list[str]:
        return [one.strip() for one in operand.strip("{} ").split(",")]

    # ---- moves and conversions -----------------------------------------------------------------------------------------

    def _mov(self) -> str:
        target, source = self.operands
        if target.startswith("{"):
            parts = self._group(target)
            bits = 64 // len(parts) if self.type.endswith("64") else 32 // len(parts)
            whole = self.value(source, "uint64_t")
            return " ".join(self._set(f"{whole} >> {i * bits}", p, f"uint{bits}_t") for i, p in enumerate(parts))
        if source.startswith("{"):
            parts = self._group(source)
            bits = 64 // len(parts) if self.type.endswith("64") else 32 // len(parts)
            pieces = (f"uint64_t({self.value(p, f'uint{bits}_t')}) << {i * bits}" for i, p in enumerate(parts))
            return self._set(" | ".join(pieces))
        return self._set(self.value(source, _TYPES[self.type]))

    def _cvta(self) -> str:
        return self._set(self.value(self.operands[1], "uint64_t"))

    def _cvt(self) -> str:
        target, source = self.types
        if target in ("f16x2", "bf16x2"):
            self._only()
            half = "__floats2half2_rn" if target == "f16x2" else "__floats2bfloat162_rn"
            high, low = (self.value(o, "float") for o in self.operands[1:])
            return self._set(f"{half}({low}, {high})", kind=_TYPES[target])
        value = self.value(self.operands[1], _TYPES[source])
        rounding = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
        self._only(*rounding)
        if source in ("f32", "f64"):
            value = next((f"{call}({value})" for name, call in rounding.items() if name in self.parts), value)
        return self._set(value, kind=_TYPES[target])

    def _selp(self) -> str:
        return self._set(f"{self.value(self.operands[3], 'bool')} ? {self._values(1)[0]} : {self._values(1)[1]}")

    def _setp(self) -> str:
        self._only(self.parts[0])
        a, b = self._values(1)
        return self._set(f"{a} {_COMPARED[self.parts[0]]} {b}", kind="bool")

    # ---- arithmetic ----------------------------------------------------------------------------------------------------

    def _mul(self, more: str = "") -> str:
        self._only("lo", "hi", "wide")
        a, b = (self.value(operand, _TYPES[self.type]) for operand in self.operands[1:3])
        kind = _TYPES[self.type]
        if "wide" in self.parts or "hi" in self.parts:
            bits = int(self.type[1:])
            wide = (
                f"{'' if self.type[0] == 's' else 'unsigned '}__int128"
                if bits == 64
                else kind.replace(str(bits), str(2 * bits))
            )
            if "hi" in self.parts:
                return self._set(f"({kind})(({wide}){a} * {b} >> {bits}){more}")
            return self._set(f"({wide}){a} * {b}{more}", kind=wide)
        return self._set(f"{a} * {b}{more}")

    def _mad(self) -> str:
        if self.type.startswith("f"):
            self._only()
            return self._set("sim_ptx::fused({0}, {1}, {2})".format(*self._values(1)))
        wide = _TYPES[self.type].replace("32", "64") if "wide" in self.parts else _TYPES[self.type]
        return self._mul(f" + {self.value(self.operands[3], wide)}")

    def _shift(self, sign: str) -> str:
        kind, bits = _TYPES[self.type], int(self.type[1:])
        value, by = self.value(self.operands[1], kind), self.value(self.operands[2], "uint32_t")
        beyond = f"{value} < 0 ? -1 : 0" if sign == ">>" and self.type[0] == "s" else "0"
        return self._set(f"{by} < {bits} ? {value} {sign} {by} : {beyond}")

    def _shl(self) -> str:
        return self._shift("<<")

    def _shr(self) -> str:
        return self._shift(">>")

    def _call(self, form: str) -> str:
        self._only()
        return self._set(
            form.format(*self._values(1, "uint64_t" if self.type.endswith("64") else "uint32_t")), kind="uint32_t"
        )

    def _popc(self) -> str:
        return self._call("__builtin_popcountll({0})")

    def _clz(self) -> str:
        return self._call("__clzll({0})" if self.type.endswith("64") else "__clz({0})")

    def _brev(self) -> str:
        return self._call("__brev({0})") if self.type == "b32" else self._set(f"__brevll({self._values(1)[0]})")

    def _bfind(self) -> str:
        if self.type.startswith("s"):
            raise _Unknown
        return self._call("63 - __clzll({0})")

    def _bfe(self) -> str:
        if self.type != "u32":
            raise _Unknown
        return self._call("sim_ptx::field({0}, {1}, {2})")

    def _bfi(self) -> str:
        if self.type != "b32":
            raise _Unknown
        return self._call("sim_ptx::insert({0}, {1}, {2}, {3})")

    def _prmt(self) -> str:
        return self._call("__byte_perm({0}, {1}, {2})")

    def _lop3(self) -> str:
        return self._call("sim_ptx::lop3({0}, {1}, {2}, {3})")

    def _shf(self) -> str:
        side, clamp = self.parts[0], "c" if "clamp" in self.parts else ""
        return self._set(f"__funnelshift_{side}{clamp}(" + ", ".join(self._values(1)) + ")")

    def _dp4a(self) -> str:
        return self._set("__dp4a(" + ", ".join(self._values(1)) + ")")

    # ---- memory --------------------------------------------------------------------------------------------------------

    def _vector(self) -> int:
        return next((int(part[1]) for part in self.parts if part in ("v2", "v4")), 1)

    def _ld(self) -> str:
        self._only("v2", "v4", "acquire", *_SPACES)
        kind, many = _TYPES[self.type], self._vector()
        if "acquire" in self.parts:
            return self._set(f"sim_ptx::acquire({self._pointer(self.operands[1], kind)})")
        if many == 1:
            keep = "volatile " if "volatile" in self.parts or "relaxed" in self.parts else ""
            return self._set(f"*{self._pointer(self.operands[1], keep + kind)}")
        wide = f"sim_ptx::Vector<{kind}, {many}>"
        parts = " ".join(self._set(f"sim_v[{i}]", one) for i, one in enumerate(self._group(self.operands[0])))
        return f"{{ {kind} sim_v[{many}]; {wide}::load({self._pointer(self.operands[1], kind)}, sim_v); {parts} }}"

    def _ldu(self) -> str:
        return self._ld()

    def _st(self) -> str:
        self._only("v2", "v4", "release", *_SPACES)
        kind, many = _TYPES[self.type], self._vector()
        target = self._pointer(self.operands[0], kind)
        if "release" in self.parts:
            return f"sim_ptx::release({target}, {self.value(self.operands[1], kind)});"
        if many == 1:
            return f"*{target} = {self.value(self.operands[1], kind)};"
        values = ", ".join(self.value(one, kind) for one in self._group(self.operands[1]))
        return (
            f"{{ const {kind} sim_v[{many}] = {{{values}}}; sim_ptx::Vector<{kind}, {many}>::store({target}, sim_v); }}"
        )

    def _atom(self, place: int = 1) -> str:
        names = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exch": "Exch", "cas": "CAS",
                 "inc": "Inc", "dec": "Dec"}  # fmt: skip
        orders = {"acquire", "release", "acq_rel"}
        self._only(*names, *orders, *_SPACES)
        call = next(names[part] for part in self.parts if part in names)
        kind = {"b32": "unsigned", "b64": "unsigned long long", "u32": "unsigned", "s32": "int", "u64": "unsigned long long",
                "f32": "float", "f64": "double"}[self.type]  # fmt: skip
        arguments = ", ".join([self._pointer(self.operands[place], kind), *self._values(place + 1, kind)])
        fence = "__threadfence(); " if orders & set(self.parts) else ""
        said = f"atomic{call}({arguments})"
        return fence + (self._set(said, kind=kind) if place else f"{said};") + (f" {fence}" if fence else "")

    def _red(self) -> str:
        return self._atom(0)

    def _cp(self) -> str:
        if self.parts[:2] == ["async", "commit_group"]:
            return "ptx::cp_async_commit();"
        if self.parts[:2] == ["async", "wait_all"]:
            return "ptx::cp_async_wait_all();"
        if self.parts[:2] == ["async", "wait_group"]:
            return f"sim_ptx::wait_group({self.value(self.operands[0], 'unsigned')});"
        if self.parts[:1] != ["async"] or self.parts[2:4] not in (["shared", "global"], ["shared::cta", "global"]):
            raise _Unknown
        to, source = (self._pointer(operand, "char") for operand in self.operands[:2])
        bytes_ = self.value(self.operands[2], "unsigned")
        given = self.value(self.operands[3], "unsigned") if len(self.operands) == 4 else bytes_
        return f"sim_ptx::copy({to}, {source}, {bytes_}, {given});"

    def _prefetch(self) -> str:
        return ""

    # ---- warps and tensor cores ----------------------------------------------------------------------------------------

    def _bar(self) -> str:
        if self.parts[:2] == ["warp", "sync"]:
            return f"__syncwarp({self.value(self.operands[0], 'unsigned')});"
        if (self.parts[:1] != ["sync"] and self.parts[:2] != ["cta", "sync"]) or self.operands != ["0"]:
            raise _Unknown
        return "__syncthreads();"

    _barrier = _bar

    def _membar(self) -> str:
        return {"cta": "__threadfence_block();", "gl": "__threadfence();", "sys": "__threadfence_system();"}[
            self.parts[0]
        ]

    def _fence(self) -> str:
        return "__threadfence_block();" if "cta" in self.parts else "__threadfence();"

    def _activemask(self) -> str:
        return self._set("__activemask()", kind="uint32_t")

    def _shfl(self) -> str:
        ways = {"idx": "__shfl_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "bfly": "__shfl_xor_sync"}
        value, by, width, mask = self._values(1, "uint32_t")
        return self._set(f"{ways[self.parts[1]]}({mask}, {value}, {by}, 32 - ({width} >> 8 & 31))")

    def _vote(self) -> str:
        way, kind = ("ballot", "uint32_t") if "ballot" in self.parts else (self.parts[1], "bool")
        flag, mask = self.operands[1], self.value(self.operands[2], "unsigned")
        return self._set(f"__{way}_sync({mask}, {self.value(flag, 'bool')})", kind=kind)

    def _redux(self) -> str:
        value, mask = self.value(self.operands[1], _TYPES[self.type]), self.value(self.operands[2], "unsigned")
        return self._set(f"__reduce_{self.parts[1]}_sync({mask}, {value})")

    def _ldmatrix(self) -> str:
        self._only("x1", "x2", "x4", "m8n8", "trans", *_SPACES)
        many = next(part for part in self.parts if part in ("x1", "x2", "x4"))
        call = f"ptx::ldmatrix_{many}{'_trans' if 'trans' in self.parts else ''}"
        parts = " ".join(
            self._set(f"sim_v[{i}]", one, "uint32_t") for i, one in enumerate(self._group(self.operands[0]))
        )
        return f"{{ unsigned sim_v[{many[1]}]; {call}(sim_v, {self._pointer(self.operands[1], 'char')}); {parts} }}"

    def _mma(self) -> str:
        shape, (sums, kind, *_) = next(p for p in self.parts if p.startswith("m16")), self.types
        self._only(shape, "row", "col")
        if shape not in ("m16n8k16", "m16n8k8") or kind not in ("f16", "bf16") or sums not in ("f32", "f16"):
            raise _Unknown
        d, a, b, c = (self._group(operand) for operand in self.operands)
        lists = [", ".join(self.value(one, "uint32_t") for one in group) for group in (a, b)]
        c_kind = "float" if sums == "f32" else "uint32_t"
        lists.append(", ".join(self.value(one, c_kind) for one in c))
        parts = " ".join(self._set(f"sim_d[{i}]", one, c_kind) for i, one in enumerate(d))
        return (f"{{ const unsigned sim_a[4] = {{{lists[0]}}}, sim_b[2] = {{{lists[1]}}}; const {c_kind} sim_c[] = {{{lists[2]}}}; "
                f"{c_kind} sim_d[{len(d)}]; sim_ptx::multiply_{kind}(sim_d, sim_a, sim_b, sim_c); {parts} }}")  # fmt: skip

    # ---- the rest ------------------------------------------------------------------------------------------------------

    def _trap(self) -> str:
        return "__trap();"

    def _nanosleep(self) -> str:
        return f"__nanosleep({self.value(self.operands[0], 'unsigned')});"
