"""Split a text at its special tokens: the longer of two that match, and no character of them read as a pattern."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

END = "<|endoftext|>"
GONE = "The special tokens are gone. Each is a part of its own: joined, the parts must give the text."
UNESCAPED = 'The characters of a special token are read as a pattern: `|` means "or" there. Use regex.escape.'


def cases(random):
    yield Case("one in the middle", "a<end>b", ("<end>",))
    yield Case("none in the text", "Once upon a time", (END,))
    yield Case("nothing but one", END, (END,))
    yield Case("characters with a meaning in patterns", f"The end.{END}A new | story", (END,))
    yield Case("two in a row", f"a{END}{END}b", (END,))
    yield Case("one is the beginning of another", "x<sep><s>y", ("<s>", "<s", "<sep>"))
    yield Case("two kinds", "[user]Hi.[bot]Hello![user]", ("[bot]", "[user]"))
    yield Case("an empty text", "", (END,))
    yield Case("half of one", "a<|endoftext|b", (END,))
    yield Case("spaces and line ends stay", f"  a \n{END}\n b  ", (END,))
    yield Case("only spaces between two", f"{END} {END}\n", (END,))
    yield Case("the leftmost match counts, although a longer one overlaps it", "aab<", ("ab<", "aa"))
    yield Case("small and large letters differ", "a<END>b<End>c<end>d", ("<end>",))
    yield Case("the longer one counts, whatever the order", "x<s>y<sep>", ("<s", "<sep", "<s>", "<sep>"))
    yield Case("no special tokens at all", "ab", ())
    yield Case("a dot is a dot", "a.b?c", (".", "?"))


exercise = Exercise(
    title="Special tokens",
    minutes=15,
    core=False,
    defines="split_special",
    target="course_lib.tokenizer.split_special",
    given="from collections.abc import Sequence\nimport regex",
    cases=cases,
    hints=(
        "Loop over the text from the left. At each position: does a special token begin here? Which one, if several do?",
        "regex.split(\"(x|y)\", text) splits at x and at y and keeps both, because of the parentheses. What in a token must be "
        "escaped, and which token must come first in the pattern?",
        "Sort the tokens by length, the longest first; join regex.escape of each with \"|\"; put parentheses around; split; "
        "leave out the empty parts. With no special tokens do not split: the pattern () would cut everywhere.",
    ),
    example='''def split_numbers(text):
    """Numbers as parts of their own: [part for part in regex.split(...) if part], with a group, which keeps the separators."""
    return [part for part in regex.split(r"([0-9]+)", text) if part]
''',
    wrong=[
        Wrong(Changed(('"("', '"(?:"')), GONE),
        Wrong(Changed(('"("', '"(?:"'), (" if part]", "]")), GONE, also=True),
        Wrong(Changed((" if part]", "]")), "There are empty parts. Leave them out."),
        Wrong(Changed(("map(regex.escape, longest_first)", "longest_first")), UNESCAPED),
        Wrong(Changed(("sorted(special_tokens, key=len, reverse=True)", "special_tokens")),
              "Of two special tokens that match at the same position, the longer one counts. A pattern tries them in the order "
              "given."),
        Wrong(Changed(("key=len, reverse=True", "key=len")),
              "Of two special tokens that match at the same position, the longer one counts. Here the shorter one is found "
              "first."),
        Wrong("""def split_special(text, special_tokens):
    longest_first = sorted(special_tokens, key=len, reverse=True)
    parts = regex.split("|".join(map(regex.escape, longest_first)), text)
    return [part for part in parts if part]
""", GONE, also=True),
        Wrong("""def split_special(text, special_tokens):
    parts = regex.split("(" + "|".join(sorted(special_tokens, key=len, reverse=True)) + ")", text)
    return [part for part in parts if part]
""", UNESCAPED, also=True),
        Mistake("Without special tokens the text is one part. A pattern of no alternatives matches between all characters.",
                when=lambda seen: all(not o.inputs[1] and isinstance(o.got, list) and len(o.got) > 1
                                      and "".join(o.got) == o.inputs[0] for o in seen.outcomes if not o.right)),
        Mistake("There are empty parts. Leave them out: without them, the result is right.",
                when=lambda seen: bool(seen.inputs[1]) and all([part for part in o.got if part] == o.expected
                                      for o in seen.outcomes if o.inputs[1] and not o.right)),
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
""",
              "You split at one special token after the other, so one can be found inside another. Search for all of them at "
              "once, from the left."),
    ],
)  # fmt: skip
