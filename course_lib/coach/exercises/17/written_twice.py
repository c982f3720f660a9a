"""A planted fault: a text that is read again, though the cache holds it."""

from functools import cache as cached

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


@cached
def model(seed):
    """A small model with large random weights, so that each token that it reads changes what it says."""
    from course_lib.model import GPT, GPTConfig

    made = GPT(GPTConfig(layers=1, heads=2, channels=16, context=64, vocab_size=12, positions="rope"), seed=seed)
    for tensor in made.parameters():
        tensor.storage.array[:] *= 12 if tensor.ndim > 1 else 1
    return made.eval()


def cases(random):
    yield Case("one token more", 0, [3, 1], 1)
    yield Case("two tokens more", 0, [3, 1], 2)
    yield Case("one token to begin with", 1, [5], 4)
    yield Case("no token more", 1, [5, 2], 0)
    yield Case("12 tokens more", 2, [7, 7, 2], 12)
    yield Case("20 tokens more", 3, [0, 11, 4, 4], 20)


def called(answer, seed, ids, count):
    return answer(model(seed), list(ids), count)


def without_cache(made, ids, count):
    for _ in range(count):
        ids = [*ids, int(logits_of(made, ids).argmax())]
    return ids


def logits_of(made, ids, cache=None):
    from course_lib import no_grad

    with no_grad():
        return made(np.array([ids]), cache=cache).numpy()[0, -1]


def read_again(made, ids, count):
    cache, ids = made.new_cache(), list(ids)
    for _ in range(count):
        ids.append(int(logits_of(made, ids, cache).argmax()))
    return ids


def new_each_time(made, ids, count):
    """A fresh cache for each token, which reads the last token alone."""
    ids, fresh = list(ids), list(ids)
    for _ in range(count):
        fresh = [int(logits_of(made, fresh, made.new_cache()).argmax())]
        ids += fresh
    return ids


def new_only(made, ids, count):
    return without_cache(made, ids, count)[len(ids) :]


def last_two(made, ids, count):
    cache, ids = made.new_cache(), list(ids)
    fresh = ids
    for _ in range(count):
        ids = [*ids, int(logits_of(made, fresh, cache).argmax())]
        fresh = ids[-2:]
    return ids


exercise = Exercise(
    title="Find the fault: read twice",
    minutes=5,
    core=False,
    defines="write_on",
    given="import numpy as np\nfrom course_lib import no_grad",
    cases=cases,
    reference=without_cache,
    call=called,
    mistakes=[
        Mistake("The first new token is right, and then everything is read once more, behind what the cache holds of it already.",
                like=read_again),
        Mistake("The last token but one is read twice: the cache holds it since the step before.", like=last_two),
        Mistake("A new cache at each step knows nothing of what came before. Make it once.", like=new_each_time),
        Mistake("Only the new tokens are given back. The whole text is asked for, its beginning too.", like=new_only),
    ],
    hints=(
        "What has the model read when the second step begins, and what is new to it?",
        "The cache holds the keys and values of all tokens that were read. Only one token was never read: which?",
        "At the end of the loop: fresh = [new], and not the whole of ids.",
    ),
    sibling='''def read_aloud(pages, reader):
    """A book that grows by a page a day. The reader remembers, so each page is read aloud only once."""
    for number in range(1, len(pages) + 1):
        reader(pages[number - 1 : number])  # not pages[:number]
''',
    right=[
        """def write_on(model, ids, count):
    with no_grad():
        for _ in range(count):
            logits = model(np.array([ids])).numpy()[0, -1]
            ids = ids + [int(logits.argmax())]
    return ids
""",
        """def write_on(model, ids, count):
    cache, read = model.new_cache(), 0
    with no_grad():
        while count > 0:
            logits = model(np.array([ids[read:]]), cache=cache)
            read = len(ids)
            ids = ids + [int(np.argmax(logits.numpy()[0, -1]))]
            count -= 1
    return ids
""",
    ],
    wrong=[
        Wrong(Changed(("fresh = [new]", "fresh = ids[-2:]")), "read twice: the cache holds it"),
        Wrong(Changed(("cache=cache", "cache=model.new_cache()")), "A new cache at each step"),
        Wrong("""def write_on(model, ids, count):
    new = []
    with no_grad():
        for _ in range(count):
            new.append(int(model(np.array([ids + new])).numpy()[0, -1].argmax()))
    return new
""", "Only the new tokens are given back"),
    ],
)  # fmt: skip
