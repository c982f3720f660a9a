"""Keep the debug locations of loads and stores that clang's optimiser moves: in its text before and after.

What is hoisted out of a loop, or merged with another, leaves without a line (LLVM's "How to Update Debug Info"), and the
checker's hook before it has none either. Before, the two sides of a branch are kept apart. After, a load without a line gets
that of its first user, through others without one, since a value is mostly used where it was read; a store gets that of its
address, or of its value; else the nearest line above it in the function. g++ needs none of this: it keeps the lines.

Why text: clang has no flag that keeps these lines. Without this 7 of the 15 faults of test_lines are told elsewhere under clang
with -O1 (2 under zig 0.17, whose clang is newer). With -O0 all lines are right, but a value that is read twice in a row counts
twice, which neither nvcc nor g++ does, and 5 faults of the zoo that reach past a local variable through a pointer are not seen,
or crash.

Limit: a value that is read on one line, and used on another only, is told at the second if it was hoisted.
"""

import re
from collections import defaultdict

HOOKS = re.compile(r"\bcall [^@]*@(?:__tsan_(?!func_)|sim_check_copy\b)")
COPIES = re.compile(r"@(?:__tsan_mem|sim_check_copy)")
_NOTE = re.compile(r", !dbg (!\d+)")
_PLACE = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\((.*)\)$", re.MULTILINE)
_DEFINED = re.compile(r"\s+(%(?:\"[^\"]*\"|[-\w.$]+)) = ")
_VALUE = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)")
_STORE = re.compile(r"\s+store (?:volatile )?(?P<value>.+), (?:ptr|[^,]*\*) (?P<address>[^,]+), align")
_TYPE = r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))"  # a piece of a type: that of a function has commas in its parentheses
_LOAD = re.compile(rf"\s+\S+ = load (?:volatile )?(?P<kind>{_TYPE}+?), (?:ptr|{_TYPE}*\*) (?P<address>[^,]+), align")
_ACCESS = re.compile(r"\s+(?:\S+ = )?(?:load|store)\b")
_BRANCH = re.compile(r"  br label %(\S+?),?(?= |$)")
_LABEL = re.compile(r"([-\w.$]+):")
_ALLOCATED = re.compile(r"  (%\S+) = alloca ")
APART = "@llvm.sideeffect()"  # does nothing, but neither can a load or store be moved to where two branches meet


def keep_branches_apart(text: str) -> str:
    """LLVM's text from the front end, in which accesses on different lines of an `if` and its `else` cannot become one."""
    numbers = {name: re.search(r"\bline: (\d+)", what) for name, what in _PLACE.findall(text)}
    lines, ends, local, last, marked = text.splitlines(), defaultdict(list), set(), None, []
    for number, line in enumerate(lines):
        if line.startswith("define "):
            ends, local, last = defaultdict(list), set(), None
        elif line.startswith("  "):
            if made := _ALLOCATED.match(line):
                local.add(made.group(1))
            elif (access := _STORE.match(line) or _LOAD.match(line)) and access["address"] not in local:
                where = numbers.get(note.group(1)) if (note := _NOTE.search(line)) else None
                last = (where.group(1), number) if where else None
            elif last and (branch := _BRANCH.match(line)):
                ends[branch.group(1)].append((number, *last))
        elif label := _LABEL.match(line):
            last, meeting = None, ends.pop(label.group(1), [])  # a way back, of a loop, meets no label below
            if len({where for _, where, _ in meeting}) > 1:
                marked += [(end, access) for end, _, access in meeting]
    for end, access in marked:
        if load := _LOAD.match(lines[access]):  # a value of its own, too
            name, note = _DEFINED.match(lines[access]).group(1), _NOTE.search(lines[access]).group()
            lines[access] = lines[access].replace(f"{name} =", f"%read.{access} =", 1)
            lines[access] += f"\n  {name} = freeze {load['kind']} %read.{access}{note}"
        lines[end] = f"  call void {APART}\n{lines[end]}"
    if marked and f"declare void {APART}" not in text:
        lines.append(f"declare void {APART}")
    return "\n".join(lines) + "\n"


def restore(text: str) -> str:
    """LLVM's text of an optimised file, in which every hook that had a line before the optimiser has one again."""
    places = {name for name, what in _PLACE.findall(text) if not re.search(r"\bline: 0\b", what) and "line:" in what}
    lines, start = text.splitlines(), None
    for number, line in enumerate(lines):
        if line.startswith("define "):
            start = number
        elif line == "}" and start is not None:
            _restore_in(lines, start, number, places)
            start = None
    return "\n".join(lines) + "\n"


def _restore_in(lines: list[str], start: int, end: int, places: set[str]) -> None:
    """Give the hooks of one function, lines[start:end], what they have lost."""
    lost = [n for n in range(start, end) if HOOKS.search(lines[n]) and not _place(lines[_access(lines, n)], places)]
    if not lost:
        return
    made: dict[str, int] = {}
    users: dict[str, list[int]] = defaultdict(list)
    for number in range(start + 1, end):
        line = lines[number]
        if "@llvm.dbg." in line or HOOKS.search(line):
            continue
        own = _DEFINED.match(line)
        if own:
            made[own.group(1)] = number
        for name in set(_VALUE.findall(line, own.end() if own else 0)):
            users[name].append(number)
    for number in lost:
        access = lines[_access(lines, number)]
        note = _of_user(access, lines, users, places) if _moved(access, lines, made) else None
        note = note or _of_maker(access, lines, made, places) or _of_user(access, lines, users, places)
        note = note or next(filter(None, (_place(lines[n], places) for n in range(number, start, -1))), None)
        if note:
            lines[number] = f"{_NOTE.sub('', lines[number])}, !dbg {note}"


def _access(lines: list[str], hook: int) -> int:
    """Where the load or store stands that a hook is for: behind it; a copy is its own."""
    if COPIES.search(lines[hook]):
        return hook
    return next((n for n in range(hook + 1, min(hook + 4, len(lines))) if _ACCESS.match(lines[n])), hook)


def _place(line: str, places: set[str]) -> str | None:
    """The note of an instruction's line, if it has one."""
    note = _NOTE.search(line)
    return note.group(1) if note and note.group(1) in places else None


def _of_user(access: str, lines: list[str], users: dict, places: set[str]) -> str | None:
    """The line of the first instruction that uses a loaded value, however often it was cast or joined before."""
    own = _DEFINED.match(access)
    names, seen = [own.group(1)] if own else [], set()
    while names:
        following = []
        for number in sorted({number for name in names for number in users.get(name, ())} - seen):
            seen.add(number)
            if note := _place(lines[number], places):
                return note
            if made := _DEFINED.match(lines[number]):
                following.append(made.group(1))
        names = following
    return None


def _moved(access: str, lines: list[str], made: dict) -> bool:
    """Whether a load was one before: not two of two addresses, which are then joined instead."""
    load = _LOAD.match(access)
    return load is not None and " = phi " not in lines[made.get(load["address"], 0)]


def _of_maker(access: str, lines: list[str], made: dict, places: set[str]) -> str | None:
    """The line where an address was made, or what is stored there."""
    match = _STORE.match(access) or _LOAD.match(access)
    for name in _VALUE.findall(" ".join(match.groups()[::-1])) if match else ():
        for _ in range(4):
            if name not in made:
                break
            if note := _place(lines[made[name]], places):
                return note
            before = _VALUE.findall(lines[made[name]].split(" = ", 1)[1])
            name = before[0] if before else ""
    return None
