"""The nats that a request leaves of a story: a conditional probability."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one fact", 5.0, [0.5])
    yield Case("a request that names nothing", 47.0, [])
    yield Case("two facts", 40.0, [0.5, 0.1])
    yield Case("one fact that every story has", 46.0, [1.0])
    yield Case("four facts", 48.5, [0.125, 1 / 12, 1 / 18, 0.0625])


def left(story, facts):
    import math

    return story - sum(-math.log(p) for p in facts)


exercise = Exercise(
    title="What a request leaves open",
    minutes=3,
    core=False,
    defines="answer_nats",
    given="import math",
    cases=cases,
    tolerance=1e-7,
    reference=left,
    hints=("P(facts) is the product of all in `facts`. -log(P(story) / P(facts)) = story + log P(facts).",),
    wrong=[
        Wrong(Changed(("story + ", "story - ")),
              "You add the nats of the facts. They are known from the request, so they are subtracted: log p is negative."),
        Wrong(Changed(("sum(math.log(p) for p in facts)", "math.log(sum(facts) or 1)")),
              "Each fact is drawn after those before it: their probabilities multiply, so their logarithms add up."),
        Wrong("def answer_nats(story, facts):\n    return story / math.prod(facts)\n",
              "`story` is in nats, minus a logarithm already. To divide by a probability is to add its logarithm to them."),
        Wrong("def answer_nats(story, facts):\n    return story - math.prod(facts)\n",
              "You subtract a probability from nats. Take its logarithm first, and mind its sign: story + math.log(...)."),
        Wrong("def answer_nats(story, facts):\n    return story - sum(facts)\n",
              "You subtract probabilities from nats. Take the logarithm of each first, and mind its sign: story + ..."),
        Wrong(Changed(("story + ", "")), "This is log P(facts) alone. The nats of the story belong to it."),
        Wrong(Changed(("math.log(", "math.log2(")), "math.log2 counts bits. Nats come from the natural logarithm, math.log."),
    ],
)  # fmt: skip
