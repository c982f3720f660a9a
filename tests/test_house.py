"""Who may know whom: every room of course_lib imports only rooms below it, there are no circles, heavy imports are lazy."""

import ast
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ROOT / "course_lib"

# From the ground up. Rooms of one floor may know each other, but never in a circle.
FLOORS = [
    {"paths", "lexer", "guard"},
    {"native", "nvidia"},
    {"cuda"},
    {"devices", "autograd"},
    {"tensor", "wgsl"},
    {"functional", "gradcheck", "key_values"},
    {"nn", "optim", "recurrent", "state_space", "latent", "model_config"},
    {"stories", "bpe", "pieces", "tokenizer", "data"},
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
        "recall",
        "stories_report",
    },
    {"gpt2", "parallel", "tuning"},
    {"serving"},
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
        "site",
        "cli",
        "selftest",
        "speedrun",
        "prove",
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


def circle(knows: dict[str, set[str]]) -> list[str]:
    """Names that know each other in a circle, or nothing."""
    done: set[str] = set()

    def follow(name: str, way: list[str]) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        found = (
            next(filter(None, (follow(other, [*way, name]) for other in sorted(knows.get(name, ())))), [])
            if name not in done
            else []
        )
        done.add(name)
        return found

    return next(filter(None, (follow(name, []) for name in sorted(knows))), [])


def test_rooms_of_one_floor_make_no_circle():
    knows: dict[str, set[str]] = {}
    for path in files():
        own = path.relative_to(HOUSE).parts[0].removesuffix(".py")
        knows.setdefault(own, set()).update(room(m) for m in imports(path) if room(m) in FLOOR and room(m) != own)

    assert not (found := circle(knows)), f"these rooms import each other in a circle: {found}"


def test_modules_make_no_circle():
    """Not even with imports inside of functions."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files()}
    knows = {name: {m for m in imports(path, names) if m in names and m != name} for name, path in names.items()}
    assert not (found := circle(knows)), f"these modules import each other in a circle: {found}"


# ---- the simulator's C++ ----------------------------------------------------------------------------------------------

CPP = [
    path for folder in ("runtime", "include") for path in sorted((HOUSE / "cuda" / folder).rglob("*")) if path.is_file()
]
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
FUNCTION = re.compile(r"^\w[^;{}()=]*?\b(\w+)\([^;{}]*\)[^;{}()]*(\{[^\n]*\}$|\{.*?^\})", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?<![.>\w])(?<!std::)(\w+)[(<]")


def test_headers_of_the_simulator_make_no_circle():
    """`#include` without a circle, by the files that it finds."""
    knows = {
        str(path): {
            str((path.parent / name).resolve())
            for name in re.findall(r'^#include "([\w./]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        for path in CPP
    }
    missing = {name for names in knows.values() for name in names if name not in knows}
    assert not missing
    assert not (found := circle(knows)), f"these files include each other in a circle: {found}"


def calls(files: dict[str, str]) -> dict[str, set[str]]:
    """Which .cpp files call functions of which others, directly or by way of an inline function of a header."""
    functions = {name: FUNCTION.findall(NO_CODE.sub("", text)) for name, text in files.items()}
    defined: dict[str, set[str]] = {}
    inline: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    for file, found in functions.items():
        called[file] = {name for _, body in found for name in CALL.findall(body)}
        for name, body in found:
            if file.endswith(".h"):
                inline.setdefault(name, set()).update(CALL.findall(body))
            else:
                defined.setdefault(name, set()).add(file)
    knows = {}
    for file in files:
        if file.endswith(".h"):
            continue
        own, names = {name for name, _ in functions[file]}, set()
        left = called[file] - own
        while left:
            names.add(name := left.pop())
            left |= inline.get(name, set()) - names
        knows[file] = {other for name in names for other in defined.get(name, ()) if other != file}
    return knows


def test_files_of_the_runtime_call_only_files_below():
    files = {path.name: path.read_text(encoding="utf-8") for path in CPP if path.parent.name == "runtime"}
    knows = calls(files)
    assert "synccheck.cpp" in knows["barriers.cpp"], "an event reaches the checkers by way of a header"
    assert not (found := circle(knows)), f"these files call each other in a circle: {found}"
    checkers = {f"{name}.cpp" for name in ("memcheck", "synccheck", "initcheck", "racecheck", "counters", "trace")}
    assert checkers <= knows.keys()
    assert not [(one, other) for one in checkers for other in knows[one] & checkers], "a checker knows no other"


def test_a_circle_of_calls_is_found():
    files = {
        "a.cpp": "void f(int x) {\n    if (x) g();\n}\n",
        "b.cpp": "void h() { f(1); }\n",
        "x.h": "inline void g() {\n    h();\n}\n",
    }
    assert calls(files) == {"a.cpp": {"b.cpp"}, "b.cpp": {"a.cpp"}}
    assert circle(calls(files))
    files["b.cpp"] = 'void h() { print("f(1)"); }  // as f(1) does\n'
    assert not circle(calls(files))


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
