"""The reader of C++ and WGSL: its tokens, what it blanks, its brackets, and what unbalanced text does to it."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import paths
from course_lib.lexer import CHAR, CLOSING, COMMENT, NAME, NUMBER, PUNCTUATION, STRING, read

PIECES = st.sampled_from(
    ["//", "/*", "*/", '"', "'", "\\", "\n", "\r\n", "#", "#define", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", " ",
     "\\\n", 'R"x(', ')x"', "1'000", "1e-3f", "0x1p+2", "name", "u8", "é", "fn f", "->", "\t"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=40)


def kinds(text, **language):
    return [(token.kind, token.text) for token in read(text, **language).tokens]


@given(TEXTS, st.booleans())
def test_tokens_join_to_the_text_with_only_white_space_between(text, wgsl):
    end, rebuilt = 0, ""
    for token in read(text, wgsl).tokens:
        gap = text[end : token.offset]
        assert re.fullmatch(r"(?:\s|\\\r?\n)*", gap)
        assert token.line == text.count("\n", 0, token.offset) + 1
        assert token.text
        rebuilt += gap + token.text
        end = token.end
    assert re.fullmatch(r"(?:\s|\\\r?\n)*", text[end:])
    assert rebuilt + text[end:] == text


@given(TEXTS, st.booleans())
def test_blanked_texts_keep_length_and_lines(text, wgsl):
    found = read(text, wgsl)
    for blanked in (found.code, found.without_comments):
        assert len(blanked) == len(text)
        assert [i for i, letter in enumerate(blanked) if letter == "\n"] == [i for i, x in enumerate(text) if x == "\n"]
        assert all(new in (old, " ") for new, old in zip(blanked, text, strict=True))


@given(TEXTS, st.booleans())
def test_brackets_pair_with_their_own_kind_and_never_cross(text, wgsl):
    found = read(text, wgsl)
    closed = [(start, end) for start, end in found.brackets.items() if end is not None]
    assert all(CLOSING[text[start]] == text[end] and start < end for start, end in closed)
    assert len({end for _, end in closed}) == len(closed)
    assert all(found.opening(end) == start for start, end in closed)
    plain = {token.offset for token in found.tokens if not token.directive}
    own = [pair for pair in closed if pair[0] in plain]
    assert not any(a < c < b < d for a, b in own for c, d in own)


@given(TEXTS)
def test_functions_and_splits_lie_in_the_text(text):
    found = read(text)
    for function in found.functions:
        assert text[function.start :].startswith(function.name)
        assert [text[i] for i in (*function.parameters, *function.body)] == ["(", ")", "{", "}"]
    spans = found.split(0, len(text))
    assert spans[0][0] == 0 and spans[-1][1] == len(text)
    assert all(text[a[1]] == "," and a[1] + 1 == b[0] for a, b in itertools.pairwise(spans))


def test_kinds():
    assert kinds("""int x = 1'000u + .5e-3f; // end\nchar c = '}'; auto s = u8"a{b";""") == [
        (NAME, "int"), (NAME, "x"), (PUNCTUATION, "="), (NUMBER, "1'000u"), (PUNCTUATION, "+"), (NUMBER, ".5e-3f"),
        (PUNCTUATION, ";"), (COMMENT, "// end"), (NAME, "char"), (NAME, "c"), (PUNCTUATION, "="), (CHAR, "'}'"),
        (PUNCTUATION, ";"), (NAME, "auto"), (NAME, "s"), (PUNCTUATION, "="), (STRING, 'u8"a{b"'), (PUNCTUATION, ";"),
    ]  # fmt: skip


def test_comments_of_wgsl_nest_and_those_of_cpp_do_not():
    text = "/* a /* b */ c */ d"
    assert read(text, wgsl=True).code.strip() == "d"
    assert read(text).code.split() == ["c", "*/", "d"]
    assert kinds("/* open /* twice */ never", wgsl=True) == [(COMMENT, "/* open /* twice */ never")]
    assert kinds("/* never")[2] == (NAME, "never")
    assert kinds("it's 1u", wgsl=True) == [(NAME, "it"), (PUNCTUATION, "'"), (NAME, "s"), (NUMBER, "1u")]


def test_a_line_comment_goes_on_behind_a_backslash():
    assert read("// one \\\n still } \nx").code.split() == ["x"]
    assert read("// one \\\n still\nx", wgsl=True).code.split() == ["still", "x"]


def test_strings_end_where_cpp_ends_them():
    raw = 'auto s = R"x(a " { )" // )x"; }'
    assert [token.text for token in read(raw).tokens if token.kind == STRING] == ['R"x(a " { )" // )x"']
    assert read(raw).code.count("{") == 0 and read(raw).code.endswith("; }")
    broken = '"a \\" // {\\\n }" x'
    assert kinds(broken) == [(STRING, '"a \\" // {\\\n }"'), (NAME, "x")]
    assert (STRING, '"') not in kinds('"never closed\n{')
    assert read('"never closed\n{').brackets == {14: None}


def test_a_preprocessor_line_keeps_its_brackets_to_itself():
    text = "#define BEGIN { \\\n  (\n  # error don't {\nvoid f() { // {\n#define PAIR (1)\n}"
    found = read(text)
    brace = text.index("{ // {")
    assert found.closing(brace) == len(text) - 1
    assert found.closing(text.index("{")) is None
    assert text[found.closing(text.index("(1"))] == ")"
    assert [token.text for token in found.words] == ["void", "f", "(", ")", "{", "}"]
    assert read("x # y").words[1].text == "#"  # not at the beginning of its line
    assert not read("/* a */ # define B {").words


def test_unbalanced_brackets():
    found = read("a ( [ b ) c ] } d { e")
    assert found.closing(2) == 8  # the [ in it is never closed
    assert found.closing(4) is None
    assert found.closing(found.text.index("{")) is None
    assert found.enclosing(len(found.text)) == [found.text.index("{")]
    assert found.closing(0) is None
    assert [found.opening(end) for end in (6, 8, 12)] == [None, 2, None]


def test_split_at_the_top_level_only():
    text = "f(a, (b, c), d[1, 2], ',', T<int, 4> e)"
    parts = lambda **how: [text[i:j].strip() for i, j in read(text).split(2, len(text) - 1, **how)]  # noqa: E731
    assert parts() == ["a", "(b, c)", "d[1, 2]", "','", "T<int", "4> e"]
    assert parts(angles=True) == ["a", "(b, c)", "d[1, 2]", "','", "T<int, 4> e"]
    text = "f(T<int, 2> a = 1 << 3, p->b, T<int, (N < 4)> c /* , */)"
    assert parts(angles=True) == ["T<int, 2> a = 1 << 3", "p->b", "T<int, (N < 4)> c /* , */"]
    text = "f('a: b' : c ? (d : e) :: g)"
    assert parts(separator=":") == ["'a: b'", "c ? (d : e)", "", "g"]


def test_what_stands_outside_of_brackets_and_the_words_between():
    found = read("a[b] /* c */ = {d, (e)}, f) g")
    assert "".join(token.text for token in found.outside(0, len(found.text))) == "a[]={},f)g"
    assert "".join(word.text for word in found.between(2, 18)) == "b]={d,"
    assert [found.words[found.number(offset)].text for offset in (0, 1, 5)] == ["a", "[", "="]


def test_functions_of_both_languages():
    cpp = """
    template <int N> __device__ float add(float a, float b) const noexcept { if (a) { return b; } return a + '}'; }
    struct Pair { Pair(int n) { first = n; } int first; };
    auto pick = [](int i) -> int { return i; };
    float only_declared(float);
    """
    assert [function.name for function in read(cpp).functions] == ["add", "Pair"]
    add = read(cpp).functions[0]
    assert cpp[add.body[0] : add.body[1] + 1].endswith("'}'; }")
    wgsl = "fn sum(x: vec2<f32>) -> f32 { /* } */ return x.x; }\n@compute @workgroup_size(64) fn main() { while (true) {} }"
    assert [function.name for function in read(wgsl, wgsl=True).functions] == ["sum", "main"]


def test_the_opening_comment():
    assert read("// A title.\n//\n// More: words\n\n// not this\nint x;").opening_comment == "A title.\n\nMore: words"
    assert read("int x; // no\n").opening_comment == ""


@pytest.mark.parametrize("pattern", ["*.cu", "*.cuh", "*.wgsl"])
def test_every_kernel_of_the_course_is_balanced(pattern):
    files = sorted(paths.KERNELS.rglob(pattern))
    assert files
    for file in files:
        found = read(file.read_text(encoding="utf-8"), file.suffix == ".wgsl")
        assert None not in found.brackets.values(), file.name
        assert all("//" not in line for line in found.code.splitlines()), file.name
