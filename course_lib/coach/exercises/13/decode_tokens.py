"""Find the fault: tokens that are decoded one by one, although a token may be half a letter."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("plain letters", [b"the", b"!"], [0, 1])
    yield Case("é from a token for each of its bytes", [b"\xc3", b"\xa9"], [0, 1])
    yield Case("a face cut in its middle", [b"\x99\x82", b"Hi", b" \xf0\x9f"], [1, 2, 0])
    yield Case("no token", [b"a", b"b"], [])
    yield Case("é as one token", [b"\xc3\xa9", b"caf"], [1, 0])
    yield Case("half a letter at the end", [b"a", b"\xc3"], [0, 1])
    yield Case("a byte that begins nothing", [b"a", b"\xa9"], [0, 1, 0])
    yield Case("Greek, byte by byte", [bytes([value]) for value in range(256)], list("Μια\nφορά\r\n".encode()))


def one_by_one(spelling, ids):
    return "".join(spelling[token].decode("utf-8", "replace") for token in ids)


def right(spelling, ids):
    return b"".join(spelling[token] for token in ids).decode("utf-8", "replace")


exercise = Exercise(
    title="Find the fault: half a letter",
    minutes=5,
    core=False,
    defines="decode",
    cases=cases,
    reference=right,
    mistakes=[
        Mistake("Each token is read as text by itself. A token may hold only a part of a letter: glue the bytes first.",
                like=one_by_one),
        Mistake("What cannot be read disappears. A broken letter must show, as the sign that `errors=\"replace\"` puts there.",
                like=lambda spelling, ids: b"".join(spelling[i] for i in ids).decode("utf-8", "ignore")),
        Mistake("What cannot be read disappears. A broken letter must show, as the sign that `errors=\"replace\"` puts there.",
                like=lambda spelling, ids: "".join(spelling[i].decode("utf-8", "ignore") for i in ids)),
        Mistake("Each byte becomes a letter of its own. In UTF-8, é is two bytes.",
                like=lambda spelling, ids: b"".join(spelling[i] for i in ids).decode("latin-1")),
        Mistake("A model may stop in the middle of a letter. Then the text must still come, with a sign for what is broken.",
                when=lambda seen: seen.error.startswith("UnicodeDecodeError")),
    ],
    hints=(
        "Take the tokens b'\\xc3' and b'\\xa9', which are é: what does the first one give by itself?",
        "First put all bytes in a row. Then read them as text, once.",
        "b\"\".join(...) makes one bytes of many; its .decode(\"utf-8\", \"replace\") gives the text.",
    ),
    sibling='''def text_of_packets(packets):
    """Text that arrives over a network comes in packets, and a packet may end inside a letter too."""
    received = bytearray()
    for packet in packets:
        received += packet
    return received.decode("utf-8", "replace")
''',
    right=[
        """def decode(spelling, ids):
    data = bytearray()
    for token in ids:
        data.extend(spelling[token])
    return str(data, "utf-8", errors="replace")
""",
        """import codecs

def decode(spelling, ids):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = ""
    for token in ids:
        text += decoder.decode(spelling[token])
    return text + decoder.decode(b"", final=True)
""",
        """def decode(spelling, ids):
    data = b""
    for i in range(len(ids)):
        data = data + spelling[ids[i]]
    return data.decode(errors="replace")
""",
    ],
    wrong=[
        Wrong("""def decode(spelling, ids):
    text = ""
    for token in ids:
        text = text + str(spelling[token], "utf-8", "replace")
    return text
""", "glue the bytes first"),
        Wrong(Changed((', "replace"', "")), "in the middle of a letter"),
        Wrong(Changed(('"replace"', '"ignore"')), "What cannot be read disappears"),
        Wrong(Changed(('"utf-8", "replace"', '"latin-1"')), "Each byte becomes a letter"),
        Wrong(Changed(('.decode("utf-8", "replace")', "")), "The result is b"),
    ],
)  # fmt: skip
