"""Cut a text at its special tokens: the longer of two that fit, and no sign of them read as a pattern."""

import re

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

END = "<|endoftext|>"


def cases(random):
    yield Case("one in the middle", "a<end>b", ("<end>",))
    yield Case("none in the text", "Once upon a time", (END,))
    yield Case("nothing but one", END, (END,))
    yield Case("signs that mean something in a pattern", f"The end.{END}A new | story", (END,))
    yield Case("two in a row", f"a{END}{END}b", (END,))
    yield Case("one is the beginning of another", "x<sep><s>y", ("<s>", "<s", "<sep>"))
    yield Case("two kinds", "[user]Hi.[bot]Hello![user]", ("[bot]", "[user]"))
    yield Case("an empty text", "", (END,))
    yield Case("half of one", "a<|endoftext|b", (END,))
    yield Case("spaces and line ends stay", f"  a \n{END}\n b  ", (END,))
    yield Case("only spaces between two", f"{END} {END}\n", (END,))
    yield Case("the leftmost one counts, although a longer one overlaps it", "aab<", ("ab<", "aa"))
    yield Case("a dot is a dot", "a.b?c", (".", "?"))


def split(
    text, tokens, escape=re.escape, order=lambda tokens: sorted(tokens, key=len, reverse=True), keep=True, empty=False
):
    middle = "|".join(map(escape, order(tokens)))
    parts = re.split(f"({middle})" if keep else f"(?:{middle})", text)
    return [part for part in parts if part or empty]


def one_after_another(text, tokens):
    parts = [text]
    for token in tokens:
        cut = []
        for part in parts:
            for number, piece in enumerate(part.split(token)):
                cut += [token] * bool(number) + [piece] * bool(piece)
        parts = cut
    return parts


exercise = Exercise(
    title="Special tokens",
    minutes=15,
    core=False,
    defines="split_special",
    target="course_lib.tokenizer.split_special",
    given="from collections.abc import Sequence\nimport regex",
    cases=cases,
    mistakes=[
        Mistake("The special tokens are gone. They are parts of their own, and joined the parts must give the text.",
                like=lambda text, tokens: split(text, tokens, keep=False)),
        Mistake("The special tokens are gone. They are parts of their own, and joined the parts must give the text.",
                like=lambda text, tokens: split(text, tokens, keep=False, empty=True)),
        Mistake("There are empty parts. Leave them out.", like=lambda text, tokens: split(text, tokens, empty=True)),
        Mistake("The signs of a special token are read as a pattern: `|` means \"or\" there. Use regex.escape.",
                like=lambda text, tokens: split(text, tokens, escape=str)),
        Mistake("Of two special tokens that fit at one place, the longer one counts. A pattern tries them in the order given.",
                like=lambda text, tokens: split(text, tokens, order=list)),
        Mistake("Of two special tokens that fit at one place, the longer one counts. Here the shorter one is found first.",
                like=lambda text, tokens: split(text, tokens, order=lambda tokens: sorted(tokens, key=len))),
        Mistake("You cut at one special token after the other, so one can be found inside another. Look for all of them at "
                "once, "
                "from the left.", like=one_after_another),
    ],
    hints=(
        "Walk through the text from the left. At each place: does a special token begin here? Which one, if several do?",
        "regex.split(\"(x|y)\", text) cuts at x and at y and keeps both, because of the brackets. What in a token must be "
        "escaped, "
        "and which one must stand first in the pattern?",
        "Sort the tokens by length, the longest first; join regex.escape of each with \"|\"; put brackets around; split; "
        "leave out "
        "the empty parts.",
    ),
    sibling='''def split_numbers(text):
    """Numbers as parts of their own: [part for part in regex.split(...) if part], with a group that keeps what was cut at."""
    return [part for part in regex.split(r"([0-9]+)", text) if part]
''',
    right=[
        """def split_special(text, special_tokens):
    parts, plain, at = [], "", 0
    while at < len(text):
        fitting = [token for token in special_tokens if text.startswith(token, at)]
        if fitting:
            longest = max(fitting, key=len)
            if plain:
                parts.append(plain)
            parts.append(longest)
            plain = ""
            at += len(longest)
        else:
            plain += text[at]
            at += 1
    return parts + [plain] if plain else parts
""",
        """import re

def split_special(text, special_tokens):
    pattern = re.compile("|".join(re.escape(t) for t in sorted(special_tokens, key=lambda t: -len(t))))
    parts, end = [], 0
    for match in pattern.finditer(text):
        if match.start() > end:
            parts.append(text[end:match.start()])
        parts.append(match.group())
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return parts
""",
        """def split_special(text, special_tokens):
    if not text:
        return []
    places = [(text.find(t), -len(t), t) for t in special_tokens if t in text]
    if not places:
        return [text]
    at, _, token = min(places)
    return [text[:at]] * (at > 0) + [token] + split_special(text[at + len(token):], special_tokens)
""",
    ],
    wrong=[
        Wrong(Changed(("map(regex.escape, longest_first)", "longest_first")), "are read as a pattern"),
        Wrong(Changed(("key=len, reverse=True", "key=len")), "Here the shorter one is found first"),
        Wrong(Changed(("sorted(special_tokens, key=len, reverse=True)", "special_tokens")), "in the order given"),
        Wrong(Changed((" if part]", "]")), "There are empty parts"),
        Wrong(Changed(('"("', '"(?:"')), "The special tokens are gone"),
        Wrong("""def split_special(text, special_tokens):
    parts = [text]
    for token in special_tokens:
        new = []
        for part in parts:
            pieces = part.split(token)
            for i, piece in enumerate(pieces):
                if i > 0:
                    new.append(token)
                if piece:
                    new.append(piece)
        parts = new
    return parts
""", "so one can be found inside another"),
    ],
)  # fmt: skip
