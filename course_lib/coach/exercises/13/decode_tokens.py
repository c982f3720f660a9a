"""Find the fault: tokens are decoded one by one, although a token may be half a character."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

ONE_BY_ONE = "Each token is decoded by itself. A token may hold only a part of a character: join the bytes first."
VANISHES = 'Bytes that cannot be decoded disappear. An incomplete character must become �, as with `errors="replace"`.'


def cases(random):
    yield Case("ASCII characters", [b"the", b"!"], [0, 1])
    yield Case("é from a token for each of its bytes", [b"\xc3", b"\xa9"], [0, 1])
    yield Case("an emoji split in its middle", [b"\x99\x82", b"Hi", b" \xf0\x9f"], [1, 2, 0])
    yield Case("no token", [b"a", b"b"], [])
    yield Case("é as one token", [b"\xc3\xa9", b"caf"], [1, 0])
    yield Case("half a character at the end", [b"a", b"\xc3"], [0, 1])
    yield Case("a byte that begins nothing", [b"a", b"\xa9"], [0, 1, 0])
    yield Case("Greek, byte by byte", [bytes([value]) for value in range(256)], list("Μια\nφορά\r\n".encode()))


def right(spelling, ids):
    return b"".join(spelling[token] for token in ids).decode("utf-8", "replace")


exercise = Exercise(
    title="Find the fault: half a character",
    minutes=5,
    core=False,
    defines="decode",
    cases=cases,
    reference=right,
    hints=(
        "Take the tokens b'\\xc3' and b'\\xa9', which are é: what does the first one decode to by itself?",
        "First join all bytes. Then decode them as text, once.",
        "b\"\".join(...) makes one bytes object of many; its .decode(\"utf-8\", \"replace\") gives the text.",
    ),
    example='''def text_of_packets(packets):
    """Text that arrives over a network comes in packets, and a packet may end inside a character too."""
    received = bytearray()
    for packet in packets:
        received += packet
    return received.decode("utf-8", "replace")
''',
    wrong=[
        Wrong("""def decode(spelling, ids):
    text = ""
    for token in ids:
        text = text + str(spelling[token], "utf-8", "replace")
    return text
""", ONE_BY_ONE),
        Wrong(Changed(('"replace"', '"ignore"')), VANISHES),
        Wrong("""def decode(spelling, ids):
    return "".join(spelling[token].decode("utf-8", "ignore") for token in ids)
""", ONE_BY_ONE, also=True),
        Wrong(Changed(('"utf-8", "replace"', '"latin-1"')),
              "Each byte becomes a character of its own. In UTF-8, é is two bytes."),
        Wrong(Changed((', "replace"', "")),
              "A model may stop in the middle of a character. Then decode must still return the text, with � for the "
              "incomplete character.",
              when=lambda seen: seen.error.startswith("UnicodeDecodeError") and seen.label.startswith("half")),
        Wrong(Changed(('.decode("utf-8", "replace")', "")), generic="The result is b"),
    ],
)  # fmt: skip
