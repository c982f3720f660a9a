"""Find the fault: the model reads tokens again that are in the cache already."""

from functools import cache as cached

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong


@cached
def model(seed):
    """A small model with large random weights, so that each token that it reads changes its logits."""
    from course_lib.model import GPT, GPTConfig

    made = GPT(GPTConfig(layers=1, heads=2, channels=16, context=512, vocab_size=12, positions="rope"), seed=seed)
    for tensor in made.parameters():
        tensor.storage.array[:] *= 12 if tensor.ndim > 1 else 1
    return made.eval()


def cases(random):
    yield Case("one new token", 0, [3, 1], 1)
    yield Case("two new tokens", 0, [3, 1], 2)
    yield Case("a text of one token", 1, [5], 4)
    yield Case("no new token", 1, [5, 2], 0)
    yield Case("four new tokens", 6, [3, 1], 4)
    yield Case("12 new tokens", 2, [7, 7, 2], 12)
    yield Case("20 new tokens", 3, [0, 11, 4, 4], 20)


def called(answer, seed, ids, count):
    return answer(model(seed), list(ids), count)


def tokens_read(answer):
    """How many tokens the model reads for 20 new ones after 4."""
    from course_lib.model import GPT

    made, read = model(3), []

    class Counted(GPT):
        def forward(self, idx, *more, **options):
            read.append(np.size(idx))
            return super().forward(idx, *more, **options)

    kind, made.__class__ = made.__class__, Counted
    try:
        answer(made, [0, 11, 4, 4], 20)
    finally:
        made.__class__ = kind
    return sum(read)


def without_cache(made, ids, count):
    from course_lib import no_grad

    with no_grad():
        for _ in range(count):
            ids = [*ids, int(made(np.array([ids])).numpy()[0, -1].argmax())]
    return ids


exercise = Exercise(
    title="Find the fault: read twice",
    minutes=5,
    core=False,
    defines="greedy_decoding",
    given="import numpy as np\nfrom course_lib import no_grad",
    cases=cases,
    reference=without_cache,
    call=called,
    goals=[Goal("tokens that the model reads, for 20 new ones after 4", tokens_read, at_most=24)],
    hints=(
        "What has the model read when the second step begins, and which token is new?",
        "The cache holds the keys and values of all tokens that were read. Only one token was not read yet: which?",
        "At the end of the loop: fresh = [new], not all of ids.",
    ),
    example='''def read_aloud(pages, reader):
    """A book that grows by a page a day. The reader remembers, so each page is read aloud only once."""
    for number in range(1, len(pages) + 1):
        reader(pages[number - 1 : number])  # not pages[:number]
''',
    wrong=[
        Wrong(Changed(("fresh = [new]", "fresh = ids")),
              "From the second step on the whole text is read again, though the cache holds all of it but the newest token."),
        Wrong(Changed(("fresh = [new]", "fresh = ids[-2:]")),
              "The last token but one is read twice: it has been in the cache since the previous step."),
        Wrong(Changed(("cache=cache", "cache=model.new_cache()")),
              "A new cache at each step holds no earlier tokens. Create it once, before the loop."),
        Wrong("""def greedy_decoding(model, ids, count):
    new = []
    with no_grad():
        for _ in range(count):
            new.append(int(model(np.array([ids + new])).numpy()[0, -1].argmax()))
    return new
""", "You return only the new tokens. Return the whole list, with those that were given."),
    ],
)  # fmt: skip
