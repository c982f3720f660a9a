"""PTX instructions that load, store and copy, as C++: those of ptx_instructions.py that have an address among their operands."""

from course_lib.cuda.programs.ptx_operands import SPACES, TYPES, Operands, Unknown


class MemoryInstructions(Operands):
    """A method for each name."""

    def _vector(self) -> int:
        return next((int(part[1]) for part in self.parts if part in ("v2", "v4")), 1)

    def _ld(self) -> str:
        self.only("v2", "v4", "acquire", *SPACES)
        kind, many = TYPES[self.type], self._vector()
        if "acquire" in self.parts:
            return self.set(f"sim_ptx::acquire({self.pointer(self.operands[1], kind)})")
        if many == 1:
            keep = "volatile " if "volatile" in self.parts or "relaxed" in self.parts else ""
            return self.set(f"*{self.pointer(self.operands[1], keep + kind)}")
        wide = f"sim_ptx::Vector<{kind}, {many}>"
        parts = " ".join(self.set(f"sim_v[{i}]", one) for i, one in enumerate(self.group(self.operands[0])))
        return f"{{ {kind} sim_v[{many}]; {wide}::load({self.pointer(self.operands[1], kind)}, sim_v); {parts} }}"

    def _ldu(self) -> str:
        return self._ld()

    def _st(self) -> str:
        self.only("v2", "v4", "release", *SPACES)
        kind, many = TYPES[self.type], self._vector()
        target = self.pointer(self.operands[0], kind)
        if "release" in self.parts:
            return f"sim_ptx::release({target}, {self.value(self.operands[1], kind)});"
        if many == 1:
            return f"*{target} = {self.value(self.operands[1], kind)};"
        values = ", ".join(self.value(one, kind) for one in self.group(self.operands[1]))
        return (
            f"{{ const {kind} sim_v[{many}] = {{{values}}}; sim_ptx::Vector<{kind}, {many}>::store({target}, sim_v); }}"
        )

    def _atom(self, place: int = 1) -> str:
        names = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exch": "Exch", "cas": "CAS",
                 "inc": "Inc", "dec": "Dec"}  # fmt: skip
        orders = {"acquire", "release", "acq_rel"}
        self.only(*names, *orders, *SPACES)
        call = next(names[part] for part in self.parts if part in names)
        kind = {"b32": "unsigned", "b64": "unsigned long long", "u32": "unsigned", "s32": "int", "u64": "unsigned long long",
                "f32": "float", "f64": "double"}[self.type]  # fmt: skip
        arguments = ", ".join([self.pointer(self.operands[place], kind), *self.values(place + 1, kind)])
        fence = "__threadfence(); " if orders & set(self.parts) else ""
        said = f"atomic{call}({arguments})"
        return fence + (self.set(said, kind=kind) if place else f"{said};") + (f" {fence}" if fence else "")

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
            raise Unknown
        to, source = (self.pointer(operand, "char") for operand in self.operands[:2])
        bytes_ = self.value(self.operands[2], "unsigned")
        given = self.value(self.operands[3], "unsigned") if len(self.operands) == 4 else bytes_
        return f"sim_ptx::copy({to}, {source}, {bytes_}, {given});"

    def _prefetch(self) -> str:
        return ""
