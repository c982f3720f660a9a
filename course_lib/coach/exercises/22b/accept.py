"""The accept-reject rule of speculative decoding, judged by its decisions and by the distribution that it makes."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    half = np.array([[0.5, 0.5]])
    example = np.array([[0.25, 0.75], [1.0, 0.0]])
    yield Case("the example, accepted", example, half, [0], np.array([0.4, 0.1]))
    yield Case("the example, rejected", example, half, [0], np.array([0.6, 0.1]))
    yield Case("more likely than drafted", example, half, [1], np.array([0.999, 0.3]))
    yield Case("the target never says it", np.array([[0.0, 0.5, 0.5], [1, 0, 0]]), np.array([[0.5, 0.5, 0.0]]), [0],
               np.array([0.0, 0.3]))  # fmt: skip
    yield Case("nothing was drafted", np.array([[0.2, 0.8]]), np.zeros((0, 2)), [], np.array([0.5]))
    for count, vocabulary in ((2, 3), (3, 4), (4, 5), (4, 9)):
        for number in range(6):
            target = random.dirichlet(np.ones(vocabulary), count + 1)
            draft = random.dirichlet(np.ones(vocabulary), count)
            drafted = [int(random.choice(vocabulary, p=q)) for q in draft]
            yield Case(
                f"{count} of {vocabulary} tokens, draw {number}", target, draft, drafted, random.random(count + 1)
            )


def right(target, draft, drafted, uniform):
    tokens = []
    for p, q, u, token in zip(target, draft, uniform, drafted, strict=False):
        if u * q[token] < p[token]:
            tokens.append(token)
            continue
        p = np.where(p > q, p - q, 0)
        break
    else:
        p = target[len(drafted)]
    return [*tokens, int(np.searchsorted(np.cumsum(p), uniform[-1] * p.sum(), side="right"))]


exercise = Exercise(
    title="Accept or reject",
    minutes=15,
    defines="accept",
    target="course_lib.serving.speculative.accept",
    given="import numpy as np\nfrom course_lib.serving.speculative import draw",
    cases=cases,
    reference=right,
    call=lambda answer, target, draft, drafted, uniform: [int(t) for t in answer(target, draft, list(drafted), uniform)],
    hints=(
        "A loop over the drafted tokens with their number i. What happens at a token that is accepted, and what at the first "
        "that is not?",
        "uniform[i] < p / q is the same as uniform[i] * q < p, which needs no division. A rejected token ends it: return "
        "the tokens before it and one drawn from np.maximum(target[i] - draft[i], 0).",
        "for i, token in enumerate(drafted): if uniform[i] * draft[i, token] >= target[i, token]: return [*drafted[:i], "
        "draw(np.maximum(target[i] - draft[i], 0), uniform[-1])]. After the loop: [*drafted, draw(target[-1], uniform[-1])].",
    ),
    example='''def thin_out(p, q, tokens, uniform):
    """Plain rejection sampling: keep each token drawn from q with such a probability that those kept are drawn from p."""
    most = (p / q).max()
    return [token for token, u in zip(tokens, uniform) if u < p[token] / (most * q[token])]
''',
    wrong=[
        Wrong(Changed(("np.maximum(target[i] - draft[i], 0.0)", "target[i]")),
              "After a rejection you draw from the model's probabilities. The draft's tokens would come too often: draw from "
              "what the draft had too little of, max(p - q, 0)."),
        Wrong(Changed(("np.maximum(target[i] - draft[i], 0.0)", "draft[i]")),
              "After a rejection you draw from the draft's probabilities. Draw from max(p - q, 0)."),
        Wrong(Changed(("np.maximum(target[i] - draft[i], 0.0)", "np.abs(target[i] - draft[i])")),
              "|p - q| is also large where the draft had too much. Where it had, there is nothing to draw: max(p - q, 0)."),
        Wrong(Changed(("- draft[i], 0.0), uniform[-1]", "- draft[i], 0.0), uniform[i]")),
              "After a rejection you draw by uniform[i]. It has just decided that the token is rejected, so it is never small "
              "there: the last number, uniform[K], always draws."),
        Wrong(Changed(("return [*drafted, draw(target[-1], uniform[-1])]", "return list(drafted)")),
              "If all are accepted, one more token is free: the model has read them all, so draw it from target[K]."),
        Wrong(Changed(("return [*drafted[:i], draw(", "return [*drafted[: i + 1], draw(")),
              "The rejected token is still in the text. Return those before it, and the new one."),
        Wrong(Changed(("uniform[i] * draft[i, token] >= target[i, token]", "uniform[i] * target[i, token] >= draft[i, token]")),
              "The ratio is upside down: a token is accepted with probability p / q, not q / p."),
        Wrong(Changed(("uniform[i] * draft[i, token] >= target[i, token]", "uniform[i] >= target[i, token]")),
              "A token is accepted with its probability p here. It was drawn from q already: the probability is p / q."),
        Wrong("""def accept(target, draft, drafted, uniform):
    tokens = []
    for i, token in enumerate(drafted):
        if uniform[i] * draft[i, token] < target[i, token]:
            tokens.append(token)
        else:
            tokens.append(draw(np.maximum(target[i] - draft[i], 0.0), uniform[-1]))
    return [*tokens, draw(target[-1], uniform[-1])]
""", "After a rejection you go on with the drafts. They were drawn as if the rejected token stood before them: stop there."),
    ],
)  # fmt: skip
