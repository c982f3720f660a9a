"""The operands of a PTX instruction, and its name in parts: registers, special registers, numbers, addresses, lists.

A register has a kind, a letter as in the constraints of an asm statement: r, l, h, f, d, p for a predicate, n for a constant.
"""

import re
from collections.abc import Mapping

_KINDS = {"pred": "p", "f32": "f", "f64": "d", "16": "h", "32": "r", "64": "l", "8": "h"}  # of a register, by its type
TYPES = {
    f"{letter}{bits}": f"{'' if letter == 's' else 'u'}int{bits}_t" for letter in "usb" for bits in (8, 16, 32, 64)
}
TYPES |= {"f32": "float", "f64": "double", "pred": "bool", "f16": "__half", "f16x2": "__half2", "bf16": "__nv_bfloat16",
           "bf16x2": "__nv_bfloat162"}  # fmt: skip
SPECIAL = {
    "laneid": "unsigned(sim_lane())", "warpid": "sim_thread() / 32", "nwarpid": "(sim_ptx::threads() + 31) / 32", "smid": "0u",
    "nsmid": "1u", "gridid": "0u", "clock": "unsigned(clock64())", "clock_hi": "unsigned(clock64() >> 32)",
    "clock64": "(uint64_t)clock64()", "globaltimer": "(uint64_t)clock64()", "lanemask_eq": "1u << sim_lane()",
    "lanemask_lt": "(1u << sim_lane()) - 1", "lanemask_le": "(2u << sim_lane()) - 1", "lanemask_ge": "~((1u << sim_lane()) - 1)",
    "lanemask_gt": "~((2u << sim_lane()) - 1)", "dynamic_smem_size": "unsigned(sim_block->launch->shared_bytes)",
    **{f"{short}.{axis}": f"{name}.{axis}" for short, name in
       (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")) for axis in "xyz"},
}  # fmt: skip
_IGNORED = {"rn", "rni", "ftz", "approx", "full", "volatile", "relaxed", "weak", "sync", "aligned", "gpu", "cta", "sys", "nc",
            "noftz", "L1::no_allocate", "L1::evict_last", "L1::evict_first", "L1::evict_normal", "L2::128B", "L2::256B",
            "L2::64B", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "shared::cta"}  # fmt: skip
SPACES = {"global", "shared", "local", "const", "generic", "shared::cta"}


class Unknown(Exception):
    """An instruction, or a form of one, that is not simulated."""


def declare(rest: str, registers: dict[str, str]) -> list[str]:
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


class Operands:
    """One instruction: its name in parts, its operands, the registers that there are."""

    def __init__(self, name: str, rest: str, registers: Mapping[str, str]):
        self.base, *self.parts = name.split(".")
        self.operands = [o.strip() for o in re.split(r",(?![^\[{]*[\]}])", rest)] if rest.strip() else []
        self.registers = registers
        self.types = [part for part in self.parts if part in TYPES]
        self.type = self.types[-1] if self.types else ""

    def name(self, operand: str) -> str:
        if operand not in self.registers:
            raise Unknown
        return f"sim_r{operand[1:]}" if operand[1:].isdigit() else _declared(operand)

    def value(self, operand: str, kind: str) -> str:
        """An operand's bits as a value of that C++ type."""
        if operand in self.registers:
            name = self.name(operand)
            return f"{kind}({name})" if self.registers[operand] == "n" else f"sim_ptx::as<{kind}>({name})"
        if special := re.match(r"%([a-z]\w*(?:\.[xyz])?)$", operand):
            return f"{kind}({SPECIAL[special[1]]})"
        if bits := re.match(r"0[fF]([0-9a-fA-F]{8})$", operand):
            return f"sim_ptx::as<{kind}>(0x{bits[1]}u)"
        if re.match(r"-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?)[uU]?$", operand):
            return f"{kind}({operand})"
        raise Unknown

    def values(self, first: int, kind: str = "") -> list[str]:
        return [self.value(operand, kind or TYPES[self.type]) for operand in self.operands[first:]]

    def set(self, expression: str, operand: str | None = None, kind: str = "") -> str:
        target = self.operands[0] if operand is None else operand
        if target == "_":
            return f"{expression};"
        return f"sim_ptx::set({self.name(target)}, ({kind or TYPES[self.type]})({expression}));"

    def only(self, *known: str) -> None:
        """Raise for a modifier that is neither a type, nor known to change nothing, nor one of these."""
        if any(p not in TYPES and p not in _IGNORED and p not in known for p in self.parts):
            raise Unknown

    def pointer(self, operand: str, kind: str) -> str:
        match = re.match(r"\[\s*(%?\w+)\s*(?:\+\s*(-?\w+))?\s*\]$", operand)
        if not match:
            raise Unknown
        return f"sim_ptx::address<{kind}>({self.name(match[1])}, {match[2] or 0})"

    def group(self, operand: str) -> list[str]:
        return [one.strip() for one in operand.strip("{} ").split(",")]
