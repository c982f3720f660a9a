"""A chat template: the turns of a conversation as ids, and which of them are learned."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

END, USER, ASSISTANT = 256, 257, 258


def cases(random):
    yield Case("a question and its answer", [("user", "A?"), ("assistant", "B")])
    yield Case("a question without an answer", [("user", "A?")])
    yield Case("two questions, two answers", [("user", "A"), ("assistant", "B"), ("user", "C"), ("assistant", "De")])
    yield Case("the last question is open", [("user", "A"), ("assistant", "Bc"), ("user", "Def")])
    yield Case("an empty answer", [("user", "A"), ("assistant", "")])
    yield Case("a question with a letter of two bytes", [("user", "Où?"), ("assistant", "There.")])
    yield Case("an answer with a letter of two bytes", [("user", "Who?"), ("assistant", "Zoë.")])
    yield Case("text that looks like a special token", [("user", "<|assistant|>"), ("assistant", "<|user|>")])


def right(turns):
    ids, learned = [END], [False]
    for who, text in turns:
        body = list(text.encode())
        answer = who == "assistant"
        ids += [ASSISTANT if answer else USER, *body] + [END] * answer
        learned += [False] + [answer] * (len(body) + answer)
    if turns[-1][0] == "user":
        ids, learned = [*ids, ASSISTANT], [*learned, False]
    return ids, learned


exercise = Exercise(
    title="A chat template",
    minutes=10,
    defines="conversation",
    given="END, USER, ASSISTANT = 256, 257, 258\n\n\ndef encode(text):\n    return list(text.encode())\n",
    cases=cases,
    reference=right,
    results=("ids", "learned"),
    hints=(
        "Go through the turns in order. What does each add to `ids`, and what to `learned`, which always stays as long as `ids`?",
        "A turn of the user: USER and the text, nothing learned. One of the assistant: ASSISTANT (not learned), the text and END "
        "(both learned).",
        "ids += [ASSISTANT, *encode(text), END]; learned += [False] + [True] * (len(encode(text)) + 1). After the loop: if the "
        "last turn is the user's, one more ASSISTANT, not learned.",
    ),
    example='''def script(lines):
    """A play as one text; lines is a list of (who, words). The stage directions, who == "", stand in brackets."""
    text = ""
    for who, words in lines:
        text += f"{who}: {words}\\n" if who else f"({words})\\n"
    return text
''',
    wrong=[
        Mistake("encode(text) is a list. Put its ids into `ids` one by one, with a star: [USER, *encode(text)].",
                when=lambda seen: seen.got is not None and any(isinstance(token, list) for token in seen.got[0])),
        Mistake("`learned` needs one entry for each token of `ids`, special tokens included: the two lists differ in length.",
                when=lambda seen: seen.got is not None and len(seen.got[0]) != len(seen.got[1])),
        Wrong(Changed(("*body, END]", "*body]"), ("(len(body) + 1)", "len(body)")),
              "An answer ends in END, or a model that learned from it never stops."),
        Wrong(Changed(("[False] + [True] * (len(body) + 1)", "[True] * (len(body) + 2)")),
              "The special token ASSISTANT is learned too. It is written by whoever asks, not by the model."),
        Wrong(Changed(("[True] * (len(body) + 1)", "[True] * len(body) + [False]")),
              "END after an answer is not learned. Then the model does not learn when to stop."),
        Wrong(Changed(("[False] * (1 + len(body))", "[False] + [True] * len(body)")),
              "What the user says is learned too. The model should answer, not ask."),
        Wrong("""def conversation(turns):
    ids, learned = [END], [False]
    for who, text in turns:
        body = encode(text)
        answer = who == "assistant"
        ids += [ASSISTANT if answer else USER, *body] + [END] * answer
        learned += [False] + [answer] * (len(body) + answer)
    return ids, learned
""", "If the last turn is the user's, the special token ASSISTANT must follow: it tells the model to answer."),
        Wrong(Changed(("[USER, *body]", "[USER, *body, END]"), ("[False] * (1 + len(body))", "[False] * (2 + len(body))")),
              "END stands after answers alone; a question ends where the special token ASSISTANT begins the answer."),
        Wrong(Changed(("ids, learned = [END], [False]", "ids, learned = [], []")),
              "Every text of the training begins with END. A conversation does too."),
        Wrong("""def conversation(turns):
    text = "".join(f"<|{who}|>{words}" for who, words in turns)
    ids = [END, *encode(text), END]
    return ids, [False] * len(ids)
""", "USER and ASSISTANT are special tokens, one id each. You encode them as text, as if somebody had typed them.",
              when=lambda seen: USER not in list(seen.got[0]) and ord("<") in list(seen.got[0]),
              once="the question has no bracket"),
    ],
)  # fmt: skip
