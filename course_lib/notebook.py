"""What a chapter needs of its notebook: text that appears while it is written, and a finished kernel as its file has it.

Limit: `tell` is made for plain text with words between spaces; a word longer than a line stays whole.
"""

import re
import sys
from collections.abc import Iterable

from course_lib.coach import regions
from course_lib.paths import KERNELS

WIDTH = 92  # letters of a line: fits a notebook beside its file list, and GitHub


def tell(text: str | Iterable[str], width: int = WIDTH) -> None:
    """Print a text, or the pieces of one as they come, broken into lines between words."""
    word, column = "", 0
    for piece in [text] if isinstance(text, str) else text:
        for letter in piece:
            if letter not in " \n":
                word += letter
                continue
            column = _put(word, column, width)
            word = ""
            if letter == "\n":
                print()
                column = 0
            elif column:
                word = " "  # belongs to the next word: a line that breaks here loses it
    _put(word, column, width)
    print()


def _put(word: str, column: int, width: int) -> int:
    """Print a word with the space before it, on a new line if it does not fit; returns the column after it."""
    if column and column + len(word) > width:
        word, column = word.lstrip(" "), 0
        print()
    print(word, end="")
    sys.stdout.flush()
    return column + len(word)


def show_kernel(file: str, name: str, block: str = "") -> None:
    """Print a kernel of kernels/, or a region of one, so that a chapter shows the very text that runs.

    block: how a loop or another block in braces begins that is to be printed alone. What an exercise asks for is left out, with
    the words of its blank in its place. Raises ValueError if no line, or more than one, begins so.
    """
    text = regions.blanked(regions.included(KERNELS / file, name), "//").rstrip()
    if block:
        lines = [found.start() for found in re.finditer(rf"^ *{re.escape(block)}", text, re.M)]
        if len(lines) != 1:
            raise ValueError(f"{len(lines)} lines of {name} in {file} begin with {block!r}: name one that does.")
        text = text[lines[0] : regions.behind_brace(text, text.index("{", lines[0]))]
    print(text)
