"""What can be read off the text of a kernel that is wrong: an input that it never looks at, a sum that begins anew in each step
or never does, a float that passes through an int, a store that each step repeats.

Each sentence says what stands in the text, which is true whatever else is wrong; in a right kernel it may be meant.
"""

from __future__ import annotations

import re

from course_lib import lexer
from course_lib.coach.kernel_statements import Loop, Store, loops_of, statement_end, stores_of, through_pointers
from course_lib.cuda import source

_CONSTANT = re.compile(
    r"[-+]?\s*(?:[\d.]+(?:e[-+]?\d+)?[fFuUlL]*|INFINITY|\{\s*(?:0(?:\.0?f?)?)?\s*\}|\w*Op::\w+\(\)|nothing)\s*", re.I
)
_INT = re.compile(r"(?<![\w.])(?:const\s+)?(int|unsigned|long long|size_t)\s+(?=[A-Za-z_]\w*\s*=)")


def says(text: str, kernel: str, solution: str) -> str:
    """One sentence about the first slip of a kernel, compared with our solution where that matters; "" if there is none."""
    read = lexer.read(text)
    for find in (_float_in_int, _begins_anew, _never_begins_anew, _stored_again):
        if words := find(read):
            return words
    return _never_used(text, kernel, solution) or _only_first_lane(read, solution)


def _only_first_lane(read: lexer.Text, solution: str) -> str:
    """Lanes pass their numbers down, where all of them need the sum."""
    down = next((word for word in read.words if word.text == "__shfl_down_sync"), None)
    if down is None or re.search(r"__shfl_(xor_)?sync", read.code) or "__shfl_xor_sync" not in solution:
        return ""
    return (
        f"Line {down.line}: after a reduction by __shfl_down_sync the first lane alone has the whole result. Here all lanes need "
        "it: __shfl_xor_sync gives it to each."
    )


def _uses(code: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b", code) is not None


def _adds_up(store: Store) -> bool:
    """Whether something is added to what is there."""
    if not store.operator and re.search(rf"\*\s*{store.name}\b|\b{store.name}\s*\*", store.value):
        return False  # a recurrence, h = a h + b
    return store.operator in ("+", "*") or (not store.operator and _uses(store.value, store.name))


def _float_in_int(read: lexer.Text) -> str:
    """A whole number is made of elements of an array of floats."""
    floats = "|".join(re.findall(r"\bfloat\s*\*\s*(?:__restrict__\s+)?([A-Za-z_]\w*)", read.code))
    whole = {}
    for found in _INT.finditer(read.code):
        for store in stores_of(read, (found.end(), statement_end(read, found.end()))):
            whole[store.name] = store
    if not floats or not whole:
        return ""
    for function in read.functions:
        for store in stores_of(read, function.body):
            if store.name not in whole or store.place:
                continue
            value = store.value
            while (shorter := re.sub(rf"(?<![\w.])(?!(?:{floats})\b)(\w+)\s*\[[^\[\]]*\]", r"\1", value)) != value:
                value = shorter  # an index is whole, whatever it is computed from
            if re.search(rf"(?<![\w.\[(])(?:{floats})\s*\[", value) and not re.search(
                r"[<>=!?&|(]", re.sub(r"\[[^\[\]]*\]", "", value)
            ):
                return (
                    f"Line {read.line(store.offset)}: `{store.name}` is a whole number, and `{store.value}` is computed from "
                    f"floats, so its fractional part is lost. Declare `{store.name}` as float."
                )
    return ""


def _begins_anew(read: lexer.Text) -> str:
    """A sum is set to a constant in each step of the loop that it is to sum over, and read only behind it."""
    for loop in loops_of(read):
        body = read.code[slice(*loop.body)]
        stores = list(stores_of(read, loop.body))
        inside = [other for other in loops_of(read) if loop.body[0] <= other.start < loop.body[1]]
        for store in stores:
            declared = re.search(r"(?:float|int|T|A|double|half|float4|auto)\s+$", read.code[: store.offset])
            if (
                store.operator
                or declared
                or (loop.counts and _uses(store.place, loop.counts))
                or not _CONSTANT.fullmatch(store.value)
                or any(store.offset < i.head[1] and store.offset > i.head[0] for i in inside)
            ):
                continue
            of_it = [other for other in stores if other.name == store.name]
            behind = read.code[loop.body[1] : _end_of_function(read, loop.start)]
            sets = [other for other in of_it if _adds_up(other)]
            mentions = len(re.findall(rf"(?<![\w.]){store.name}\b", body)) - sum(
                1 + len(re.findall(rf"(?<![\w.]){store.name}\b", other.value)) * _adds_up(other) for other in of_it
            )
            if (
                sets
                and len(sets) + 1 == len(of_it)
                and not mentions
                and _uses(behind, store.name)
                and _is_plain(read, store, loop)
            ):
                return (
                    f"Line {read.line(store.offset)}: `{store.name}` is set to {store.value} in each step of the loop of line "
                    f"{read.line(loop.start)}, so behind it there is the sum of the last step alone. Set it before the loop."
                )
    return ""


def _is_plain(read: lexer.Text, store: Store, loop: Loop) -> bool:
    """Whether a store is made in each step: no `if` of the loop holds it."""
    return not re.search(r"\bif\b", read.code[loop.body[0] : store.offset])


def _end_of_function(read: lexer.Text, offset: int) -> int:
    return next((f.body[1] for f in read.functions if f.body[0] < offset < f.body[1]), len(read.code))


def _never_begins_anew(read: lexer.Text) -> str:
    """A sum is stored in each step of a loop, at another place each time, and goes on from what the step before left."""
    for loop in loops_of(read):
        stores = list(stores_of(read, loop.body))
        changed = {store.name for store in stores}
        for store in stores:
            names = set(lexer.IDENTIFIER.findall(store.value))
            if (
                store.operator
                or not store.place
                or loop.counts not in lexer.IDENTIFIER.findall(store.place)
                or not loop.counts
            ):
                continue
            for name in sorted(names & changed):
                of_it = [other for other in stores if other.name == name and other.offset < store.offset]
                before = read.code[: loop.start]
                if (
                    of_it
                    and store.value == name
                    and all(_adds_up(other) and not other.place for other in of_it)
                    and all(_adds_up(other) for other in stores if other.name == name)
                    and re.search(rf"\b(?:float|int|T|A|double|auto)\s+{name}\s*=", before)
                    and not _declared_in(read, name, loop)
                ):
                    return (
                        f"Line {read.line(store.offset)} stores `{name}` in each step of the loop of line "
                        f"{read.line(loop.start)}, and nothing sets it back: each step goes on from the sum of the step before. "
                        "Set it at the beginning of each step."
                    )
    return ""


def _declared_in(read: lexer.Text, name: str, loop: Loop) -> bool:
    return re.search(rf"[\w>]\s+{name}\s*[=;,\[]", read.code[slice(*loop.body)]) is not None


def _stored_again(read: lexer.Text) -> str:
    """A store to an element that is the same in each step of a loop, of something that the step computes."""
    pointers = set(re.findall(r"[\w>]\s*\*\s*(?:__restrict__\s+)?([A-Za-z_]\w*)", " ".join(
        read.code[slice(*function.parameters)] for function in read.functions
    )))  # fmt: skip
    for loop in loops_of(read):
        if not loop.counts:
            continue
        body = read.code[slice(*loop.body)]
        changed = {store.name for store in stores_of(read, loop.body)} | {loop.counts}
        changed |= set(re.findall(r"[\w>]\s+\*?\s*([A-Za-z_]\w*)\s*[=;,(\[]", body))
        changed |= set(re.findall(r"(?:\+\+|--)\s*([A-Za-z_]\w*)", body)) | set(
            re.findall(r"([A-Za-z_]\w*)\s*(?:\+\+|--)", body)
        )
        for store in (*stores_of(read, loop.body), *through_pointers(read, loop.body)):
            if (
                store.operator
                or store.name not in pointers
                or not store.place.startswith("[")
                or not _is_plain(read, store, loop)
            ):
                continue
            value = set(lexer.IDENTIFIER.findall(store.value))
            if not set(lexer.IDENTIFIER.findall(store.place)) & changed and store.name not in value and value & changed:
                if re.search(r"\b(break|return)\b", body) or (
                    loop.counts in ("s", "step", "offset") and "shfl" in body
                ):
                    continue
                # a sum that grows from step to step may be stored each time: the last one is whole
                if any(name in value and _grows(read, name, loop) for name in changed):
                    continue
                return (
                    f"Line {read.line(store.offset)} stores to `{store.name}{store.place}` in each step of the loop of line "
                    f"{read.line(loop.start)}: that is the same element each time (`{loop.counts}` is not in its index), so what "
                    "the last step stores is all that stays."
                )
    return ""


def _grows(read: lexer.Text, name: str, loop: Loop) -> bool:
    return not _declared_in(read, name, loop) and any(
        store.name == name and _adds_up(store) for store in stores_of(read, loop.body)
    )


def _never_used(text: str, kernel: str, solution: str) -> str:
    """A parameter of the kernel, or one of a template in the text, that our solution uses and this one does not."""
    yours, ours = (source.kernels(source.Source(given, "kernel.cu")).get(kernel) for given in (text, solution))
    if yours is None or ours is None or len(yours.parameters) != len(ours.parameters):
        return ""
    bodies = [_body(given, kernel) for given in (text, solution)]
    if not all(bodies):
        return ""
    for (_, name), (_, our_name) in zip(yours.parameters, ours.parameters, strict=True):
        if name and not _uses(bodies[0], name) and _uses(bodies[1], our_name):
            return f"Your kernel never uses its parameter `{name}`; ours does."
    of_text, of_solution = _templates(text), _templates(solution)
    for function, names in of_text.items():
        if function == kernel:  # one may do without wide packs, say
            continue
        for name, used in names.items():
            if not used and of_solution.get(function, {}).get(name):
                return f"`{function}` never uses its template parameter `{name}`; ours does."
    return ""


def _body(text: str, kernel: str) -> str:
    read = lexer.read(text)
    return next((read.code[slice(*f.body)] for f in read.functions if f.name == kernel), "")


def _templates(text: str) -> dict[str, dict[str, bool]]:
    """Of each function template its parameters, and whether they stand in it again."""
    read, found = lexer.read(text), {}
    for given in re.finditer(r"\btemplate\s*<([^<>]*)>", read.code):
        function = next((f for f in read.functions if f.start > given.end()), None)
        if function and not re.search(r"[;{}]", read.code[given.end() : function.start]):
            rest = read.code[given.end() : function.body[1]]
            names = re.findall(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?(?:,|$)", given[1])
            found[function.name] = {name: _uses(rest, name) for name in names}
    return found
