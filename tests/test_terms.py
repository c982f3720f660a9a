"""One word per concept, the field's own: homely words that once stood for a term do not come back into what learners read."""

import ast
import re

import pytest

from course_lib.coach import catalogue
from tests.test_spelling import COMMENT, NOTEBOOKS, ROOMS, ROOT, TEXTS, comments, prose, said_in, without_code

INSTEAD = {  # what is not said, as a pattern: what is
    r"bends?|bent": "activation, nonlinearity",
    r"(GELU|SwiGLU|activation)('s)? curves?|curves?(?= (of|for) (the )?(GELU|SwiGLU|activation))": "activation, nonlinearity",
    r"(the|its|their|on the|whole) way back|going back": "backward pass, backward, gradient",
    r"what came back": "upstream gradient",
    r"(a|an|its|the|each|their|of|equal|whose|own|in) shares?|shares? of": "attention weight; probability; fraction",
    r"(query|queries|heads?|words?|tokens?|positions?)( that)?( may| can| could| must)?(?-i: looks?) (at|back)": "attends to",
    r"keys?( that| which)? (they|it|one)( may| can| could| must)?(?-i: looks?) (at|back)": "attends to",
    r"tables? of (the )?(scores|attention)|(score|attention) tables?": "score matrix",
    r"(new|old|running) (top|total)|(top|total) so far": "running maximum m, running sum l",
    r"hears?|heard": "receives the gradient",
    r"odds": "probability",
    r"turn(s|ed|ing)? (it |them )?over|turned round|turned (matri|tile|cop|row|col)\w*": "transpose",
    r"(is|are|was|were|stored|read) turned(?! (o|in))": "transpose",
    r"turns? (by|through|with)|half a turn": "rotation",
    r"nudg(e|es|ed|ing)|small steps (show|give|say)": "a small change; finite difference",
    r"doors": "banks",
    r"desks?": "shared memory",
    r"(rows|pieces) shuffled|shuffled (rows|pieces)": "swizzled",
    r"short numbers|long sums in": "bfloat16 inputs, float32 accumulation",
    r"(bytes|sectors|words|numbers|KB|MB) ([a-z]+ ){0,2}asked for|asks? for (\S+ )?(bytes|sectors)": "required; requested",
    r"walk(s|ed|ing)?|go(es)? along|going along": "loop over, iterate, pass",
    r"(walk|run|go|goes|move|work|lanes|threads|warps?|ranks) in step(?! (\d|\w\b))": "in lockstep",
    r"(same|a) places? (in|of)(?= (the |a )?(memory|array|matrix|tile|row|buffer)| ,)|places? in memory": "offset, address",
    r"places? to the (left|right)|places (apart|along|before it|after it)": "index, offset, position",
    r"rungs?|ladders?": "version, optimisation steps",
    r"stretches": "singular values",
    r"fences?(?= .{0,40}(tokeni|merge|pre-token))": "pre-token boundaries",
    r"letters of (the )?(output|samples?)": "characters",
    r"windows? of words": "sliding-window attention",
    r"grouped heads": "grouped-query attention",
    r"knobs?": "hyperparameter, parameter",
    r"less (the|its|their) (mean|square|largest|maximum|nearest|zero)": "minus",
    r"hats?": "caret",
    r"mend(s|ed|ing)?": "fix",
    r"(rate|schedule)('s)? floor|floor (of|for|under) the (learning )?rate": "minimum learning rate",
    r"slow memory": "HBM (global memory), L2, shared memory (SRAM), registers",
}
PATTERNS = {re.compile(rf"\b({pattern})\b", re.IGNORECASE): term for pattern, term in INSTEAD.items()}


def faults(text: str) -> list[str]:
    return [
        f"{text[max(0, found.start() - 40) : found.end() + 30]!r}: say {term}"
        for pattern, term in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


PROSE = [*TEXTS, *sorted((ROOT / "kernels").glob("*.md"))]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_prose_says_the_fields_words(path):
    found = faults(" ".join(prose(path).split()))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chapter", sorted({catalogue.load(name).chapter for name in catalogue.names()}))
def test_the_coach_says_the_fields_words(chapter):
    exercises = [catalogue.load(name) for name in catalogue.names(chapter)]
    said = [text for one in exercises for text in (one.title, *one.hints, *(wrong.says for wrong in one.wrong))]
    found = faults(without_code("\n\n".join(text or "" for text in said)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_comments_of_a_notebook_say_the_fields_words(path):
    assert not faults(comments(path))


SOURCES = sorted(path for folder in ("kernels", "course_lib/devices/cpu/loops") for path in (ROOT / folder).rglob("*")
                 if path.suffix in (".cu", ".cuh", ".wgsl", ".cpp", ".h"))  # fmt: skip


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_comments_of_a_kernel_or_a_loop_say_the_fields_words(path):
    assert not faults(" ".join(COMMENT.findall(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("room", ROOMS)
def test_what_the_library_says_has_the_fields_words(room):
    found = [f"{where}: {fault}" for where, text in said_in(room) for fault in faults(text)]
    assert not found, "\n".join(found)


NAMES = re.compile(  # not of one room alone: which word stands for what in the simulator, tests/simulator/test_terms.py says
    r"Extent|known_to|fenced_by|hand_over|heard?|heard_of_others|met|meetings|homes|lost_lines|unset|suspects|neighbours|Told|lasting"
    r"|formerly|Team|turned|Quarters|load_turned|gelu_slope|bend|rungs?|ladder|odds|desk|doors|knobs?|hats?|walk|nudge"
)


def names(tree: ast.AST):
    """The names of functions, classes and arguments, and those to which something is assigned, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno


def test_the_names_in_the_code_are_the_fields():
    """Of files, functions, classes, arguments and variables; of what is not Python each word that is no comment."""
    found = []
    for path in sorted(path for folder in ("course_lib", "kernels") for path in (ROOT / folder).rglob("*")):
        if path.suffix == ".py":
            said = names(ast.parse(path.read_text(encoding="utf-8")))
        elif path.suffix in (".cu", ".cuh", ".wgsl", ".cpp", ".h", ".js", ".mjs"):
            lines = re.sub(r"//.*", "", path.read_text(encoding="utf-8")).splitlines()
            said = [
                (word, number) for number, line in enumerate(lines, 1) for word in re.findall(r"[A-Za-z_]\w*", line)
            ]
        else:
            continue
        found += [
            f"{path}, line {n}: {name}" for name, n in ((path.stem, 1), *said) if NAMES.fullmatch(name.strip("_"))
        ]
    assert not found, "\n".join(found)


PAGES = sorted(path for path in (ROOT / "course_lib").rglob("*") if path.suffix in (".html", ".js", ".mjs", ".css"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT / "course_lib")))
def test_a_page_for_the_browser_says_the_fields_words(path):
    assert not faults(" ".join(path.read_text(encoding="utf-8").split()))


@pytest.mark.parametrize(
    "text",
    [
        "The odds of a word",
        "Shares of the time",
        "a ladder of kernels",
        "On the way back",
        "x less the mean",
        "each query looks at all keys",
        "no key that they could look at",
        "the table of scores",
        "a tile is stored turned",
        "small steps give 2",
        "four bytes were asked for",
        "the sum goes along the last axis",
        "N places apart",
        "one place to the left",
        "the hat is a gradient",
    ],
)
def test_a_homely_word_is_found(text):
    assert len(faults(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "in turn",
        "takes place",
        "views share a buffer",
        "a street",
        "less than the mean",
        "in the same place, in turn",
        "Look at each token",
        "rank 1 sends chunk 0 in step 0",
        "the loss curve",
        "a stretch exercise",
        "in place after it was used",
    ],
)
def test_plain_english_is_not(text):
    assert not faults(text)
