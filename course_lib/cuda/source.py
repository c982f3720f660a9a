"""What can be read off the text of a `.cu` file without compiling it: its kernels, their parameters' names, includes.

The text is the learner's own and is never changed. Only names are read here; types come from the compiler.
declarations.py reads the memory that it declares.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from course_lib import lexer, paths
from course_lib.cuda.errors import CompileError, KernelError

KERNELS = paths.KERNELS
ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_HOST = re.compile(r"<<<|\basm\b|\bcuda[A-Z]\w*\s*\(|\bint\s+main\s*\(|\bstd\s*::\s*(?:cout|vector|string)\b")
WAITS = re.compile(
    r"__sync|_sync\b|\bsync\b|__activemask|cooperative_groups|\bwmma\b|mma\.h|__shfl|\bcuda\s*::\s*(?:barrier|pipeline)|__pipeline|ldmatrix|\bmma_|cp_async|__nanosleep"
    r"|\batomicCAS|\batomicExch|\batomic\w+\s*\([^;]*,\s*0[uUlL]*\s*\)"  # in a loop, until another thread has come by
    r"|\bwhile\s*\([^;{]*\batomic|\bfor\s*\([^;{}]*;[^;{}]*;\s*\)[^}]*\batomic|\bdo\b[^}]*\batomic"
)
IDENTIFIER = r"[A-Za-z_]\w*"


@dataclass(frozen=True)
class Source:
    """One `.cu` text: `name` is what messages call it, `folder` where its includes are looked for. host: it is a file that
    holds host code, too, which its kernels' builds pass over.

    Its includes are read once, when first asked for: a launch asks several times."""

    text: str
    name: str
    folder: Path | None = None
    includes: tuple[Path, ...] = field(default=(), compare=False)
    host: bool = False

    @property
    def digest(self) -> str:
        parts = [self.name, self.text, *(path.read_text() for path in self.includes)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @cached_property
    def as_program(self) -> bool:
        """Whether it is translated as whole programs are: preprocessed, then its inline PTX and its launches rewritten."""
        texts = (self.text, *(path.read_text() for path in self.includes))
        code = (lexer.read(text).code for text in texts if "asm" in text and "__COURSE_SIMULATOR__" not in text)
        return self.host or any(ASSEMBLY.search(one) for one in code)

    @property
    def code(self) -> str:
        """The text with blanks for comments and for what strings hold."""
        return lexer.read(self.text).code

    @cached_property
    def all_tokens(self) -> lexer.Text:
        """The text and its own includes' behind it, as tokens."""
        return lexer.read("\n".join([self.text, *(path.read_text() for path in self.includes)]))

    @property
    def everything(self) -> str:
        """The text and its own includes' behind it, with blanks for comments and for what strings hold."""
        return self.all_tokens.code


def find(code: str | Path, host: bool = False) -> Source:
    """A Path, or a str that ends in `.cu`: a file in the working folder, then in kernels/. Any other str is source.

    host: whether a file may hold host code.
    """
    if isinstance(code, Path) or (code.endswith(".cu") and "\n" not in code):
        for path in (Path(code), KERNELS / code):
            if path.is_file():
                path = path.resolve()
                text = path.read_text()
                has_host = host and bool(_HOST.search(lexer.read(text).code))
                return Source(text, path.name, path.parent, _includes(text, path.parent), has_host)
        known = ", ".join(sorted(p.relative_to(KERNELS).as_posix() for p in KERNELS.rglob("*.cu"))) or "none yet"
        raise KernelError(
            f"There is no file {str(code)!r}, neither in {Path.cwd()} nor in {KERNELS}. Kernels of the course: {known}."
        )
    return Source(code, "kernel.cu", Path.cwd(), _includes(code, Path.cwd()))


def bodies(source: Source) -> dict[str, range]:
    """The lines of the text that belong to each kernel."""
    return _bodies(lexer.read(source.text))


@lru_cache(512)
def _bodies(found: lexer.Text) -> dict[str, range]:
    ends = {function.parameters[0]: function.body[1] for function in found.functions}
    return {
        name.text: range(found.line(start), found.line(ends[opening]) + 1)
        for start, name, opening, _ in _heads(found)
        if opening in ends
    }


def body_of(source: Source, name: str) -> range:
    """The lines of a kernel, which may be named as a template's instance, or with its namespaces."""
    return bodies(source).get(name.split("<")[0].rpartition("::")[2].strip(), range(0))


def returns_early(source: Source, name: str) -> bool:
    """Whether a kernel has a `return` of its own."""
    lines, body = source.code.splitlines(), body_of(source, name)
    return any(re.search(r"\breturn\s*;", lines[number - 1]) for number in body)


def include_folders(source: Source) -> list[Path]:
    """Where `#include "..."` looks. A text without includes of its own needs none (and is cached once for all)."""
    if not source.includes:
        return []
    return [
        folder for folder in (source.folder, KERNELS, KERNELS / "include") if folder is not None and folder.is_dir()
    ]


def _includes(text: str, folder: Path) -> tuple[Path, ...]:
    """The course's own files that a text includes, and those that these include."""
    found: list[Path] = []
    pending = [text]
    while pending:
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', pending.pop(), re.M):
            for base in (folder, KERNELS, KERNELS / "include", *(path.parent for path in found)):
                path = base / name
                if path.is_file() and path.resolve() not in found:
                    found.append(path.resolve())
                    pending.append(path.read_text())
                    break
    return tuple(found)


@dataclass(frozen=True)
class Declaration:
    """A kernel as the text declares it. `parameters` are (type, name) texts."""

    name: str
    template: bool
    parameters: tuple[tuple[str, str], ...]
    line: int


def kernels(source: Source) -> dict[str, Declaration]:
    """The kernels that a text declares, by name."""
    text, found = source.all_tokens, {}
    for _, name, opening, template in _heads(text):
        parameters = _parameters(text, opening + 1, text.closing(opening) or len(text.text))
        found.setdefault(name.text, Declaration(name.text, template, parameters, name.line))
    return found


def _heads(text: lexer.Text) -> Iterator[tuple[int, lexer.Token, int, bool]]:
    """Of each kernel: where its declaration begins, its name, the parenthesis behind it, and whether it is a template."""
    words, first = text.words, 0
    places = {word.offset: number for number, word in enumerate(words)}
    for number, word in enumerate(words):
        if word.text in ("{", "}", ";"):
            first = number + 1
        if word.text != "__global__":
            continue
        at = number + 1
        while at + 1 < len(words):
            name, behind = words[at : at + 2]
            if name.text in ("__launch_bounds__", "__maxnreg__") and behind.text == "(":
                at = places.get(text.closing(behind.offset), len(words)) + 1
            elif name.text in ("static", "inline", "void"):
                at += 1
            else:
                if name.kind == lexer.NAME and behind.text == "(":
                    template = any(before.text == "template" for before in words[first:number])
                    yield words[first].offset, name, behind.offset, template
                break


def _parameters(text: lexer.Text, start: int, end: int) -> tuple[tuple[str, str], ...]:
    result = []
    for i, j in text.split(start, end, angles=True):
        match = re.match(rf"(?s)(.*?)({IDENTIFIER})\s*((?:\[[^\]]*\]\s*)*)$", text.code[i:j].strip())
        if match and match.group(1).strip():
            kind = match.group(1).strip() + ("*" if match.group(3) else "")
            result.append((" ".join(kind.replace("*", " * ").split()), match.group(2)))
    return tuple(result)


def never_waits(source: Source) -> bool:
    """Whether no word of the text, or of its includes, can make a thread wait."""
    return not WAITS.search(source.everything)


def waits_for_grid(source: Source) -> bool:
    """Whether a text has kernels whose blocks wait for each other, so that all of them must be in flight at once."""
    return bool(re.search(r"\bthis_grid\s*\(", source.everything) and re.search(r"\bsync\b", source.everything))


def word_on_waiting(source: Source) -> str:
    """What to say of a launch that never ended if its text may poll a variable that another thread sets; else nothing."""
    if not re.search(r"\bvolatile\b", source.everything):
        return ""
    return (
        "If a thread waits there for another, let it poll with an atomic, atomicAdd(p, 0): threads take turns at atomics and "
        "barriers here, and plain reads let no other thread go on"
    )


_SIZED = r"\[[^\]]*\]|\b(?:alignas|__align__)\s*\([^()]*\)"
_TYPE = r"[^;{}=]*\b(?:union|struct|class|enum)\b[^;{}=]*"  # of a variable, if its members stand right there
REFUSED = [
    (r"<<<", "`kernel<<<grid, block>>>(...)` is host code, which the course writes in Python: kernel(grid, block, args)."),
    (r"\b__cluster_dims__|this_cluster\s*\(", "Thread block clusters are not simulated."),
    (r"\bcudaMalloc|\bcudaMemcpy|\bcudaFree|\bcudaDeviceSynchronize",
     "This is host code; memory comes from Python here: course_lib.cuda.asarray(x), empty(shape), zeros(shape)."),
    (r"\bint\s+main\s*\(", "A .cu file of the course holds kernels only; main() is written in Python."),
    (r"\bcuda::(?:atomic|atomic_ref)\b", "cuda::atomic is not simulated: atomicAdd and its kin are."),
    (r"\btex(?:1D|2D|3D)\w*\s*[<(]|\bsurf\dD\w*\s*[<(]|\bcuda(?:Texture|Surface)Object_t\b",
     "Textures and surfaces are not simulated."),
    (rf"\b__shared__\b(?:{_TYPE}\{{[^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*\}}|(?!{_TYPE}\{{))(?:{_SIZED}|[^;(){{}}=\[])*(?:=|\{{)",
     "A __shared__ variable begins without a value: a thread writes it, then __syncthreads()."),
]  # fmt: skip


# What a CPU has and a kernel has not. The simulator's compiler would take it, and run it on this machine.
HOST_HEADERS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(thread|future|mutex|condition_variable|stop_token|filesystem|[io]?fstream|unistd\.h|"
    r"dlfcn\.h|pthread\.h|spawn\.h|fcntl\.h|c?signal(?:\.h)?|sys/[\w./]+)>",
    re.MULTILINE,
)
HOST_NAMES = re.compile(
    r"\b(?:std\s*::\s*(thread|jthread|async|filesystem|[io]?fstream|mutex)\b|__attribute__\s*\(\(\s*_*(constructor|destructor)|"
    r"(?<!\.)(?<!->)(system|remove|rename|unlink|unlinkat|rmdir|mkdir|popen|v?fork|exec[lv]p?e?|posix_spawnp?|fopen|freopen|creat|"
    r"truncate|symlink|chmod|chown|dlopen|dlsym|syscall|mmap|munmap|mprotect|getenv|setenv|putenv|kill|raise|signal|sigaction|"
    r"ptrace|pthread_\w+|exit|_exit|_Exit|quick_exit|abort|atexit)\s*\()"
)

# The simulator's headers know these names; NVIDIA's compiler does where one of these headers is included.
TRAITS = (
    r"(?:is|remove|add|make|enable|common|underlying|conjunction|disjunction)_\w+|"
    r"(?:conditional|decay|void)(?:_t)?|(?:true|false)_type"
)
TRAITS_SENTENCE = "The traits of types come with a header: begin the file with #include <type_traits>."
_HAS_TRAITS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(?:type_traits|utility|limits|array|tuple|functional|memory|numeric|cuda/std/)", re.M
)


def refuse_unsupported(source: Source) -> None:
    """Raise CompileError, with line and sentence, for what neither the simulator nor this course's launches support."""
    text = source.code
    if "__COURSE_SIMULATOR__" in text:  # it makes its own distinction
        return

    def refuse(place: int, sentence: str) -> None:
        line = text.count("\n", 0, place) + 1
        shown = source.text.splitlines()[line - 1] if line <= len(source.text.splitlines()) else ""
        raise CompileError(f"{source.name}:{line}: {sentence}\n    {shown.strip()}", line=line)

    for pattern, sentence in REFUSED:
        if match := re.search(pattern, text):
            refuse(match.start(), sentence)
    if match := HOST_HEADERS.search(text):
        refuse(
            match.start(),
            f"<{match[1]}> is a header of the host: a GPU has no files, threads or processes of that kind.",
        )
    trait = re.search(rf"\bstd\s*::\s*(?:{TRAITS})\b", text)
    if trait and not _HAS_TRAITS.search(source.everything):
        refuse(trait.start(), TRAITS_SENTENCE)
    for match in HOST_NAMES.finditer(text):
        name = next(filter(None, match.groups()))
        its_own = rf"[\w*&>]\s+{name}\s*\([^;{{}}]*\)\s*(?:const\s*)?\{{"  # a function of the text has this name
        if not re.search(its_own, text):
            refuse(match.start(), f"`{name}` is of the host: a kernel runs on a GPU, where there is no such thing.")
