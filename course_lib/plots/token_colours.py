"""A text cut into tokens, as HTML in colours.

Neighbours differ in colour and in a bar between them, so the cuts show without colours too. Spaces are drawn as `·`, line
ends as `⏎`, bytes that are no whole character as `\\xNN`.
"""

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

from course_lib.plots.picture import Page, number
from course_lib.plots.style import INK

TINTS = ("#BFE0F2", "#FBE3B0", "#BFE8DA", "#F3D5E4", "#F7CFB4", "#E3E3E3")  # pale, under black letters


def pieces(tokenizer: Any, text: str) -> tuple[list[str], list[int]]:
    """The tokens of a text as one can print them, and their ids."""
    ids = tokenizer.encode(text)
    return [visible(tokenizer.token_bytes(token)) for token in ids], ids


def visible(data: bytes) -> str:
    """The bytes of one token, with what one cannot see made visible."""
    text = data.decode("utf-8", "backslashreplace")
    return text.replace(" ", "·").replace("\n", "⏎").replace("\t", "⇥")


def tokens(tokenizer: Any, text: str) -> Page:
    """A text in the colours of its tokens; point at one to see its id. Plain text: the tokens with `|` between them."""
    parts, ids = pieces(tokenizer, text)
    tint = _tints(ids)
    spans = [
        f'<span title="id {token}" style="background:{tint[token]};color:{INK};padding:2px 1px;border-right:2px solid '
        f'{INK}">{html.escape(part)}</span>' + ("<br>" if part.endswith("⏎") else "<wbr>")
        for part, token in zip(parts, ids, strict=True)
    ]
    found = finding(parts, ids, text)
    style = "font-family:monospace;font-size:105%;line-height:1.9"
    return Page(
        f'<p>{html.escape(found)}</p><div style="{style}">{"".join(spans)}</div>', f"{found}\n{'|'.join(parts)}"
    )


def finding(parts: Sequence[str], ids: Sequence[int], text: str) -> str:
    """What there is to see: how many tokens, how long, which one is the longest and which comes back most often."""
    if not ids:
        raise ValueError("There is no token to draw: the text is empty.")
    longest = max(parts, key=len)
    words = (
        f"{len(text)} characters become {len(ids)} tokens of {number(len(text) / len(ids), 1)} characters on average; "
    )
    words += f"the longest is '{longest}'"
    token, often = Counter(ids).most_common(1)[0]
    return words + (f"; '{parts[list(ids).index(token)]}' comes {often} times." if often > 1 else "; none comes twice.")


def _tints(ids: Sequence[int]) -> dict[int, str]:
    """A tint for each id, the same wherever it comes back, unlike its left neighbour's where that is possible."""
    tint: dict[int, str] = {}
    for index, token in enumerate(ids):
        if token not in tint:
            near = {tint.get(other) for other in (ids[index - 1] if index else None, *ids[index + 1 : index + 2])}
            start = len(tint) % len(TINTS)
            order = TINTS[start:] + TINTS[:start]
            tint[token] = next(color for color in order if color not in near)
    return tint
