"""C++ and WGSL as tokens: what is code and what a comment, which bracket closes which, where a function begins and ends.

    found = read(text)                  or read(text, wgsl=True)
    found.tokens                        kind, text, offset and line of each; between two tokens there is only white space
    found.code                          the text with blanks for comments and for what strings hold: same length, same lines
    found.closing(i), found.opening(i)  the offset of the bracket that closes the one at i; of the one that it closes
    found.outside(i, j)                 the tokens there that stand in no further brackets
    found.split(i, j)                   the spans between the commas there that stand in no further brackets
    found.functions                     name, parentheses and braces of each function with a body

Nothing is preprocessed: every branch of an #if is read, and the brackets of a preprocessor line match within that line only.
A string or a comment of C++ that never ends is read as code, so that what follows is still seen.
Not read as C++ does: a name that a backslash breaks in two, `//` inside of `#include <...>`, and a member that a constructor
sets, `Pair(int n) : first(n) {}`, which looks like a function.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import NamedTuple

COMMENT, STRING, CHAR, NAME, NUMBER, PUNCTUATION = "comment", "string", "char", "name", "number", "punctuation"
CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: open_ for open_, close in CLOSING.items()}
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "constexpr", "loop"}

IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # in `code`; no field, and no suffix of a number
_CPP = re.compile(
    r"(?P<space>(?:[^\S\n]|\\\r?\n)+)|(?P<newline>\n)"
    r"|(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)"
    r'|(?P<string>(?:u8|[uUL])?(?:R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"|"(?:\\(?:\r\n|.)|[^"\\\n])*"))'
    r"|(?P<char>(?:u8|[uUL])?'(?:\\(?:\r\n|.)|[^'\\\n])+')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)|(?P<name>[^\W\d]\w*)|(?P<punctuation>.)",
    re.DOTALL,
)
_WGSL = re.compile(
    r"(?P<space>[^\S\n]+)|(?P<newline>\n)|(?P<comment>//[^\n]*|/\*)"
    r"|(?P<number>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?[fhiu]?|\.?\d[\d.]*(?:[eE][+-]?\d+)?[fhiu]?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<punctuation>.)",
    re.DOTALL,
)
_NESTED = re.compile(r"/\*|\*/")
_OFFSET = attrgetter("offset")
_TAIL = re.compile(r"\s*(?:(?:const|noexcept|mutable)\b\s*)*(?:->[^;{}]*|:\s*[A-Za-z_][^;{}]*)?\{")


class Token(NamedTuple):
    """A piece of a text. Punctuation is one character each. directive: it stands on a preprocessor line."""

    kind: str
    text: str
    offset: int
    line: int  # counted from 1
    directive: bool

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


@dataclass(frozen=True)
class Function:
    """A function with a body. Offsets: of its name, its parentheses and its braces (each the opening and the closing one)."""

    name: str
    start: int
    parameters: tuple[int, int]
    body: tuple[int, int]


@lru_cache(512)
def read(text: str, wgsl: bool = False) -> Text:
    """A text of CUDA C++, or of WGSL, read once."""
    return Text(text, wgsl)


class Text:
    """A text and its tokens. Offsets count characters from 0, lines from 1."""

    def __init__(self, text: str, wgsl: bool):
        self.text = text
        self.tokens = tuple(_wgsl_tokens(text) if wgsl else _cpp_tokens(text))

    @cached_property
    def code(self) -> str:
        """The text with blanks for its comments and for what stands between quotation marks: same length, same lines."""
        return self._blanked(COMMENT, STRING, CHAR)

    @cached_property
    def without_comments(self) -> str:
        """The text with blanks for its comments: same length, same lines."""
        return self._blanked(COMMENT)

    @cached_property
    def words(self) -> tuple[Token, ...]:
        """The tokens that are neither comments nor on a preprocessor line."""
        return tuple(token for token in self.tokens if token.kind != COMMENT and not token.directive)

    @cached_property
    def opening_comment(self) -> str:
        """What the `//` lines say with which the text begins, one line each, without the strokes."""
        said = []
        for token in self.tokens:
            if not token.text.startswith("//") or token.line != len(said) + 1:
                break
            said.append(token.text[2:].strip())
        return "\n".join(said)

    @cached_property
    def brackets(self) -> dict[int, int | None]:
        """The offset of each opening bracket -> that of the one that closes it, None if nothing does."""
        found: dict[int, int | None] = {}
        code: list[Token] = []
        directive: list[Token] = []
        for before, token in zip((None, *self.tokens), self.tokens, strict=False):
            if token.directive and not (before and before.directive and token.text != "#"):
                directive = []
            if token.kind == PUNCTUATION:
                stack = directive if token.directive else code
                if token.text in CLOSING:
                    stack.append(token)
                    found[token.offset] = None
                elif (wanted := OPENING.get(token.text)) and any(open_.text == wanted for open_ in stack):
                    while stack[-1].text != wanted:  # these are never closed
                        stack.pop()
                    found[stack.pop().offset] = token.offset
        return found

    def closing(self, opening: int) -> int | None:
        """The offset of the bracket that closes the one at `opening`; None if nothing closes it, or it is none."""
        return self.brackets.get(opening)

    @cached_property
    def _openings(self) -> dict[int | None, int]:
        return {end: start for start, end in self.brackets.items()}

    def opening(self, closing: int) -> int | None:
        """The offset of the bracket that the one at `closing` closes; None if it closes nothing, or is none."""
        return self._openings.get(closing)

    def number(self, offset: int) -> int:
        """How many words begin before an offset: the place in `words` of the one that begins there."""
        return bisect_left(self.words, offset, key=_OFFSET)

    def between(self, start: int, end: int) -> tuple[Token, ...]:
        """The words of text[start:end]."""
        return self.words[self.number(start) : self.number(end)]

    def enclosing(self, offset: int, bracket: str = "{") -> list[int]:
        """The offsets of the brackets that are open at an offset, the outermost first."""
        return [
            start
            for start, end in sorted(self.brackets.items())
            if start < offset and (end is None or offset <= end) and self.text[start] == bracket
        ]

    def outside(self, start: int, end: int, angles: bool = False) -> Iterator[Token]:
        """The tokens of text[start:end] that stand in no brackets there, those brackets among them; no comments.

        angles: `<` and `>` are brackets, too, but not behind a `=`, up to the next comma: there they compare.
        """
        first, last = (bisect_left(self.tokens, offset, key=_OFFSET) for offset in (start, end))
        depth, closing, compared = 0, start, False
        for token in self.tokens[first:last]:
            if token.offset < closing or token.kind == COMMENT:
                continue
            closing = self.closing(token.offset) or closing
            counts = angles and not compared
            depth = max(depth - (counts and token.text == ">"), 0)
            if depth == 0:
                compared = token.text == "=" or (compared and token.text != ",")
                yield token
            depth += counts and token.text == "<"

    def split(self, start: int, end: int, angles: bool = False, separator: str = ",") -> list[tuple[int, int]]:
        """The spans between the commas of text[start:end], or other signs, that stand outside of brackets (`outside`)."""
        signs = [token.offset for token in self.outside(start, end, angles) if token.text == separator]
        return list(zip([start, *(sign + 1 for sign in signs)], [*signs, end], strict=True))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function with a body, in the order of the text; those of preprocessor lines, too."""
        found = []
        for name, bracket in zip(self.tokens, self.tokens[1:], strict=False):
            if name.kind != NAME or bracket.text != "(" or name.text in KEYWORDS:
                continue
            end = self.closing(bracket.offset)
            tail = _TAIL.match(self.code, end + 1) if end is not None else None
            if tail and (closed := self.closing(tail.end() - 1)) is not None:
                body = tail.end() - 1, closed
                found.append(Function(name.text, name.offset, (bracket.offset, end), body))
        return tuple(found)

    def line(self, offset: int) -> int:
        """The number of the line that holds an offset."""
        return self.text.count("\n", 0, offset) + 1

    def _blanked(self, *kinds: str) -> str:
        parts, end = [], 0
        for token in self.tokens:
            if token.kind in kinds:
                parts += [self.text[end : token.offset], _blank(token)]
                end = token.end
        return "".join([*parts, self.text[end:]])


def _blank(token: Token) -> str:
    if token.kind == COMMENT:
        return re.sub(r"[^\n]", " ", token.text)
    quote = token.text[-1]
    first = token.text.index(quote)
    return token.text[: first + 1] + re.sub(r"[^\n]", " ", token.text[first + 1 : -1]) + quote


def _cpp_tokens(text: str) -> Iterator[Token]:
    line, directive, begins = 1, False, True  # begins: nothing but white space and comments has come on this line
    for match in _CPP.finditer(text):
        kind, piece = match.lastgroup, match.group()
        if kind == "delimiter":  # the innermost group of a raw string
            kind = STRING
        if kind == "newline":
            directive, begins = False, True
        elif kind != "space":
            directive = directive or (begins and piece == "#")
            begins = begins and kind == COMMENT
            yield Token(kind, piece, match.start(), line, directive)
        line += piece.count("\n")


def _wgsl_tokens(text: str) -> Iterator[Token]:
    line, offset = 1, 0
    while offset < len(text):
        match = _WGSL.match(text, offset)
        kind, end = match.lastgroup, match.end()
        if match.group() == "/*":
            end = _end_of_nested(text, offset)
        piece = text[offset:end]
        if kind not in ("space", "newline"):
            yield Token(kind, piece, offset, line, False)
        line += piece.count("\n")
        offset = end


def _end_of_nested(text: str, start: int) -> int:
    """Where the comment of WGSL that begins there ends: `/* a /* b */ c */` is one."""
    depth = 0
    for match in _NESTED.finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)
