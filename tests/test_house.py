"""Who may know whom: every room of course_lib imports only rooms below it, there are no circles, heavy imports are lazy."""

import ast
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ROOT / "course_lib"

# From the ground up. Rooms of one floor may know each other, but never in a circle.
FLOORS = [
    {"paths", "lexer"},
    {"native", "nvidia"},
    {"cuda"},
    {"devices", "autograd"},
    {"tensor", "wgsl"},
    {"functional", "gradcheck", "key_values"},
    {"nn", "optim"},
    {"stories", "bpe", "tokenizer", "data"},
    {
        "model",
        "recipes",
        "metrics",
        "checkpoint",
        "run",
        "run_folder",
        "sampling",
        "generation",
        "training",
        "clock",
        "whose",
        "progress",
        "stories_report",
    },
    # Beside the house: they look in, and nothing in the house knows them.
    {
        "plots",
        "notebook",
        "predictions",
        "coach",
        "course",
        "benchmarks",
        "environment",
        "doctor",
        "lab",
        "build",
        "web",
        "cli",
        "selftest",
        "speedrun",
    },
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def room(module: str) -> str:
    return module.split(".")[1]


def imports(path: Path, modules: Collection[str] = ()) -> set[str]:
    """Modules of course_lib that a file imports anywhere, lazy imports included. modules: those that a `from` may name."""
    found = set()
    package = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("course_lib")}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: -node.level]
                base = ".".join(parts + ([base] if base else []))
            if base == "course_lib":
                found |= {f"course_lib.{alias.name}" for alias in node.names}
            elif base.startswith("course_lib."):
                whole = {f"{base}.{alias.name}" for alias in node.names}
                found |= {name if name in modules else base for name in whole}
    return {name for name in found if name != "course_lib"}


def files() -> list[Path]:
    return [path for path in sorted(HOUSE.rglob("*.py")) if path != HOUSE / "__init__.py"]


def test_every_room_has_a_floor():
    rooms = {path.relative_to(HOUSE).parts[0].removesuffix(".py") for path in files()}
    assert rooms <= FLOOR.keys(), f"give {sorted(rooms - FLOOR.keys())} a floor in FLOORS"


def test_rooms_import_only_rooms_below():
    wrong = []
    for path in files():
        own = path.relative_to(HOUSE).parts[0].removesuffix(".py")
        for module in imports(path):
            other = room(module)
            if other in FLOOR and FLOOR[other] > FLOOR[own]:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}, from a floor above")
    assert not wrong, "\n".join(wrong)


def test_rooms_of_one_floor_make_no_circle():
    knows: dict[str, set[str]] = {}
    for path in files():
        own = path.relative_to(HOUSE).parts[0].removesuffix(".py")
        knows.setdefault(own, set()).update(room(m) for m in imports(path) if room(m) in FLOOR and room(m) != own)

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        return any(
            nxt == goal or (nxt not in seen and not seen.add(nxt) and reaches(nxt, goal, seen))
            for nxt in knows.get(start, ())
        )

    circles = [name for name in knows if reaches(name, name, set())]
    assert not circles, f"these rooms import each other in a circle: {circles}"


def test_modules_make_no_circle():
    """Not even with imports inside of functions."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files()}
    knows = {name: {m for m in imports(path, names) if m in names and m != name} for name, path in names.items()}
    done: set[str] = set()

    def follow(name: str, way: list[str]) -> None:
        assert name not in way, f"these modules import each other in a circle: {way[way.index(name) :]}"
        if name not in done:
            for other in sorted(knows[name]):
                follow(other, [*way, name])
            done.add(name)

    for name in sorted(names):
        follow(name, [])


def test_only_plots_imports_matplotlib():
    wrong = [
        str(path.relative_to(ROOT))
        for path in files()
        if path.relative_to(HOUSE).parts[0] != "plots"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(a.name.split(".")[0] == "matplotlib" for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "matplotlib")
    ]
    assert not wrong


def test_importing_the_library_is_light():
    """`import course_lib` and the tensor bring neither matplotlib nor peers nor anything that trains."""
    code = (
        "import sys, course_lib; from course_lib import Tensor; Tensor([1.0]) + 1.0;"
        "print([m for m in ('matplotlib', 'torch', 'tokenizers', 'typer', 'pooch', 'cupy', 'IPython') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert out.strip() == "[]"
